//! Peers that stall: clients of the admin API that send nothing, readers of pipes that take nothing.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use tempfile::TempDir;
use testkit::peer::RawClient;
use testkit::pipes;
use wire::ResponseTo;

use crate::harness::{answers, api};
use crate::{start, status, text};

/// They kept everybody else out for as long as they liked.
#[test]
fn an_admin_api_whose_connections_are_all_silent_answers() {
    let (folder, api) = (TempDir::new().expect("a folder"), api());
    let admin = "[admin]\naddress = \"127.0.0.1:0\"\n";
    let gateway = start(&folder, &text(&folder, api.addr(), admin));
    let address = gateway.admin_address().expect("it is served");
    let silent: Vec<RawClient> = (0..64).map(|_| RawClient::connect(address)).collect();
    let mut client = RawClient::connect(address);
    client.send(b"GET /v1/state HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
    let (came, _) = client.receive_all(Duration::from_secs(60));
    assert_eq!(answers(&came, ResponseTo::Other)[0].status, 401);
    drop(silent);
}

/// A pipe that is full, with a reader who takes nothing.
fn full_pipe(path: &Path) -> File {
    pipes::make(path);
    let (reader, mut writer) = (pipes::reader(path), pipes::writer(path));
    let full = loop {
        match writer.write(&[b'\n'; 4096]) {
            Ok(written) => assert!(written > 0),
            Err(error) => break error.kind(),
        }
    };
    assert_eq!(full, io::ErrorKind::WouldBlock);
    reader
}

/// SIGTERM was not heeded.
#[test]
fn the_end_waits_for_no_reader_who_stands_still() {
    let (folder, api) = (TempDir::new().expect("a folder"), api());
    let (usage, log) = (folder.path().join("usage"), folder.path().join("log"));
    let _readers = [full_pipe(&usage), full_pipe(&log)];
    let more = format!(
        "[usage]\njson_lines = \"{}\"\n[access_log]\npath = \"{}\"\n",
        usage.display(),
        log.display()
    );
    let gateway = start(&folder, &text(&folder, api.addr(), &more));
    assert_eq!(status(&gateway, None), 200);
    let control = Arc::clone(gateway.control());
    let (tell, told) = channel();
    thread::spawn(move || tell.send(gateway.drain()));
    let wrong = told.recv_timeout(Duration::from_secs(60)).expect("it ends");
    assert!(wrong.iter().any(|why| why.starts_with("usage cannot be written")), "{wrong:?}");
    let account = control.usage().account();
    assert_eq!((account.served, account.reported, account.pending), (1, 0, 1));
    let log = control.log().expect("there is one").queue().counts();
    assert_eq!((log.written, log.failed), (0, 1));
}
