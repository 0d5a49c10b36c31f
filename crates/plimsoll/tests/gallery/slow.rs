//! A server that needs some seconds to come to speed, as one does that compiles while it runs.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

/// Its URL. Responses take 20 ms for the first seconds from its first connection on, 4 ms later. It
/// ends with the process.
pub fn warming(seconds: u64) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("its address");
    thread::spawn(move || {
        let mut first = None;
        for client in listener.incoming().flatten() {
            let warm = *first.get_or_insert_with(Instant::now) + Duration::from_secs(seconds);
            thread::spawn(move || answer(client, warm));
        }
    });
    format!("http://{address}/")
}

fn answer(mut client: TcpStream, warm: Instant) {
    let mut request = [0; 4096];
    // The client sends one small request at a time: what is read at once is one.
    while client.read(&mut request).is_ok_and(|n| n > 0) {
        let pause = if Instant::now() < warm { 20 } else { 4 };
        thread::sleep(Duration::from_millis(pause));
        if client.write_all(ANSWER).is_err() {
            return;
        }
    }
}
