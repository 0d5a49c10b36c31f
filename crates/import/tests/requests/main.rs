//! Other tools' files become workloads that say what was asked, hold no credential, list what they
//! lack, and can be read again; broken files give one line.

mod broken;
mod samples;
mod sent;

use import::requests::{Format, Imported, Options, import, yaml};
use model::workload::Workload;

/// The samples with their formats, and the options that each needs.
pub const SAMPLES: [(Format, &str, &[u8], Option<&str>); 7] = [
    (Format::Curl, "shop.curl", include_bytes!("data/shop.curl"), None),
    (Format::Vegeta, "http.vegeta", include_bytes!("data/http.vegeta"), None),
    (Format::Vegeta, "json.vegeta", include_bytes!("data/json.vegeta"), None),
    (Format::Har, "shop.har", include_bytes!("data/shop.har"), None),
    (Format::OpenApi, "pets.yaml", include_bytes!("data/pets.yaml"), None),
    (
        Format::OpenApi,
        "orders31.json",
        include_bytes!("data/orders31.json"),
        Some("http://127.0.0.1:8080"),
    ),
    (Format::Postman, "shop.postman.json", include_bytes!("data/shop.postman.json"), None),
];

/// What a sample becomes.
pub fn sample(name: &str) -> Imported {
    let (format, _, bytes, target) = SAMPLES.into_iter().find(|row| row.1 == name).unwrap();
    let options = Options { target: target.map(str::to_owned), ..Options::default() };
    import(format, bytes, &options).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// All notes, a line each.
pub fn notes(imported: &Imported) -> String {
    imported.notes.iter().map(|note| format!("{note}\n")).collect()
}

/// The workload as its YAML is read.
pub fn read_again(imported: &Imported) -> Workload {
    let text = yaml(imported);
    serde_saphyr::from_str(&text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}
