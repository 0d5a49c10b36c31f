//! Compiles bodies.

use model::random::mixed;
use model::secret::is_secret_name;
use model::workload::{Body, Literal, Part};

use crate::escape::Escape;
use crate::finding::inside;
use crate::value::Value;
use model::quote::quote;

use super::path::FieldPart;
use super::request::{Ops, RequestSpec};
use super::resolver::{Resolver, TemplatePiece};

impl Resolver<'_> {
    /// Writes the body. Returns the media type that it sets unless the headers have one.
    pub(super) fn body(&self, spec: &RequestSpec<'_>, ops: &mut Ops) -> Option<String> {
        let path = inside(&spec.place, "body");
        match spec.body? {
            Body::Text(text) => {
                self.plain(text, &inside(&path, "text"), spec, ops);
                Some("text/plain".into())
            }
            Body::File(name) => {
                self.file_body(name, &inside(&path, "file"), ops);
                None
            }
            Body::Json(Literal::Text(text)) => {
                self.json_text(text, &inside(&path, "json"), spec, ops);
                Some("application/json".into())
            }
            Body::Json(literal) => {
                self.json(literal, "", &inside(&path, "json"), spec, ops);
                Some("application/json".into())
            }
            Body::Form(fields) => {
                let mut first = true;
                let (path, place) = (inside(&path, "form"), Escape::Form);
                self.fields(fields, &path, spec.extracted, place, |part| match part {
                    FieldPart::Name(name) => {
                        ops.text(if std::mem::take(&mut first) { b"" } else { b"&" });
                        ops.escaped(name, place);
                        ops.text(b"=");
                    }
                    FieldPart::Text(text) => ops.escaped(text, place),
                    FieldPart::Value(value) => ops.push(value, place),
                });
                Some("application/x-www-form-urlencoded".into())
            }
            Body::Multipart(parts) => {
                // The same for all requests, and unlikely to occur in a file.
                let number = mixed(self.inputs.seed ^ 0x6d75_6c74_6970_6172);
                let boundary = format!("plimsoll-{number:016x}{:016x}", mixed(number));
                self.multipart(parts, &boundary, &inside(&path, "multipart"), spec, ops);
                Some(format!("multipart/form-data; boundary={boundary}"))
            }
        }
    }

    fn plain(&self, text: &str, path: &str, spec: &RequestSpec<'_>, ops: &mut Ops) {
        for piece in self.template(text, path, spec.extracted).unwrap_or_default() {
            match piece {
                TemplatePiece::Text(text, _) => ops.text(text.as_bytes()),
                TemplatePiece::Value(value, _) => ops.push(value, Escape::Raw),
            }
        }
    }

    fn file_body(&self, name: &str, path: &str, ops: &mut Ops) {
        match (self.inputs.file)(name) {
            Ok(bytes) => ops.text(&bytes),
            Err(what) => self.findings.add(path, format!("{}: {what}", quote(name))),
        }
    }

    /// Text that is JSON once its placeholders are filled in: values inside quotes are escaped, values
    /// outside are not.
    fn json_text(&self, text: &str, path: &str, spec: &RequestSpec<'_>, ops: &mut Ops) {
        let (mut quoted, mut escaped) = (false, false);
        for piece in self.template(text, path, spec.extracted).unwrap_or_default() {
            match piece {
                TemplatePiece::Text(text, _) => {
                    for byte in text.bytes() {
                        match byte {
                            _ if escaped => escaped = false,
                            b'\\' => escaped = quoted,
                            b'"' => quoted = !quoted,
                            _ => {}
                        }
                    }
                    ops.text(text.as_bytes());
                }
                TemplatePiece::Value(value, _) => {
                    ops.push(value, if quoted { Escape::JsonText } else { Escape::Raw });
                }
            }
        }
    }

    fn json(
        &self,
        literal: &Literal,
        name: &str,
        path: &str,
        spec: &RequestSpec<'_>,
        ops: &mut Ops,
    ) {
        match literal {
            Literal::Text(_) if self.masking && is_secret_name(name) => {
                ops.text(b"\"***\"");
            }
            Literal::Text(text) => self.json_string(text, path, spec, ops),
            Literal::Float(number) if number.fract() == 0.0 && number.abs() >= 2f64.powi(63) => {
                let what = "this number can not be kept exactly: write the body as text";
                self.findings.add(path, what);
            }
            Literal::List(items) => {
                ops.text(b"[");
                for (at, item) in items.iter().enumerate() {
                    ops.text(if at > 0 { b"," } else { b"" });
                    self.json(item, name, &inside(path, &at.to_string()), spec, ops);
                }
                ops.text(b"]");
            }
            Literal::Object(members) => {
                ops.text(b"{");
                for (at, (name, value)) in members.iter().enumerate() {
                    let path = inside(path, name);
                    if name.contains("${") {
                        self.findings.add(&path, "a member's name must not contain a placeholder");
                    }
                    ops.text(if at > 0 { b"," } else { b"" });
                    ops.escaped(name, Escape::JsonValue);
                    ops.text(b":");
                    self.json(value, name, &path, spec, ops);
                }
                ops.text(b"}");
            }
            other => ops.text(other.to_string().as_bytes()),
        }
    }

    /// A string of a structure: one that is a single placeholder takes its value's own type.
    fn json_string(&self, text: &str, path: &str, spec: &RequestSpec<'_>, ops: &mut Ops) {
        let Some(pieces) = self.template(text, path, spec.extracted) else { return };
        if let [TemplatePiece::Value(value, _)] = &pieces[..] {
            ops.push(value.clone(), Escape::JsonValue);
            return;
        }
        ops.text(b"\"");
        for piece in pieces {
            match piece {
                TemplatePiece::Text(text, _) => ops.escaped(&text, Escape::JsonText),
                TemplatePiece::Value(value, _) => ops.push(value, Escape::JsonText),
            }
        }
        ops.text(b"\"");
    }

    fn multipart(
        &self,
        parts: &[Part],
        boundary: &str,
        path: &str,
        spec: &RequestSpec<'_>,
        ops: &mut Ops,
    ) {
        for (at, part) in parts.iter().enumerate() {
            let path = inside(path, &at.to_string());
            ops.text(format!("--{boundary}\r\n").as_bytes());
            self.part_head(part, &path, ops);
            match (&part.text, &part.file) {
                (Some(_), None) if self.masking && is_secret_name(&part.name) => {
                    ops.text(b"***");
                }
                (Some(text), None) => {
                    self.plain(text, &inside(&path, "text"), spec, ops);
                }
                (None, Some(file)) => self.file_body(file, &inside(&path, "file"), ops),
                _ => self.findings.add(&path, "must have either `text` or `file`"),
            }
            ops.text(b"\r\n");
        }
        ops.text(format!("--{boundary}--\r\n").as_bytes());
    }

    fn part_head(&self, part: &Part, path: &str, ops: &mut Ops) {
        ops.text(
            format!("Content-Disposition: form-data; name=\"{}\"", named(&part.name)).as_bytes(),
        );
        let own = part.file.as_deref().map(|file| file.rsplit('/').next().unwrap_or(file));
        if let Some(name) = part.filename.as_deref().or(own) {
            ops.text(format!("; filename=\"{}\"", named(name)).as_bytes());
        }
        ops.text(b"\r\n");
        let otherwise = part.file.as_ref().map(|_| "application/octet-stream");
        if let Some(media) = part.content_type.as_deref().or(otherwise) {
            ops.text(b"Content-Type: ");
            let path = inside(path, "content_type");
            ops.value(Value::text(media.as_bytes()), Escape::Header, &path, None, self.findings);
            ops.text(b"\r\n");
        }
        ops.text(b"\r\n");
    }
}

/// A name in a part's head (WHATWG HTML, multipart/form-data encoding algorithm).
fn named(name: &str) -> String {
    name.replace('"', "%22").replace('\r', "%0D").replace('\n', "%0A")
}
