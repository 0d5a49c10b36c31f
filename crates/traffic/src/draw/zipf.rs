//! Zipf's law: rank r is drawn with a probability in proportion to r^-s, by rejection-inversion
//! (Hörmann and Derflinger 1996, "Rejection-inversion to generate variates from monotone discrete
//! distributions"), which needs no table and about 1.1 tries.

use model::random::Draws;

/// Ranks from 1 to a number, the first the most frequent.
#[derive(Debug, Clone)]
pub(crate) struct Zipf {
    ranks: f64,
    exponent: f64,
    from: f64,
    to: f64,
    sure: f64,
}

impl Zipf {
    /// `ranks` is above 0; `exponent` is finite and above 0.
    pub(crate) fn new(ranks: u64, exponent: f64) -> Self {
        let mut zipf = Self { ranks: ranks as f64, exponent, from: 0.0, to: 0.0, sure: 0.0 };
        zipf.from = zipf.integral(1.5) - 1.0;
        zipf.to = zipf.integral(zipf.ranks + 0.5);
        zipf.sure = 2.0 - zipf.inverse(zipf.integral(2.5) - zipf.density(2.0));
        zipf
    }

    pub(crate) fn draw(&self, draws: &mut Draws) -> u64 {
        loop {
            let area = self.to + draws.unit() * (self.from - self.to);
            let x = self.inverse(area);
            let rank = (x + 0.5).floor().clamp(1.0, self.ranks);
            if rank - x <= self.sure || area >= self.integral(rank + 0.5) - self.density(rank) {
                return rank as u64;
            }
        }
    }

    fn density(&self, x: f64) -> f64 {
        (-self.exponent * x.ln()).exp()
    }

    /// The density's integral, which is x^(1-s)/(1-s) but for a constant, and ln x at s = 1.
    fn integral(&self, x: f64) -> f64 {
        let power = (1.0 - self.exponent) * x.ln();
        let factor = if power.abs() > 1e-8 { power.exp_m1() / power } else { 1.0 + power / 2.0 };
        factor * x.ln()
    }

    fn inverse(&self, area: f64) -> f64 {
        let power = (area * (1.0 - self.exponent)).max(-1.0);
        let factor = if power.abs() > 1e-8 { power.ln_1p() / power } else { 1.0 - power / 2.0 };
        (factor * area).exp()
    }
}

#[cfg(test)]
mod tests {
    use model::Draw;

    use super::*;
    use crate::draw::Purpose;

    #[test]
    fn ranks_come_as_often_as_the_law_says() {
        const RANKS: u64 = 20;
        for exponent in [0.5, 1.0, 1.2, 3.0] {
            let zipf = Zipf::new(RANKS, exponent);
            let mut draws = crate::draw::stream(5, Draw::default(), Purpose::Choice);
            let n = 200_000;
            let mut counts = [0u32; RANKS as usize];
            for _ in 0..n {
                counts[zipf.draw(&mut draws) as usize - 1] += 1;
            }
            let weight = |rank: u64| (rank as f64).powf(-exponent);
            let total: f64 = (1..=RANKS).map(weight).sum();
            let chi: f64 = (1..=RANKS)
                .map(|rank| {
                    let expected = f64::from(n) * weight(rank) / total;
                    (f64::from(counts[rank as usize - 1]) - expected).powi(2) / expected
                })
                .sum();
            // 19 degrees of freedom: above 43.8 once in 1,000.
            assert!(chi < 43.8, "s = {exponent}: {chi}, {counts:?}");
        }
    }

    #[test]
    fn one_rank_and_many_are_fine() {
        let mut draws = crate::draw::stream(5, Draw::default(), Purpose::Choice);
        assert_eq!(Zipf::new(1, 1.0).draw(&mut draws), 1);
        let many = Zipf::new(10_000_000_000, 0.9);
        assert!((0..1000).all(|_| (1..=10_000_000_000).contains(&many.draw(&mut draws))));
    }
}
