//! A comparison as JSON.

use serde_json::{Value, json};
use verdict::Diff;
use verdict::comparison::levels::AtLevel;

/// Every figure of the comparison. Times in nanoseconds, ratios as fractions of the last curve.
pub fn document(diff: &Diff, judgements: &[Vec<AtLevel>]) -> Value {
    let curves: Vec<Value> = (0..diff.names.len())
        .map(|of| {
            json!({
                "name": diff.names[of],
                "best": diff.best[of],
                "best_qps_ratio": diff.best_ratio(of),
            })
        })
        .collect();
    let levels: Vec<Value> = diff
        .rows
        .iter()
        .map(|row| {
            let cells: Vec<Value> = (0..row.cells.len())
                .map(|of| {
                    json!({
                        "figures": row.cells[of],
                        "qps_ratio": row.qps_ratio(of),
                        "mean_ratio": row.mean_ratio(of),
                    })
                })
                .collect();
            json!({ "level": row.level, "curves": cells })
        })
        .collect();
    let sentences: Vec<String> =
        (0..diff.names.len().saturating_sub(1)).filter_map(|of| diff.best_sentence(of)).collect();
    json!({
        "schema": "plimsoll.diff/1",
        "kind": diff.kind,
        "curves": curves,
        "levels": levels,
        "sentences": sentences,
        "notes": diff.notes,
        "judgements": judgements,
    })
}
