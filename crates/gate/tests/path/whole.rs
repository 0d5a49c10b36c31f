//! Whole gateways, from a configuration file: keys, reloads, usage.

use std::fs;
use std::net::SocketAddr;
use std::time::Duration;

use gate::gateway::{Gateway, Setup};
use gate::keys::{NewKey, Stamp, Store};
use tempfile::TempDir;
use testkit::peer::RawClient;
use wire::ResponseTo;

use crate::harness::{answers, api};

const STAMP: Stamp = Stamp { at_s: 1, by: "test" };

/// A configuration with its store in a folder, and further lines.
fn text(folder: &TempDir, upstream: SocketAddr, more: &str) -> String {
    let store = folder.path().join("gate.db");
    format!(
        "workers = 1\n[[listen]]\naddress = \"127.0.0.1:0\"\n[[upstream]]\nname = \"api\"\nservers = \
         [\"http://{upstream}\"]\n[keys]\nstore = \"{}\"\n{more}",
        store.display()
    )
}

fn start(folder: &TempDir, text: &str) -> Gateway {
    let file = folder.path().join("gate.toml");
    fs::write(&file, text).expect("the file is written");
    Gateway::start(Setup { file: Some(file), ..Setup::default() }).expect("the gateway starts")
}

fn store(folder: &TempDir) -> Store {
    Store::open(&folder.path().join("gate.db")).expect("the store opens")
}

/// The status of one request, with a key where there is one.
fn status(gateway: &Gateway, key: Option<&str>) -> u16 {
    let mut client = RawClient::connect(gateway.addresses()[0]);
    let key = key.map_or(String::new(), |key| format!("X-API-Key: {key}\r\n"));
    client.send(format!("GET /healthz HTTP/1.1\r\nHost: a\r\n{key}\r\n").as_bytes());
    client.half_close();
    let (came, _) = client.receive_all(Duration::from_secs(10));
    answers(&came, ResponseTo::Other)[0].status
}

#[test]
fn a_reload_asks_for_keys_where_all_of_them_are_revoked() {
    let (folder, api) = (TempDir::new().expect("a folder"), api());
    let mut keys = store(&folder);
    let (_, id) = keys.add(&NewKey::default(), &STAMP).expect("a key");
    keys.revoke(id, &STAMP).expect("it is revoked");
    let text = text(&folder, api.addr(), "");
    let gateway = start(&folder, &text);
    assert_eq!(status(&gateway, None), 401);
    gateway.control().replace(&text, "test").expect("it is reloaded");
    assert_eq!(status(&gateway, None), 401);
}

#[test]
fn a_key_that_came_and_went_between_two_looks_is_asked_for() {
    let (folder, api) = (TempDir::new().expect("a folder"), api());
    let gateway = start(&folder, &text(&folder, api.addr(), ""));
    assert_eq!(status(&gateway, None), 200);
    let id = gateway.control().with_store(|_| {
        // Nothing is followed while the control is held.
        let mut keys = store(&folder);
        let (_, id) = keys.add(&NewKey::default(), &STAMP).expect("a key");
        keys.revoke(id, &STAMP).expect("it is revoked");
        id
    });
    gateway.control().follow_store().expect("the store is read");
    assert_eq!((id, status(&gateway, None)), (1, 401));
}
