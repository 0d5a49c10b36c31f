//! One LuaJIT state with wrk's interface in it.
//!
//! Owns how a state is made, how much memory it may hold, and calling into it under the watch.
//! `session` and `source` own the states and decide which hook is called when.

use std::sync::Arc;

use mlua::{FromLuaMulti, Function, IntoLuaMulti, Lua, LuaOptions, StdLib, Table};

use crate::address;
use crate::error::ScriptError;
use crate::file::{Printed, Script};
use crate::hook::{Hook, MEMORY_LIMIT};
use crate::watchdog::HookActivity;

const PRELUDE: &str = include_str!("prelude.lua");

/// A state that has run a script's own statements.
#[derive(Debug)]
pub(crate) struct LuaState {
    file: Arc<str>,
    activity: Arc<HookActivity>,
    /// `hooks` of the prelude.
    hooks: Table,
    pub(crate) wrk: Table,
    pub(crate) lua: Lua,
}

impl LuaState {
    /// Makes one and runs the script's own statements in it.
    pub(crate) fn new(script: &Script, activity: Arc<HookActivity>) -> Result<Self, ScriptError> {
        let lua = whole_lua();
        let raised = |error| ScriptError::raised(&script.file, Hook::Load, &error);
        let (wrk, hooks) = furnish(&lua, script).map_err(raised)?;
        let state = Self { file: script.file.clone(), activity, hooks, wrk, lua };
        let chunk = state.lua.load(&script.text[..]).set_name(format!("@{}", script.file));
        let main = chunk.into_function().map_err(raised)?;
        state.call::<()>(Hook::Load, &main, ())?;
        Ok(state)
    }

    /// Calls a function under the watch.
    #[inline]
    pub(crate) fn call<R: FromLuaMulti>(
        &self,
        hook: Hook,
        function: &Function,
        arguments: impl IntoLuaMulti,
    ) -> Result<R, ScriptError> {
        let inside = self.activity.enter(hook);
        let result = function.call(arguments);
        drop(inside);
        result.map_err(|error| self.raised(hook, &error))
    }

    /// The error that the script raised in `hook`.
    #[cold]
    pub(crate) fn raised(&self, hook: Hook, error: &mlua::Error) -> ScriptError {
        ScriptError::raised(&self.file, hook, error)
    }

    /// An error about the value that `hook` returned.
    #[cold]
    pub(crate) fn complain(&self, hook: Hook, message: impl std::fmt::Display) -> ScriptError {
        ScriptError::new(&self.file, hook, message)
    }

    /// Whether the script has a global function of this name.
    pub(crate) fn defines(&self, name: &str) -> bool {
        self.lua.globals().get::<Function>(name).is_ok()
    }

    /// One of the prelude's functions that call hooks.
    pub(crate) fn hook(&self, hook: Hook, name: &str) -> Result<Function, ScriptError> {
        self.hooks.get(name).map_err(|error| self.raised(hook, &error))
    }
}

/// A state with all of LuaJIT's libraries, as wrk gives its scripts.
#[expect(
    unsafe_code,
    reason = "mlua marks the libraries `debug` and `ffi` and C modules as unsafe"
)]
fn whole_lua() -> Lua {
    let options = LuaOptions::new().catch_rust_panics(false);
    // SAFETY: with `debug`, `ffi` or a C module a script can break memory safety, as it can under wrk.
    // It is the user's own program, run on the user's behalf and never one that came over the network;
    // the host itself keeps to mlua's safe interface.
    unsafe { Lua::unsafe_new_with(StdLib::ALL, options) }
}

/// Puts wrk's interface into a new state: the table `wrk`, and the prelude's hooks.
fn furnish(lua: &Lua, script: &Script) -> mlua::Result<(Table, Table)> {
    lua.set_memory_limit(MEMORY_LIMIT)?;
    let site = &script.site;
    let wrk = lua.create_table()?;
    wrk.set("scheme", &*site.scheme)?;
    wrk.set("host", &*site.host)?;
    wrk.set("port", site.port.map(|port| port.to_string()))?;
    wrk.set("method", &*site.method)?;
    wrk.set("path", &*site.path)?;
    let body = site.body.as_deref().map(|body| lua.create_string(body)).transpose()?;
    wrk.set("body", body)?;
    let headers = lua.create_table()?;
    for (name, value) in &site.headers {
        headers.set(&**name, &**value)?;
    }
    wrk.set("headers", headers)?;
    wrk.set("time_us", lua.create_function(|_, ()| Ok(time_us()))?)?;
    address::add_to(lua, &wrk)?;
    lua.globals().set("wrk", &wrk)?;
    let prelude = lua.load(PRELUDE).set_name("=wrk");
    let to_stderr = script.printed == Printed::ToStderr;
    let hooks = prelude.call((&wrk, to_stderr))?;
    Ok((wrk, hooks))
}

/// Microseconds since 1970.
fn time_us() -> f64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    since.map_or(0.0, |since| since.as_micros() as f64)
}
