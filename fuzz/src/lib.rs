//! What the fuzz targets share: a way to cut an input into choices, a log ring in memory, and sound pages to begin
//! with.
//!
//! An input is a row of bytes; a target takes numbers from its front and treats what is left as content. When the
//! bytes run out, numbers are zero and content is empty, so every input means something.

pub mod pages;
pub mod ring;

/// Takes numbers and stretches from the front of an input.
pub struct Input<'d>(pub &'d [u8]);

impl<'d> Input<'d> {
    /// Whether nothing is left.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The next byte.
    pub fn u8(&mut self) -> u8 {
        self.bytes(1).first().copied().unwrap_or(0)
    }

    /// The next two bytes as a number.
    pub fn u16(&mut self) -> u16 {
        u16::from_le_bytes([self.u8(), self.u8()])
    }

    /// A number below `limit`, from one byte if that suffices.
    pub fn below(&mut self, limit: usize) -> usize {
        let number = if limit > 256 { usize::from(self.u16()) } else { usize::from(self.u8()) };
        number % limit.max(1)
    }

    /// The next `len` bytes, or fewer at the end.
    pub fn bytes(&mut self, len: usize) -> &'d [u8] {
        let (taken, rest) = self.0.split_at(len.min(self.0.len()));
        self.0 = rest;
        taken
    }

    /// A short stretch with its length in front.
    pub fn short(&mut self, len_max: usize) -> &'d [u8] {
        let len = self.below(len_max + 1);
        self.bytes(len)
    }
}
