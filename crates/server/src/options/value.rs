//! Values of options: numbers with suffixes, switches.

use super::OptionError;

/// A number: digits, and perhaps K, M, G, T, P or E, of 1024.
///
/// # Errors
/// It is none, or does not fit into 64 bits.
pub fn number(name: &str, text: &str) -> Result<u64, OptionError> {
    let wrong = || OptionError(format!("{name}: {text:?} is not a number (digits, and K, M, G, T, P or E after them)"));
    let text = text.trim();
    let (digits, shift) = match text.as_bytes().last() {
        Some(b'k' | b'K') => (&text[..text.len() - 1], 10),
        Some(b'm' | b'M') => (&text[..text.len() - 1], 20),
        Some(b'g' | b'G') => (&text[..text.len() - 1], 30),
        Some(b't' | b'T') => (&text[..text.len() - 1], 40),
        Some(b'p' | b'P') => (&text[..text.len() - 1], 50),
        Some(b'e' | b'E') => (&text[..text.len() - 1], 60),
        _ => (text, 0),
    };
    let value: u64 = digits.parse().map_err(|_| wrong())?;
    value.checked_mul(1 << shift).ok_or_else(wrong)
}

/// A number between two others; one outside is brought to the nearer, and a note says so, as MySQL does.
///
/// # Errors
/// As [`number`].
pub fn bounded(name: &str, text: &str, low: u64, high: u64, notes: &mut Vec<String>) -> Result<u64, OptionError> {
    let value = number(name, text)?;
    let bounded = value.clamp(low, high);
    if bounded != value {
        notes.push(format!("{name}: {value} is adjusted to {bounded}"));
    }
    Ok(bounded)
}

/// On or off. Nothing said means on.
///
/// # Errors
/// It is neither.
pub fn switch(name: &str, text: Option<&str>) -> Result<bool, OptionError> {
    match text.map(|text| text.trim().to_ascii_uppercase()).as_deref() {
        None | Some("1" | "ON" | "TRUE" | "YES") => Ok(true),
        Some("0" | "OFF" | "FALSE" | "NO") => Ok(false),
        Some(other) => Err(OptionError(format!("{name}: {other:?} is neither ON nor OFF"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_suffixes() {
        let cases = [("0", 0), ("12", 12), ("16K", 16 << 10), ("8m", 8 << 20), ("4G", 4 << 30), ("1T", 1 << 40)];
        for (text, value) in cases {
            assert_eq!(number("x", text), Ok(value));
        }
        for wrong in ["", "K", "1KB", "-1", "1.5G", "16E", "99999999999999999999", "x"] {
            assert!(number("x", wrong).is_err(), "{wrong}");
        }
        let mut notes = Vec::new();
        assert_eq!(bounded("x", "7", 1, 5, &mut notes), Ok(5));
        assert_eq!(notes, ["x: 7 is adjusted to 5"]);
    }

    #[test]
    fn switches_have_many_words() {
        assert_eq!(switch("x", None), Ok(true));
        assert_eq!((switch("x", Some("on")), switch("x", Some("0"))), (Ok(true), Ok(false)));
        assert!(switch("x", Some("perhaps")).is_err());
    }
}
