//! Flags of `plimsoll import`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use import::requests::Format;

/// `plimsoll import`.
#[derive(Debug, Args)]
#[command(
    allow_missing_positional = true,
    after_help = "\
curl: pasted commands, one after another, as browsers copy them. vegeta: targets, as HTTP text or JSON. \
har: a recording from a browser's network tab; static files are dropped, tokens and ids that a \
later request takes from an earlier response become extractions, pauses become think time. openapi: 3.0 and \
3.1, YAML or JSON; examples become values, schemas make bodies. postman: a collection, 2.1.
What could not be converted is listed on standard error, one item per line, and in the file as comments. \
Nothing is sent, fetched or executed.\nExit codes: 0 the workload was written; 1 it could not be written, \
or the file not be read; 2 usage."
)]
pub struct ImportArgs {
    /// What the file is [default: found out from how it begins]
    #[arg(value_enum)]
    pub format: Option<ImportFormat>,
    /// The file; `-` reads standard input
    pub file: PathBuf,
    /// Workload file to write, with its JSON Schema beside it [default: standard output]
    #[arg(short, long, value_name = "FILE", value_parser = super::place::file())]
    pub out: Option<PathBuf>,
    /// Overwrite an existing workload file
    #[arg(long, requires = "out")]
    pub force: bool,
    /// The server to load; if the file names several, only requests to this one are kept
    #[arg(long, value_name = "URL")]
    pub target: Option<String>,
    /// Write credentials as they are, instead of `${env.NAME}`
    #[arg(long)]
    pub keep_secrets: bool,
}

/// Formats of other tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ImportFormat {
    /// Pasted curl commands
    Curl,
    /// Targets of vegeta, as HTTP text or JSON lines
    Vegeta,
    /// A recording: HTTP Archive 1.2
    Har,
    /// A description: OpenAPI 3
    Openapi,
    /// A Postman collection 2.1
    Postman,
    /// Not read yet
    #[value(hide = true)]
    Jmeter,
    /// Not read yet
    #[value(hide = true)]
    K6,
}

impl From<ImportFormat> for Format {
    fn from(format: ImportFormat) -> Self {
        match format {
            ImportFormat::Curl => Self::Curl,
            ImportFormat::Vegeta => Self::Vegeta,
            ImportFormat::Har => Self::Har,
            ImportFormat::Openapi => Self::OpenApi,
            ImportFormat::Postman => Self::Postman,
            ImportFormat::Jmeter => Self::Jmeter,
            ImportFormat::K6 => Self::K6,
        }
    }
}
