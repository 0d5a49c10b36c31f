//! What is watched, in a terminal: a block of lines for each source, from its last two samples.
//!
//! Owns words and layout. Does not own the samples nor the drawing.

use model::observed::{Unit, current};
use model::sample::{label, stem};
use model::units::Nanos;
use model::{Role, Sample};

use crate::figure::{bytes, clean, count, rate};

/// Sources shown.
const MOST_SOURCES: usize = 32;
/// Cells between a source's name and the end of the line fold below each other.
const INDENT: &str = "  ";

/// The last two samples of each source.
#[derive(Debug, Default)]
pub struct Table {
    sources: Vec<Row>,
}

#[derive(Debug)]
struct Row {
    name: String,
    role: Role,
    before: Option<Sample>,
    now: Sample,
}

impl Table {
    /// Takes a sample, read at `at_ns` by any steady clock.
    pub fn add(&mut self, sample: &Sample, at_ns: Nanos) {
        let now = Sample { at_ns: Some(at_ns), ..sample.clone() };
        let full = self.sources.len() >= MOST_SOURCES;
        match self.sources.iter_mut().find(|row| row.name == now.source) {
            Some(row) => row.before = Some(std::mem::replace(&mut row.now, now)),
            None if full => {}
            None => self.sources.push(Row {
                name: now.source.clone(),
                role: now.role,
                before: None,
                now,
            }),
        }
    }

    /// All sources, in lines of at most `columns`.
    pub fn lines(&self, columns: usize) -> String {
        let rows: Vec<String> = self.sources.iter().map(|row| row.lines(columns)).collect();
        rows.join("\n")
    }

    /// One source in a line; nothing before its second sample, unless it failed.
    pub fn line(&self, name: &str) -> Option<String> {
        let row = self.sources.iter().find(|row| row.name == name)?;
        if row.now.error.is_none() && row.before.is_none() {
            return None;
        }
        Some(format!("{}: {}", row.title(), row.cells().join(", ")))
    }
}

impl Row {
    fn title(&self) -> String {
        let name = clean(&self.name, 60);
        if name == self.role.name() { name } else { format!("{name} ({})", self.role.name()) }
    }

    fn lines(&self, columns: usize) -> String {
        let mut lines = vec![self.title()];
        for cell in self.cells() {
            match lines.last_mut() {
                Some(last) if lines_fit(last, &cell, columns) => *last = format!("{last}, {cell}"),
                _ => lines.push(format!("{INDENT}{cell}")),
            }
        }
        lines.join("\n")
    }

    fn cells(&self) -> Vec<String> {
        if let Some(error) = &self.now.error {
            return vec![format!("failed: {}", clean(error, 200))];
        }
        let Some(before) = &self.before else { return vec!["waiting for a second sample".into()] };
        let mut cells: Vec<String> = current(before, &self.now)
            .filter(|(_, _, value)| *value != 0.0)
            .map(|(name, unit, value)| format!("{name} {}", shown(unit, value)))
            .collect();
        if let Some(queue) = longest_queue(&self.now) {
            cells.push(queue);
        }
        for (what, why) in self.now.missing.iter().take(4) {
            cells.push(format!("no {what}: {}", clean(why, 60)));
        }
        cells
    }
}

fn lines_fit(line: &str, cell: &str, columns: usize) -> bool {
    line.starts_with(INDENT) && line.chars().count() + cell.chars().count() + 2 <= columns
}

/// The listener whose queue is the longest, if any waits.
fn longest_queue(sample: &Sample) -> Option<String> {
    let queues = sample.gauges.iter().filter(|(name, _)| stem(name) == "listen.queue");
    let (name, &queue) = queues.max_by(|a, b| a.1.total_cmp(b.1))?;
    let at = label(name)?;
    let of = sample.gauges.get(&format!("listen.backlog{{{at}}}"))?;
    (queue > 0.0).then(|| format!("{queue} of {of} wait at {}", clean(at, 60)))
}

/// A value in its unit.
pub fn shown(unit: Unit, value: f64) -> String {
    match unit {
        Unit::Ratio => format!("{:.0} %", value * 100.0),
        Unit::Cores => format!("{value:.2} cores"),
        Unit::Bytes => bytes(value),
        Unit::BytesPerS => format!("{}/s", bytes(value)),
        Unit::PerS => format!("{}/s", rate(value)),
        Unit::Count => count(value.max(0.0).round() as u64),
    }
}

#[cfg(test)]
mod tests {
    use model::units::SECOND;

    use super::*;

    fn sample(second: u64) -> Sample {
        let mut sample = Sample { source: "edge".into(), role: Role::Proxy, ..Sample::new(0) };
        sample.count("cpu.user_ns", second * SECOND);
        for zero in ["cpu.system_ns", "cpu.softirq_ns", "cpu.iowait_ns", "cpu.steal_ns"] {
            sample.count(zero, 0);
        }
        sample.count("cpu.idle_ns", second * SECOND);
        sample.gauge("memory.available_bytes", 3.5 * 1024.0 * 1024.0 * 1024.0);
        sample.gauge("listen.queue{0.0.0.0:80}", 3.0);
        sample.gauge("listen.backlog{0.0.0.0:80}", 511.0);
        sample
    }

    #[test]
    fn sources_in_lines() {
        let mut table = Table::default();
        table.add(&sample(1), SECOND);
        assert_eq!(table.line("edge"), None);
        assert_eq!(table.lines(80), "edge (proxy)\n  waiting for a second sample");
        table.add(&sample(2), 2 * SECOND);
        let wanted =
            "CPU 50 %, memory available 3.5 GiB, listen queue 3, 3 of 511 wait at 0.0.0.0:80";
        assert_eq!(table.line("edge").unwrap(), format!("edge (proxy): {wanted}"));
        assert_eq!(table.lines(100), format!("edge (proxy)\n  {wanted}"));
        assert!(
            table.lines(40).lines().all(|line| line.chars().count() <= 40),
            "{}",
            table.lines(40)
        );
        table.add(&Sample { source: "edge".into(), ..Sample::failed(0, "refused") }, 3 * SECOND);
        assert_eq!(table.line("edge").unwrap(), "edge (proxy): failed: refused");
    }
}
