//! Zipf's distribution by rejection-inversion: constant time and no table, for any exponent and any size.
//!
//! P(k) is proportional to k^-exponent, k = 1..n. An x is drawn from the integral of the hat h(x) = x^-exponent and
//! rounded; it is accepted by comparing with the histogram below the hat. About 1.1 trials are needed.
//!
//! Source: W. Hörmann, G. Derflinger, "Rejection-inversion to generate variates from monotone discrete distributions",
//! ACM TOMACS 6 (1996).

use super::Random;

/// The distribution for one `n` and one exponent, ready to draw from.
#[derive(Debug, Clone, Copy)]
pub(super) struct Zipfian {
    exponent: f64,
    n: f64,
    first: f64,
    last: f64,
    sure: f64,
}

impl Zipfian {
    pub(super) fn new(n: u64, exponent: f64) -> Zipfian {
        let n = n.max(1) as f64;
        let integral = |x: f64| integral(x, exponent);
        Zipfian {
            exponent,
            n,
            first: integral(1.5) - 1.0,
            last: integral(n + 0.5),
            sure: 2.0 - inverse(integral(2.5) - 2f64.powf(-exponent), exponent),
        }
    }

    /// A number in 1..=n; the small ones are the popular ones.
    #[inline]
    pub(super) fn draw(&self, random: &mut Random) -> u64 {
        loop {
            let u = self.last + random.unit() * (self.first - self.last);
            let x = inverse(u, self.exponent);
            let k = (x + 0.5).floor().clamp(1.0, self.n);
            if k - x <= self.sure || u >= integral(k + 0.5, self.exponent) - k.powf(-self.exponent) {
                return k as u64;
            }
        }
    }
}

/// The integral of x^-exponent, zero at 1.
fn integral(x: f64, exponent: f64) -> f64 {
    let log = x.ln();
    let power = 1.0 - exponent;
    if (power * log).abs() < 1e-8 { log } else { (power * log).exp_m1() / power }
}

/// Its inverse.
fn inverse(value: f64, exponent: f64) -> f64 {
    let power = 1.0 - exponent;
    if (power * value).abs() < 1e-8 { value.exp() } else { ((power * value).max(-1.0).ln_1p() / power).exp() }
}
