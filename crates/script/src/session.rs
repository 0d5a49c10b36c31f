//! A script's run from its first statement to `done`.
//!
//! Owns the order of things, which is wrk's: the main state runs the file; then, worker by worker, the
//! worker's state runs the file, `setup(thread)` is called in the main state and `init(args)` in the
//! worker's; the first worker's `request()` is called once to see how many requests it returns, and
//! what it returned is not sent.

use std::net::SocketAddr;
use std::sync::Arc;

use mlua::{Function, Lua, Table};

use crate::address::Address;
use crate::error::ScriptError;
use crate::file::{Script, Site};
use crate::hook::Hook;
use crate::lua_state::LuaState;
use crate::source::Scripted;
use crate::stats::Stats;
use crate::thread::{Shared, Thread};
use crate::watchdog::{HookActivity, Watchdog};

impl Script {
    /// Runs everything that comes before the load: for each of `workers` its source, in order.
    /// `addresses` are those of the URL's host that take connections.
    ///
    /// # Errors
    /// The error that the script raised.
    pub fn begin(
        &self,
        workers: u32,
        addresses: &[SocketAddr],
        watchdog: &Watchdog,
    ) -> Result<(Session, Vec<Scripted>), ScriptError> {
        let main = LuaState::new(self, watchdog.activity(&self.file))?;
        let raised = |error| main.raised(Hook::Load, &error);
        let known = addresses.iter().copied().map(Address);
        let known = main.lua.create_sequence_from(known).map_err(raised)?;
        main.wrk.set("addrs", known).map_err(raised)?;
        let usual = addresses.first().copied();
        let (mut threads, mut sources) = (Vec::new(), Vec::new());
        let mut burst = None;
        for _ in 0..workers {
            let activity = watchdog.activity(&self.file);
            let shared = Arc::new(Shared::new(usual));
            let state = self.worker(&main, &shared, activity)?;
            threads.push((shared.clone(), state.lua.clone()));
            let mut source = Scripted::new(state, shared)?;
            let most = match burst {
                Some(most) => most,
                None => source.verify()?,
            };
            burst = Some(most);
            source.allow(most)?;
            sources.push(source);
        }
        threads.iter().for_each(|(shared, _)| shared.start());
        Ok((Session { main, threads }, sources))
    }

    /// A worker's state, set up and initialised.
    fn worker(
        &self,
        main: &LuaState,
        shared: &Arc<Shared>,
        activity: Arc<HookActivity>,
    ) -> Result<LuaState, ScriptError> {
        let state = LuaState::new(self, activity)?;
        let thread = || Thread::new(shared.clone(), &state.lua);
        let raised = |error| state.raised(Hook::Init, &error);
        state.wrk.set("thread", thread()).map_err(raised)?;
        let setup: Function =
            main.wrk.get("setup").map_err(|error| main.raised(Hook::Setup, &error))?;
        main.call::<()>(Hook::Setup, &setup, thread())?;
        let init: Function = state.wrk.get("init").map_err(raised)?;
        let args = arguments(&state.lua, &self.site).map_err(raised)?;
        state.call::<()>(Hook::Init, &init, args)?;
        Ok(state)
    }
}

/// `args` of `init`: the URL at 0, what followed `--` from 1 on.
fn arguments(lua: &Lua, site: &Site) -> mlua::Result<Table> {
    let args = lua.create_sequence_from(site.args.iter().map(String::as_str))?;
    args.set(0, &*site.url)?;
    Ok(args)
}

/// The argument `summary` of `done`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Summary {
    /// Length of the window in microseconds.
    pub duration_us: u64,
    /// Responses.
    pub requests: u64,
    /// Bytes received.
    pub bytes: u64,
    /// Failures.
    pub errors: SummaryErrors,
}

/// wrk's five kinds of failure.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SummaryErrors {
    /// Connections that could not be opened.
    pub connect: u64,
    /// Failed reads, responses cut short and responses that are not HTTP.
    pub read: u64,
    /// Failed writes.
    pub write: u64,
    /// Responses with a status above 399.
    pub status: u64,
    /// Requests without a response in time.
    pub timeout: u64,
}

/// A script between `init` and `done`.
#[derive(Debug)]
pub struct Session {
    main: LuaState,
    /// The workers as scripts hold them. Their states live until `done` has read values from them.
    threads: Vec<(Arc<Shared>, Lua)>,
}

impl Session {
    /// The address that the script chose for each worker, where it chose one.
    pub fn addresses(&self) -> Vec<Option<SocketAddr>> {
        self.threads.iter().map(|(shared, _)| shared.chosen()).collect()
    }

    /// Whether the script defines `done`.
    pub fn has_done(&self) -> bool {
        self.main.defines("done")
    }

    /// Calls `done`, if the script defines it.
    ///
    /// # Errors
    /// The error that the script raised.
    pub fn done(
        &self,
        summary: &Summary,
        latency: Stats,
        requests: Stats,
    ) -> Result<(), ScriptError> {
        let Ok(done) = self.main.lua.globals().get::<Function>("done") else { return Ok(()) };
        let summary =
            table(&self.main.lua, summary).map_err(|error| self.main.raised(Hook::Done, &error))?;
        self.main.call(Hook::Done, &done, (summary, latency, requests))
    }

    /// Flushes what scripts have printed so far, so that it comes before what is printed next.
    pub fn flush(&self) {
        // A full disk or a closed pipe is reported when the result is printed.
        let _ = self.main.lua.load("io.stdout:flush()").set_name("=wrk").exec();
    }
}

fn table(lua: &Lua, summary: &Summary) -> mlua::Result<Table> {
    let Summary { duration_us, requests, bytes, errors } = *summary;
    let summary = lua.create_table()?;
    summary.set("duration", duration_us as f64)?;
    summary.set("requests", requests as f64)?;
    summary.set("bytes", bytes as f64)?;
    let kinds = lua.create_table()?;
    for (name, count) in [
        ("connect", errors.connect),
        ("read", errors.read),
        ("write", errors.write),
        ("status", errors.status),
        ("timeout", errors.timeout),
    ] {
        kinds.set(name, count as f64)?;
    }
    summary.set("errors", kinds)?;
    Ok(summary)
}
