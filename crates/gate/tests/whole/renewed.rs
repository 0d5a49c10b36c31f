//! Certificates that are renewed while the gateway runs.

use std::fs;
use std::io::{self, Read, Write};

use tempfile::TempDir;

use crate::certificate::{Made, TlsClient};
use crate::harness::api;
use crate::{start, text};

/// One request and its answer.
fn ask(client: &mut TlsClient) -> io::Result<()> {
    client.write_all(b"GET /bytes/2 HTTP/1.1\r\nHost: a\r\n\r\n")?;
    let mut came = Vec::new();
    while !came.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        client.read_exact(&mut byte)?;
        came.push(byte[0]);
    }
    assert!(came.starts_with(b"HTTP/1.1 200 OK\r\n"), "{}", came.escape_ascii());
    client.read_exact(&mut [0; 2])
}

#[test]
fn a_renewed_certificate_is_shown_to_new_connections() {
    let (folder, api) = (TempDir::new().expect("a folder"), api());
    let (first, second) = (Made::new(), Made::new());
    let [cert, key] = ["cert.pem", "key.pem"].map(|name| folder.path().join(name));
    fs::copy(&first.cert, &cert).expect("it is written");
    fs::copy(&first.key, &key).expect("it is written");
    let identity = format!("[[listen]]\ncert = {cert:?}\nkey = {key:?}");
    let text = text(&folder, api.addr(), "").replace("[[listen]]", &identity);
    let gateway = start(&folder, &text);
    assert!([&cert, &key].iter().all(|file| gateway.control().files().contains(file)));
    let address = gateway.addresses()[0];
    let mut before = first.client(address);
    ask(&mut before).expect("an answer");
    // Half of a pair changes nothing.
    fs::copy(&second.cert, &cert).expect("it is written");
    let refused = gateway.control().reload("test").expect_err("they do not go together");
    assert!(refused.to_string().contains("line 3, column 8: listen.cert"), "{refused}");
    ask(&mut first.client(address)).expect("the first is shown");
    fs::copy(&second.key, &key).expect("it is written");
    let reloaded = gateway.control().reload("test").expect("it is read again");
    assert_eq!(reloaded.waits_for_restart, Vec::<&str>::new());
    ask(&mut second.client(address)).expect("the second is shown");
    ask(&mut first.client(address)).expect_err("the first is no more");
    ask(&mut before).expect("who is connected goes on");
}
