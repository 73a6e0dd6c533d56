//! A stretch of the statement's text.

/// Bytes `start..end` of the text that was parsed.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Span {
    /// The first byte.
    pub start: u32,
    /// One behind the last.
    pub end: u32,
}

impl Span {
    /// From `start` to before `end`.
    pub fn new(start: u32, end: u32) -> Span {
        Span { start, end }
    }

    /// Its bytes in `text`, which must be the text that was parsed; empty if it is another.
    pub fn of(self, text: &[u8]) -> &[u8] {
        text.get(self.start as usize..self.end as usize).unwrap_or_default()
    }

    /// From this one's start to `other`'s end.
    pub fn to(self, other: Span) -> Span {
        Span { start: self.start, end: other.end }
    }
}

impl std::fmt::Debug for Span {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}..{}", self.start, self.end)
    }
}
