//! The Universal Scalability Law (N. J. Gunther 1993) fitted to throughput over concurrency.
//!
//! Least squares for the three coefficients: Levenberg (1944) and Marquardt (1963) on throughput,
//! from a start by linear regression, coefficients kept at 0 or above.

/// Steps after which the search ends, converged or not.
const MOST_STEPS: usize = 500;
/// Relative gain below which it has converged.
const CONVERGED: f64 = 1e-14;

/// Throughput at concurrency n: lambda n / (1 + sigma (n - 1) + kappa n (n - 1)).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Law {
    /// Throughput of one.
    pub lambda: f64,
    /// Contention: the share of the work that waits its turn.
    pub sigma: f64,
    /// Coherency: what each pair costs the other.
    pub kappa: f64,
}

type Vector = [f64; 3];

impl Law {
    /// The law that fits (concurrency, throughput) best. A coefficient that would come out negative is 0, and
    /// the others are fitted without it.
    pub fn fitted(points: &[(f64, f64)]) -> Option<Self> {
        let scale = points.iter().map(|p| p.1).fold(0.0, f64::max);
        let scaled: Vec<(f64, f64)> = points.iter().map(|(n, x)| (*n, x / scale)).collect();
        let mut free = [true; 3];
        loop {
            let start = Self::start(&scaled);
            let start = [start.lambda, start.sigma, start.kappa];
            let kept = std::array::from_fn(|i| if free[i] { start[i] } else { 0.0 });
            let found = descend(&scaled, kept, free)?;
            match (1..3).filter(|&i| found[i] < 0.0).min_by(|&a, &b| found[a].total_cmp(&found[b]))
            {
                Some(negative) => free[negative] = false,
                None => {
                    let [lambda, sigma, kappa] = found;
                    return (lambda > 0.0).then_some(Self { lambda: lambda * scale, sigma, kappa });
                }
            }
        }
    }

    /// N lambda / X - 1 = sigma (N - 1) + kappa N (N - 1) is linear in sigma and kappa, with lambda
    /// the most that one connection brought anywhere.
    fn start(points: &[(f64, f64)]) -> Self {
        let lambda = points.iter().map(|(n, x)| x / n).fold(0.0, f64::max);
        let [mut aa, mut ab, mut bb, mut ay, mut by] = [0.0; 5];
        for (n, x) in points {
            let (a, b, y) = (n - 1.0, n * (n - 1.0), n * lambda / x - 1.0);
            // Weighted, so that the highest levels do not decide alone.
            let w = 1.0 / (n * n);
            aa += w * a * a;
            ab += w * a * b;
            bb += w * b * b;
            ay += w * a * y;
            by += w * b * y;
        }
        let det = aa * bb - ab * ab;
        let (sigma, kappa) = if det > 0.0 {
            ((ay * bb - by * ab) / det, (by * aa - ay * ab) / det)
        } else {
            (0.1, 0.0)
        };
        Self { lambda, sigma: sigma.max(1e-6), kappa: kappa.max(1e-12) }
    }

    /// Throughput at a concurrency.
    pub fn at(&self, n: f64) -> f64 {
        value([self.lambda, self.sigma, self.kappa], n)
    }

    /// Where throughput is highest: sqrt((1 - sigma) / kappa).
    pub fn peak(&self) -> Option<f64> {
        let level = ((1.0 - self.sigma) / self.kappa).sqrt();
        (level.is_finite() && level >= 1.0).then_some(level)
    }

    /// Share of the variance explained: R squared.
    pub fn explained(&self, points: &[(f64, f64)]) -> f64 {
        let mean = points.iter().map(|p| p.1).sum::<f64>() / points.len() as f64;
        let all: f64 = points.iter().map(|p| (p.1 - mean).powi(2)).sum();
        let left: f64 = points.iter().map(|p| (p.1 - self.at(p.0)).powi(2)).sum();
        if all > 0.0 { 1.0 - left / all } else { 0.0 }
    }

    /// Laws fitted to this one's values with its residuals drawn anew, widened by what three
    /// coefficients took out of them. Least squares on throughput take residuals to be of one size
    /// everywhere, and so does this.
    pub fn resampled(&self, points: &[(f64, f64)], times: usize) -> Vec<Self> {
        let n = points.len();
        let widen = (n as f64 / (n as f64 - 3.0).max(1.0)).sqrt();
        let residual = |p: &(f64, f64)| widen * (p.1 - self.at(p.0));
        let residuals: Vec<f64> = points.iter().map(residual).collect();
        let mut state = 0x5EED_u64;
        let mut draw = || {
            // Knuth's MMIX generator (TAOCP 2, 3.3.4); its high bits.
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            residuals[(state >> 33) as usize % n]
        };
        let mut again = || {
            let drawn = |p: &(f64, f64)| (p.0, (self.at(p.0) + draw()).max(self.at(p.0) / 10.0));
            points.iter().map(drawn).collect::<Vec<_>>()
        };
        (0..times).filter_map(|_| Self::fitted(&again())).collect()
    }
}

fn value([lambda, sigma, kappa]: Vector, n: f64) -> f64 {
    lambda * n / (1.0 + sigma * (n - 1.0) + kappa * n * (n - 1.0))
}

fn gradient([lambda, sigma, kappa]: Vector, n: f64) -> Vector {
    let below = 1.0 + sigma * (n - 1.0) + kappa * n * (n - 1.0);
    let slope = -lambda * n * (n - 1.0) / (below * below);
    [n / below, slope, slope * n]
}

fn squares(points: &[(f64, f64)], at: Vector) -> f64 {
    points.iter().map(|(n, x)| (x - value(at, *n)).powi(2)).sum()
}

fn descend(points: &[(f64, f64)], start: Vector, free: [bool; 3]) -> Option<Vector> {
    let (mut at, mut damping) = (start, 1e-3);
    let mut left = squares(points, at);
    for _ in 0..MOST_STEPS {
        let (mut normal, mut right) = ([[0.0; 3]; 3], [0.0; 3]);
        for (n, x) in points {
            let slope = gradient(at, *n);
            let off = x - value(at, *n);
            for i in (0..3).filter(|&i| free[i]) {
                right[i] += slope[i] * off;
                (0..3).filter(|&j| free[j]).for_each(|j| normal[i][j] += slope[i] * slope[j]);
            }
        }
        for i in 0..3 {
            normal[i][i] = if free[i] { normal[i][i] * (1.0 + damping) } else { 1.0 };
        }
        let step = solved(normal, right)?;
        let next = std::array::from_fn(|i| at[i] + step[i]);
        let then = squares(points, next);
        if then.is_finite() && then <= left {
            let gained = left - then;
            (at, left, damping) = (next, then, (damping / 10.0).max(1e-12));
            if gained <= CONVERGED * left.max(f64::MIN_POSITIVE) {
                break;
            }
        } else if damping < 1e12 {
            damping *= 10.0;
        } else {
            break;
        }
    }
    at.iter().all(|x| x.is_finite()).then_some(at)
}

/// Cramer's rule on columns brought to one scale.
fn solved(normal: [[f64; 3]; 3], right: Vector) -> Option<Vector> {
    let scale: Vector = std::array::from_fn(|i| normal[i][i].sqrt().max(f64::MIN_POSITIVE));
    let m: [[f64; 3]; 3] =
        std::array::from_fn(|i| std::array::from_fn(|j| normal[i][j] / (scale[i] * scale[j])));
    let r: Vector = std::array::from_fn(|i| right[i] / scale[i]);
    let det = |m: &[[f64; 3]; 3]| {
        m[0][0] * (m[1][1] * m[2][2] - m[1][2] * m[2][1])
            - m[0][1] * (m[1][0] * m[2][2] - m[1][2] * m[2][0])
            + m[0][2] * (m[1][0] * m[2][1] - m[1][1] * m[2][0])
    };
    let all = det(&m);
    if all == 0.0 || !all.is_finite() {
        return None;
    }
    Some(std::array::from_fn(|j| {
        let mut column = m;
        (0..3).for_each(|i| column[i][j] = r[i]);
        det(&column) / all / scale[j]
    }))
}
