//! `plimsoll target`: the built-in API, until it is stopped.

use std::io;
use std::net::{SocketAddr, ToSocketAddrs};
use std::sync::atomic::Ordering;
use std::thread;
use std::time::Duration;

use model::quote::counted;
use report::text::paragraph;
use target::{Options, Server, Stall, Tls};

use crate::args::{IoArg, TargetArgs};
use crate::failure::{Failure, cannot_run, usage};
use crate::results::output;
use crate::terminal::signals::{stop_on_signal, stopped};

/// How often the end is looked for.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// Runs the command; the exit code.
///
/// # Errors
/// When the server cannot start.
pub fn target(args: &TargetArgs) -> Result<u8, Failure> {
    let options = options(args)?;
    let tls = options.tls.is_some();
    let stop = stop_on_signal()?;
    let server = match Server::start(options) {
        Ok(server) => server,
        Err(error) => return cannot_run(error.to_string()),
    };
    let scheme = if tls { "https" } else { "http" };
    let opening = format!(
        "listening on {scheme}://{}/healthz ({}, {}); Ctrl-C to end",
        server.addr(),
        counted(server.threads() as u64, "thread"),
        match server.io() {
            net::Io::Uring => "io_uring",
            net::Io::Epoll => "epoll",
        }
    );
    output::print(&paragraph(&opening, "", output::style()));
    if args.until_input_ends {
        let stop = stop.clone();
        thread::spawn(move || {
            // Whatever ends the input ends the server.
            let _ = io::copy(&mut io::stdin().lock(), &mut io::sink());
            stop.store(true, Ordering::Relaxed);
        });
    }
    while !stopped(&stop) {
        thread::sleep(LOOK_EVERY);
    }
    output::print(&format!("{}\n", server.stop()));
    Ok(0)
}

fn options(args: &TargetArgs) -> Result<Options, Failure> {
    if args.threads == Some(0) {
        return usage("--threads 0: at least one thread is needed");
    }
    if args.requests_per_connection == Some(0) {
        return usage("--requests-per-connection 0: a connection must serve at least one");
    }
    let stall = match (args.stall_every, args.stall_for) {
        (Some(every_ns), Some(for_ns)) if for_ns == 0 || for_ns >= every_ns => {
            return usage("--stall-for must be above zero and shorter than --stall-every");
        }
        (Some(every_ns), Some(for_ns)) => Some(Stall { every_ns, for_ns }),
        _ => None,
    };
    let tls = match (&args.cert, &args.key) {
        (Some(cert), Some(key)) => Some(Tls::Files { cert: cert.clone(), key: key.clone() }),
        _ if args.tls => Some(Tls::SelfSigned),
        _ => None,
    };
    Ok(Options {
        listen: listen_address(&args.listen)?,
        threads: args.threads.map(|threads| threads as usize),
        tls,
        stall,
        requests_per_connection: args.requests_per_connection,
        close: args.close,
        seed: args.seed,
        io: match args.io {
            IoArg::Auto => None,
            IoArg::Uring => Some(net::Io::Uring),
            IoArg::Epoll => Some(net::Io::Epoll),
        },
        share_files: false,
    })
}

fn listen_address(text: &str) -> Result<SocketAddr, Failure> {
    let text = if text.starts_with(':') { format!("127.0.0.1{text}") } else { text.to_owned() };
    match text.to_socket_addrs().map(|mut found| found.next()) {
        Ok(Some(address)) => Ok(address),
        Ok(None) => usage(format!("--listen {text}: the name has no address")),
        Err(error) => usage(format!("--listen {text}: {error}; write it as 127.0.0.1:8080")),
    }
}
