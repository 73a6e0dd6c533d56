//! DECIMAL: exact numbers with a decimal point.
//!
//! ```text
//! value = +/- magnitude * 10^-scale        magnitude < 10^67, in 224 bits; 32 bytes in all, no allocation
//! ```
//!
//! Nearly all numbers have at most 38 digits, and then all work is done in 128 bits. The others go through
//! `wide::Wide`.
//!
//! # Invariants
//! 1. At most 67 digits: [`Decimal::MAX_DIGITS`] of a column, and a little room for rounding. An operation whose result
//!    has a longer whole part says [`Overflow`]; decimals that do not fit are cut off.
//! 2. Zero has no sign.
//! 3. Two decimals are equal if they are the same number, whatever their scales; [`Hash`] agrees.
//!
//! # Source
//! MySQL Reference Manual, "Precision Math". MySQL's own values have up to 81 digits in between (a column at most 65):
//! whoever computes with more than 65 gets `Overflow` here.

mod arithmetic;
mod pack;
mod short;
mod text;
mod wide;

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};

pub use arithmetic::Fit;
pub use pack::{packed_len, unpack};
pub use short::Short;
pub use text::ParsedDecimal;
use wide::Wide;

/// The whole part of a result has more digits than a decimal can have.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Overflow;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
enum Sign {
    Plus,
    Minus,
}

/// An exact number with a decimal point.
#[derive(Clone, Copy)]
pub struct Decimal {
    limbs: [u64; 3],
    high: u32,
    scale: u8,
    sign: Sign,
}

const fn powers_of_ten() -> [u128; 39] {
    let mut powers = [1u128; 39];
    let mut i = 1;
    while i < 39 {
        powers[i] = powers[i - 1] * 10;
        i += 1;
    }
    powers
}

/// Powers of ten that fit into 128 bits.
static POWERS: [u128; 39] = powers_of_ten();

impl Decimal {
    /// The most digits that a column has.
    pub const MAX_DIGITS: u32 = 65;
    /// The most digits after the point that a column has.
    pub const MAX_SCALE: u8 = 30;
    /// Zero.
    pub const ZERO: Decimal = Decimal { limbs: [0; 3], high: 0, scale: 0, sign: Sign::Plus };

    /// The most digits that a value may have.
    const VALUE_DIGITS: u32 = 67;
    /// The most digits after the point that a value may have.
    const VALUE_SCALE: u8 = 67;

    #[inline]
    const fn small(magnitude: u128, scale: u8, negative: bool) -> Decimal {
        Decimal {
            limbs: [magnitude as u64, (magnitude >> 64) as u64, 0],
            high: 0,
            scale,
            sign: if negative && magnitude != 0 { Sign::Minus } else { Sign::Plus },
        }
    }

    /// From a magnitude of any length: cuts off decimals that do not fit.
    fn from_wide(mut magnitude: Wide, mut scale: u32, negative: bool) -> Result<Decimal, Overflow> {
        let digits = magnitude.digits();
        let excess = digits.saturating_sub(Self::VALUE_DIGITS).max(scale.saturating_sub(u32::from(Self::VALUE_SCALE)));
        if excess > scale {
            return Err(Overflow);
        }
        magnitude.scale_down(excess);
        scale -= excess;
        let [a, b, c, d, ..] = magnitude.0;
        let sign = if negative && !magnitude.is_zero() { Sign::Minus } else { Sign::Plus };
        Ok(Decimal { limbs: [a, b, c], high: d as u32, scale: scale as u8, sign })
    }

    /// The magnitude if it has at most 128 bits.
    #[inline]
    const fn magnitude(&self) -> Option<u128> {
        if self.limbs[2] == 0 && self.high == 0 {
            Some(self.limbs[0] as u128 | (self.limbs[1] as u128) << 64)
        } else {
            None
        }
    }

    fn wide(&self) -> Wide {
        Wide([self.limbs[0], self.limbs[1], self.limbs[2], self.high.into(), 0, 0, 0, 0])
    }

    /// An unscaled integer with a scale: `from_parts(-1234, 2)` is -12.34.
    pub const fn from_parts(unscaled: i128, scale: u8) -> Decimal {
        Decimal::small(unscaled.unsigned_abs(), if scale > 38 { 38 } else { scale }, unscaled < 0)
    }

    /// The largest number of so many digits, so many of them after the point, or its negative.
    pub fn limit(precision: u8, scale: u8, negative: bool) -> Decimal {
        let precision = u32::from(precision).min(Self::MAX_DIGITS);
        let magnitude = Wide::power_of_ten(precision).sub(&Wide::from_u128(1));
        Decimal::from_wide(magnitude, u32::from(scale).min(precision), negative).unwrap_or(Decimal::ZERO)
    }

    /// Digits after the point.
    pub const fn scale(&self) -> u8 {
        self.scale
    }

    /// Whether it is below zero.
    pub const fn is_negative(&self) -> bool {
        matches!(self.sign, Sign::Minus)
    }

    /// Whether it is zero.
    pub fn is_zero(&self) -> bool {
        self.limbs == [0; 3] && self.high == 0
    }

    /// Digits before the point, leading zeros aside.
    pub fn whole_digits(&self) -> u32 {
        self.wide().digits().saturating_sub(self.scale.into())
    }

    /// The nearest integer, halves away from zero; `None` if it has more than 64 bits.
    pub fn to_i128(&self) -> Option<i128> {
        let rounded = self.round(0).ok()?;
        let magnitude = i128::try_from(rounded.magnitude()?).ok()?;
        Some(if self.is_negative() { -magnitude } else { magnitude })
    }

    /// The nearest signed integer, halves away from zero; out of range: the bound, and false.
    pub fn to_i64(&self) -> (i64, bool) {
        match self.to_i128().map(i64::try_from) {
            Some(Ok(number)) => (number, true),
            _ if self.is_negative() => (i64::MIN, false),
            _ => (i64::MAX, false),
        }
    }

    /// The nearest unsigned integer, halves away from zero; out of range: the bound, and false.
    pub fn to_u64(&self) -> (u64, bool) {
        match self.to_i128().map(u64::try_from) {
            Some(Ok(number)) => (number, true),
            _ if self.is_negative() => (0, false),
            _ => (u64::MAX, false),
        }
    }

    /// The nearest double.
    pub fn to_f64(&self) -> f64 {
        if let Some(magnitude) = self.magnitude()
            && magnitude <= 1 << 53
            && self.scale <= 22
        {
            // Both are exact, so that the one rounding of the division is the right one.
            let number = magnitude as f64 / POWERS[usize::from(self.scale)] as f64;
            return if self.is_negative() { -number } else { number };
        }
        self.to_string().parse().unwrap_or(0.0)
    }

    /// The decimal that the shortest text of a double names; false if it is too large, infinite or not a number.
    pub fn from_f64(number: f64) -> (Decimal, bool) {
        if !number.is_finite() {
            return (Decimal::limit(65, 0, number < 0.0), false);
        }
        let parsed = Decimal::parse(format!("{number:e}").as_bytes());
        (parsed.value, !parsed.overflow)
    }

    /// The same number, trailing zeros after the point removed.
    pub fn normalized(&self) -> Decimal {
        let mut magnitude = self.wide();
        let mut scale = self.scale;
        while scale > 0 {
            let mut shorter = magnitude;
            if shorter.div_small(10) != 0 {
                break;
            }
            magnitude = shorter;
            scale -= 1;
        }
        Decimal::from_wide(magnitude, scale.into(), self.is_negative()).unwrap_or(*self)
    }
}

impl From<i64> for Decimal {
    fn from(number: i64) -> Self {
        Decimal::from_parts(number.into(), 0)
    }
}

impl From<u64> for Decimal {
    fn from(number: u64) -> Self {
        Decimal::from_parts(number.into(), 0)
    }
}

impl PartialEq for Decimal {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Decimal {}

impl PartialOrd for Decimal {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Decimal {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self.is_negative(), other.is_negative()) {
            (false, true) => return Ordering::Greater,
            (true, false) => return Ordering::Less,
            _ => {}
        }
        let ordering = match (arithmetic::scaled(self, other.scale), arithmetic::scaled(other, self.scale)) {
            (Some(left), Some(right)) => left.cmp(&right),
            _ => arithmetic::scaled_wide(self, other.scale).compare(&arithmetic::scaled_wide(other, self.scale)),
        };
        if self.is_negative() { ordering.reverse() } else { ordering }
    }
}

impl Hash for Decimal {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let short = self.normalized();
        (short.limbs, short.high, short.scale, short.is_negative()).hash(state);
    }
}

impl fmt::Debug for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
