//! Other tools' requests to a [`Workload`]: curl commands, vegeta targets, recordings (HAR), OpenAPI
//! descriptions, Postman collections.
//!
//! One module a format, each of which reads `Draft`s out of its bytes; `assembly` makes one
//! workload of them (one server, secrets masked, unique names); [`yaml`] prints it. What could
//! not be carried over becomes a [`Note`], of which the caller prints one line each and the YAML
//! holds one comment each. Nothing is fetched and no command in a file is executed.
//!
//! Bounds: [`MOST_BYTES`] of input, [`MOST_REQUESTS`] requests, `note::MOST_NOTES` notes;
//! nesting and references have limits of their own where they are followed.

mod assembly;
mod body;
mod correlate;
mod curl;
mod draft;
mod fit;
mod format;
mod har;
mod json;
mod left_out;
mod note;
mod openapi;
mod postman;
mod secret;
mod template;
mod vegeta;
mod yaml;

use std::collections::BTreeMap;

use model::workload::Workload;

use crate::BadFile;
use assembly::Assembly;

pub use format::Format;
pub use note::{Anchor, Kind, Note};
pub use yaml::yaml;

/// Bytes of a file read at most: 256 MiB.
pub const MOST_BYTES: usize = 256 << 20;

/// Different requests carried over at most: as many endpoints as results distinguish.
pub const MOST_REQUESTS: usize = 1_000;

/// How a file is to be read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Options {
    /// The server to write into the workload, such as `https://staging.example.com`. Of a file that
    /// names several servers, the requests to this one are kept; if none goes to it, it stands in
    /// for the server that most go to.
    pub target: Option<String>,
    /// Write credentials as they are, instead of `${env.NAME}`.
    pub keep_secrets: bool,
}

/// A workload, and notes on what changed on the way.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Imported {
    /// What could be carried over.
    pub workload: Workload,
    /// What could not, and what was assumed, in the order of the file.
    pub notes: Vec<Note>,
    /// Notes beyond the bound, counted only.
    pub further_notes: usize,
    /// Environment variables that the workload reads, with what each holds.
    pub environment: BTreeMap<String, String>,
}

/// Makes a workload of another tool's file.
///
/// # Errors
/// When the bytes are not of that format, when they hold no request that could be carried over, and
/// when no server is named.
pub fn import(format: Format, bytes: &[u8], options: &Options) -> Result<Imported, BadFile> {
    if bytes.len() > MOST_BYTES {
        let most = MOST_BYTES >> 20;
        return Err(BadFile::whole(format!("is larger than {most} MiB: cut it into parts")));
    }
    let target = options.target.as_deref().map(draft::origin_of).transpose()?;
    let mut assembly = Assembly::new(target, options.keep_secrets);
    (format.reader()?)(bytes, &mut assembly)?;
    assembly.finish()
}

/// The bytes as text, without a byte order mark.
fn text(bytes: &[u8]) -> Result<&str, BadFile> {
    let text = str::from_utf8(bytes).map_err(|error| {
        let before = &bytes[..error.valid_up_to()];
        let line = 1 + before.iter().filter(|&&byte| byte == b'\n').count();
        BadFile::at(line, "is not text in UTF-8")
    })?;
    Ok(text.strip_prefix('\u{feff}').unwrap_or(text))
}
