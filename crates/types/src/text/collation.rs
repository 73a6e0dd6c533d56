//! Collations: their names and numbers, and which one wins where two meet.
//!
//! # Source
//! MySQL Reference Manual, "Supported Character Sets and Collations" and "Collation Coercibility in Expressions".

use super::charset::Charset;
use super::table::{self, ASCII_GENERAL, Ascii, ByteTable, Uca};
use crate::error::{SqlError, number};

/// Whether blanks at the end count.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Pad {
    /// They do not: a shorter text is compared as if blanks followed.
    Space,
    /// They do.
    None,
}

/// What a collation does to compare.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Method {
    /// Compare bytes. Encodings of Unicode order as their code points do.
    Bytes,
    /// Compare weights of bytes, each of which is a character.
    ByteTable(&'static ByteTable),
    /// Compare one weight for each character.
    General,
    /// Compare weights of the Unicode Collation Algorithm.
    Uca(Uca),
}

impl Method {
    /// The weights of ASCII, where a character of it weighs by itself.
    #[inline]
    pub const fn ascii(self) -> Option<&'static Ascii> {
        match self {
            Method::Bytes | Method::ByteTable(_) => None,
            Method::General => Some(&ASCII_GENERAL),
            Method::Uca(uca) => Some(uca.ascii()),
        }
    }

    /// The weights of bytes, where they compare one by one.
    #[inline]
    pub const fn bytes(self) -> Option<&'static ByteTable> {
        match self {
            Method::Bytes => Some(&table::BYTES),
            Method::ByteTable(weights) => Some(weights),
            Method::General | Method::Uca(_) => None,
        }
    }
}

macro_rules! collations {
    ($($variant:ident $id:literal $name:literal $charset:ident $pad:ident $method:expr;)*) => {
        /// A collation. Its number is MySQL's.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        #[repr(u16)]
        #[allow(missing_docs)] // The names say it.
        pub enum Collation { $($variant = $id),* }

        impl Collation {
            /// All there are.
            pub const ALL: &'static [Collation] = &[$(Collation::$variant),*];

            /// Its name.
            pub const fn name(self) -> &'static str {
                match self { $(Collation::$variant => $name),* }
            }

            /// Its character set.
            #[inline]
            pub const fn charset(self) -> Charset {
                match self { $(Collation::$variant => Charset::$charset),* }
            }

            /// Whether blanks at the end count.
            #[inline]
            pub const fn pad(self) -> Pad {
                match self { $(Collation::$variant => Pad::$pad),* }
            }

            #[inline]
            pub(super) const fn method(self) -> Method {
                match self { $(Collation::$variant => $method),* }
            }

            /// The collation with MySQL's number.
            pub const fn from_id(id: u16) -> Option<Collation> {
                match id { $($id => Some(Collation::$variant),)* _ => None }
            }
        }
    };
}

collations! {
    Latin1German1Ci 5 "latin1_german1_ci" Latin1 Space Method::ByteTable(table::LATIN1_GERMAN1);
    Latin1SwedishCi 8 "latin1_swedish_ci" Latin1 Space Method::ByteTable(table::LATIN1_SWEDISH);
    AsciiGeneralCi 11 "ascii_general_ci" Ascii Space Method::ByteTable(&table::ASCII_UPPER);
    Latin1DanishCi 15 "latin1_danish_ci" Latin1 Space Method::ByteTable(table::LATIN1_DANISH);
    Utf8mb3GeneralCi 33 "utf8mb3_general_ci" Utf8mb3 Space Method::General;
    Utf8mb4GeneralCi 45 "utf8mb4_general_ci" Utf8mb4 Space Method::General;
    Utf8mb4Bin 46 "utf8mb4_bin" Utf8mb4 Space Method::Bytes;
    Latin1Bin 47 "latin1_bin" Latin1 Space Method::Bytes;
    Latin1GeneralCi 48 "latin1_general_ci" Latin1 Space Method::ByteTable(table::LATIN1_GENERAL);
    Latin1GeneralCs 49 "latin1_general_cs" Latin1 Space Method::ByteTable(table::LATIN1_GENERAL_CS);
    Binary 63 "binary" Binary None Method::Bytes;
    AsciiBin 65 "ascii_bin" Ascii Space Method::Bytes;
    Utf8mb3Bin 83 "utf8mb3_bin" Utf8mb3 Space Method::Bytes;
    Latin1SpanishCi 94 "latin1_spanish_ci" Latin1 Space Method::ByteTable(table::LATIN1_SPANISH);
    Utf8mb3UnicodeCi 192 "utf8mb3_unicode_ci" Utf8mb3 Space Method::Uca(Uca::V400);
    Utf8mb3Unicode520Ci 214 "utf8mb3_unicode_520_ci" Utf8mb3 Space Method::Uca(Uca::V520);
    Utf8mb4UnicodeCi 224 "utf8mb4_unicode_ci" Utf8mb4 Space Method::Uca(Uca::V400);
    Utf8mb4Unicode520Ci 246 "utf8mb4_unicode_520_ci" Utf8mb4 Space Method::Uca(Uca::V520);
    Utf8mb4_0900AiCi 255 "utf8mb4_0900_ai_ci" Utf8mb4 None Method::Uca(Uca::V900);
    Utf8mb4_0900Bin 309 "utf8mb4_0900_bin" Utf8mb4 None Method::Bytes;
}

impl Collation {
    /// MySQL's number.
    pub const fn id(self) -> u16 {
        self as u16
    }

    /// The collation with this name; error 1273 if there is none.
    pub fn parse(name: &str) -> Result<Collation, SqlError> {
        let modern = if let Some(rest) = name.strip_prefix("utf8_") { format!("utf8mb3_{rest}") } else { name.into() };
        Self::ALL
            .iter()
            .copied()
            .find(|collation| collation.name().eq_ignore_ascii_case(&modern))
            .ok_or_else(|| SqlError::new(number::UNKNOWN_COLLATION, format!("Unknown collation: '{name}'")))
    }

    /// Whether it is the default of its character set.
    pub fn is_default(self) -> bool {
        self.charset().default_collation() == self
    }

    /// Whether it compares code points.
    pub const fn is_binary(self) -> bool {
        matches!(self.method(), Method::Bytes)
    }

    /// Appends a text in upper case.
    pub fn append_upper(self, text: &[u8], out: &mut Vec<u8>) {
        self.append_case(text, true, out);
    }

    /// Appends a text in lower case.
    pub fn append_lower(self, text: &[u8], out: &mut Vec<u8>) {
        self.append_case(text, false, out);
    }

    fn append_case(self, text: &[u8], upper: bool, out: &mut Vec<u8>) {
        let fold = |byte: u8| if upper { byte.to_ascii_uppercase() } else { byte.to_ascii_lowercase() };
        let charset = self.charset();
        match charset {
            Charset::Binary => out.extend_from_slice(text),
            Charset::Ascii => out.extend(text.iter().map(|byte| fold(*byte))),
            Charset::Latin1 => {
                let table = if upper { table::UPPER_LATIN1 } else { table::LOWER_LATIN1 };
                out.extend(text.iter().map(|byte| table[usize::from(*byte)]));
            }
            Charset::Utf8mb4 | Charset::Utf8mb3 => {
                let (to_upper, to_lower) = match (self.method(), self.pad()) {
                    (_, Pad::None) => (table::UPPER_0900, table::LOWER_0900),
                    (Method::Uca(Uca::V520), _) => (table::UPPER_0520, table::LOWER_0520),
                    _ => (table::UPPER_GENERAL, table::LOWER_GENERAL),
                };
                let table = if upper { to_upper } else { to_lower };
                let mut at = 0;
                while at < text.len() {
                    if text[at] < 0x80 {
                        out.push(fold(text[at]));
                        at += 1;
                        continue;
                    }
                    let (code_point, len) = charset.decode(&text[at..]);
                    let mapped = code_point.map(|code_point| {
                        let difference = table.get(code_point).unwrap_or(0);
                        code_point & !0xffff | u32::from((code_point as u16).wrapping_add(difference))
                    });
                    if !mapped.is_some_and(|mapped| charset.encode(mapped, out)) {
                        out.extend_from_slice(&text[at..at + len]);
                    }
                    at += len;
                }
            }
        }
    }
}

/// How firmly an expression holds on to its collation; the firmest first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[repr(u8)]
pub enum Derivation {
    /// A COLLATE clause.
    Explicit = 0,
    /// Two that conflict were concatenated.
    None = 1,
    /// A column, a variable.
    Implicit = 2,
    /// USER(), VERSION().
    SystemConstant = 3,
    /// A literal.
    Coercible = 4,
    /// A number, a date.
    Numeric = 5,
    /// NULL.
    Ignorable = 6,
}

/// A collation and how firmly it is held.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Collated {
    /// The collation.
    pub collation: Collation,
    /// How firmly.
    pub derivation: Derivation,
    /// Only ASCII can occur: it can be converted to anything.
    pub ascii: bool,
}

impl Collated {
    fn describe(self) -> String {
        let derivation = match self.derivation {
            Derivation::Explicit => "EXPLICIT",
            Derivation::None => "NONE",
            Derivation::Implicit => "IMPLICIT",
            Derivation::SystemConstant => "SYSCONST",
            Derivation::Coercible => "COERCIBLE",
            Derivation::Numeric => "NUMERIC",
            Derivation::Ignorable => "IGNORABLE",
        };
        format!("({},{derivation})", self.collation.name())
    }
}

/// The collation in which two expressions meet, for an operation with this name; error 1267 if there is none.
pub fn aggregate(left: Collated, right: Collated, operation: &str) -> Result<Collated, SqlError> {
    let ascii = left.ascii && right.ascii;
    let conflict = || {
        let message = format!(
            "Illegal mix of collations {} and {} for operation '{operation}'",
            left.describe(),
            right.describe()
        );
        Err(SqlError::new(number::CANNOT_AGGREGATE_2_COLLATIONS, message))
    };
    let pick = |side: Collated| Ok(Collated { ascii, ..side });
    if left.collation == right.collation {
        return pick(Collated { derivation: left.derivation.min(right.derivation), ..left });
    }
    let (from, to) = (left.collation.charset(), right.collation.charset());
    if from != to {
        // Bytes stay bytes unless the other side holds on more firmly.
        if from == Charset::Binary || to == Charset::Binary {
            let (bytes, text) = if from == Charset::Binary { (left, right) } else { (right, left) };
            return pick(if bytes.derivation <= text.derivation { bytes } else { text });
        }
        let (weaker, stronger) = match left.derivation.cmp(&right.derivation) {
            std::cmp::Ordering::Less => (right, left),
            std::cmp::Ordering::Greater => (left, right),
            std::cmp::Ordering::Equal => {
                let wider = |charset: Charset| (charset.is_unicode(), charset.max_len());
                match wider(from).cmp(&wider(to)) {
                    std::cmp::Ordering::Less => (left, right),
                    std::cmp::Ordering::Greater => (right, left),
                    std::cmp::Ordering::Equal if left.ascii => (left, right),
                    std::cmp::Ordering::Equal if right.ascii => (right, left),
                    std::cmp::Ordering::Equal => return conflict(),
                }
            }
        };
        let (weak, strong) = (weaker.collation.charset(), stronger.collation.charset());
        let converts = weaker.ascii
            || strong == Charset::Utf8mb4
            || strong == Charset::Utf8mb3 && weak != Charset::Utf8mb4
            || weaker.derivation >= Derivation::Coercible;
        if converts {
            return pick(stronger);
        }
        if weak.is_unicode() && !strong.is_unicode() && stronger.ascii {
            return pick(weaker);
        }
        return conflict();
    }
    match left.derivation.cmp(&right.derivation) {
        std::cmp::Ordering::Less => pick(left),
        std::cmp::Ordering::Greater => pick(right),
        std::cmp::Ordering::Equal if left.derivation == Derivation::Explicit => conflict(),
        std::cmp::Ordering::Equal if left.collation.is_binary() => pick(left),
        std::cmp::Ordering::Equal if right.collation.is_binary() => pick(right),
        std::cmp::Ordering::Equal => {
            pick(Collated { collation: from.binary_collation(), derivation: Derivation::None, ascii })
        }
    }
}
