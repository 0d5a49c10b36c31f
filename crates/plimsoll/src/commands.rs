//! The commands, one file each, named as the command. `audit` to `wrktest` connect the crates; code that
//! several commands need is in the other folders.

pub mod audit;
pub mod calibrate;
pub mod capacity;
pub mod compare;
pub mod diff;
pub mod explain;
pub mod fill;
pub mod gate;
pub mod generate;
pub mod import;
pub mod init;
pub mod mine;
pub mod plan;
pub mod profile;
pub mod report;
pub mod run;
pub mod sweep;
pub mod target;
pub mod tune;
pub mod watch;
pub mod wrk;
pub mod wrktest;
