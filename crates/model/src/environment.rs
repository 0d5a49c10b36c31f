//! What a result was made by and on: the program, and the facts about a machine that change a result.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The program that made a result.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Program {
    /// Its version.
    pub version: String,
}

/// The generator's machine, as far as it bears on a result. Holds no host name and no address.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Environment {
    /// `Linux 6.1.0-13-amd64 x86_64`.
    pub kernel: String,
    /// As the processor names itself.
    pub cpu_model: String,
    /// Processors on line.
    pub cpus: u32,
    /// Processors this process may use.
    pub cpus_allowed: u32,
    /// Physical memory in bytes.
    pub memory_bytes: u64,
    /// Open files allowed: the soft limit after raising it.
    pub open_files: u64,
    /// Open files allowed at most: the hard limit.
    pub open_files_hard: u64,
    /// Kernel settings that bound connections, by name; those not readable are absent.
    pub sysctls: BTreeMap<String, String>,
}

impl Environment {
    /// What differs between two machines, in words; empty when nothing that matters does.
    pub fn differences(&self, other: &Self) -> Vec<String> {
        let mut found = Vec::new();
        let mut compare = |what: &str, one: String, another: String| {
            if one != another {
                found.push(format!("{what}: {one} against {another}"));
            }
        };
        compare("kernel", self.kernel.clone(), other.kernel.clone());
        compare("processor", self.cpu_model.clone(), other.cpu_model.clone());
        compare("processors", self.cpus.to_string(), other.cpus.to_string());
        compare(
            "processors allowed",
            self.cpus_allowed.to_string(),
            other.cpus_allowed.to_string(),
        );
        compare("memory", self.memory_bytes.to_string(), other.memory_bytes.to_string());
        for name in self.sysctls.keys().filter(|name| other.sysctls.contains_key(*name)) {
            compare(name, self.sysctls[name].clone(), other.sysctls[name].clone());
        }
        found
    }
}
