//! vegeta's targets: HTTP text with bodies in files, or JSON lines with bodies in base64.
//!
//! vegeta sends its targets in turn; the endpoints made of them are drawn by weight, a target that
//! stands twice weighs twice as much.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use model::workload::Body;
use serde::Deserialize;
use std::collections::BTreeMap;

use super::assembly::Assembly;
use super::body::put_text;
use super::draft::Draft;
use super::note::Kind;
use super::template::literal;
use super::{BadFile, json, text};
use model::quote::quote;
use model::secret::mask_text;

/// Reads targets in either form.
pub(super) fn read(bytes: &[u8], assembly: &mut Assembly) -> Result<(), BadFile> {
    let text = text(bytes)?;
    if text.trim_start().starts_with('{') {
        return read_json(text, assembly);
    }
    read_http(text, assembly)
}

/// A target as a JSON line.
#[derive(Deserialize)]
struct Target {
    method: String,
    url: String,
    #[serde(default)]
    body: Option<String>,
    #[serde(default)]
    header: Option<BTreeMap<String, Vec<String>>>,
}

fn read_json(text: &str, assembly: &mut Assembly) -> Result<(), BadFile> {
    for (at, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let number = at + 1;
        let target: Target = json::parse(line).map_err(|error| BadFile::at(number, error.what))?;
        let mut draft = started(number, &target.method, &target.url)?;
        for (name, values) in target.header.into_iter().flatten() {
            values.iter().for_each(|value| draft.put_header(&name, &literal(value)));
        }
        if let Some(body) = target.body.filter(|body| !body.is_empty()) {
            let bytes = BASE64_STANDARD
                .decode(body.trim())
                .map_err(|error| BadFile::at(number, format!("the body is not base64: {error}")))?;
            put_body(&mut draft, bytes);
        }
        assembly.add(draft);
    }
    Ok(())
}

fn put_body(draft: &mut Draft, bytes: Vec<u8>) {
    match String::from_utf8(bytes) {
        Ok(text) => put_text(draft, &literal(&text)),
        Err(error) => {
            let bytes = error.as_bytes().len();
            let what =
                format!("the body of {bytes} bytes that are not text; name a file with `file:`");
            draft.note(Kind::NotCarriedOver, what);
        }
    }
}

fn read_http(text: &str, assembly: &mut Assembly) -> Result<(), BadFile> {
    let mut open: Option<Draft> = None;
    for (at, line) in text.lines().enumerate() {
        let (number, line) = (at + 1, line.trim());
        if line.starts_with('#') {
            continue;
        }
        let target = method_and_url(line);
        if line.is_empty() || target.is_some() {
            open.take().into_iter().for_each(|draft| assembly.add(draft));
        }
        match (target, &mut open) {
            (Some((method, url)), _) => open = Some(started(number, method, url)?),
            (None, _) if line.is_empty() => {}
            (None, Some(draft)) => put_line(draft, number, line)?,
            (None, None) => {
                let what = format!(
                    "{}: a target begins with a method and a URL, such as `GET http://host/path`",
                    quote(&mask_text(line))
                );
                return Err(BadFile::at(number, what));
            }
        }
    }
    open.into_iter().for_each(|draft| assembly.add(draft));
    Ok(())
}

fn put_line(draft: &mut Draft, number: usize, line: &str) -> Result<(), BadFile> {
    if let Some(file) = line.strip_prefix('@') {
        if !draft.may_read("the body", file) {
            return Ok(());
        }
        let what = format!(
            "the body is the file {}; its name is relative to the workload's folder",
            quote(file)
        );
        draft.note(Kind::Assumed, what);
        draft.body = Some(Body::File(literal(file.trim())));
        return Ok(());
    }
    match line.split_once(':') {
        Some((name, value)) => draft.put_header(name.trim(), &literal(value)),
        None => {
            let line = quote(&mask_text(line));
            let what = format!("{line}: neither `Name: value` nor `@file`");
            return Err(BadFile::at(number, what));
        }
    }
    Ok(())
}

/// `GET http://host/path`, and nothing else on the line.
fn method_and_url(line: &str) -> Option<(&str, &str)> {
    let (method, url) = line.split_once([' ', '\t'])?;
    let method_like = !method.is_empty() && method.bytes().all(|byte| byte.is_ascii_uppercase());
    (method_like && url.contains("://")).then_some((method, url.trim()))
}

fn started(line: usize, method: &str, url: &str) -> Result<Draft, BadFile> {
    if method.is_empty() || !method.bytes().all(|byte| byte.is_ascii_alphabetic() || byte == b'-') {
        return Err(BadFile::at(line, format!("{} is not a method", quote(method))));
    }
    let mut draft = Draft::new(format!("line {line}"), method);
    draft.put_url(&literal(url)).map_err(|what| BadFile::at(line, what))?;
    Ok(draft)
}
