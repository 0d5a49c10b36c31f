//! Results of any tool as [`Claims`], for `verdict::audit` to judge.
//!
//! Owns telling the formats apart, each by its own marks and not by the file's name, and the bounds
//! on what is read. Each format's own module turns text into rows.

mod ab;
mod blocks;
mod csv;
mod figure;
mod hey;
mod jtl;
mod k6;
mod oha;
mod records;
mod vegeta;
mod wrk;

use model::{Claim, Claims, Curve, Latency, LevelKind, LoopKind, Tool};
use serde::de::DeserializeOwned;

use crate::results::detect::{Kind, detect};
use crate::results::without_bom;
use crate::{BadFile, dat, load_run, load_sweep};

/// Rows read of one file at most.
pub(crate) const MOST_ROWS: usize = 100_000;
/// Bytes of a printout or of another tool's JSON at most; JTL is bounded by the caller.
const LARGEST_TEXT: usize = 64 << 20;
/// How far into a text its marks are looked for.
const HEAD: usize = 64 << 10;

/// Reads a result of any known format.
///
/// # Errors
/// When the format is not known (the known ones are listed), or the file is damaged.
pub fn claims(bytes: &[u8]) -> Result<Claims, BadFile> {
    let bytes = without_bom(bytes);
    match form(bytes)? {
        Form::Run => Ok(Claims::of_run(&load_run(bytes)?)),
        Form::Sweep => {
            let sweep = load_sweep(bytes)?;
            if sweep.levels.is_empty() {
                return Err(BadFile::whole("a sweep without any level"));
            }
            Ok(Claims::of_sweep(&sweep))
        }
        Form::Dat => Ok(of_table(&dat::parse("", bytes)?)),
        Form::K6 => k6::claims(bounded(bytes)?),
        Form::Vegeta => vegeta::claims(bounded(bytes)?),
        Form::OhaJson => oha::from_json(bounded(bytes)?),
        Form::Csv(kind) => csv::claims(bytes, kind),
        Form::JtlCsv => jtl::from_csv(bytes),
        Form::JtlXml => jtl::from_xml(bytes),
        Form::Wrk => blocks::read::<wrk::Wrk>(text(bytes)?, Tool::Wrk),
        Form::Wrk2 => blocks::read::<wrk::Wrk>(text(bytes)?, Tool::Wrk2),
        Form::Ab => blocks::read::<ab::Ab>(text(bytes)?, Tool::Ab),
        Form::Hey => blocks::read::<hey::Hey>(text(bytes)?, Tool::Hey),
        Form::OhaText => blocks::read::<oha::Oha>(text(bytes)?, Tool::Oha),
    }
}

/// The formats in words, as a list.
fn known_formats() -> String {
    let forms: Vec<&str> = Tool::ALL.into_iter().map(Tool::form).collect();
    let (last, others) = forms.split_last().expect("there are tools");
    format!("{}; and {last}", others.join("; "))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Dat,
    Run,
    Sweep,
    K6,
    Vegeta,
    OhaJson,
    Csv(csv::Kind),
    JtlCsv,
    JtlXml,
    Wrk,
    Wrk2,
    Ab,
    Hey,
    OhaText,
}

fn form(bytes: &[u8]) -> Result<Form, BadFile> {
    if bytes.trim_ascii().is_empty() {
        return Err(BadFile::whole("empty: there is no result in it"));
    }
    if bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff") {
        return Err(BadFile::whole("in UTF-16: save it as UTF-8"));
    }
    let head = &bytes[..bytes.len().min(HEAD)];
    let found = match bytes.trim_ascii_start().first() {
        Some(b'{' | b'[') => json_form(bytes),
        Some(b'<') => has(head, "<testResults").then_some(Form::JtlXml),
        _ => text_form(head),
    };
    found.ok_or_else(|| {
        let what = match other_form(head) {
            Some(instead) => instead.to_owned(),
            None => format!("in an unknown format; supported are: {}", known_formats()),
        };
        BadFile::whole(what)
    })
}

fn json_form(bytes: &[u8]) -> Option<Form> {
    match detect(bytes) {
        Kind::Run => return Some(Form::Run),
        Kind::Sweep => return Some(Form::Sweep),
        Kind::Dat | Kind::OtherJson => {}
    }
    // Marks and not whole documents, so that a truncated file is still recognized. They come in any order: k6 may
    // write a long list of groups before its figures.
    let names = |name: &str| has(bytes, name);
    if names("\"latencies\"") && (names("\"throughput\"") || names("\"bytes_in\"")) {
        Some(Form::Vegeta)
    } else if names("\"requestsPerSec\"") || names("\"latencyPercentiles\"") {
        Some(Form::OhaJson)
    } else if names("\"metrics\"") && (names("\"http_req") || names("\"root_group\"")) {
        Some(Form::K6)
    } else {
        None
    }
}

fn text_form(head: &[u8]) -> Option<Form> {
    let first = String::from_utf8_lossy(head.split(|&byte| byte == b'\n').next().unwrap_or(head));
    if has(head, "Running ") && has(head, " test @ ") {
        let marks = ["Thread calibration:", "HdrHistogram", "Stdev     99%"];
        let two = marks.iter().any(|mark| has(head, mark));
        Some(if two { Form::Wrk2 } else { Form::Wrk })
    } else if has(head, "ApacheBench") || has(head, "Concurrency Level:") {
        Some(Form::Ab)
    } else if has(head, "Summary:") && has(head, "Slowest:") {
        Some(if has(head, "Success rate:") { Form::OhaText } else { Form::Hey })
    } else if first.contains("timeStamp") && first.contains("elapsed") {
        Some(Form::JtlCsv)
    } else if let Some(kind) = csv::kind(&first) {
        Some(Form::Csv(kind))
    } else {
        starts_with_a_number(head).then_some(Form::Dat)
    }
}

/// What to ask a known tool for instead of what it printed.
fn other_form(head: &[u8]) -> Option<&'static str> {
    let has = |mark: &str| has(head, mark);
    match () {
        () if has("Requests") && has("[total, rate") && has("Latencies") => Some(
            "the text report of vegeta, which has no whole figures: vegeta report -type=json gives JSON",
        ),
        () if has("http_req_duration") || has("iteration_duration") => Some(
            "what k6 prints on the console: k6 run --summary-export FILE gives JSON (or handleSummary in the script)",
        ),
        () => None,
    }
}

/// Whether the first line that is neither blank nor a comment begins with a number, or there are
/// only comments.
fn starts_with_a_number(head: &[u8]) -> bool {
    let lines = head.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii);
    let mut content = lines.filter(|line| !line.is_empty() && !line.starts_with(b"#"));
    let Some(first) = content.next() else { return head.starts_with(b"#") };
    let word = first.split(u8::is_ascii_whitespace).next().unwrap_or_default();
    std::str::from_utf8(word).is_ok_and(|word| word.parse::<f64>().is_ok())
}

fn has(bytes: &[u8], mark: &str) -> bool {
    memchr::memmem::find(bytes, mark.as_bytes()).is_some()
}

fn bounded(bytes: &[u8]) -> Result<&[u8], BadFile> {
    if bytes.len() > LARGEST_TEXT {
        let what = format!("{} bytes are too many for a tool's output", bytes.len());
        return Err(BadFile::whole(what));
    }
    Ok(bytes)
}

fn text(bytes: &[u8]) -> Result<&str, BadFile> {
    utf8(bounded(bytes)?)
}

fn utf8(bytes: &[u8]) -> Result<&str, BadFile> {
    std::str::from_utf8(bytes).map_err(|error| {
        let line = 1 + bytes[..error.valid_up_to()].iter().filter(|&&byte| byte == b'\n').count();
        BadFile::at(line, "not text in UTF-8: the file is damaged, or of another encoding")
    })
}

pub(crate) fn json<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, BadFile> {
    serde_json::from_slice(bytes).map_err(|error| BadFile::json(&error))
}

/// The rows of a `.dat`: concurrencies are a closed loop's, rates an open one's.
fn of_table(curve: &Curve) -> Claims {
    let open = curve.kind == LevelKind::Rate;
    let rows = curve.rows.iter().map(|row| {
        let mut claim = Claim::new(row.qps, Some(row.mean_ns));
        if open {
            (claim.loop_kind, claim.latency) = (LoopKind::Open, Latency::Response);
            claim.rate_per_s = Some(row.level);
        } else {
            claim.connections = Some(row.level);
        }
        claim.success = row.success;
        claim
    });
    Claims::new(Tool::Wrktest, rows.collect())
}

#[cfg(test)]
mod tests;
