//! Where ids are drawn from: sysbench's distributions of 1.0, and those of 0.4, which differ.
//!
//! Each range [a, b] is inclusive; t = b - a, T = t + 1; u is uniform in [0, 1).
//!
//! | shape | 1.0 | 0.4 |
//! |---|---|---|
//! | uniform | a + floor(u T) | the same |
//! | gaussian | a + floor(mean of `iterations` of u T) | the integer mean of `iterations` draws |
//! | special | below | below |
//! | pareto | a + floor(T u^p), p = ln h / ln(1 - h) | - |
//! | zipfian | a + k - 1, P(k) ~ k^-exponent | - |
//!
//! ```text
//! special, 1.0   m = 100 / (100 - hot);  u t m < t:  a + floor(t mean(u))
//!                else, with the same u:              a + floor(u (t pct/100 + 1) + t/2 - t pct/200)
//! special, 0.4   x = 1 + below(T (100 div (100 - hot)));  x <= T:  as gaussian
//!                else, with d = T pct div 100:                     x mod d + T div 2 - T pct div 200
//! ```
//!
//! Since `special` of 1.0 uses the same u twice, the lower quarter of the block in the middle is never hot. That is
//! kept: who compares with old results wants the same skew.
//!
//! Invariant: a draw is within [a, b]. (0.4's `special` could leave it by one at the edges of tiny tables; it is held
//! inside.)

use super::Random;
use super::zipfian::Zipfian;

/// The kind of a distribution, and its parameters.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Shape {
    /// All alike.
    Uniform,
    /// A bell around the middle.
    Gaussian {
        /// How many uniform numbers are averaged.
        iterations: u32,
    },
    /// A bell, and a block in the middle that is hot.
    Special {
        /// As of `Gaussian`.
        iterations: u32,
        /// The hot block's size, in per cent of the range.
        percent: f64,
        /// The share of draws that hit it, in per cent.
        hot: f64,
    },
    /// `Special` as sysbench 0.4 drew it.
    Special04 {
        /// As of `Gaussian`.
        iterations: u32,
        /// The hot block's size, in per cent of the range.
        percent: u32,
        /// The share of draws that hit it, in per cent.
        hot: u32,
    },
    /// 80 per cent of the draws in the first 20 per cent, for h = 0.2.
    Pareto {
        /// The parameter.
        h: f64,
    },
    /// The k-th id in proportion to k^-exponent.
    Zipfian {
        /// The exponent; 0 is uniform.
        exponent: f64,
    },
}

/// A shape, with what is computed once for the last range it was asked for.
#[derive(Debug, Clone)]
pub struct Distribution {
    shape: Shape,
    /// The exponent of `Pareto`.
    power: f64,
    /// The last range's size, and its table.
    zipfian: Option<(u64, Zipfian)>,
}

impl Distribution {
    /// A distribution of that shape.
    pub fn new(shape: Shape) -> Distribution {
        let power = if let Shape::Pareto { h } = shape { h.ln() / (1.0 - h).ln() } else { 0.0 };
        Distribution { shape, power, zipfian: None }
    }

    /// A number in `a..=b`. `a` if `b` is less.
    #[inline]
    pub fn draw(&mut self, random: &mut Random, a: i64, b: i64) -> i64 {
        if b <= a {
            return a;
        }
        let t = (b - a) as f64;
        let drawn = match self.shape {
            Shape::Uniform => return random.between(a, b),
            Shape::Gaussian { iterations } => a + (mean(random, iterations) * (t + 1.0)) as i64,
            Shape::Special { iterations, percent, hot } => {
                let wide = 100.0 / (100.0 - hot);
                let u = random.unit();
                if u * t * wide < t {
                    a + (t * mean(random, iterations)) as i64
                } else {
                    a + (u * (t * percent / 100.0 + 1.0) + t / 2.0 - t * percent / 200.0) as i64
                }
            }
            Shape::Special04 { iterations, percent, hot } => {
                let size = (b - a) as u64 + 1;
                let x = 1 + random.below(size.saturating_mul(u64::from(100 / (100 - hot.min(99)))));
                if x <= size {
                    let sum: u64 = (0..iterations.max(1)).map(|_| random.below(size)).sum();
                    a + (sum / u64::from(iterations.max(1))) as i64
                } else {
                    let block = (size * u64::from(percent) / 100).max(1);
                    a - 1 + (x % block + size / 2 - size * u64::from(percent) / 200) as i64
                }
            }
            Shape::Pareto { .. } => a + ((t + 1.0) * random.unit().powf(self.power)) as i64,
            Shape::Zipfian { exponent } => {
                let size = (b - a) as u64 + 1;
                let table = match self.zipfian {
                    Some((of, table)) if of == size => table,
                    _ => {
                        let table = Zipfian::new(size, exponent);
                        self.zipfian = Some((size, table));
                        table
                    }
                };
                a + table.draw(random) as i64 - 1
            }
        };
        drawn.clamp(a, b)
    }
}

/// The mean of some uniform numbers.
#[inline]
fn mean(random: &mut Random, iterations: u32) -> f64 {
    let iterations = iterations.max(1);
    (0..iterations).map(|_| random.unit()).sum::<f64>() / f64::from(iterations)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const MILLION: i64 = 1_000_000;

    fn draws(shape: Shape, count: usize) -> Vec<i64> {
        let mut random = Random::new(42, 0);
        let mut distribution = Distribution::new(shape);
        (0..count).map(|_| distribution.draw(&mut random, 1, MILLION)).collect()
    }

    fn share(draws: &[i64], from: i64, to: i64) -> f64 {
        draws.iter().filter(|&&id| (from..=to).contains(&id)).count() as f64 / draws.len() as f64
    }

    #[test]
    fn special_of_1_0_is_hot_where_sysbench_is() {
        let draws = draws(Shape::Special { iterations: 12, percent: 1.0, hot: 75.0 }, 400_000);
        let hot = share(&draws, 497_500, 505_001);
        assert!((0.755..0.770).contains(&hot), "{hot}");
        let middle = share(&draws, 495_001, 505_000);
        assert!((0.758..0.768).contains(&middle), "{middle}");
        // The lower quarter gets what the bell gives it only.
        assert!(share(&draws, 495_001, 497_499) < 0.01);
    }

    #[test]
    fn special_of_0_4_is_hot_in_the_whole_block() {
        let draws = draws(Shape::Special04 { iterations: 12, percent: 1, hot: 75 }, 400_000);
        let middle = share(&draws, 495_000, 504_999);
        assert!((0.758..0.768).contains(&middle), "{middle}");
        let quarter = share(&draws, 495_000, 497_499);
        assert!((0.185..0.195).contains(&quarter), "{quarter}");
    }

    #[test]
    fn gaussian_has_its_deviation() {
        let draws = draws(Shape::Gaussian { iterations: 12 }, 200_000);
        let mean = draws.iter().sum::<i64>() as f64 / draws.len() as f64;
        let variance = draws.iter().map(|&id| (id as f64 - mean).powi(2)).sum::<f64>() / draws.len() as f64;
        assert!((499_000.0..501_000.0).contains(&mean), "{mean}");
        let deviation = variance.sqrt() / MILLION as f64;
        assert!((0.0825..0.0841).contains(&deviation), "{deviation}");
    }

    #[test]
    fn pareto_draws_four_fifths_from_a_fifth() {
        let share = share(&draws(Shape::Pareto { h: 0.2 }, 200_000), 1, 200_000);
        assert!((0.795..0.805).contains(&share), "{share}");
    }

    #[test]
    fn uniform_is_level() {
        let draws = draws(Shape::Uniform, 200_000);
        for tenth in 0..10 {
            let share = share(&draws, tenth * 100_000 + 1, (tenth + 1) * 100_000);
            assert!((0.097..0.103).contains(&share), "{share}");
        }
    }

    #[test]
    fn zipfian_follows_its_law() {
        for exponent in [0.5, 0.8, 1.0, 1.5] {
            let mut random = Random::new(5, 5);
            let mut distribution = Distribution::new(Shape::Zipfian { exponent });
            let mut counts = [0u32; 101];
            for _ in 0..300_000 {
                counts[distribution.draw(&mut random, 1, 100) as usize] += 1;
            }
            let total: f64 = (1..=100).map(|k| f64::from(k).powf(-exponent)).sum();
            for k in [1usize, 2, 3, 10, 50, 100] {
                let expected = 300_000.0 * (k as f64).powf(-exponent) / total;
                let off = (f64::from(counts[k]) - expected).abs();
                assert!(off < 5.0 * expected.sqrt() + 1.0, "{exponent} {k}: {} for {expected}", counts[k]);
            }
        }
    }

    proptest! {
        #[test]
        fn draws_stay_in_range(seed: u64, a in -1000i64..1000, size in 0i64..1 << 40, pick in 0..6usize) {
            let shape = [
                Shape::Uniform,
                Shape::Gaussian { iterations: 12 },
                Shape::Special { iterations: 12, percent: 1.0, hot: 75.0 },
                Shape::Special04 { iterations: 12, percent: 1, hot: 75 },
                Shape::Pareto { h: 0.2 },
                Shape::Zipfian { exponent: 0.8 },
            ][pick];
            let mut random = Random::new(seed, 0);
            let mut distribution = Distribution::new(shape);
            for _ in 0..20 {
                let id = distribution.draw(&mut random, a, a + size);
                prop_assert!((a..=a + size).contains(&id));
            }
        }
    }
}
