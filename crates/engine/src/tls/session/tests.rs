//! Sessions against rustls's own server, with the bytes between them cut in all ways.

use std::io::{Read, Write};

use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::{AlertDescription, Error, ServerConfig, ServerConnection};

use super::*;
use crate::tls::{TlsSettings, client_config};

/// How a response is cut on its way.
const CUTS: [usize; 6] = [1, 4, 701, 16_384 + 22, 40_000, usize::MAX];

/// Both ends of a connection.
struct Pair {
    session: Session,
    server: ServerConnection,
    /// What the session has decrypted.
    plain: Vec<u8>,
    records: Records,
    /// Bytes are handed over in pieces of this length.
    cut: usize,
}

fn configs(tls13: bool) -> (Arc<ClientConfig>, Arc<ServerConfig>) {
    let settings = TlsSettings {
        insecure: true,
        tls12: !tls13,
        tls13,
        resume: true,
        ..TlsSettings::default()
    };
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(made.signing_key.serialize_der()));
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let server = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![made.cert.der().clone()], key)
        .unwrap();
    (client_config(&settings).unwrap(), Arc::new(server))
}

impl Pair {
    fn new((client, server): &(Arc<ClientConfig>, Arc<ServerConfig>), cut: usize) -> Self {
        let session = Session::new(client, &"localhost".try_into().unwrap()).unwrap();
        let mut server = ServerConnection::new(server.clone()).unwrap();
        server.set_buffer_limit(None);
        let mut pair =
            Self { session, server, plain: Vec::new(), records: Records::default(), cut };
        pair.take(Vec::new()).unwrap();
        while pair.session.handshaking() || pair.server.is_handshaking() {
            pair.tell_server().unwrap();
            pair.hear_server().unwrap();
        }
        pair
    }

    /// Hands the session bytes, as a worker does.
    fn take(&mut self, mut bytes: Vec<u8>) -> Result<(), Error> {
        let mut left = bytes.as_mut_slice();
        loop {
            let (piece, rest) = left.split_at_mut(self.cut.min(left.len()));
            left = rest;
            let mut piece = piece;
            loop {
                let mut plain = Vec::new();
                self.session.feed(&mut piece, &mut plain, &mut self.records)?;
                self.plain.extend_from_slice(&plain);
                if piece.is_empty() && (plain.is_empty() || self.session.is_idle()) {
                    break;
                }
                if self.session.ended() {
                    return Ok(());
                }
            }
            if left.is_empty() {
                return Ok(());
            }
        }
    }

    fn hear_server(&mut self) -> Result<(), Error> {
        let mut bytes = Vec::new();
        while self.server.wants_write() {
            self.server.write_tls(&mut bytes).unwrap();
        }
        self.take(bytes)
    }

    /// Returns what the server has read.
    fn tell_server(&mut self) -> Result<Vec<u8>, Error> {
        let mut bytes = self.records.bytes();
        let mut read = Vec::new();
        while !bytes.is_empty() {
            self.server.read_tls(&mut bytes).unwrap();
            self.server.process_new_packets()?;
            let _ = self.server.reader().read_to_end(&mut read);
        }
        self.records.clear();
        Ok(read)
    }

    fn respond(&mut self, length: usize) -> Vec<u8> {
        let response: Vec<u8> = (0..length).map(|at| (at % 251) as u8).collect();
        self.server.writer().write_all(&response).unwrap();
        response
    }

    /// A request and its response, both as they should be.
    fn exchange(&mut self, request: usize, response: usize) {
        let asked = vec![b'?'; request];
        self.session.write(&asked, &mut self.records);
        assert!(self.tell_server().unwrap() == asked);
        let expected = self.respond(response);
        self.plain.clear();
        self.hear_server().unwrap();
        assert!(self.plain == expected, "{request} {response} {}", self.cut);
    }
}

#[test]
fn requests_and_responses_are_whole_however_they_are_cut() {
    for tls13 in [false, true] {
        let configs = configs(tls13);
        for cut in CUTS {
            let mut pair = Pair::new(&configs, cut);
            for (request, response) in [(50, 150), (1, 1), (100_000, 16_384), (70, 100_000)] {
                pair.exchange(request, response);
            }
        }
    }
}

#[test]
fn sessions_are_resumed() {
    for tls13 in [false, true] {
        let configs = configs(tls13);
        for (nth, cut) in CUTS.into_iter().enumerate() {
            let mut pair = Pair::new(&configs, cut);
            assert_eq!(pair.session.resumed(), nth > 0, "{tls13} {cut}");
            pair.exchange(10, 10);
        }
    }
}

#[test]
fn key_updates_are_followed_in_both_directions() {
    for cut in CUTS {
        let mut pair = Pair::new(&configs(true), cut);
        for _ in 0..3 {
            pair.server.refresh_traffic_keys().unwrap();
            pair.exchange(100, 40_000);
            pair.exchange(20_000, 10);
        }
    }
}

#[test]
fn the_servers_end_comes_behind_all_that_it_has_sent() {
    for tls13 in [false, true] {
        for cut in CUTS {
            let mut pair = Pair::new(&configs(tls13), cut);
            let expected = pair.respond(50_000);
            pair.server.send_close_notify();
            assert!(!pair.session.ended());
            pair.hear_server().unwrap();
            assert!(pair.session.ended() && pair.plain == expected, "{tls13} {cut}");
        }
    }
}

#[test]
fn a_broken_record_is_an_error_of_which_the_server_is_told() {
    for tls13 in [false, true] {
        for cut in CUTS {
            let mut pair = Pair::new(&configs(tls13), cut);
            pair.respond(100);
            let mut bytes = Vec::new();
            pair.server.write_tls(&mut bytes).unwrap();
            *bytes.last_mut().unwrap() ^= 1;
            assert_eq!(pair.take(bytes), Err(Error::DecryptError), "{tls13} {cut}");
            let told = Err(Error::AlertReceived(AlertDescription::BadRecordMac));
            assert_eq!(pair.tell_server(), told, "{tls13} {cut}");
        }
    }
}

#[test]
fn an_alert_of_the_server_is_an_error() {
    let mut pair = Pair::new(&configs(true), usize::MAX);
    // Not what the server awaits: it answers with an alert.
    let mut bytes = &[23, 3, 3, 0, 30, 7, 7, 7][..];
    let mut more = [0; 27].as_slice();
    pair.server.read_tls(&mut bytes).unwrap();
    pair.server.read_tls(&mut more).unwrap();
    assert!(pair.server.process_new_packets().is_err());
    let told = Err(Error::AlertReceived(AlertDescription::BadRecordMac));
    assert_eq!(pair.hear_server(), told);
}

#[test]
fn what_is_decrypted_while_a_request_is_written_is_not_lost() {
    let mut pair = Pair::new(&configs(true), usize::MAX);
    let expected = pair.respond(300);
    pair.server.write_tls(&mut pair.session.begun).unwrap();
    pair.session.write(b"more", &mut pair.records);
    assert_eq!(pair.tell_server().unwrap(), b"more");
    assert!(!pair.session.is_idle());
    pair.take(Vec::new()).unwrap();
    assert_eq!(pair.plain, expected);
}
