//! Addresses as scripts see them: `wrk.lookup`, `wrk.connect`, and `thread.addr`.

use std::net::{SocketAddr, TcpStream, ToSocketAddrs};
use std::time::Duration;

use mlua::{AnyUserData, Lua, MetaMethod, Table, UserData, UserDataMethods, Value};

/// The longest that `wrk.connect` waits. Shorter than a hook may take, so that a script can try an
/// address that does not respond.
const CONNECT_FOR: Duration = Duration::from_millis(500);
/// Addresses of one name at most.
const ADDRESSES: usize = 64;

/// An address. Scripts can print it and hand it back, nothing else.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Address(pub(crate) SocketAddr);

impl UserData for Address {
    fn add_methods<M: UserDataMethods<Self>>(methods: &mut M) {
        methods.add_meta_method(MetaMethod::ToString, |_, Self(address), ()| {
            Ok(format!("{}:{}", address.ip(), address.port()))
        });
    }
}

/// Adds `wrk.lookup` and `wrk.connect` to the table `wrk`.
pub(crate) fn add_to(lua: &Lua, wrk: &Table) -> mlua::Result<()> {
    wrk.set("lookup", lua.create_function(lookup)?)?;
    wrk.set("connect", lua.create_function(connect)?)
}

fn lookup(lua: &Lua, (host, service): (String, Value)) -> mlua::Result<Table> {
    let port = port(&service)?;
    let found = (host.as_str(), port).to_socket_addrs().map_err(|error| {
        mlua::Error::RuntimeError(format!("unable to resolve {host}:{port}: {error}"))
    })?;
    let mut addresses: Vec<SocketAddr> = Vec::new();
    for address in found {
        if !addresses.contains(&address) && addresses.len() < ADDRESSES {
            addresses.push(address);
        }
    }
    lua.create_sequence_from(addresses.into_iter().map(Address))
}

/// A number, or the name of one of the two services that there are.
fn port(service: &Value) -> mlua::Result<u16> {
    let text = match service {
        Value::Integer(port) => port.to_string(),
        Value::Number(port) => port.to_string(),
        Value::String(text) => text.to_string_lossy(),
        _ => String::new(),
    };
    match text.as_str() {
        "http" => Ok(80),
        "https" => Ok(443),
        digits => digits.parse().map_err(|_| {
            mlua::Error::RuntimeError(format!(
                "`{digits}` is not a service: give a port, \"http\" or \"https\""
            ))
        }),
    }
}

fn connect(_: &Lua, address: AnyUserData) -> mlua::Result<bool> {
    let Address(address) = *address.borrow::<Address>()?;
    Ok(TcpStream::connect_timeout(&address, CONNECT_FOR).is_ok())
}
