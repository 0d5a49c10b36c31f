//! Compiles paths and queries.

use model::secret::{is_secret_name, is_secret_query_name};
use model::workload::Fields;

use crate::escape::{Escape, escape};
use crate::finding::inside;

use super::request::{Ops, RequestSpec};
use super::resolver::{Resolver, TemplatePiece};

/// Bytes of a path at most.
const LONGEST: usize = 64 << 10;

impl Resolver<'_> {
    /// Writes path and query.
    pub(super) fn path(&self, spec: &RequestSpec<'_>, base: &str, ops: &mut Ops) {
        let at = inside(&spec.place, "path");
        if spec.path.len() > LONGEST {
            self.findings.add(&at, format!("a path of more than {LONGEST} bytes"));
            return;
        }
        if !spec.path.starts_with('/') {
            let what = if spec.path.starts_with("${") {
                "a path begins with `/`: what a placeholder inserts is escaped, `/` included"
            } else {
                "a path begins with `/`"
            };
            self.findings.add(&at, what);
            return;
        }
        ops.text(base.as_bytes());
        let Some(pieces) = self.template(spec.path, &at, spec.extracted) else {
            return;
        };
        let mut mask = self.masking.then(QueryMask::default);
        let mut query = false;
        for piece in pieces {
            match piece {
                TemplatePiece::Text(text, from) => {
                    if let Some(hash) = text.find('#') {
                        let what = "the part after `#` is never sent; write `#` as `%23`";
                        self.findings.add_at(&at, Some(from + hash..from + hash + 1), what);
                    }
                    query |= text.contains('?');
                    let text = match &mut mask {
                        Some(mask) => mask.text(&text),
                        None => text,
                    };
                    literal(&text, ops);
                }
                TemplatePiece::Value(value, _) if mask.as_ref().is_some_and(|mask| mask.hides) => {
                    drop(value);
                    ops.text(b"***");
                }
                TemplatePiece::Value(value, part) => {
                    ops.value(value, Escape::Url, &at, Some(part), self.findings);
                }
            }
        }
        self.query(spec, query, ops);
    }

    fn query(&self, spec: &RequestSpec<'_>, begun: bool, ops: &mut Ops) {
        let path = inside(&spec.place, "query");
        let mut separator: &[u8] = if begun { b"&" } else { b"?" };
        if spec.path.ends_with(['?', '&']) {
            separator = b"";
        }
        self.fields(spec.query, &path, spec.extracted, Escape::Url, |part| match part {
            FieldPart::Name(name) => {
                ops.text(separator);
                separator = b"&";
                ops.escaped(name, Escape::Url);
                ops.text(b"=");
            }
            FieldPart::Text(text) => ops.escaped(text, Escape::Url),
            FieldPart::Value(value) => ops.push(value, Escape::Url),
        });
    }

    /// Fields of a query or a form, part by part.
    pub(super) fn fields(
        &self,
        fields: &Fields,
        path: &str,
        extracted: &[String],
        place: Escape,
        mut each: impl FnMut(FieldPart<'_>),
    ) {
        for (name, value) in fields.iter() {
            let at = inside(path, name);
            if name.contains("${") {
                self.findings.add(&at, "a name must not contain a placeholder");
                continue;
            }
            each(FieldPart::Name(name));
            let is_secret = match place {
                Escape::Url => is_secret_query_name(name),
                _ => is_secret_name(name),
            };
            if self.masking && is_secret {
                each(FieldPart::Text("***"));
                continue;
            }
            for piece in self.template(value, &at, extracted).unwrap_or_default() {
                match piece {
                    TemplatePiece::Text(text, _) => each(FieldPart::Text(&text)),
                    TemplatePiece::Value(value, _) => each(FieldPart::Value(value)),
                }
            }
        }
    }
}

/// A part of a field.
pub(super) enum FieldPart<'a> {
    Name(&'a str),
    Text(&'a str),
    Value(crate::value::Value),
}

/// A path's own text: characters that are not allowed are escaped; existing escapes stay.
fn literal(text: &str, ops: &mut Ops) {
    let mut out = Vec::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            0..=b' ' | 0x7f.. | b'"' | b'<' | b'>' | b'`' | b'{' | b'}' | b'\\' | b'^' | b'|' => {
                let done = escape(&[byte], false, Escape::Url, &mut out);
                debug_assert!(done.is_ok(), "only header fields refuse bytes");
            }
            byte => out.push(byte),
        }
    }
    ops.text(&out);
}

/// Masks the values of credentials in a path's own query.
#[derive(Debug, Default)]
struct QueryMask {
    /// Whether the query has begun.
    query: bool,
    name: String,
    in_value: bool,
    /// Whether what comes next is the value of a credential.
    hides: bool,
}

impl QueryMask {
    fn text(&mut self, text: &str) -> String {
        let mut out = String::new();
        for c in text.chars() {
            match c {
                '?' if !self.query => *self = Self { query: true, ..Self::default() },
                '&' if self.query => *self = Self { query: true, ..Self::default() },
                '=' if self.query && !self.in_value => {
                    self.in_value = true;
                    self.hides = is_secret_query_name(&self.name);
                    out.push_str(if self.hides { "=***" } else { "=" });
                    continue;
                }
                _ if self.hides => continue,
                c if self.query && !self.in_value => self.name.push(c),
                _ => {}
            }
            out.push(c);
        }
        out
    }
}
