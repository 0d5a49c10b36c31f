//! JTL as XML.

use std::borrow::Cow;

use model::Claims;
use quick_xml::events::{BytesStart, Event};
use quick_xml::reader::Reader;

use super::{NO_RESPONSE, Sample, Sum, TRANSACTION};
use crate::BadFile;
use model::quote::{plain, quote};

/// Elements inside one another at most.
const DEEPEST: usize = 1_000;

/// Sums up a JTL in XML.
///
/// # Errors
/// On text that is not XML, and on a sample whose figures are invalid.
pub(in crate::claims) fn from_xml(bytes: &[u8]) -> Result<Claims, BadFile> {
    let text = super::super::utf8(bytes)?;
    let mut reader = Reader::from_str(text);
    let mut sum = Sum::default();
    // For each open element: whether the samples inside it are parts of one that was counted.
    let mut open: Vec<bool> = Vec::new();
    loop {
        let at = |reader: &Reader<&[u8]>| {
            let read = (reader.buffer_position() as usize).min(bytes.len());
            1 + memchr::memchr_iter(b'\n', &bytes[..read]).count()
        };
        let event = reader.read_event().map_err(|error| {
            BadFile::at(at(&reader), format!("not XML: {}", plain(&error.to_string(), 120)))
        })?;
        let inside = open.last().copied().unwrap_or(false);
        match event {
            Event::Start(start) => {
                let counted =
                    inside || take(&start, &mut sum).map_err(|e| BadFile::at(at(&reader), e))?;
                if open.len() >= DEEPEST {
                    return Err(BadFile::at(at(&reader), "elements nested too deep"));
                }
                open.push(counted);
            }
            Event::Empty(start) if !inside => {
                take(&start, &mut sum).map_err(|e| BadFile::at(at(&reader), e))?;
            }
            Event::End(_) => {
                open.pop();
            }
            Event::Eof if open.is_empty() => return sum.claims(),
            Event::Eof => {
                let what = "the file ends in the middle of its XML: it was cut short";
                return Err(BadFile::at(at(&reader), what));
            }
            _ => {}
        }
    }
}

/// Counts the element if it is a sample and no transaction's; whether it was counted.
fn take(start: &BytesStart<'_>, sum: &mut Sum) -> Result<bool, String> {
    if !matches!(start.name().0, "httpSample" | "sample") {
        return Ok(false);
    }
    let mut thread = Cow::Borrowed("");
    let mut sample = Sample::default();
    let (mut began, mut elapsed) = (None, None);
    for attribute in start.attributes() {
        let attribute = attribute.map_err(|error| plain(&error.to_string(), 120))?;
        let value = attribute.value;
        match attribute.key.0 {
            "t" => elapsed = Some(whole("t", &value)?),
            "ts" => began = Some(whole("ts", &value)?),
            "na" => sample.threads = whole("na", &value)?,
            "s" => sample.succeeded = Some(&*value == "true"),
            "rc" => sample.unanswered = value.starts_with(NO_RESPONSE),
            "tn" => thread = value,
            "rm" if value.starts_with(TRANSACTION) => {
                sum.transactions += 1;
                return Ok(false);
            }
            _ => {}
        }
    }
    let needed = |time: Option<u64>, name| {
        time.ok_or_else(|| format!("a sample without the attribute `{name}`"))
    };
    let (began_ms, elapsed_ms) = (needed(began, "ts")?, needed(elapsed, "t")?);
    sum.add(Sample { began_ms, elapsed_ms, thread: &thread, ..sample })?;
    Ok(true)
}

fn whole(name: &str, value: &str) -> Result<u64, String> {
    value.parse().map_err(|_| format!("{name}: {} is not a whole number", quote(value)))
}
