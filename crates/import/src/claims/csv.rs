//! CSVs whose header says what their columns are: tables of levels, Locust's statistics, and hey's samples.
//!
//! Owns the names that columns go by, and their units: a mean without one is refused, not guessed. JTL, which is CSV
//! too, has its own marks.

use model::histogram::Latencies;
use model::units::{LONGEST, MICROSECOND, MILLISECOND, Nanos, SECOND};
use model::{Claim, Claims, LoopKind, Tool};

use super::MOST_ROWS;
use super::figure::{self, Printed, in_unit};
use crate::BadFile;
use model::quote::{plain, quote};

/// Names of columns, without case and what stands between words; those that can mean something else come last.
const QPS: [&str; 10] = [
    "qps",
    "rps",
    "requestspersec",
    "requestspersecond",
    "requestspers",
    "requestss",
    "reqs",
    "reqsec",
    "requestssec",
    "throughput",
];
const CONNECTIONS: [&str; 6] = ["connections", "concurrency", "c", "users", "vus", "threads"];
const RATE: [&str; 5] = ["rate", "ratepers", "targetrate", "offered", "arrivals"];
const MEAN: [&str; 7] =
    ["mean", "avg", "average", "meanlatency", "avglatency", "latencymean", "latencyavg"];
/// Units of times at the end of a column's name; the micro sign is a letter of its own beside the Greek one.
const UNITS: [&str; 6] = ["ns", "us", "µs", "μs", "ms", "s"];
/// How Locust calls the row of all requests.
const ALL_OF_LOCUST: &str = "Aggregated";

/// What a header says that a CSV is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// A row for each level.
    Table,
    /// `NAME_stats.csv` of Locust.
    Locust,
    /// `hey -o csv`: a row for each response.
    HeySamples,
}

/// The kind that a first line is the header of.
pub(super) fn kind(first: &str) -> Option<Kind> {
    let cells: Vec<&str> = cells(first).collect();
    let has = |name: &str| cells.contains(&name);
    let is_any = |names: &[&str]| cells.iter().any(|cell| names.contains(&folded(cell).as_str()));
    match () {
        () if has("response-time") && has("status-code") && has("offset") => Some(Kind::HeySamples),
        () if has("Average Response Time") && has("Request Count") => Some(Kind::Locust),
        () if is_any(&QPS) && cells.iter().any(|cell| mean_unit(cell).is_some()) => {
            Some(Kind::Table)
        }
        () => None,
    }
}

/// The cells of a header, as far as names need no quotes.
fn cells(line: &str) -> impl Iterator<Item = &str> {
    let between = char::from(separator(line.as_bytes()));
    line.trim().split(between).map(|cell| cell.trim().trim_matches('"'))
}

fn separator(bytes: &[u8]) -> u8 {
    let line = bytes.split(|&byte| byte == b'\n').next().unwrap_or_default();
    [b';', b'\t'].into_iter().find(|byte| line.contains(byte)).unwrap_or(b',')
}

/// A name without case, blanks and what stands between words.
fn folded(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// The unit of a column of means, by its name: `mean_ms`, `Average (us)`.
fn mean_unit(name: &str) -> Option<&'static str> {
    unit_behind(name, |rest| MEAN.contains(&rest))
}

/// The unit at the end of a name whose rest is named so. The `s` of a plural, as in `means`, is none.
fn unit_behind(name: &str, is_named: impl Fn(&str) -> bool) -> Option<&'static str> {
    let plural = name.trim_end_matches(|c: char| !c.is_alphanumeric());
    let plural =
        plural.strip_suffix(['s', 'S']).is_some_and(|rest| rest.ends_with(char::is_alphanumeric));
    let folded = folded(name);
    let known = |unit: &&str| {
        !(plural && *unit == "s") && folded.strip_suffix(*unit).is_some_and(&is_named)
    };
    UNITS.into_iter().find(known)
}

/// The share of a column of percentiles and its unit: `p99_ms`, `99%` with the unit of the whole.
fn percentile(name: &str) -> Option<(f64, &'static str)> {
    let text = name.trim().strip_prefix(['p', 'P'])?;
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.')?;
    let percent: f64 = text[..end].parse().ok()?;
    let unit = unit_behind(&text[end..], str::is_empty)?;
    (percent > 0.0 && percent < 100.0).then_some((percent / 100.0, unit))
}

/// Reads a CSV of this kind.
///
/// # Errors
/// On a line whose figures are invalid, or where there is none.
pub(super) fn claims(bytes: &[u8], kind: Kind) -> Result<Claims, BadFile> {
    let separator = separator(bytes);
    let mut reader =
        ::csv::ReaderBuilder::new().delimiter(separator).flexible(true).from_reader(bytes);
    let header = reader.headers().map_err(|error| unreadable(&error))?.clone();
    let names: Vec<&str> = header.iter().map(str::trim).collect();
    let mut table = Table { names, rows: Vec::new() };
    let mut samples = Samples::default();
    let mut record = ::csv::StringRecord::new();
    while reader.read_record(&mut record).map_err(|error| unreadable(&error))? {
        let line = record.position().map_or(0, |position| position.line() as usize);
        match kind {
            Kind::Table => table.level(line, &record)?,
            Kind::Locust => table.locust(line, &record)?,
            Kind::HeySamples => samples.add(line, &table.names, &record)?,
        }
        if table.rows.len() > MOST_ROWS {
            return Err(BadFile::at(line, format!("more than {MOST_ROWS} rows")));
        }
    }
    if kind == Kind::HeySamples {
        return samples.claims();
    }
    if table.rows.is_empty() {
        return Err(BadFile::whole("a table without any row"));
    }
    let tool = if kind == Kind::Locust { Tool::Locust } else { Tool::Csv };
    Ok(Claims::new(tool, table.rows))
}

#[derive(Debug)]
struct Table<'a> {
    names: Vec<&'a str>,
    rows: Vec<Claim>,
}

impl Table<'_> {
    /// The cell of the column that is called by the first of these names that any is called by; none where it is
    /// empty. `threads` are connections only where no column is called that.
    fn cell<'r>(&self, record: &'r ::csv::StringRecord, names: &[&str]) -> Option<&'r str> {
        let called = |known: &&str| self.names.iter().position(|name| folded(name) == *known);
        let at = names.iter().find_map(called)?;
        record.get(at).map(str::trim).filter(|cell| !cell.is_empty())
    }

    fn number(
        &self,
        line: usize,
        record: &::csv::StringRecord,
        names: &[&str],
    ) -> Result<Option<f64>, BadFile> {
        let cell = self.cell(record, names);
        cell.map(|cell| figure::number(line, names[0], cell)).transpose()
    }

    /// A row of a table of levels.
    fn level(&mut self, line: usize, record: &::csv::StringRecord) -> Result<(), BadFile> {
        let Some(qps) = self.number(line, record, &QPS)? else {
            return Err(BadFile::at(line, "no requests per second (is the line cut short?)"));
        };
        let connections = self.number(line, record, &CONNECTIONS)?.filter(|number| *number > 0.0);
        let rate_per_s = self.number(line, record, &RATE)?.filter(|number| *number > 0.0);
        let mut claim = Claim::new(qps, None);
        let mut timed = |name: &str, cell: &str| -> Result<(), BadFile> {
            let (share, unit) = match (mean_unit(name), percentile(name)) {
                (Some(unit), _) => (None, unit),
                (None, Some((share, unit))) => (Some(share), unit),
                (None, None) => return Ok(()),
            };
            let Printed { ns, error_ns } = in_unit(line, name, cell, unit)?;
            match share {
                Some(share) => {
                    claim.quantile_error_ns = claim.quantile_error_ns.max(error_ns);
                    claim.quantiles.push((share, ns));
                }
                None => (claim.mean_ns, claim.error_ns) = (Some(ns), error_ns),
            }
            Ok(())
        };
        for (name, cell) in self.names.iter().zip(record) {
            if !cell.trim().is_empty() {
                timed(name, cell.trim())?;
            }
        }
        claim.quantiles.sort_by(|a, b| a.0.total_cmp(&b.0));
        claim.connections = connections;
        if rate_per_s.is_some() {
            (claim.loop_kind, claim.rate_per_s) = (LoopKind::Open, rate_per_s);
        }
        self.rows.push(claim);
        Ok(())
    }

    /// A row of Locust's statistics: that of all requests is the one that counts. Times are in milliseconds.
    fn locust(&mut self, line: usize, record: &::csv::StringRecord) -> Result<(), BadFile> {
        if self.cell(record, &["name"]) != Some(ALL_OF_LOCUST) {
            return Ok(());
        }
        let needed = |name: &str, column: &str| {
            self.cell(record, &[name]).map(str::to_owned).ok_or_else(|| {
                BadFile::at(line, format!("no {} (is the line cut short?)", quote(column)))
            })
        };
        let number =
            |name: &str, column: &str| figure::number(line, column, &needed(name, column)?);
        let time = |name: &str, column: &str| in_unit(line, column, &needed(name, column)?, "ms");
        let requests = number("requestcount", "Request Count")?;
        let failures = number("failurecount", "Failure Count")?;
        let mean = time("averageresponsetime", "Average Response Time")?;
        let mut claim = Claim::new(number("requestss", "Requests/s")?, Some(mean.ns));
        for (name, cell) in self.names.iter().zip(record) {
            let percent = name.strip_suffix('%').and_then(|percent| percent.parse::<f64>().ok());
            if let Some(percent) = percent.filter(|percent| *percent < 100.0)
                && let Ok(printed) = in_unit(line, name, cell.trim(), "ms")
            {
                claim.quantiles.push((percent / 100.0, printed.ns));
            }
        }
        let min_ns = time("minresponsetime", "Min Response Time")?.ns;
        let max_ns = time("maxresponsetime", "Max Response Time")?.ns;
        for (_, ns) in &mut claim.quantiles {
            *ns = within_rounding(*ns, min_ns, max_ns);
        }
        (claim.min_ns, claim.max_ns) = (Some(min_ns), Some(max_ns));
        claim.error_ns = MILLISECOND;
        claim.requests = Some(requests as u64);
        claim.success = (requests > 0.0).then(|| 1.0 - (failures / requests).min(1.0));
        (claim.loop_kind, claim.pauses) = (LoopKind::Users, true);
        self.rows.push(claim);
        Ok(())
    }
}

/// A percentile of Locust's, which rounds latencies to two digits but the least and greatest: one that lies outside
/// those by no more than the rounding is the end itself.
fn within_rounding(ns: Nanos, min_ns: Nanos, max_ns: Nanos) -> Nanos {
    let half_step = |end: Nanos| match end / MILLISECOND {
        0..100 => MILLISECOND / 2,
        100..1_000 => 5 * MILLISECOND,
        1_000..10_000 => 50 * MILLISECOND,
        _ => 500 * MILLISECOND,
    };
    let near = |end: Nanos| ns.abs_diff(end) <= half_step(end);
    match ns {
        _ if ns > max_ns && near(max_ns) => max_ns,
        _ if ns < min_ns && near(min_ns) => min_ns,
        _ => ns,
    }
}

/// hey's samples summed up.
#[derive(Debug, Default)]
struct Samples {
    latencies: Latencies,
    succeeded: u64,
    first_ns: Option<Nanos>,
    last_ns: Nanos,
}

impl Samples {
    fn add(
        &mut self,
        line: usize,
        names: &[&str],
        record: &::csv::StringRecord,
    ) -> Result<(), BadFile> {
        let cell = |name: &str| {
            let at = names.iter().position(|other| *other == name);
            at.and_then(|at| record.get(at)).map(str::trim).unwrap_or_default()
        };
        let took = in_unit(line, "response-time", cell("response-time"), "secs")?.ns;
        let began = in_unit(line, "offset", cell("offset"), "secs")?.ns;
        if began.max(took) > LONGEST / 2 {
            return Err(BadFile::at(line, "longer than ten years"));
        }
        let status = figure::count(line, "status-code", cell("status-code"))?;
        self.latencies.record(took);
        self.succeeded += u64::from(status < 400);
        self.first_ns = Some(self.first_ns.map_or(began, |first| first.min(began)));
        self.last_ns = self.last_ns.max(began + took);
        Ok(())
    }

    fn claims(self) -> Result<Claims, BadFile> {
        let Some(first_ns) = self.first_ns else {
            return Err(BadFile::whole("a CSV of hey without any response"));
        };
        let summary = self.latencies.summary();
        let duration_ns = self.last_ns - first_ns;
        let seconds = duration_ns as f64 / SECOND as f64;
        let qps = if seconds > 0.0 { summary.count as f64 / seconds } else { 0.0 };
        let row = Claim {
            // Four decimals of a second.
            error_ns: 50 * MICROSECOND,
            min_ns: Some(summary.min),
            max_ns: Some(summary.max),
            quantiles: vec![(0.5, summary.p50), (0.9, summary.p90), (0.99, summary.p99)],
            requests: Some(summary.count),
            duration_ns: Some(duration_ns),
            // hey leaves requests that failed out of it.
            success: Some(self.succeeded as f64 / summary.count as f64),
            ..Claim::new(qps, Some(summary.mean))
        };
        Ok(Claims::new(Tool::Hey, vec![row]))
    }
}

fn unreadable(error: &::csv::Error) -> BadFile {
    BadFile::whole(plain(&error.to_string(), 200))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Claims, BadFile> {
        crate::claims(text.as_bytes())
    }

    fn only(text: &str) -> (Tool, Claim) {
        let mut claims = read(text).unwrap_or_else(|error| panic!("{error}: {text}"));
        assert_eq!(claims.rows.len(), 1, "{text}");
        (claims.tool, claims.rows.remove(0))
    }

    #[test]
    fn a_table_is_read_by_the_names_of_its_columns() {
        let (tool, claim) = only("connections,qps,mean_ms\n200,1000.5,2.5\n");
        assert_eq!(tool, Tool::Csv);
        assert_eq!(
            (claim.connections, claim.qps, claim.mean_ns),
            (Some(200.0), 1000.5, Some(2_500_000))
        );
        assert_eq!(claim.error_ns, 50_000);
        let (_, claim) = only("Rate;RPS;Avg latency (us);p99_ms\n500;499;810;3\n");
        assert_eq!((claim.rate_per_s, claim.loop_kind), (Some(500.0), LoopKind::Open));
        assert_eq!((claim.mean_ns, claim.quantiles), (Some(810_000), vec![(0.99, 3_000_000)]));
        let (_, claim) = only("rate_per_s,requests_per_s,Mean (µs),P50 [μs]\n500,499,810,700\n");
        assert_eq!(
            (claim.rate_per_s, claim.qps, claim.mean_ns),
            (Some(500.0), 499.0, Some(810_000))
        );
        assert_eq!(claim.quantiles, [(0.5, 700_000)]);
        let (_, claim) = only("c,qps,mean_us,p99_ms\n50,62937,1200,9\n");
        assert_eq!((claim.error_ns, claim.quantile_error_ns), (500, 500_000));
        let (_, claim) = only("c,qps,mean (s),p99_s\n1,2,0.5,0.75\n");
        assert_eq!(
            (claim.mean_ns, claim.quantiles),
            (Some(500_000_000), vec![(0.99, 750_000_000)])
        );
        let several = read("c,req/s,mean_ms\n1,100,9\n2,200,9\n").unwrap();
        assert_eq!(several.rows.len(), 2);
    }

    #[test]
    fn the_plainest_name_is_read_where_several_would_do() {
        let (_, claim) = only("threads,connections,throughput,qps,mean_ms\n12,1000,4.5,9000,100\n");
        assert_eq!((claim.connections, claim.qps), (Some(1000.0), 9000.0));
        let (_, claim) = only("threads,throughput,mean_ms\n12,9000,1\n");
        assert_eq!((claim.connections, claim.qps), (Some(12.0), 9000.0));
    }

    #[test]
    fn what_has_no_unit_or_no_figure_is_refused() {
        for (text, needle) in [
            ("connections,qps,mean\n1,2,3\n", "unknown format"),
            ("connections,qps,means\n1,2,3\n", "unknown format"),
            ("connections,qps,mean_ms\n1,x,3\n", "line 2"),
            ("connections,qps,mean_ms\n1,,3\n", "line 2: no requests per second"),
            ("connections,qps,mean_ms\n1,5,-3\n", "negative"),
            ("connections,qps,mean_ms\n", "without any row"),
            ("response-time,status-code,offset\n", "without any response"),
        ] {
            let error = read(text).unwrap_err().to_string();
            assert!(error.contains(needle), "{text}: {error}");
        }
    }

    #[test]
    fn locusts_row_of_all_requests_counts() {
        let text = "Type,Name,Request Count,Failure Count,Median Response Time,Average Response Time,Min Response Time,\
            Max Response Time,Average Content Size,Requests/s,Failures/s,50%,99%,100%\n\
            GET,/a,600,0,5,6.1,1.2,40.5,10,20.0,0.0,5,30,41\n\
            ,Aggregated,1000,10,5,6.25,1.2,50.5,10,33.3,0.3,5,32,51\n";
        let (tool, claim) = only(text);
        assert_eq!((tool, claim.loop_kind, claim.pauses), (Tool::Locust, LoopKind::Users, true));
        assert_eq!((claim.qps, claim.mean_ns), (33.3, Some(6_250_000)));
        assert_eq!((claim.requests, claim.success), (Some(1000), Some(0.99)));
        assert_eq!(claim.quantiles, [(0.5, 5_000_000), (0.99, 32_000_000)]);
    }

    #[test]
    fn locusts_rounding_contradicts_no_end_of_the_range() {
        let of = |min: &str, max: &str, p50: &str, p999: &str| {
            let head = "Type,Name,Request Count,Failure Count,Average Response Time,Min Response Time,Max Response Time,\
                Requests/s,50%,99.9%,100%\n";
            only(&format!("{head},Aggregated,1000,0,150,{min},{max},33.3,{p50},{p999},{p999}\n")).1
        };
        let rounded = of("144.9", "1460", "140", "1500");
        let ms = |ms: f64| (ms * 1e6) as Nanos;
        assert_eq!(rounded.quantiles, [(0.5, ms(144.9)), (0.999, ms(1460.0))]);
        let edited = of("144.9", "1460", "130", "1600");
        assert_eq!(edited.quantiles, [(0.5, ms(130.0)), (0.999, ms(1600.0))]);
    }

    #[test]
    fn heys_samples_are_summed_up() {
        let text = "response-time,DNS+dialup,DNS,Request-write,Response-delay,Response-read,status-code,offset\n\
            0.0100,0.0001,0.0000,0.0000,0.0099,0.0000,200,0.0000\n\
            0.0300,0.0001,0.0000,0.0000,0.0299,0.0000,503,0.4700\n";
        let (tool, claim) = only(text);
        assert_eq!(
            (tool, claim.requests, claim.duration_ns),
            (Tool::Hey, Some(2), Some(500_000_000))
        );
        assert_eq!((claim.qps, claim.success), (4.0, Some(0.5)));
        assert_eq!(claim.mean_ns, Some(20_000_000));
    }
}
