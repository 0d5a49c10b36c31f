//! Flags that say what a result is judged by, and where the rulings go.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

/// What a result is judged by.
#[derive(Debug, Clone, Default, PartialEq, Args)]
#[command(next_help_heading = "Objectives")]
pub struct ObjectiveArgs {
    /// Objective to judge the result by, such as 'p99<500ms', 'mean<=100ms', 'service.p99.9<1s', 'max<2s',
    /// 'success>=99%', 'errors.timeout<0.1%', 'qps>=1000', 'GET /users/{id}: p95<80ms', stable,
    /// valid, or a preset: baseline, top10. May be repeated. Exit 99 if one is missed, 98 if one is
    /// undecided
    #[arg(long, value_name = "OBJECTIVE")]
    pub slo: Vec<String>,
    /// Write the rulings to this file, as a test report in JUnit XML
    #[arg(long, value_name = "FILE", value_parser = super::place::file())]
    pub junit: Option<PathBuf>,
    /// Print the rulings as annotations of this CI system, on standard error
    #[arg(long, value_enum, value_name = "SYSTEM")]
    pub annotations: Option<Annotations>,
}

/// A rule that ends a run early.
#[derive(Debug, Clone, Default, PartialEq, Args)]
#[command(next_help_heading = "Objectives")]
pub struct AbortArgs {
    /// End the run early when a limit is exceeded for some time, such as 'p99>2s for 10s',
    /// 'errors>5% for 5s', or, if the requested rate is not reached, 'achieved<95% for 5s'. May be
    /// repeated. The result so far is kept; exit 99, or 98 for `achieved`
    #[arg(long, value_name = "RULE")]
    pub abort_on: Vec<String>,
}

/// A CI system that shows annotations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Annotations {
    /// Workflow commands of GitHub Actions
    Github,
}
