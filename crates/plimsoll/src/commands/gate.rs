//! `plimsoll gate`: runs the gateway until it is stopped; the subcommands are in [`mod@keys`] and [`mod@usage`].
//!
//! Owns its messages, and the signals. The crate `gate` serves requests.

mod keys;
mod usage;
mod watch;

use std::collections::VecDeque;
use std::net::Ipv6Addr;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::RecvTimeoutError;
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use gate::admission::Line;
use gate::config::{Config, Flags};
use gate::gateway::{ConfigChange, Control, Gateway, GatewayError, Reloaded, Setup};
use gate::policy::Policy;
use model::quote::{counted, visible};
use model::units::show_rate;
use net::limits::FileLimit;
use signal_hook::consts::{SIGHUP, SIGUSR1};

use self::watch::{TICK, Watched};
use crate::args::{ExportArgs, ExportProxy, GateArgs, GateCommand, IoArg};
use crate::failure::{Failure, cannot_run, usage as wrong_usage};
use crate::results::{input, output};
use crate::terminal::signals::{stop_on_signal_but_hangup, stopped};

/// How often signals are looked for.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// Runs the command; the exit code.
///
/// # Errors
/// When the gateway cannot start, or what is asked of keys and usage cannot be done.
pub fn gate(args: &GateArgs) -> Result<u8, Failure> {
    match &args.command {
        Some(GateCommand::Keys(args)) => keys::keys(&args.command),
        Some(GateCommand::Usage(args)) => usage::usage(args),
        Some(GateCommand::Export(args)) => export(args),
        None => serve(args),
    }
}

fn serve(args: &GateArgs) -> Result<u8, Failure> {
    if let Some(url) =
        args.config.as_deref().and_then(Path::to_str).filter(|text| text.contains("://"))
    {
        return wrong_usage(format!(
            "`{url}` is a URL, and a configuration is a file: plimsoll gate --listen 127.0.0.1:9090 --upstream {url}"
        ));
    }
    if args.config.is_none() && (args.listen.is_empty() || args.upstream.is_empty()) {
        return wrong_usage(
            "a gateway needs --listen and --upstream, or a configuration: plimsoll gate --listen 127.0.0.1:9090 \
             --upstream http://127.0.0.1:8080",
        );
    }
    let setup = setup(args)?;
    if args.check {
        return match Gateway::check(&setup) {
            Ok(notes) => {
                let text = format!("the configuration is right\n{}", noted(&notes));
                Ok(if output::print(&text) { 0 } else { 1 })
            }
            Err(error) => Err(failure(&error)),
        };
    }
    let stop = stop_on_signal_but_hangup()?;
    let (again, rotated) = (flag(SIGHUP)?, flag(SIGUSR1)?);
    if args.watch {
        // So that a file that was written just before counts as read.
        thread::sleep(TICK);
    }
    let mut read_at = SystemTime::now();
    let gateway = Gateway::start(setup).map_err(|error| failure(&error))?;
    output::print(&opening(&gateway));
    let mut watched = args.watch.then(|| Watched::new(gateway.control().files(), read_at));
    while !stopped(&stop) && !gateway.is_replaced() {
        thread::sleep(LOOK_EVERY);
        let again = again.swap(false, Ordering::SeqCst);
        if rotated.swap(false, Ordering::SeqCst) || again {
            gateway.control().log().inspect(|log| log.reopen());
        }
        say_troubles(gateway.control());
        if again {
            // So that a file that was written just before counts as read.
            thread::sleep(TICK);
            // What comes of it is said below, beside what the admin API was asked for.
            let _ = gateway.control().reload("SIGHUP");
        }
        for path in watched.as_mut().map(Watched::gone).unwrap_or_default() {
            say_gone(&path, &gateway.control().policy());
        }
        // What a signal has just had read is noted first.
        let watched_now = watched.as_mut().filter(|_| !again);
        if watched_now.is_some_and(|files| files.changed(Instant::now())) {
            let _ = gateway.control().reload("changed file");
        }
        let tried = gateway.control().take_config_changes();
        tried.iter().for_each(|tried| say(tried, &gateway.control().policy()));
        if !tried.is_empty() {
            let known = watched.take();
            watched = known.map(|known| watch_on(known, gateway.control(), &tried, read_at));
        }
        // Files that change from here on may be newer than what this round has read.
        read_at = SystemTime::now();
    }
    let control = Arc::clone(gateway.control());
    let wrong = drained(gateway, &control);
    output::print(&ended(&control));
    match wrong.first() {
        Some(why) => cannot_run(why.clone()),
        None => Ok(0),
    }
}

/// Ends a gateway, and prints what goes wrong meanwhile; what could not be finished.
fn drained(gateway: Gateway, control: &Control) -> Vec<String> {
    let wrong = thread::scope(|scope| {
        let (running, ended) = mpsc::channel::<()>();
        let say = move || {
            while ended.recv_timeout(LOOK_EVERY) == Err(RecvTimeoutError::Timeout) {
                say_troubles(control);
            }
        };
        // Where there is no other thread to be had, it is printed at the end.
        let _ = thread::Builder::new().spawn_scoped(scope, say);
        let wrong = gateway.drain();
        drop(running);
        wrong
    });
    say_troubles(control);
    wrong
}

/// Prints what began or ended since this was last called.
fn say_troubles(control: &Control) {
    for sentence in control.troubles().take_to_say() {
        eprintln!("plimsoll: {}", visible(&sentence, &[]));
    }
}

/// Watches on once configurations were tried: other files where another one names others. `since` is when the last files were
/// read before that.
fn watch_on(
    known: Watched,
    control: &Control,
    tried: &VecDeque<ConfigChange>,
    since: SystemTime,
) -> Watched {
    let last_read = tried.iter().filter_map(|tried| tried.read_at).max();
    let files = control.files();
    let mut watched = match known.is_of(&files) {
        true => known,
        false => Watched::new(files, last_read.unwrap_or(since)),
    };
    if let Some(read_at) = last_read {
        watched.note_read(read_at);
    }
    watched
}

/// Says that a file is gone.
fn say_gone(path: &Path, policy: &Policy) {
    eprintln!(
        "plimsoll: {} is gone: the gateway goes on with what it read of it, and would not start without it; {}",
        visible(&path.display().to_string(), &[]),
        held(policy)
    );
}

/// What came of all requests, once the gateway has ended.
fn ended(control: &Control) -> String {
    let account = control.usage().account();
    let lost = account.served.saturating_sub(account.reported);
    let lost = if lost > 0 { format!("; the usage of {lost} is lost") } else { String::new() };
    let cut = match control.path().cut {
        0 => String::new(),
        cut => format!("; {} cut off at the end of `drain`", counted(cut, "request")),
    };
    let lines = control.log().map(|log| log.queue().counts());
    let unlogged = match lines.map_or(0, |counts| counts.dropped + counts.failed) {
        0 => String::new(),
        lines => format!("; {} of the access log lost", counted(lines, "line")),
    };
    format!("{} answered{cut}{lost}{unlogged}\n", counted(account.served, "request"))
}

/// Reports the outcome of a change of the configuration.
fn say(tried: &ConfigChange, policy: &Policy) {
    let (by, held) = (&tried.by, held(policy));
    match &tried.outcome {
        Ok(reloaded) => {
            eprintln!("plimsoll: {by}: {}; {held}", reload_outcome(tried.what, reloaded));
            for note in &reloaded.notes {
                eprintln!("plimsoll: {note}");
            }
        }
        Err(why) => eprintln!("plimsoll: {by}: nothing was changed: {why}; {held}"),
    }
}

/// The outcome of reading the configuration again, or of replacing it.
fn reload_outcome(what: &str, reloaded: &Reloaded) -> String {
    let mut text = format!("the configuration was {what}");
    match reloaded.waits_for_restart.as_slice() {
        [] => text += " and is in force",
        waiting => {
            text += &format!(
                "; these settings stay as they were until a restart: {}; all others are in force",
                waiting.join(", ")
            )
        }
    }
    text
}

/// The load line that requests are held to.
fn held(policy: &Policy) -> String {
    match policy.line() {
        Some(line) => format!(
            "load line: {} requests/s, {:.0} at once, within {}, measured at {}",
            show_rate(line.rate_per_s),
            line.at_once,
            line.envelope.from,
            line.measured_at
        ),
        None => "no load line is held".to_owned(),
    }
}

/// What may not be meant, a line each.
fn noted(notes: &[String]) -> String {
    notes.iter().map(|note| format!("note: {note}\n")).collect()
}

/// A flag that a signal sets.
fn flag(signal: i32) -> Result<Arc<AtomicBool>, Failure> {
    let flag = Arc::new(AtomicBool::new(false));
    match signal_hook::flag::register(signal, Arc::clone(&flag)) {
        Ok(_) => Ok(flag),
        Err(error) => cannot_run(format!("cannot catch signals: {error}")),
    }
}

fn setup(args: &GateArgs) -> Result<Setup, Failure> {
    if args.workers == Some(0) {
        return wrong_usage("--workers 0: at least one thread is needed");
    }
    if let Some(word) = args.config.as_ref().filter(|path| path.extension().is_none())
        && !word.exists()
    {
        return cannot_run(format!(
            "{}: there is no such file; the commands of `plimsoll gate` are keys, usage and export",
            word.display()
        ));
    }
    let flags = Flags {
        listen: args.listen.clone(),
        upstream: args.upstream.clone(),
        loadline: args.loadline.clone(),
        admin: args.admin.clone(),
        admin_token: args.admin_token.clone(),
        store: args.store.clone(),
        open: args.open,
        usage_lines: args.usage_lines.clone(),
        access_log: args.access_log.clone(),
        workers: args.workers.map(|workers| workers as usize),
    };
    Ok(Setup {
        file: args.config.clone(),
        flags: Config::from(flags),
        take_over: args.take_over,
        machine: Some(measure::machine::environment(FileLimit { soft: 0, hard: 0 })),
        io: match args.io {
            IoArg::Auto => None,
            IoArg::Uring => Some(net::Io::Uring),
            IoArg::Epoll => Some(net::Io::Epoll),
        },
    })
}

/// What is said once clients can connect.
fn opening(gateway: &Gateway) -> String {
    let policy = gateway.control().policy();
    let addresses: Vec<String> = gateway.addresses().iter().map(ToString::to_string).collect();
    let io = match gateway.io() {
        net::Io::Uring => "io_uring",
        net::Io::Epoll => "epoll",
    };
    let mut text = format!(
        "listening on {} ({}, {io}); Ctrl-C to end\n",
        addresses.join(", "),
        counted(gateway.workers() as u64, "thread")
    );
    match policy.asks_for_keys() {
        true => {
            text += &format!(
                "keys are asked for: {} in the store\n",
                gateway.control().state().keys.len()
            )
        }
        false => text += "no key is asked for: everybody is let through\n",
    }
    match policy.line() {
        Some(line) => {
            text += &format!(
                "load line: {} requests/s, {:.0} at once, within {}\n  measured of {} at {}\n",
                show_rate(line.rate_per_s),
                line.at_once,
                line.envelope.from,
                line.url,
                line.measured_at
            );
            for name in &line.unknown {
                text += &format!(
                    "  the endpoint {name} is not a method and path: its requests cost the mean\n"
                );
            }
        }
        None => text += "no load line: --loadline holds all requests to what was measured\n",
    }
    text += &noted(&gateway.control().outcome().notes);
    if let Some(address) = gateway.admin_address() {
        if !address.ip().is_loopback() {
            text +=
                "note: other machines can reach the admin API, and its token is sent without TLS\n";
        }
        text += &match gateway.made_token() {
            Some(token) => {
                format!("usage page and admin API:\n  http://{address}/#token={token}\n")
            }
            None => format!("usage page and admin API: http://{address}/\n"),
        };
    }
    text
}

fn export(args: &ExportArgs) -> Result<u8, Failure> {
    let path = &args.loadline;
    let json = match input::read(path) {
        Ok(json) => String::from_utf8_lossy(&json).into_owned(),
        Err(error) => {
            let what = "--loadline names the capacity.json that `plimsoll capacity` wrote";
            return cannot_run(format!("{}: {error}; {what}", path.display()));
        }
    };
    let line =
        Line::parse(&json).or_else(|error| wrong_usage(format!("{}: {error}", path.display())))?;
    let mut servers = Vec::new();
    for url in &args.upstream {
        match server(url) {
            Some(server) => servers.push(server),
            None => {
                return wrong_usage(format!("--upstream {url}: write it as http://10.0.0.7:8080"));
            }
        }
    }
    let Some(listen) = listener(&args.listen) else {
        return wrong_usage(format!("--listen {}: write it as 127.0.0.1:9090", args.listen));
    };
    let text = match args.proxy {
        ExportProxy::Nginx => gate::export::nginx(&line, &listen, &servers),
        ExportProxy::Haproxy => gate::export::haproxy(&line, &listen, &servers),
    };
    let text = text.or_else(|why| wrong_usage(format!("{}: {why}", path.display())))?;
    Ok(if output::print(&text) { 0 } else { 1 })
}

/// Whether a text is a name or an address of a host, in brackets where it has colons: proxies take nothing in it for anything else.
fn is_host(text: &str) -> bool {
    match text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        Some(address) => address.parse::<Ipv6Addr>().is_ok(),
        None => {
            let of_name = |byte: u8| byte.is_ascii_alphanumeric() || b"-._".contains(&byte);
            !text.is_empty() && text.bytes().all(of_name)
        }
    }
}

fn port(text: &str) -> Option<u16> {
    text.parse().ok().filter(|port| *port > 0)
}

/// Where a proxy is to listen: a host or `*`, and a port.
fn listener(text: &str) -> Option<String> {
    let (host, number) = text.rsplit_once(':')?;
    let number = port(number).filter(|_| host == "*" || is_host(host))?;
    Some(format!("{host}:{number}"))
}

/// The host and port of a URL of a server; HAProxy takes the client's port where there is none.
fn server(url: &str) -> Option<String> {
    let server = url.strip_prefix("http://")?.trim_end_matches('/');
    let (host, number) = match server.rsplit_once(':') {
        Some((host, number)) if !server.ends_with(']') => (host, port(number)?),
        _ => (server, 80),
    };
    is_host(host).then(|| format!("{host}:{number}"))
}

fn failure(error: &GatewayError) -> Failure {
    match error.is_usage() {
        true => Failure::Usage(error.to_string()),
        false => Failure::CannotRun(error.to_string()),
    }
}
