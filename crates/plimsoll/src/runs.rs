//! Carrying out plans: one run, or several one after the other, and the one request that finds out where a redirect leads.

pub mod execute;
pub mod follow;
pub mod series;

use crate::args::LoadArgs;
use crate::failure::Failure;
use crate::load::input::LoadInput;
use crate::load::prepared::Prepared;

/// Makes a load ready to be carried out, its redirects followed where that was asked for.
///
/// # Errors
/// On whatever is wrong with TLS files or the way to the server.
pub fn prepare(input: LoadInput, args: &LoadArgs) -> Result<Prepared, Failure> {
    let Some(hops) = args.follow else { return Prepared::of(input, args) };
    let (input, notices) = follow::follow(input, args, hops)?;
    let mut prepared = Prepared::of(input, args)?;
    prepared.notices.splice(0..0, notices);
    Ok(prepared)
}

/// As [`prepare`], of what a URL or a workload file's name and the flags say.
///
/// # Errors
/// On whatever is wrong with URL, flags, files or the way to the server.
pub fn prepare_url(text: &str, args: &LoadArgs) -> Result<Prepared, Failure> {
    prepare(LoadInput::of(text, args)?, args)
}
