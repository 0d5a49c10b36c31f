//! `thread`, as `setup` and `wrk.thread` have it: one worker, seen from a script.
//!
//! Owns what is shared between a worker's source and the scripts that hold its `thread`, and the
//! copying of values from one state into another: nil, booleans, numbers, strings, and tables of
//! these, as in wrk. Tables may be nested here.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use mlua::{Lua, Table, UserData, UserDataFields, UserDataMethods, Value, WeakLua};

use crate::address::Address;

/// Tables inside tables at most: a table that holds itself is an error, not the end of the stack.
const DEPTH: u32 = 64;

/// The part of a worker that scripts can change.
#[derive(Debug)]
pub(crate) struct Shared {
    /// Where it connects to unless the script says otherwise.
    usual: Option<SocketAddr>,
    chosen: Mutex<Option<SocketAddr>>,
    stopped: AtomicBool,
}

impl Shared {
    pub(crate) fn new(usual: Option<SocketAddr>) -> Self {
        Self { usual, chosen: Mutex::new(None), stopped: AtomicBool::new(false) }
    }

    /// The address that the script chose.
    pub(crate) fn chosen(&self) -> Option<SocketAddr> {
        *self.chosen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether `thread:stop()` was called.
    #[inline]
    pub(crate) fn stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }

    /// A stop before the run has no effect: as in wrk, only a running thread can be stopped.
    pub(crate) fn start(&self) {
        self.stopped.store(false, Ordering::Relaxed);
    }
}

/// The object `thread`.
pub(crate) struct Thread {
    shared: Arc<Shared>,
    /// The worker's state; weak, since the worker's own state holds one of these as well.
    state: WeakLua,
}

impl Thread {
    pub(crate) fn new(shared: Arc<Shared>, state: &Lua) -> Self {
        Self { shared, state: state.weak() }
    }

    fn globals(&self) -> mlua::Result<(Lua, Table)> {
        let gone = || mlua::Error::RuntimeError("the thread is over".into());
        let lua = self.state.try_upgrade().ok_or_else(gone)?;
        let globals = lua.globals();
        Ok((lua, globals))
    }
}

impl UserData for Thread {
    fn add_fields<F: UserDataFields<Self>>(fields: &mut F) {
        fields.add_field_method_get("addr", |_, thread| {
            Ok(thread.shared.chosen().or(thread.shared.usual).map(Address))
        });
        fields.add_field_method_set("addr", |_, thread, address: mlua::AnyUserData| {
            let Address(address) = *address.borrow::<Address>()?;
            let mut chosen = thread.shared.chosen.lock().unwrap_or_else(PoisonError::into_inner);
            *chosen = Some(address);
            Ok(())
        });
    }

    fn add_methods<M: UserDataMethods<Self>>(methods: &mut M) {
        methods.add_method("get", |into, thread, name: mlua::String| {
            let (from, globals) = thread.globals()?;
            copied(globals.get(from.create_string(name.as_bytes())?)?, into, 0)
        });
        methods.add_method("set", |_, thread, (name, value): (mlua::String, Value)| {
            let (into, globals) = thread.globals()?;
            globals.set(into.create_string(name.as_bytes())?, copied(value, &into, 0)?)
        });
        methods.add_method("stop", |_, thread, ()| {
            thread.shared.stopped.store(true, Ordering::Relaxed);
            Ok(())
        });
    }
}

/// Copies `value` into another state.
fn copied(value: Value, into: &Lua, depth: u32) -> mlua::Result<Value> {
    match value {
        Value::Nil | Value::Boolean(_) | Value::Integer(_) | Value::Number(_) => Ok(value),
        Value::String(text) => Ok(Value::String(into.create_string(text.as_bytes())?)),
        Value::Table(_) if depth == DEPTH => Err(mlua::Error::RuntimeError(format!(
            "a table more than {DEPTH} tables deep cannot be transferred to a thread"
        ))),
        Value::Table(from) => {
            let table = into.create_table()?;
            for pair in from.pairs::<Value, Value>() {
                let (key, value) = pair?;
                table.raw_set(copied(key, into, depth + 1)?, copied(value, into, depth + 1)?)?;
            }
            Ok(Value::Table(table))
        }
        other => Err(mlua::Error::RuntimeError(format!(
            "cannot transfer '{}' to thread",
            other.type_name()
        ))),
    }
}
