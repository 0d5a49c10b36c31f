//! The Universal Scalability Law fitted to a curve over concurrency, or why it is not.
//!
//! The fit is `statistics::usl`'s; here is which points count, when they do not support the law, how sure the
//! predicted peak is, and what it all means for adding load. The law is a description of the levels
//! measured: it is drawn over them alone, and a peak far beyond them is withheld.

use model::{Curve, CurveRow, LevelKind, Peak, Usl, Verdict};
use statistics::usl::Law;

use crate::curve::MIN_SUCCESS;
use crate::figures::{level as show, percent, rate};

/// Levels that three coefficients need at least.
const FEWEST: usize = 6;
/// Ratio of the highest level to the lowest below which a bend cannot be seen.
const RANGE: f64 = 4.0;
/// Share of the variance that the law must explain.
const EXPLAINED: f64 = 0.95;
/// A peak further out than this many times the highest level is not predicted.
const REACH: f64 = 1.5;
/// Resamplings of the residuals behind an interval.
const RESAMPLINGS: usize = 500;

/// The law fitted to a curve.
///
/// # Errors
/// Why the points do not support it, in words.
pub fn of(curve: &Curve) -> Result<Usl, String> {
    if curve.kind == LevelKind::Rate {
        return Err("the law describes concurrency, but these levels are rates".to_owned());
    }
    let points: Vec<(f64, f64)> =
        curve.rows.iter().filter(|row| counts(row)).map(|row| (row.level, row.qps)).collect();
    let [(from_level, _), .., (to_level, _)] = points[..] else { return Err(too_few(&points)) };
    if points.len() < FEWEST {
        return Err(too_few(&points));
    }
    if to_level < RANGE * from_level {
        let (from, to) = (show(from_level), show(to_level));
        return Err(format!("levels from {from} to {to} are too close together to show a bend"));
    }
    let law = Law::fitted(&points).ok_or("the points do not fit the law")?;
    let r2 = law.explained(&points);
    if r2 < EXPLAINED {
        return Err(format!(
            "the levels do not follow the law: it explains {} of them",
            percent(r2)
        ));
    }
    Ok(Usl {
        lambda: law.lambda,
        sigma: law.sigma,
        kappa: law.kappa,
        r2,
        levels: points.len() as u32,
        from_level,
        to_level,
        peak: peak(&law, &points, to_level),
    })
}

/// Lower bounds and failures would bend the curve by what is not the server's.
fn counts(row: &CurveRow) -> bool {
    let believed = matches!(row.verdict, None | Some(Verdict::Valid));
    let sound = row.success.is_none_or(|ratio| ratio >= MIN_SUCCESS);
    believed && sound && !row.cut_short && row.level >= 1.0 && row.qps.is_finite() && row.qps > 0.0
}

fn too_few(points: &[(f64, f64)]) -> String {
    format!("{FEWEST} levels or more that are VALID are needed, and there are {}", points.len())
}

fn peak(law: &Law, points: &[(f64, f64)], to_level: f64) -> Option<Peak> {
    let level = law.peak()?;
    if level > REACH * to_level {
        return None;
    }
    let resampled = law.resampled(points, RESAMPLINGS);
    let mut levels: Vec<f64> =
        resampled.iter().map(|law| law.peak().unwrap_or(f64::INFINITY)).collect();
    // Where a resampling has no peak, the most within reach stands for it.
    let top = |law: &Law| law.at(law.peak().unwrap_or(f64::INFINITY).min(REACH * to_level));
    let mut tops: Vec<f64> = resampled.iter().map(top).collect();
    let (level_low, level_high) = middle_95(&mut levels);
    let (qps_low, qps_high) = middle_95(&mut tops);
    Some(Peak {
        level,
        level_low: level_low.min(level),
        level_high: Some(level_high.max(level)).filter(|high| high.is_finite()),
        qps: law.at(level),
        qps_low: qps_low.min(law.at(level)),
        qps_high: qps_high.max(law.at(level)),
        extrapolated: level > to_level,
    })
}

fn middle_95(values: &mut [f64]) -> (f64, f64) {
    values.sort_by(f64::total_cmp);
    let at = |share: f64| values[((values.len() - 1) as f64 * share).round() as usize];
    (at(0.025), at(0.975))
}

/// What the fit means for adding load, in a few sentences.
pub fn words(usl: &Usl) -> String {
    let mut words = format!(
        "The Universal Scalability Law, fitted to {} levels from {} to {} connections, explains {} \
         of their QPS. ",
        usl.levels,
        show(usl.from_level),
        show(usl.to_level),
        percent(usl.r2)
    );
    words += &match usl.sigma {
        sigma if sigma > 0.0 => format!(
            "Contention {sigma:.4}: {} of the work is serialized, so no number of connections \
             yields more than {}/s. ",
            percent(sigma.min(1.0)),
            rate(usl.lambda / sigma)
        ),
        _ => "Contention 0: none of the work is serialized. ".to_owned(),
    };
    words += &match usl.kappa {
        kappa if kappa > 0.0 => format!("Coherency {kappa:.3e}: connections hinder each other. "),
        _ => "Coherency 0: connections do not hinder each other. ".to_owned(),
    };
    words
        + &usl.peak.as_ref().map_or_else(
            || "It predicts no peak near the levels measured; none is extrapolated.".to_owned(),
            peak_words,
        )
}

fn peak_words(peak: &Peak) -> String {
    let whole = |level: f64| show(level.round());
    let beyond = if peak.extrapolated {
        ", beyond the highest level measured: run that level before you rely on it"
    } else {
        "; more connections than that lower QPS"
    };
    let levels = match peak.level_high {
        Some(high) => format!("{} to {}", whole(peak.level_low), whole(high)),
        None => format!("{} or more", whole(peak.level_low)),
    };
    format!(
        "It predicts a peak of {}/s ({} to {}), at {} connections ({levels}){beyond}.",
        rate(peak.qps),
        rate(peak.qps_low),
        rate(peak.qps_high),
        whole(peak.level)
    )
}

#[cfg(test)]
mod tests;
