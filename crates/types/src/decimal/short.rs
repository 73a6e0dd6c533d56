//! Exact numbers of few digits: what most are, and computed in a few instructions.
//!
//! ```text
//! value = unscaled * 10^-scale        unscaled: 64 bits with a sign; two registers where a [`Decimal`] is four words of memory
//! ```
//!
//! # Invariants
//! 1. What an operator makes of two is what it makes of them as decimals; `None` where that is not sure to fit.

use super::arithmetic::div_rem;
use super::{Decimal, POWERS, Sign};

/// Two numbers may differ by so many decimals: 63 bits and these, and one more of a sum, have room in 128.
const SHIFT_MAX: u8 = 18;

/// An exact number of few digits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Short {
    /// The number without its point.
    pub unscaled: i64,
    /// Digits after the point: at most [`Decimal::MAX_SCALE`].
    pub scale: u8,
}

impl Decimal {
    /// The same number, if it has few digits.
    #[inline]
    pub fn short(&self) -> Option<Short> {
        let [magnitude, 0, 0] = self.limbs else { return None };
        if self.high != 0 || magnitude > i64::MAX as u64 || self.scale > Self::MAX_SCALE {
            return None;
        }
        let unscaled = if self.sign == Sign::Minus { -(magnitude as i64) } else { magnitude as i64 };
        Some(Short { unscaled, scale: self.scale })
    }
}

impl From<Short> for Decimal {
    #[inline]
    fn from(number: Short) -> Self {
        Decimal::from_parts(number.unscaled.into(), number.scale)
    }
}

impl Short {
    /// Zero.
    pub const ZERO: Short = Short { unscaled: 0, scale: 0 };

    /// A whole number.
    #[inline]
    pub const fn whole(number: i64) -> Short {
        Short { unscaled: number, scale: 0 }
    }

    /// The number without its point, as if the scale were the larger one.
    #[inline]
    fn scaled(self, scale: u8) -> Option<i128> {
        let shift = scale - self.scale;
        (shift <= SHIFT_MAX).then(|| i128::from(self.unscaled) * POWERS[usize::from(shift)] as i128)
    }

    /// The sum; as many decimals as the operand that has more.
    #[inline]
    pub fn checked_add(self, other: Short) -> Option<Decimal> {
        let scale = self.scale.max(other.scale);
        Some(Decimal::from_parts(self.scaled(scale)? + other.scaled(scale)?, scale))
    }

    /// The difference.
    #[inline]
    pub fn checked_sub(self, other: Short) -> Option<Decimal> {
        let scale = self.scale.max(other.scale);
        Some(Decimal::from_parts(self.scaled(scale)? - other.scaled(scale)?, scale))
    }

    /// The product; its decimals are those of both.
    #[inline]
    pub fn checked_mul(self, other: Short) -> Option<Decimal> {
        let scale = self.scale + other.scale;
        let product = i128::from(self.unscaled) * i128::from(other.unscaled);
        (scale <= Decimal::MAX_SCALE).then(|| Decimal::from_parts(product, scale))
    }

    /// The quotient, as [`Decimal::div`] has it. `None` by zero.
    #[inline]
    pub fn checked_div(self, other: Short, increment: u8) -> Option<Decimal> {
        let scale = self.scale.saturating_add(increment).min(Decimal::MAX_SCALE);
        let shift = scale - self.scale + other.scale;
        if other.unscaled == 0 || shift > SHIFT_MAX {
            return None;
        }
        let dividend = u128::from(self.unscaled.unsigned_abs()) * POWERS[usize::from(shift)];
        let divisor = u128::from(other.unscaled.unsigned_abs());
        let (quotient, rest) = div_rem(dividend, divisor);
        let quotient = quotient + u128::from(rest >= divisor - rest);
        Some(Decimal::small(quotient, scale, self.unscaled.is_negative() != other.unscaled.is_negative()))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn numbers() -> impl Strategy<Value = Short> {
        let unscaled = prop_oneof![any::<i64>(), -1000i64..1000, Just(i64::MIN), Just(i64::MAX)];
        (unscaled, 0..=Decimal::MAX_SCALE).prop_map(|(unscaled, scale)| Short { unscaled, scale })
    }

    /// The same number with as many decimals, if it is one.
    fn assert_is(found: Option<Decimal>, expected: impl FnOnce() -> Decimal) {
        if let Some(found) = found {
            let expected = expected();
            assert_eq!(
                (found, found.scale(), found.is_negative()),
                (expected, expected.scale(), expected.is_negative())
            );
        }
    }

    proptest! {
        #[test]
        fn what_is_made_of_two_is_what_decimals_make(a in numbers(), b in numbers(), increment in 0u8..=30) {
            let (long_a, long_b) = (Decimal::from(a), Decimal::from(b));
            assert_is(a.checked_add(b), || long_a.add(&long_b).unwrap());
            assert_is(a.checked_sub(b), || long_a.sub(&long_b).unwrap());
            assert_is(a.checked_mul(b), || long_a.mul(&long_b).unwrap());
            assert_is(a.checked_div(b, increment), || long_a.div(&long_b, increment).unwrap().unwrap());
        }

        #[test]
        fn a_number_of_few_digits_comes_back(number in numbers()) {
            let back = Decimal::from(number).short();
            prop_assert_eq!(back, (number.unscaled != i64::MIN).then_some(number));
        }
    }

    #[test]
    fn small_numbers_are_computed_at_once() {
        let number = |unscaled, scale| Short { unscaled, scale };
        assert_eq!(number(125, 2).checked_add(number(3, 1)).map(|sum| sum.to_string()), Some("1.55".to_owned()));
        assert_eq!(number(125, 2).checked_sub(number(3, 0)).map(|rest| rest.to_string()), Some("-1.75".to_owned()));
        assert_eq!(
            number(125, 2).checked_mul(number(-15, 1)).map(|product| product.to_string()),
            Some("-1.875".to_owned())
        );
        assert_eq!(
            number(2, 0).checked_div(number(3, 0), 4).map(|quotient| quotient.to_string()),
            Some("0.6667".to_owned())
        );
        assert_eq!(number(2, 0).checked_div(Short::ZERO, 4), None);
    }
}
