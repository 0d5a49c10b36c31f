//! The program as its users meet it: command lines in, exit codes, texts and files out.
//!
//! - [`harness`]: a folder, a server and a way to run the program in three lines.
//! - `sweep`, `wrktest`: levels one after another, and what they leave.
//! - `capacity`: a search, killed, resumed, and against targets that give it nothing.
//! - `endpoints`: a search over several endpoints, each with its objective, share and cost.
//! - `fill`: databases filled, stopped and cleaned.
//! - `gate`: the gateway: keys, limits, the load line, usage, its admin API; what it lives through.
//! - `folders`: which result a folder stands for, and that none is lost.
//! - `gone`: servers that are killed while they are measured.
//! - `diff`: results side by side. `audit`: results of other tools, judged.
//! - `compare`: one server judged against another.
//! - `import`: workload files out of other tools' files, or to start from.
//! - `mine`: access logs to workloads.
//! - `objectives`: the highest level of a sweep that holds them.
//! - `observe`: what is watched beside a run, and what is found to limit it.
//! - `workloads`: workload files where a URL may stand, and what a run would do.
//! - `wrk`: the link by wrk's name, beside the real one.
//! - `profile`: profiles listed, taken, and predicted from.
//! - `pools`: rows that come once over kills, and files of rows that change.
//! - `casestudy`: its servers with PostgreSQL, and the way from an access log to a capacity in daily users.
//! - `story`: the case study, from a slow API server to one near its baseline, as `cargo xtask casestudy` plays it.
//! - `safety`: folders from elsewhere, two commands in one folder, secrets, text that terminals obey.
//! - `refused`: inputs with errors, reported in one line.

mod audit;
mod capacity;
mod casestudy;
mod compare;
mod diff;
mod endpoints;
mod familiar;
mod fill;
mod folders;
mod gate;
mod gone;
mod harness;
mod import;
mod mine;
mod objectives;
mod observe;
mod pools;
mod profile;
mod recorder;
mod refused;
mod safety;
mod scripts;
mod story;
mod sweep;
mod workloads;
mod wrk;
mod wrktest;
