//! Adding, multiplying, dividing, rounding.
//!
//! # Invariants
//! 1. The 128-bit way and the wide way give the same result; a test compares both with an independent implementation.
//! 2. A quotient is rounded at once, so that (1/3)*3 is 0.9999.
//!
//! # Source
//! MySQL Reference Manual, "Expression Handling" and "Rounding Behavior".

use super::wide::Wide;
use super::{Decimal, Overflow, POWERS, Sign};

/// The magnitude as if the scale were the larger one, if that has at most 128 bits.
#[inline]
pub(super) fn scaled(number: &Decimal, scale: u8) -> Option<u128> {
    let magnitude = number.magnitude()?;
    if scale <= number.scale {
        return Some(magnitude);
    }
    magnitude.checked_mul(*POWERS.get(usize::from(scale - number.scale))?)
}

pub(super) fn scaled_wide(number: &Decimal, scale: u8) -> Wide {
    let mut magnitude = number.wide();
    magnitude.scale_up(scale.saturating_sub(number.scale).into());
    magnitude
}

/// Quotient and rest. Most numbers have 64 bits: they are divided many times faster.
#[inline]
pub(super) fn div_rem(dividend: u128, divisor: u128) -> (u128, u128) {
    match (u64::try_from(dividend), u64::try_from(divisor)) {
        (Ok(dividend), Ok(divisor)) => (u128::from(dividend / divisor), u128::from(dividend % divisor)),
        _ => (dividend / divisor, dividend % divisor),
    }
}

impl Decimal {
    /// The sum; as many decimals as the operand that has more.
    #[inline]
    pub fn add(&self, other: &Decimal) -> Result<Decimal, Overflow> {
        let scale = self.scale.max(other.scale);
        if let (Some(left), Some(right)) = (scaled(self, scale), scaled(other, scale))
            && (left | right) >> 126 == 0
        {
            let sign = |magnitude: u128, negative| if negative { -(magnitude as i128) } else { magnitude as i128 };
            let sum = sign(left, self.is_negative()) + sign(right, other.is_negative());
            return Ok(Decimal::small(sum.unsigned_abs(), scale, sum < 0));
        }
        let (left, right) = (scaled_wide(self, scale), scaled_wide(other, scale));
        if self.sign == other.sign {
            return Decimal::from_wide(left.add(&right), scale.into(), self.is_negative());
        }
        if left.compare(&right).is_ge() {
            Decimal::from_wide(left.sub(&right), scale.into(), self.is_negative())
        } else {
            Decimal::from_wide(right.sub(&left), scale.into(), other.is_negative())
        }
    }

    /// The difference.
    #[inline]
    pub fn sub(&self, other: &Decimal) -> Result<Decimal, Overflow> {
        self.add(&other.neg())
    }

    /// The same number below zero, or above it.
    #[inline]
    pub fn neg(&self) -> Decimal {
        let sign = if self.is_negative() || self.is_zero() { Sign::Plus } else { Sign::Minus };
        Decimal { sign, ..*self }
    }

    /// The distance from zero.
    pub fn abs(&self) -> Decimal {
        Decimal { sign: Sign::Plus, ..*self }
    }

    /// The product; its decimals are those of both.
    #[inline]
    pub fn mul(&self, other: &Decimal) -> Result<Decimal, Overflow> {
        let negative = self.sign != other.sign;
        let scale = u32::from(self.scale) + u32::from(other.scale);
        if scale <= 38
            && let (Some(left), Some(right)) = (self.magnitude(), other.magnitude())
            && let Some(product) = left.checked_mul(right)
        {
            return Ok(Decimal::small(product, scale as u8, negative));
        }
        Decimal::from_wide(self.wide().mul(&other.wide()), scale, negative)
    }

    /// The quotient, rounded to `increment` (`div_precision_increment`) decimals more than the dividend has, at most
    /// 30; `None` by zero.
    pub fn div(&self, other: &Decimal, increment: u8) -> Result<Option<Decimal>, Overflow> {
        if other.is_zero() {
            return Ok(None);
        }
        let scale = self.scale.saturating_add(increment).min(Self::MAX_SCALE.max(self.scale));
        let negative = self.sign != other.sign;
        // quotient * 10^scale = dividend * 10^(scale + other.scale - self.scale) / divisor
        let shift = u32::from(scale - self.scale) + u32::from(other.scale);
        if let (Some(dividend), Some(divisor)) = (self.magnitude(), other.magnitude())
            && let Some(dividend) = POWERS.get(shift as usize).and_then(|power| dividend.checked_mul(*power))
        {
            let (quotient, rest) = div_rem(dividend, divisor);
            let up = rest >= divisor - rest;
            return Ok(Some(Decimal::small(quotient + u128::from(up), scale, negative)));
        }
        let mut dividend = self.wide();
        // 67 digits and 83 more stay below 2^512; decimals of the divisor beyond that are cut off.
        let excess = shift.saturating_sub(83);
        dividend.scale_up(shift - excess);
        let mut divisor = other.wide();
        divisor.scale_down(excess);
        if divisor.is_zero() {
            return Err(Overflow);
        }
        let (mut quotient, rest) = dividend.div_rem(&divisor);
        if rest.compare(&divisor.sub(&rest)).is_ge() {
            quotient = quotient.add(&Wide::from_u128(1));
        }
        Decimal::from_wide(quotient, scale.into(), negative).map(Some)
    }

    /// The whole part of the quotient (DIV); `None` by zero.
    pub fn div_whole(&self, other: &Decimal) -> Result<Option<Decimal>, Overflow> {
        if other.is_zero() {
            return Ok(None);
        }
        let quotient = match (scaled(self, other.scale), scaled(other, self.scale)) {
            (Some(left), Some(right)) => Wide::from_u128(left / right),
            _ => scaled_wide(self, other.scale).div_rem(&scaled_wide(other, self.scale)).0,
        };
        Decimal::from_wide(quotient, 0, self.sign != other.sign).map(Some)
    }

    /// What remains of a division with a whole quotient, with the sign of the dividend; `None` by zero.
    pub fn rem(&self, other: &Decimal) -> Option<Decimal> {
        if other.is_zero() {
            return None;
        }
        let scale = self.scale.max(other.scale);
        match (scaled(self, other.scale), scaled(other, self.scale)) {
            (Some(left), Some(right)) => Some(Decimal::small(left % right, scale, self.is_negative())),
            _ => {
                let rest = scaled_wide(self, other.scale).div_rem(&scaled_wide(other, self.scale)).1;
                Decimal::from_wide(rest, scale.into(), self.is_negative()).ok()
            }
        }
    }

    /// Rounded to so many decimals, halves away from zero. Below zero: to tens, hundreds, ... More than it has: zeros
    /// are added.
    #[inline]
    pub fn round(&self, decimals: i32) -> Result<Decimal, Overflow> {
        self.rescale(decimals, true)
    }

    /// Cut off after so many decimals. Below zero: to tens, hundreds, ...
    pub fn truncate(&self, decimals: i32) -> Result<Decimal, Overflow> {
        self.rescale(decimals, false)
    }

    fn rescale(&self, decimals: i32, nearest: bool) -> Result<Decimal, Overflow> {
        let scale = i32::from(self.scale);
        let decimals = decimals.clamp(-100, Self::VALUE_SCALE.into());
        if decimals == scale {
            return Ok(*self);
        }
        if decimals > scale {
            let target = decimals as u8;
            return match scaled(self, target) {
                Some(magnitude) => Ok(Decimal::small(magnitude, target, self.is_negative())),
                None => Decimal::from_wide(scaled_wide(self, target), target.into(), self.is_negative()),
            };
        }
        let cut = (scale - decimals) as u32;
        let zeros = (-decimals).max(0) as u32;
        let target = decimals.max(0) as u32;
        if zeros == 0
            && let (Some(magnitude), Some(&power)) = (self.magnitude(), POWERS.get(cut as usize))
        {
            let (quotient, rest) = div_rem(magnitude, power);
            let up = nearest && rest >= power / 2;
            return Ok(Decimal::small(quotient + u128::from(up), target as u8, self.is_negative()));
        }
        let mut magnitude = self.wide();
        if magnitude.scale_down(cut) && nearest {
            magnitude = magnitude.add(&Wide::from_u128(1));
        }
        if magnitude.is_zero() {
            return Ok(Decimal::small(0, target as u8, false));
        }
        if zeros > Self::VALUE_DIGITS {
            return Err(Overflow);
        }
        magnitude.scale_up(zeros);
        Decimal::from_wide(magnitude, target, self.is_negative())
    }

    /// The largest whole number that is not above it.
    pub fn floor(&self) -> Result<Decimal, Overflow> {
        let whole = self.truncate(0)?;
        if self.is_negative() && whole != *self { whole.sub(&Decimal::from(1i64)) } else { Ok(whole) }
    }

    /// The smallest whole number that is not below it.
    pub fn ceiling(&self) -> Result<Decimal, Overflow> {
        let whole = self.truncate(0)?;
        if !self.is_negative() && whole != *self { whole.add(&Decimal::from(1i64)) } else { Ok(whole) }
    }

    /// Fits it into a column of `precision` digits, `scale` of them after the point: rounds, and where the whole part
    /// is too long takes the column's limit. The flag says what was lost.
    pub fn fit(&self, precision: u8, scale: u8) -> (Decimal, Fit) {
        let limit = || (Decimal::limit(precision, scale, self.is_negative()), Fit::OutOfRange);
        let Ok(rounded) = self.round(scale.into()) else { return limit() };
        if rounded.scale != scale {
            return limit();
        }
        let fits = match (rounded.magnitude(), POWERS.get(usize::from(precision))) {
            (Some(magnitude), Some(power)) => magnitude < *power,
            _ => rounded.wide().digits() <= precision.into(),
        };
        if !fits {
            return limit();
        }
        let exact = scale >= self.scale || rounded == *self;
        (rounded, if exact { Fit::Exact } else { Fit::Rounded })
    }
}

/// What became of a number on its way into a column.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fit {
    /// It is the same.
    Exact,
    /// Decimals were rounded away.
    Rounded,
    /// It is the column's limit.
    OutOfRange,
}
