//! A whole gateway: data path, control, reports and admin API, from start to stop.
//!
//! Owns files, clocks and threads beside the data path. [`Gateway::start`] puts the parts together; `control` holds the
//! state that they share and puts configurations in force; `key_changes` applies changes of keys; `housekeeping` is the
//! thread for periodic work.

mod active_checks;
mod changed_settings;
mod clock_changes;
mod config_changes;
mod config_files;
mod control;
mod error;
mod failing;
mod fixed_settings;
mod housekeeping;
mod key_changes;
mod listener_certificates;
mod loading;
mod neighbours;
mod notes;
mod preflight;
mod quota_writes;
mod refused_connections;
mod takeover;
mod takeover_usage;
mod throttle;
mod troubles;

use std::net::{SocketAddr, TcpListener, ToSocketAddrs};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

pub use config_changes::ConfigChange;
use config_files::Written;
use control::Beside;
pub use control::{Control, Standing};
pub use error::GatewayError;
pub use fixed_settings::Reloaded;
use listener_certificates::ListenerCertificates;
use neighbours::{Neighbours, is_alive, not_started};
use quota_writes::QuotaWrites;
use takeover::{EarlierGateway, Sockets, TakeoverSocket};
use takeover_usage::NotingSink;
pub use troubles::Troubles;

use crate::access::{PageQueue, Writer};
use crate::admin;
use crate::config::{AccessLog, Built, Config, ListenConfig, ListenerSettings, NO_ADDRESS, STORE};
use crate::path::{Gate, Identity, Listener, Options};
use crate::shared::Link;
use crate::usage::{Collector, Counted, HttpSink, JsonLines, ReachedTable, Reporter, Sink, Sqlite};

/// Between two attempts to write a batch of usage.
const SINK_PAUSE: Duration = Duration::from_millis(500);
/// How often usage is reported.
const REPORT_EVERY_S: u32 = 5;

/// The options of a start.
#[derive(Debug, Clone, Default)]
pub struct Setup {
    /// A configuration file; without one only flags count.
    pub file: Option<PathBuf>,
    /// Flags; they take precedence over the file.
    pub flags: Config,
    /// The kernel interface; `None`: io_uring if it works.
    pub io: Option<net::Io>,
    /// Take the listeners of the gateway that runs on the same store and addresses, which then ends.
    pub take_over: bool,
    /// This machine, to recognise a load line that was measured on another; unknown where absent.
    pub machine: Option<model::Environment>,
}

/// A running gateway.
#[derive(Debug)]
pub struct Gateway {
    gate: Gate,
    control: Arc<Control>,
    admin: Option<admin::Served>,
    stop: Arc<AtomicBool>,
    housekeeping: JoinHandle<()>,
    reporting: JoinHandle<()>,
    quota_writes: JoinHandle<()>,
    logging: Option<JoinHandle<()>>,
    sharing: Option<JoinHandle<()>>,
    /// Waits for the gateway that this one takes over, to count what that let through.
    counting: Option<JoinHandle<()>>,
    waiting: Option<JoinHandle<Option<UnixStream>>>,
    /// Closed once the gateway that this one took over has ended.
    earlier: Option<UnixStream>,
    replaced: Arc<AtomicBool>,
    stop_waiting: Arc<AtomicBool>,
}

impl Gateway {
    /// Starts all parts, and returns once clients can connect.
    ///
    /// # Errors
    /// When the configuration is wrong, an address is taken, or a file cannot be used. Nothing is left running then.
    pub fn start(setup: Setup) -> Result<Self, GatewayError> {
        let (mut config, text) = control::read(&setup)?;
        let built = control::built(&config, &text, setup.file.as_deref())?;
        let file = setup.file.clone();
        let written = Written { text: &text, file: file.as_deref() };
        let store = store_of(&config);
        let (earlier, mut given) = given(&setup, &built, &store)?;
        let kept_threads = given.keep_threads(&mut config);
        let mut listeners = listeners(&built.listeners, &config, written)?;
        for (listener, (_, sockets)) in listeners.iter_mut().zip(&given.listeners) {
            listener.sockets.clone_from(sockets);
        }
        let log = log(&built)
            .map_err(written.named("access_log.path", config.access_log.path.as_ref()))?;
        let shown = ListenerCertificates::of(&built.listeners, &listeners);
        let io = given.io.or(setup.io);
        let options = path_options(&config, &built, listeners, io, log.as_ref());
        let sink = sink(&config, &store, written)?;
        let link = built.shared.clone().map(|place| Arc::new(Link::new(place)));
        let beside = Beside { log: log.clone(), link: link.clone(), shown };
        let (control, collector, reporter) =
            Control::new(setup, &config, &text, built, &store, beside)?;
        kept_threads.into_iter().for_each(|note| control.note_kept_threads(note));
        let (current, health) = (Arc::clone(&control.current), Arc::clone(&control.health));
        let gate = Gate::start(options, current, health)
            .map_err(|error| not_started(error, &store, earlier.is_some()))?;
        control.count_by(gate.reader());
        let admin = match control.admin_address() {
            Some(address) => Some(admin::serve(address, given.admin.take(), Arc::clone(&control))?),
            None => None,
        };
        let stop = Arc::new(AtomicBool::new(false));
        let sharing = link.map(|link| {
            let (control, stop) = (Arc::clone(&control), Arc::clone(&stop));
            spawn("gate-share", move || link.run(&control.current, control.state(), &stop))
        });
        let sharing = sharing.transpose()?;
        let logging = log.map(|log| {
            let (control, stop) = (Arc::clone(&control), Arc::clone(&stop));
            spawn("gate-log", move || log.run(&control.current, &stop))
        });
        let (sender, receiver) = channel();
        let counting = control.awaits_used().then(|| {
            let (control, stop) = (Arc::clone(&control), Arc::clone(&stop));
            spawn("gate-earlier", move || count_earlier(&control, &receiver, &stop))
        });
        let counting = counting.transpose()?;
        let sink = NotingSink { sink, control: Arc::clone(&control) };
        let reporting = spawn("gate-report", move || report(reporter, sink))?;
        let (quotas, quota_writes) = write_quotas(&control, &store, &stop)?;
        let housekeeping = spawn_housekeeping(&control, collector, quotas, &stop)?;
        let logging = logging.transpose()?;
        let gateway = Self {
            waiting: None,
            earlier: None,
            replaced: Arc::default(),
            stop_waiting: Arc::default(),
            gate,
            control,
            admin,
            stop,
            housekeeping,
            reporting,
            quota_writes,
            logging,
            sharing,
            counting,
        };
        gateway.replace(earlier, sender, &store)
    }

    /// Ends the gateway that is taken over, and waits for one that takes this one over. Where the earlier one goes on, this
    /// one ends.
    fn replace(
        mut self,
        earlier: Option<EarlierGateway>,
        sender: Sender<UnixStream>,
        store: &Path,
    ) -> Result<Self, GatewayError> {
        if let Some(earlier) = earlier {
            match earlier.end() {
                Ok(Some(ending)) => {
                    self.earlier = ending.try_clone().ok();
                    drop(sender.send(ending));
                }
                Ok(None) => {}
                Err(error) => {
                    // Who counts what the earlier one lets through waits for it.
                    drop(sender);
                    self.drain();
                    return Err(error);
                }
            }
            let addresses = self.gate.addresses().to_vec();
            spawn("gate-wake", move || takeover::wake(&addresses))?;
        }
        let place =
            takeover::place(store, self.gate.addresses().first().map_or(0, SocketAddr::port));
        // Its place is about to be this one's: one that is taken over has left it.
        if self.earlier.is_none() && self.control.link().is_none() && is_alive(&place) {
            self.control.troubles().say(troubles::of_neighbour(store, &place));
        }
        let flags = (&self.replaced, &self.stop_waiting);
        self.waiting = wait_for_takeover(&self.gate, self.admin.as_ref(), place.clone(), flags)?;
        self.control.know_neighbours(Neighbours::of(place, Arc::clone(&self.replaced)));
        self.control.note_start();
        Ok(self)
    }

    /// Reads and checks everything that a start would use: the configuration, names, and all files. Nothing is started or sent,
    /// no port is bound, no file is changed or left behind. Returns settings that are probably not intended, a sentence each.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn check(setup: &Setup) -> Result<Vec<String>, GatewayError> {
        preflight::check(setup)
    }

    /// The addresses that clients connect to.
    pub fn addresses(&self) -> &[SocketAddr] {
        self.gate.addresses()
    }

    /// The address of the admin API.
    pub fn admin_address(&self) -> Option<SocketAddr> {
        self.admin.as_ref().map(admin::Served::address)
    }

    /// The token of the admin API, if this process made it.
    pub fn made_token(&self) -> Option<&str> {
        self.control.made_token()
    }

    /// The handle for changes.
    pub fn control(&self) -> &Arc<Control> {
        &self.control
    }

    /// Threads of the data path.
    pub fn workers(&self) -> usize {
        self.gate.workers()
    }

    /// The kernel interface in use.
    pub fn io(&self) -> net::Io {
        self.gate.io()
    }

    /// Whether another gateway has taken its listeners: it is to end then.
    pub fn is_replaced(&self) -> bool {
        self.replaced.load(Ordering::SeqCst)
    }

    /// Accepts no more connections, lets requests in flight end, and reports the rest of the usage. Returns what went wrong, in
    /// words.
    pub fn drain(self) -> Vec<String> {
        // The listeners' sockets are let go of before clients could queue in vain.
        drop(self.admin);
        self.stop_waiting.store(true, Ordering::SeqCst);
        // A later gateway sees by this that this one has ended, so it is held until all is reported.
        let taken_over = self.waiting.map_or(Ok(None), JoinHandle::join);
        let mut wrong = self.gate.drain();
        self.stop.store(true, Ordering::SeqCst);
        let others = self.logging.into_iter().chain(self.sharing).chain(self.counting);
        let others = others.map(JoinHandle::join);
        let others: thread::Result<()> = others.collect();
        let ended = self.housekeeping.join().and(self.reporting.join());
        let ended = ended.and(self.quota_writes.join()).and(others);
        if ended.is_err() || taken_over.is_err() {
            wrong.push("a thread panicked, which is a bug".to_owned());
        }
        let unwritten = self.control.usage().sink_error();
        wrong.extend(unwritten.map(|why| format!("usage cannot be written: {why}")));
        wrong.extend(self.control.log().and_then(|log| log.error()));
        // The later gateway counts what was let through before once this one has ended: so has the one before by then.
        if let (Ok(Some(_)), Some(earlier)) = (&taken_over, self.earlier) {
            let until = longest_drain(&self.control);
            takeover::wait_for_end(earlier, || Instant::now() > until);
        }
        drop(taken_over);
        wrong
    }
}

fn listeners(
    settings: &[ListenerSettings],
    config: &Config,
    written: Written<'_>,
) -> Result<Vec<Listener>, GatewayError> {
    let listener = |(settings, listen): (&ListenerSettings, &ListenConfig)| {
        let identity = match &settings.identity {
            Some((cert, key)) => {
                let key = Identity::read_key(key).map_err(GatewayError::File);
                let key = key.map_err(written.named("listen.key", listen.key.as_ref()))?;
                let identity = Identity::read(cert, key).map_err(GatewayError::File);
                Some(identity.map_err(written.named("listen.cert", listen.cert.as_ref()))?)
            }
            None => None,
        };
        Ok(Listener { identity, proxy: settings.proxy, ..Listener::plain(settings.address) })
    };
    settings.iter().zip(&config.listen).map(listener).collect()
}

/// The file of keys and usage.
fn store_of(config: &Config) -> PathBuf {
    config.keys.store.as_ref().map_or_else(|| STORE.into(), |path| path.get_ref().clone())
}

/// The sockets of the gateway that is to be taken over, for each listener those of its address, and that gateway. Addresses
/// that it does not have are listened on anew; those that are no longer wanted end with it.
fn given(
    setup: &Setup,
    built: &Built,
    store: &Path,
) -> Result<(Option<EarlierGateway>, Sockets), GatewayError> {
    if !setup.take_over {
        return Ok((None, Sockets::default()));
    }
    let wanted: Vec<SocketAddr> = built.listeners.iter().map(|listener| listener.address).collect();
    let port = wanted.first().map_or(0, SocketAddr::port);
    let (earlier, mut given) = EarlierGateway::ask(&takeover::place(store, port))?;
    let found = std::mem::take(&mut given.listeners);
    let sockets = |address: &SocketAddr| {
        let of = found.iter().find(|(other, _)| other == address);
        (*address, of.map(|(_, sockets)| sockets.clone()).unwrap_or_default())
    };
    given.listeners = wanted.iter().map(sockets).collect();
    let is_wanted = |socket: &TcpListener| {
        let own = socket.local_addr().ok();
        own.zip(built.admin).is_some_and(|(own, wanted)| {
            own == wanted || wanted.port() == 0 && wanted.ip() == own.ip()
        })
    };
    given.admin = given.admin.filter(is_wanted);
    Ok((Some(earlier), given))
}

/// Waits for the gateway that was taken over to end, and counts what it let through meanwhile.
fn count_earlier(control: &Control, receiver: &Receiver<UnixStream>, stop: &AtomicBool) {
    let until = longest_drain(control);
    let give_up = || stop.load(Ordering::SeqCst) || Instant::now() > until;
    if let Ok(ending) = receiver.recv() {
        takeover::wait_for_end(ending, give_up);
    }
    control.add_used();
}

/// The latest instant at which a gateway that was asked to stop should have stopped.
fn longest_drain(control: &Control) -> Instant {
    let drain = Duration::from_nanos(control.policy().client().drain_ns);
    Instant::now() + drain + takeover::PATIENCE
}

/// Lets a later gateway take the listeners of this one.
fn wait_for_takeover(
    gate: &Gate,
    admin: Option<&admin::Served>,
    place: PathBuf,
    (replaced, stop): (&Arc<AtomicBool>, &Arc<AtomicBool>),
) -> Result<Option<JoinHandle<Option<UnixStream>>>, GatewayError> {
    let Some(door) = TakeoverSocket::open(place) else { return Ok(None) };
    let listeners = gate.addresses().iter().copied().zip(gate.sockets().iter().cloned());
    let sockets = Sockets {
        listeners: listeners.collect(),
        admin: admin.and_then(admin::Served::socket),
        io: Some(gate.io()),
    };
    let (replaced, stop) = (Arc::clone(replaced), Arc::clone(stop));
    spawn("gate-takeover", move || door.serve(&sockets, &replaced, &stop)).map(Some)
}

/// The access log, where there is to be one.
fn log(built: &Built) -> Result<Option<Arc<Writer>>, GatewayError> {
    let Some(AccessLog { path, format, sample }) = &built.access_log else { return Ok(None) };
    match Writer::new(path, *format, Arc::new(PageQueue::new(*sample))) {
        Ok(writer) => Ok(Some(Arc::new(writer))),
        Err(error) => {
            Err(GatewayError::File(format!("the access log {}: {error}", path.display())))
        }
    }
}

/// What the data path is started with.
fn path_options(
    config: &Config,
    built: &Built,
    listeners: Vec<Listener>,
    io: Option<net::Io>,
    log: Option<&Arc<Writer>>,
) -> Options {
    Options {
        listeners,
        workers: config.workers.as_ref().map(|workers| *workers.get_ref()),
        io,
        busy_poll_ns: built.busy_poll_ns,
        log: log.map(|log| Arc::clone(log.queue())),
    }
}

fn sink(
    config: &Config,
    store: &Path,
    written: Written<'_>,
) -> Result<Box<dyn Sink>, GatewayError> {
    // Makes the file, readable by its owner only.
    let opened = crate::keys::Store::open(store).map_err(GatewayError::Store);
    let opened = opened.map_err(written.named("keys.store", config.keys.store.as_ref()))?;
    opened.record_usage_place(&usage_place(config)).map_err(GatewayError::Store)?;
    drop(opened);
    let sink: Box<dyn Sink> = if let Some(url) = &config.usage.http {
        let source = crate::keys::new_key().map_err(GatewayError::Store)?;
        let source = source.trim_start_matches("plk_");
        Box::new(HttpSink::new(url.get_ref(), source).map_err(GatewayError::File)?)
    } else if let Some(path) = &config.usage.json_lines {
        let lines = JsonLines::open(path.get_ref()).map_err(|error| {
            let error = GatewayError::File(format!("{}: {error}", path.get_ref().display()));
            written.named("usage.json_lines", Some(path))(error)
        });
        Box::new(lines?)
    } else {
        return Ok(Box::new(Sqlite::open(store).map_err(GatewayError::File)?));
    };
    Ok(Box::new(Counted::beside(sink, store).map_err(GatewayError::File)?))
}

/// Where usage is reported, for people, without what a URL may hold of secrets; empty for the store.
fn usage_place(config: &Config) -> String {
    match (&config.usage.http, &config.usage.json_lines) {
        (Some(url), _) => {
            let url = url.get_ref();
            let rest = url.split_once("://").map_or(url.as_str(), |(_, rest)| rest);
            let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
            format!("http://{}", host.rsplit('@').next().unwrap_or_default())
        }
        (None, Some(path)) => {
            let path = path.get_ref();
            std::path::absolute(path).unwrap_or_else(|_| path.clone()).display().to_string()
        }
        (None, None) => String::new(),
    }
}

/// Starts the periodic work.
fn spawn_housekeeping(
    control: &Arc<Control>,
    mut collector: Collector,
    quotas: QuotaWrites,
    stop: &Arc<AtomicBool>,
) -> Result<JoinHandle<()>, GatewayError> {
    let (control, stop) = (Arc::clone(control), Arc::clone(stop));
    spawn("gate-control", move || housekeeping::run(&control, &mut collector, quotas, &stop))
}

/// Starts to write how far quotas are used, as often as that is due.
fn write_quotas(
    control: &Arc<Control>,
    store: &Path,
    stop: &Arc<AtomicBool>,
) -> Result<(QuotaWrites, JoinHandle<()>), GatewayError> {
    let table = ReachedTable::open(store).map_err(GatewayError::File)?;
    let (quota_writes, receiver) = QuotaWrites::new();
    let (control, stop) = (Arc::clone(control), Arc::clone(stop));
    let write = move || quota_writes::write(table, &receiver, control.troubles(), &stop);
    Ok((quota_writes, spawn("gate-quotas", write)?))
}

fn report(reporter: Reporter, mut sink: NotingSink) {
    // Where there is one processor for all, requests would wait while a batch is written.
    net::limits::give_way();
    reporter.run(&mut sink, || thread::sleep(SINK_PAUSE));
}

fn spawn<T: Send + 'static>(
    name: &str,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<JoinHandle<T>, GatewayError> {
    thread::Builder::new().name(name.into()).spawn(work).map_err(GatewayError::Thread)
}

/// The addresses of a host and port.
fn resolve(text: &str) -> Result<Vec<SocketAddr>, String> {
    let found: Vec<_> = text.to_socket_addrs().map_err(|error| error.to_string())?.collect();
    if found.is_empty() { Err(NO_ADDRESS.to_owned()) } else { Ok(found) }
}
