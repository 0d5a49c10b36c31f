//! A comparison of results as JSON, `plimsoll.diff/1`.

use model::{CurveRow, LevelKind};
use schemars::JsonSchema;
use serde::Serialize;
use verdict::Diff;
use verdict::comparison::levels::AtLevel;
use verdict::diff::DiffRow;

/// Every figure of the comparison. Times in nanoseconds, ratios as fractions of the first curve.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Document<'a> {
    /// `plimsoll.diff/1`.
    schema: &'static str,
    /// What the levels are.
    kind: LevelKind,
    /// The results; the first is what the others are compared with.
    curves: Vec<Best<'a>>,
    /// The levels that any of them has, ascending.
    levels: Vec<Row<'a>>,
    /// Best against best in words, of each but the first.
    sentences: Vec<String>,
    /// What makes them less comparable than they look.
    notes: &'a [String],
    /// Each but the first judged against the first, level by level; empty of results without runs.
    judgements: &'a [Vec<AtLevel>],
}

/// The best level of a result.
#[derive(Debug, Serialize, JsonSchema)]
struct Best<'a> {
    /// What the result is called.
    name: &'a str,
    /// The level with its highest QPS; null where no level has a usable one.
    best: Option<&'a CurveRow>,
    /// Its best QPS over the first one's.
    best_qps_ratio: Option<f64>,
}

/// A level.
#[derive(Debug, Serialize, JsonSchema)]
struct Row<'a> {
    /// Connections, or arrivals per second.
    level: f64,
    /// What each result has there, in their order.
    curves: Vec<Cell<'a>>,
}

/// A result at a level.
#[derive(Debug, Serialize, JsonSchema)]
struct Cell<'a> {
    /// Its figures; null where it has no such level.
    figures: Option<&'a CurveRow>,
    /// Its QPS over the first one's.
    qps_ratio: Option<f64>,
    /// Its mean over the first one's.
    mean_ratio: Option<f64>,
}

/// The document of a comparison.
pub fn document<'a>(diff: &'a Diff, judgements: &'a [Vec<AtLevel>]) -> Document<'a> {
    let best = |of: usize| Best {
        name: &diff.names[of],
        best: diff.best.get(of).and_then(Option::as_ref),
        best_qps_ratio: diff.best_ratio(of),
    };
    Document {
        schema: "plimsoll.diff/1",
        kind: diff.kind,
        curves: (0..diff.names.len()).map(best).collect(),
        levels: diff.rows.iter().map(row).collect(),
        sentences: (1..diff.names.len()).filter_map(|of| diff.best_sentence(of)).collect(),
        notes: &diff.notes,
        judgements,
    }
}

fn row(row: &DiffRow) -> Row<'_> {
    let cell = |of: usize| Cell {
        figures: row.cells[of].as_ref(),
        qps_ratio: row.qps_ratio(of),
        mean_ratio: row.mean_ratio(of),
    };
    Row { level: row.level, curves: (0..row.cells.len()).map(cell).collect() }
}
