//! How sure a mean is, whether two differ, and how a throughput scales.
//!
//! Intervals are Student's, at 95 %; the difference of two means is Welch's; a median's comes from the deviations' median
//! (P. J. Huber, "Robust Statistics", 1981). The Universal Scalability Law is fitted by
//! weighted least squares on N / X(N), which is linear in its three parameters.
//!
//! Source: B. L. Welch, "The generalization of Student's problem" (1947); N. J. Gunther, "Guerrilla Capacity Planning"
//! (2007).

/// A mean and how far the true one may be from it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Mean {
    /// The mean.
    pub mean: f64,
    /// Half of the 95 % interval; `None` for fewer than two values.
    pub half: Option<f64>,
    /// The standard error.
    error: f64,
    count: usize,
}

/// The mean of values; `None` for none.
pub fn mean(values: &[f64]) -> Option<Mean> {
    let count = values.len();
    if count == 0 {
        return None;
    }
    let mean = values.iter().sum::<f64>() / count as f64;
    if count == 1 {
        return Some(Mean { mean, half: None, error: 0.0, count });
    }
    let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (count - 1) as f64;
    let error = (variance / count as f64).sqrt();
    Some(Mean { mean, half: Some(error * quantile((count - 1) as f64)), error, count })
}

/// The middle of some values, which one of them that was disturbed does not move, and how far the true one may be from it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Median {
    /// The median.
    pub median: f64,
    /// Half of the 95 % interval, from the median of the deviations; `None` for fewer than two values.
    pub half: Option<f64>,
}

/// The median of values; `None` for none.
pub fn median(values: &[f64]) -> Option<Median> {
    let middle = |mut values: Vec<f64>| {
        values.sort_by(f64::total_cmp);
        let (low, high) = (values.get((values.len().max(1) - 1) / 2)?, values.get(values.len() / 2)?);
        Some((low + high) / 2.0)
    };
    let count = values.len() as f64;
    let median = middle(values.to_vec())?;
    let deviation = middle(values.iter().map(|value| (value - median).abs()).collect())?;
    // For a normal distribution: what the deviation is of the standard one, and a median's error of a mean's.
    let error = 1.4826 * deviation * 1.2533 / count.sqrt();
    Some(Median { median, half: (values.len() > 1).then(|| error * quantile(count - 1.0)) })
}

/// The 97.5 % quantile of Student's distribution.
fn quantile(freedom: f64) -> f64 {
    const TABLE: [f64; 30] = [
        12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131,
        2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042,
    ];
    // (Rounded down, which is on the side of "no difference".)
    let index = (freedom.floor() as usize).max(1) - 1;
    TABLE.get(index).copied().unwrap_or(1.96 + 2.5 / freedom)
}

/// What a comparison comes to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Verdict {
    /// The first is more by this share, give or take the second.
    More(f64, f64),
    /// It is less by that.
    Less(f64, f64),
    /// The noise is greater than the difference.
    NoDifference,
    /// One round says nothing about noise: the ratio only.
    Unknown(f64),
}

impl std::fmt::Display for Verdict {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Verdict::More(share, half) => write!(f, "+{:.1} % (±{:.1})", share * 100.0, half * 100.0),
            Verdict::Less(share, half) => write!(f, "-{:.1} % (±{:.1})", share * 100.0, half * 100.0),
            Verdict::NoDifference => f.write_str("no difference"),
            Verdict::Unknown(ratio) => write!(f, "×{ratio:.2} (one round: not sure)"),
        }
    }
}

/// Compares `a` with `b`.
pub fn compare(a: &Mean, b: &Mean) -> Verdict {
    if b.mean == 0.0 {
        return Verdict::Unknown(0.0);
    }
    if a.count < 2 || b.count < 2 {
        return Verdict::Unknown(a.mean / b.mean);
    }
    let (va, vb) = (a.error * a.error, b.error * b.error);
    let error = (va + vb).sqrt();
    let freedom = if error > 0.0 {
        (va + vb).powi(2) / (va * va / (a.count - 1) as f64 + vb * vb / (b.count - 1) as f64)
    } else {
        1.0
    };
    let half = error * quantile(freedom);
    let difference = a.mean - b.mean;
    if difference.abs() <= half {
        Verdict::NoDifference
    } else if difference > 0.0 {
        Verdict::More(difference / b.mean, half / b.mean)
    } else {
        Verdict::Less(-difference / b.mean, half / b.mean)
    }
}

/// The Universal Scalability Law: X(N) = lambda N / (1 + sigma (N - 1) + kappa N (N - 1)).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scalability {
    /// Throughput of one.
    pub lambda: f64,
    /// The share that is done one after another.
    pub sigma: f64,
    /// The cost of keeping two consistent.
    pub kappa: f64,
}

impl Scalability {
    /// The fit to points (N, X); `None` for fewer than four, or if none of the kind fits.
    pub fn fit(points: &[(f64, f64)]) -> Option<Scalability> {
        let points: Vec<_> = points.iter().filter(|(n, x)| *n > 0.0 && *x > 0.0).collect();
        if points.len() < 4 {
            return None;
        }
        // Parameters that come out below zero are held at zero, and the others fitted again.
        for (use_sigma, use_kappa) in [(true, true), (false, true), (true, false), (false, false)] {
            let mut matrix = [[0.0; 4]; 3];
            for (n, x) in &points {
                // (So that it is the difference of throughputs that is small, not that of N / X.)
                let weight = (x * x / n).powi(2);
                let sigma = if use_sigma { n - 1.0 } else { 0.0 };
                let kappa = if use_kappa { n * (n - 1.0) } else { 0.0 };
                let row = [1.0, sigma, kappa, n / x];
                for i in 0..3 {
                    for j in 0..4 {
                        matrix[i][j] += weight * row[i] * row[j];
                    }
                }
            }
            for (index, used) in [(1, use_sigma), (2, use_kappa)] {
                if !used {
                    matrix[index] = [0.0; 4];
                    matrix[index][index] = 1.0;
                }
            }
            if let Some([a, b, c]) = solve(matrix)
                && a > 0.0
                && b >= 0.0
                && c >= 0.0
            {
                return Some(Scalability { lambda: 1.0 / a, sigma: b / a, kappa: c / a });
            }
        }
        None
    }

    /// The throughput at N.
    pub fn at(&self, n: f64) -> f64 {
        self.lambda * n / (1.0 + self.sigma * (n - 1.0) + self.kappa * n * (n - 1.0))
    }

    /// How far it is from a point at worst, as a share of the greatest throughput.
    pub fn worst_miss(&self, points: &[(f64, f64)]) -> f64 {
        let greatest = points.iter().map(|(_, x)| *x).fold(0.0, f64::max);
        points.iter().map(|(n, x)| (self.at(*n) - x).abs() / greatest).fold(0.0, f64::max)
    }

    /// Where the throughput is greatest; `None` if it never falls.
    pub fn peak(&self) -> Option<f64> {
        (self.kappa > 0.0 && self.sigma < 1.0).then(|| ((1.0 - self.sigma) / self.kappa).sqrt())
    }
}

/// Three equations, by elimination with pivots.
fn solve(mut m: [[f64; 4]; 3]) -> Option<[f64; 3]> {
    for column in 0..3 {
        let pivot = (column..3).max_by(|a, b| m[*a][column].abs().total_cmp(&m[*b][column].abs()))?;
        if m[pivot][column].abs() < 1e-300 {
            return None;
        }
        m.swap(column, pivot);
        let pivot_row = m[column];
        for (number, row) in m.iter_mut().enumerate() {
            if number != column {
                let factor = row[column] / pivot_row[column];
                for (value, pivot) in row.iter_mut().zip(pivot_row).skip(column) {
                    *value -= factor * pivot;
                }
            }
        }
    }
    Some([m[0][3] / m[0][0], m[1][3] / m[1][1], m[2][3] / m[2][2]])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_disturbed_value_does_not_move_a_median() {
        assert_eq!(median(&[]), None);
        assert_eq!(median(&[3.0]), Some(Median { median: 3.0, half: None }));
        assert_eq!(median(&[1.0, 2.0]).unwrap().median, 1.5);
        let quiet = median(&[1.0, 1.01, 0.99, 1.02, 0.98]).unwrap();
        let disturbed = median(&[1.0, 1.01, 0.99, 1.02, 7.0]).unwrap();
        assert!((disturbed.median - quiet.median).abs() < 0.011);
        assert!(disturbed.half.unwrap() < 0.05, "{disturbed:?}");
    }

    #[test]
    fn a_law_is_found_again() {
        let law = Scalability { lambda: 1000.0, sigma: 0.05, kappa: 0.001 };
        let points: Vec<(f64, f64)> = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0].map(|n| (n, law.at(n))).to_vec();
        let fit = Scalability::fit(&points).unwrap();
        assert!(
            (fit.lambda - 1000.0).abs() < 0.1 && (fit.sigma - 0.05).abs() < 1e-4 && (fit.kappa - 0.001).abs() < 1e-5
        );
        assert!((fit.peak().unwrap() - 30.8).abs() < 0.1);
        let linear: Vec<(f64, f64)> = [1.0, 2.0, 4.0, 8.0].map(|n| (n, 10.0 * n)).to_vec();
        let fit = Scalability::fit(&linear).unwrap();
        assert!(fit.sigma < 1e-9 && fit.kappa < 1e-9);
        assert_eq!(Scalability::fit(&points[..3]), None);
    }

    #[test]
    fn noise_is_no_difference() {
        let of = |values: &[f64]| mean(values).unwrap();
        assert_eq!(compare(&of(&[100.0, 110.0, 90.0]), &of(&[101.0, 95.0, 108.0])), Verdict::NoDifference);
        let doubled = compare(&of(&[200.0, 201.0, 199.0]), &of(&[100.0, 101.0, 99.0]));
        assert!(matches!(doubled, Verdict::More(share, _) if (share - 1.0).abs() < 1e-9));
        assert!(matches!(compare(&of(&[50.0, 51.0]), &of(&[100.0, 101.0])), Verdict::Less(..)));
        assert_eq!(compare(&of(&[50.0]), &of(&[100.0])), Verdict::Unknown(0.5));
        assert_eq!(mean(&[]), None);
        let interval = of(&[1.0, 2.0, 3.0]).half.unwrap();
        assert!((interval - 4.303 / 3f64.sqrt()).abs() < 1e-6);
    }
}
