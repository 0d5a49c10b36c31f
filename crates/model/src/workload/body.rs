//! Request bodies as written.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::value::{Fields, Literal};

/// A request's body. All but `file` set a `Content-Type` unless the headers have one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Body {
    /// Text with placeholders, sent as `text/plain`.
    Text(String),
    /// A file, sent as it is. Its name is relative to the workload file's folder.
    File(String),
    /// JSON: a structure, or text that is JSON once its placeholders are filled in. In a structure, a
    /// string that is one placeholder takes its value's own type; elsewhere in a string, what comes
    /// in is escaped.
    Json(Literal),
    /// Fields of a form: `application/x-www-form-urlencoded`.
    Form(Fields),
    /// Parts of a form: `multipart/form-data`.
    Multipart(Vec<Part>),
}

/// One part of a multipart form: text or a file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Part {
    /// The field's name.
    pub name: String,
    /// Text with placeholders.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// A file, sent as it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The file name that the server is given; the file's own unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub filename: Option<String>,
    /// The part's media type.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content_type: Option<String>,
}
