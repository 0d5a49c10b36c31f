//! Runs plans: one, or several one after another, or one with the flags of an earlier one; and the requests before them
//! that find out where a redirect leads, or what responses should look like.

pub mod execute;
pub mod first_response;
pub mod follow;
pub mod repeat;
pub mod series;

use crate::args::LoadArgs;
use crate::failure::Failure;
use crate::load::input::LoadInput;
use crate::load::prepared::Prepared;

/// Makes a load ready to be carried out, its redirects followed and its first responses asked for where that was wanted;
/// what takes long is said unless `quiet`.
///
/// # Errors
/// On whatever is wrong with TLS files or the way to the server.
pub fn prepare(input: LoadInput, args: &LoadArgs, quiet: bool) -> Result<Prepared, Failure> {
    let (input, notices) = match args.follow {
        Some(hops) => follow::follow(input, args, hops, quiet)?,
        None => (input, Vec::new()),
    };
    let mut prepared = Prepared::of(input, args)?;
    prepared.notices.splice(0..0, notices);
    first_response::ask(&mut prepared, args, quiet)?;
    Ok(prepared)
}

/// As [`prepare`], of what a URL or a workload file's name and the flags say.
///
/// # Errors
/// On whatever is wrong with URL, flags, files or the way to the server.
pub fn prepare_url(text: &str, args: &LoadArgs, quiet: bool) -> Result<Prepared, Failure> {
    prepare(LoadInput::of(text, args)?, args, quiet)
}
