//! Against a scripted server.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::thread;

use proptest::prelude::*;

use super::*;

fn double(document: Document, name: &str, value: f64) -> Document {
    document.value(name, Value::Number(value))
}

/// What a server of version 6 tells, shortened.
fn server_status(inserts: f64) -> Document {
    let inner = |names: &[(&str, f64)]| {
        let all = names.iter().fold(Document::default(), |d, (name, v)| double(d, name, *v));
        Value::Document(all)
    };
    let cache =
        inner(&[("pages requested from the cache", 900.0), ("pages read into cache", 30.0)]);
    let clients = inner(&[("total", 12.0), ("readers", 3.0), ("writers", 1.0)]);
    let lock = Document::default()
        .value("currentQueue", inner(&[("total", 2.0)]))
        .value("activeClients", clients);
    let told = Document::default()
        .text("version", "6.0.1")
        .value("opcounters", inner(&[("insert", inserts), ("query", 70.0), ("command", 5.0)]))
        .value("connections", inner(&[("current", 11.0), ("available", 89.0)]))
        .value("network", inner(&[("bytesIn", 1e6), ("bytesOut", 2e6), ("numRequests", 80.0)]))
        .value("globalLock", Value::Document(lock))
        .value("wiredTiger", Value::Document(Document::default().value("cache", cache)));
    double(told, "ok", 1.0)
}

/// A server that answers each command by `answer`, and its URL.
fn server(mut answer: impl FnMut(&Document) -> Vec<u8> + Send + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("mongodb://user:pencil@{}", listener.local_addr().unwrap());
    thread::spawn(move || {
        let Ok((mut stream, _)) = listener.accept() else { return };
        loop {
            let mut head = [0; 4];
            if stream.read_exact(&mut head).is_err() {
                return;
            }
            let mut rest = vec![0; i32::from_le_bytes(head) as usize - 4];
            stream.read_exact(&mut rest).unwrap();
            let command = document(&[&head[..], &rest].concat()).unwrap();
            stream.write_all(&answer(&command)).unwrap();
        }
    });
    url
}

fn without_login(url: &str) -> String {
    url.replace("user:pencil@", "")
}

fn read(url: &str) -> Result<Sample, String> {
    let mut mongo = Mongo::new(url);
    let mut stream = mongo.connect()?;
    let mut sample = Sample::new(0);
    mongo.read(&mut stream, &mut sample).map(|()| sample)
}

#[test]
fn operations_connections_and_queues_are_read() {
    let url = server(|command| {
        assert_eq!(
            (command.number("serverStatus"), command.number("metrics")),
            (Some(1.0), Some(0.0))
        );
        message(&server_status(25.0))
    });
    let sample = read(&without_login(&url)).unwrap();
    assert_eq!(sample.counters["db.commands{insert}"], 25);
    assert_eq!(
        (sample.counters["db.statements"], sample.counters["db.blocks_read"]),
        (99, 30),
        "one of 100 is ours"
    );
    assert_eq!(sample.counters["db.blocks_hit"], 870, "of 900 that were requested");
    assert_eq!(
        (sample.gauges["db.connections"], sample.gauges["db.connections_max"]),
        (10.0, 100.0)
    );
    assert_eq!((sample.gauges["db.active"], sample.gauges["db.queued"]), (4.0, 2.0));
}

#[test]
fn a_user_logs_in_and_a_wrong_password_is_reported_and_not_printed() {
    let url = server(|command| {
        let ok = double(Document::default(), "ok", 1.0).int("conversationId", 7);
        let Some(Value::Binary(said)) = command.get("payload") else {
            return message(&server_status(1.0));
        };
        let said = String::from_utf8(said.clone()).unwrap();
        match said.strip_prefix("n,,n=user,r=") {
            // The proof cannot be known before the nonce is: whether it is right, the example of the RFC tells.
            Some(nonce) => message(&ok.binary(
                "payload",
                format!("r={nonce}x,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096").as_bytes(),
            )),
            None => {
                assert!(
                    said.starts_with("c=biws,r=") && command.number("conversationId") == Some(7.0)
                );
                let refused = double(Document::default(), "ok", 0.0);
                message(&refused.text("errmsg", "Authentication failed.").int("code", 18))
            }
        }
    });
    let error = read(&url).unwrap_err();
    assert!(error.contains("Authentication failed.") && !error.contains("pencil"), "{error}");
}

#[test]
fn a_server_that_does_not_know_the_password_is_not_believed() {
    let url = server(|command| {
        let ok = double(Document::default(), "ok", 1.0);
        let Some(Value::Binary(said)) = command.get("payload") else {
            return message(&server_status(1.0));
        };
        let said = String::from_utf8(said.clone()).unwrap();
        message(
            &ok.binary(
                "payload",
                match said.strip_prefix("n,,n=user,r=") {
                    Some(nonce) => format!("r={nonce}x,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096"),
                    None => "v=AAAA".to_owned(),
                }
                .as_bytes(),
            ),
        )
    });
    assert!(read(&url).unwrap_err().contains("does not know the password"));
}

#[test]
fn a_missing_grant_is_named() {
    let refused = double(Document::default(), "ok", 0.0)
        .text("errmsg", "command serverStatus requires authentication")
        .int("code", 13);
    let url = server(move |_| message(&refused));
    let error = read(&without_login(&url)).unwrap_err();
    assert!(error.contains("requires authentication; the user needs clusterMonitor"), "{error}");
}

#[test]
fn what_is_no_mongodb_is_said_and_hostile_lengths_are_refused() {
    for answer in [
        b"HTTP/1.1 400 Bad Request\r\n\r\n".to_vec(),
        i32::MAX.to_le_bytes().to_vec(),
        (-1_i32).to_le_bytes().to_vec(),
        message(&Document::default())[..20].iter().copied().chain([0xff; 40]).collect(),
    ] {
        let mut answer = answer;
        if answer.len() == 60 {
            answer[..4].copy_from_slice(&60_i32.to_le_bytes());
        }
        let url = server(move |_| answer.clone());
        let error = read(&without_login(&url)).unwrap_err();
        assert!(error.contains("does not speak MongoDB's protocol"), "{error}");
    }
}

proptest! {
    #[test]
    fn any_bytes_are_read_without_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = Document::read(&bytes);
        let _ = (document(&bytes), is_whole(&bytes));
    }

    #[test]
    fn what_was_written_is_read(number in -1e15..1e15_f64, int: i32, text in "[a-zäß ]{0,20}", bytes: Vec<u8>) {
        let written = double(Document::default(), "number", number)
            .int("int", int)
            .text("text", &text)
            .binary("bytes", &bytes)
            .value("inner", Value::Document(Document::default().value("yes", Value::Bool(true))));
        prop_assert_eq!(Document::read(&written.bytes()), Some(written));
    }
}
