//! Natural numbers of up to 512 bits: what a decimal's arithmetic goes through when 128 bits are not enough.
//!
//! ```text
//! Wide([u64; 8]), least significant limb first
//! ```
//!
//! # Invariants
//! 1. Callers stay below 2^512: the largest operand has 68 digits, the largest power of ten used has 81, and 149 digits
//!    take 495 bits. An operation that would wrap anyway yields a wrong number, never a panic.
//!
//! # Source
//! Division: Knuth, The Art of Computer Programming, volume 2, 4.3.1, algorithm D.

const LIMBS: usize = 8;

/// A natural number below 2^512.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Wide(pub [u64; LIMBS]);

impl Wide {
    pub const ZERO: Wide = Wide([0; LIMBS]);

    pub fn from_u128(number: u128) -> Wide {
        let mut limbs = [0; LIMBS];
        limbs[0] = number as u64;
        limbs[1] = (number >> 64) as u64;
        Wide(limbs)
    }

    pub fn is_zero(&self) -> bool {
        self.0.iter().all(|&limb| limb == 0)
    }

    /// Ten to a power below 154.
    pub fn power_of_ten(exponent: u32) -> Wide {
        let mut result = Wide::from_u128(1);
        result.scale_up(exponent);
        result
    }

    /// Multiplies by ten, so many times.
    pub fn scale_up(&mut self, mut times: u32) {
        while times > 0 {
            let step = times.min(19);
            self.mul_add_small(10u64.pow(step), 0);
            times -= step;
        }
    }

    pub fn mul_add_small(&mut self, factor: u64, addend: u64) {
        let mut carry = u128::from(addend);
        for limb in &mut self.0 {
            carry += u128::from(*limb) * u128::from(factor);
            *limb = carry as u64;
            carry >>= 64;
        }
    }

    /// Divides by a number that is not zero, and returns what remains.
    pub fn div_small(&mut self, divisor: u64) -> u64 {
        let mut remainder = 0u128;
        for limb in self.0.iter_mut().rev() {
            let part = remainder << 64 | u128::from(*limb);
            *limb = (part / u128::from(divisor)) as u64;
            remainder = part % u128::from(divisor);
        }
        remainder as u64
    }

    /// Divides by ten so many times; returns whether what was cut off is half of the last place kept, or more.
    pub fn scale_down(&mut self, mut times: u32) -> bool {
        let mut at_least_half = false;
        while times > 0 {
            let step = times.min(19);
            let power = 10u64.pow(step);
            at_least_half = self.div_small(power) >= power / 2;
            times -= step;
        }
        at_least_half
    }

    pub fn add(mut self, other: &Wide) -> Wide {
        let mut carry = false;
        for (limb, other) in self.0.iter_mut().zip(other.0) {
            let (sum, first) = limb.overflowing_add(other);
            let (sum, second) = sum.overflowing_add(u64::from(carry));
            *limb = sum;
            carry = first | second;
        }
        self
    }

    /// The difference; `other` is not larger.
    pub fn sub(mut self, other: &Wide) -> Wide {
        let mut borrow = false;
        for (limb, other) in self.0.iter_mut().zip(other.0) {
            let (difference, first) = limb.overflowing_sub(other);
            let (difference, second) = difference.overflowing_sub(u64::from(borrow));
            *limb = difference;
            borrow = first | second;
        }
        self
    }

    pub fn mul(&self, other: &Wide) -> Wide {
        let mut result = [0u64; LIMBS];
        for (i, &left) in self.0.iter().enumerate().filter(|(_, limb)| **limb != 0) {
            let mut carry = 0u128;
            for j in 0..LIMBS - i {
                carry += u128::from(result[i + j]) + u128::from(left) * u128::from(other.0[j]);
                result[i + j] = carry as u64;
                carry >>= 64;
            }
        }
        Wide(result)
    }

    pub fn compare(&self, other: &Wide) -> std::cmp::Ordering {
        self.0.iter().rev().cmp(other.0.iter().rev())
    }

    /// Quotient and remainder; by zero: zero and the number itself.
    pub fn div_rem(&self, divisor: &Wide) -> (Wide, Wide) {
        let v = to_digits(divisor);
        let n = v.iter().rposition(|&digit| digit != 0).map_or(0, |at| at + 1);
        if n == 0 || self.compare(divisor).is_lt() {
            return (Wide::ZERO, *self);
        }
        if n <= 2 {
            let mut quotient = *self;
            let remainder = quotient.div_small(divisor.0[0]);
            return (quotient, Wide::from_u128(u128::from(remainder)));
        }
        // Normalise: the divisor's first digit has its highest bit set.
        let shift = v[n - 1].leading_zeros();
        let v = shift_left(&v, shift);
        let mut u = shift_left(&to_digits(self), shift);
        let mut quotient = [0u32; 2 * LIMBS];
        let (first, second) = (u64::from(v[n - 1]), u64::from(v[n - 2]));
        for j in (0..=2 * LIMBS - n).rev() {
            let top = u64::from(u[j + n]) << 32 | u64::from(u[j + n - 1]);
            let mut guess = top / first;
            let mut rest = top % first;
            while guess >> 32 != 0 || guess * second > (rest << 32 | u64::from(u[j + n - 2])) {
                guess -= 1;
                rest += first;
                if rest >> 32 != 0 {
                    break;
                }
            }
            let mut borrow = 0i64;
            let mut carry = 0u64;
            for i in 0..n {
                carry += guess * u64::from(v[i]);
                let difference = i64::from(u[i + j]) - borrow - (carry & 0xffff_ffff) as i64;
                u[i + j] = difference as u32;
                borrow = i64::from(difference < 0);
                carry >>= 32;
            }
            let difference = i64::from(u[j + n]) - borrow - carry as i64;
            u[j + n] = difference as u32;
            if difference < 0 {
                guess -= 1;
                let mut carry = 0u64;
                for i in 0..n {
                    carry += u64::from(u[i + j]) + u64::from(v[i]);
                    u[i + j] = carry as u32;
                    carry >>= 32;
                }
                u[j + n] = u[j + n].wrapping_add(carry as u32);
            }
            if j < quotient.len() {
                quotient[j] = guess as u32;
            }
        }
        let mut remainder = [0u32; 2 * LIMBS];
        for (i, digit) in remainder.iter_mut().enumerate() {
            *digit = ((u64::from(u[i + 1]) << 32 | u64::from(u[i])) >> shift) as u32;
        }
        (from_digits(&quotient), from_digits(&remainder))
    }

    /// How many decimal digits it has; zero has none.
    pub fn digits(&self) -> u32 {
        let bits = match self.0.iter().rposition(|&limb| limb != 0) {
            None => return 0,
            Some(at) => 64 * at as u32 + 64 - self.0[at].leading_zeros(),
        };
        // log10(2) is a little above 1233/4096.
        let guess = (bits - 1) * 1233 / 4096;
        if self.compare(&Wide::power_of_ten(guess)).is_ge() {
            let one_more = guess + 1;
            if one_more < 154 && self.compare(&Wide::power_of_ten(one_more)).is_ge() { one_more + 1 } else { one_more }
        } else {
            guess
        }
    }
}

fn to_digits(wide: &Wide) -> [u32; 2 * LIMBS + 1] {
    let mut digits = [0; 2 * LIMBS + 1];
    for (i, limb) in wide.0.iter().enumerate() {
        digits[2 * i] = *limb as u32;
        digits[2 * i + 1] = (limb >> 32) as u32;
    }
    digits
}

fn from_digits(digits: &[u32; 2 * LIMBS]) -> Wide {
    let mut limbs = [0; LIMBS];
    for (i, limb) in limbs.iter_mut().enumerate() {
        *limb = u64::from(digits[2 * i + 1]) << 32 | u64::from(digits[2 * i]);
    }
    Wide(limbs)
}

fn shift_left(digits: &[u32; 2 * LIMBS + 1], shift: u32) -> [u32; 2 * LIMBS + 1] {
    let mut result = [0; 2 * LIMBS + 1];
    let mut carry = 0u64;
    for (to, from) in result.iter_mut().zip(digits) {
        let part = u64::from(*from) << shift | carry;
        *to = part as u32;
        carry = part >> 32;
    }
    result
}
