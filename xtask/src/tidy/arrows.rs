//! Which crate may depend on which, and which crates are pure. docs/ARCHITECTURE.md says why.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use serde_json::Value;

use super::Complaint;
use crate::repo;

/// A crate's place in the design.
struct Place {
    name: &'static str,
    /// Bytes and values in, bytes and values out: no clock, no file, no socket.
    pure: bool,
    /// The project's crates that it may depend on outside its tests.
    may_use: &'static [&'static str],
}

const PLACES: &[Place] = &[
    Place { name: "model", pure: true, may_use: &[] },
    Place { name: "fixture", pure: true, may_use: &["model"] },
    Place { name: "wire", pure: true, may_use: &[] },
    Place { name: "tls", pure: true, may_use: &[] },
    Place { name: "statistics", pure: true, may_use: &[] },
    Place { name: "net", pure: false, may_use: &[] },
    Place { name: "login", pure: false, may_use: &["model", "tls"] },
    Place { name: "fill", pure: false, may_use: &["model", "login"] },
    Place { name: "observe", pure: false, may_use: &["model", "net", "login"] },
    Place { name: "import", pure: true, may_use: &["model", "wire"] },
    Place { name: "mine", pure: true, may_use: &["model"] },
    Place { name: "profile", pure: true, may_use: &["model"] },
    Place { name: "verdict", pure: true, may_use: &["model", "statistics"] },
    Place { name: "report", pure: true, may_use: &["model", "verdict"] },
    Place { name: "traffic", pure: true, may_use: &["model", "wire"] },
    Place { name: "script", pure: false, may_use: &["model", "wire", "traffic"] },
    Place { name: "engine", pure: false, may_use: &["model", "wire", "tls", "net", "traffic"] },
    Place { name: "gate", pure: false, may_use: &["model", "wire", "tls", "net"] },
    Place { name: "target", pure: false, may_use: &["model", "wire", "tls", "net"] },
    Place { name: "testkit", pure: false, may_use: &["net"] },
    Place {
        name: "measure",
        pure: false,
        may_use: &["model", "net", "observe", "import", "verdict", "engine"],
    },
    Place {
        name: "plimsoll",
        pure: false,
        may_use: &[
            "model", "wire", "net", "import", "verdict", "report", "traffic", "script", "engine",
            "measure", "mine", "profile", "target", "fill", "observe", "gate",
        ],
    },
    Place {
        name: "plimsoll-fuzz",
        pure: false,
        may_use: &[
            "model", "wire", "import", "verdict", "traffic", "script", "mine", "profile",
            "observe", "gate",
        ],
    },
    Place { name: "xtask", pure: false, may_use: &[] },
];

/// A crate of the project and the project's crates that it uses outside its tests.
struct Package {
    name: String,
    uses: Vec<String>,
}

pub fn check() -> Result<Vec<Complaint>> {
    let arguments = ["--no-deps", "--format-version", "1"];
    let metadata = serde_json::from_str(&repo::output(repo::cargo("metadata").args(arguments))?)?;
    let packages = packages(&metadata).context("cargo metadata has an unknown form")?;
    let mut complaints = judge(&packages);
    for package in packages.iter().filter(|package| place(&package.name).is_some_and(|p| p.pure)) {
        let link = format!("crates/{}/clippy.toml", package.name);
        let points_at = fs::read_link(repo::root().join(&link));
        if points_at.ok().as_deref() != Some(Path::new("../../clippy-pure.toml")) {
            let what = "is not a link to ../../clippy-pure.toml".into();
            complaints.push(Complaint { rule: "pure", place: link, what });
        }
    }
    Ok(complaints)
}

fn place(name: &str) -> Option<&'static Place> {
    PLACES.iter().find(|place| place.name == name)
}

fn packages(metadata: &Value) -> Option<Vec<Package>> {
    let read = |package: &Value| {
        let own = |dependency: &&Value| {
            dependency["path"].is_string() && dependency["kind"].as_str() != Some("dev")
        };
        let dependencies = package["dependencies"].as_array()?.iter().filter(own);
        let uses = dependencies.map(|dependency| dependency["name"].as_str().map(str::to_owned));
        Some(Package {
            name: package["name"].as_str()?.to_owned(),
            uses: uses.collect::<Option<_>>()?,
        })
    };
    metadata["packages"].as_array()?.iter().map(read).collect()
}

fn judge(packages: &[Package]) -> Vec<Complaint> {
    let mut complaints = Vec::new();
    for package in packages {
        let mut complain = |what| {
            complaints.push(Complaint { rule: "arrows", place: package.name.clone(), what });
        };
        let Some(place) = place(&package.name) else {
            complain("has no place in xtask/src/tidy/arrows.rs and docs/ARCHITECTURE.md".into());
            continue;
        };
        for used in package.uses.iter().filter(|used| !place.may_use.contains(&used.as_str())) {
            complain(format!("may not depend on {used}"));
        }
    }
    complaints
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn arrows_point_down_only() {
        let metadata = json!({"packages": [
            {"name": "engine", "dependencies": [
                {"name": "model", "path": "p", "kind": null},
                {"name": "report", "path": "p", "kind": null},
                {"name": "target", "path": "p", "kind": "dev"},
                {"name": "rustls", "kind": null}]},
            {"name": "novel", "dependencies": []}]});
        let complaints = judge(&packages(&metadata).unwrap());
        let lines: Vec<String> = complaints.iter().map(ToString::to_string).collect();
        assert_eq!(
            lines,
            [
                "engine: arrows: may not depend on report",
                "novel: arrows: has no place in xtask/src/tidy/arrows.rs and docs/ARCHITECTURE.md"
            ]
        );
    }

    #[test]
    fn the_design_has_no_cycle() {
        for (index, place) in PLACES.iter().enumerate() {
            for used in place.may_use {
                let below = PLACES[..index].iter().any(|earlier| earlier.name == *used);
                assert!(below, "{} is listed before {used}, which it may use", place.name);
            }
        }
    }
}
