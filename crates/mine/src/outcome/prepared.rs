//! The results of each endpoint that do not depend on other endpoints: its figures and the texts of its pools.

use model::Latencies;
use model::mined::MinedEndpoint;
use model::secret::MASK;

use super::Making;
use crate::pools::{Content, Table, parameters};
use crate::rows::Rows;
use crate::tally::{Endpoint, Variant};
use crate::template::{Piece, Template};

/// What an endpoint comes to by itself.
pub(super) struct Prepared {
    pub(super) mined: MinedEndpoint,
    /// Without their rows.
    pub(super) tables: Vec<Table>,
    /// The texts of its pools, of variants that have one, if it is an endpoint of the workload.
    pub(super) files: Option<Vec<Option<String>>>,
    /// Its template after `--map`.
    pub(super) path: Template,
}

impl Making<'_> {
    /// What an endpoint comes to, whatever the others are.
    pub(super) fn prepared(&self, at: usize, rows: &[Rows]) -> Prepared {
        let endpoint = &self.tally.endpoints[at];
        let template = self.template(endpoint);
        let keep_secrets = &self.wanted.keep_secrets;
        let table =
            |(variant, rows): (&Variant, &Rows)| Table::of(variant, rows, template, keep_secrets);
        let mut tables: Vec<Table> = endpoint.variants.iter().zip(rows).map(table).collect();
        let (method, path) = self.mapped(&endpoint.method, template);
        let mined = MinedEndpoint {
            method,
            path: path.text(),
            count: endpoint.count,
            peak: endpoint.peak,
            share: endpoint.peak as f64 / self.surveyed.peak.requests.max(1) as f64,
            rate_per_s: endpoint.peak as f64 / self.seconds,
            statuses: endpoint.statuses.by_status(),
            failed: endpoint.failed.by_status(),
            bytes: endpoint.bytes,
            parameters: parameters(&tables, &template.kinds),
            latency_ns: (endpoint.took.count() > 0).then(|| summary(endpoint)),
            latency_step_ns: (endpoint.took.count() > 0).then_some(endpoint.step_ns),
            examples: examples(template, &tables),
            workload_name: None,
            sent_per_s: None,
        };
        let csv = |table: &Table| (!table.rows.is_empty()).then(|| table.csv());
        let files = self.kept[at].then(|| tables.iter().map(csv).collect());
        tables.iter_mut().for_each(|table| table.rows = Vec::new());
        Prepared { mined, tables, files, path }
    }
}

/// The times that an endpoint's requests took.
pub(super) fn summary(endpoint: &Endpoint) -> model::Summary {
    let mut latencies = Latencies::new();
    endpoint.took.fill(&mut latencies);
    latencies.summary()
}

/// Requests as they came, put together from values of the pools; credentials are masked.
fn examples(template: &Template, tables: &[Table]) -> Vec<String> {
    const EXAMPLES: usize = 3;
    const LONGEST: usize = 120;
    let mut examples = Vec::new();
    for table in tables {
        let row = |at: usize| table.rows.get(at).map(|(row, _)| row.as_slice()).unwrap_or_default();
        for at in 0..table.rows.len().clamp(1, EXAMPLES) {
            let mut cells = row(at).iter();
            let mut of_path = Vec::new();
            let mut query = Vec::new();
            for column in &table.columns {
                let text = match &column.content {
                    Content::Fixed(text) => text.clone(),
                    Content::Secret => MASK.to_owned(),
                    Content::Column(_) => cells.next().cloned().unwrap_or_default(),
                };
                match column.in_path {
                    true => of_path.push(text),
                    false => query.push(format!("{}={text}", column.name)),
                }
            }
            let piece = |piece: &Piece| match piece {
                Piece::Fixed(text) => text.clone(),
                Piece::Parameter(at) => of_path.get(*at).cloned().unwrap_or_default(),
            };
            let mut text: String = template.pieces.iter().map(piece).collect();
            if !query.is_empty() {
                text += &format!("?{}", query.join("&"));
            }
            examples.push(text.chars().take(LONGEST).collect());
        }
    }
    examples.truncate(EXAMPLES);
    examples
}
