//! The result folder and its files: written completely or not at all, by one command at a time, read within
//! bounds, and resumed only with the user's consent.

pub mod charts;
pub mod claim;
pub mod consent;
pub mod deliver;
pub mod folder;
mod fonts;
pub mod input;
pub mod lock;
pub mod output;
pub mod resume;
pub mod stored_run;
pub mod sweep_files;
