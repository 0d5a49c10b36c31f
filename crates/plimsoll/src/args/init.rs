//! Flags of `plimsoll init`.

use std::path::PathBuf;

use clap::Args;

/// `plimsoll init`.
#[derive(Debug, Args)]
#[command(after_help = "\
Nothing is sent. The file's first line names its JSON Schema, which is written beside it, so that \
editors complete it and mark mistakes. If you have recorded or described traffic already, see `plimsoll \
import`.\nExit codes: 0 the file was written; 1 it could not be written; 2 usage.")]
pub struct InitArgs {
    /// The server to load, with the path of a first request if there is one
    #[arg(default_value = "http://127.0.0.1:8080/healthz")]
    pub url: String,
    /// Workload file to write
    #[arg(short, long, value_name = "FILE", default_value = "workload.yaml", value_parser = super::place::file())]
    pub out: PathBuf,
    /// Overwrite an existing workload file
    #[arg(long)]
    pub force: bool,
}
