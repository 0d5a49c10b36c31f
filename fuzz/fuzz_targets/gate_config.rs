//! Configurations of a gateway and load lines are read or refused, never panicked over; what is read becomes a policy
//! that decides.

#![no_main]

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;

use gate::admission::{Line, Part};
use gate::config::{Built, Config};
use gate::keys::Keys;
use gate::policy::{Decision, Facts, Policy, State};
use gate::usage::Local;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else { return };
    // A load line after the configuration, or alone.
    let (text, line) = text.split_once("\n---\n").unwrap_or((text, text));
    let line = Line::parse(line).ok().map(Arc::new);
    if let Some(line) = &line {
        assert!(line.rate_per_s > 0.0 && line.at_once >= 1.0);
        assert!(line.cost_milli(b"GET", b"/") >= 1);
    }
    let Ok(config) = Config::parse(text) else { return };
    let resolve = |text: &str| match text.parse::<SocketAddr>() {
        Ok(address) => Ok(vec![address]),
        Err(error) => Err(error.to_string()),
    };
    let built = match Built::of(&config, text, line.clone(), &resolve) {
        Ok(built) => built,
        Err(error) => return assert!(!error.to_string().is_empty()),
    };
    let state = Arc::new(State::new(Arc::new(Keys::default()), 1));
    if let Some(line) = &line {
        state.ceiling.set(line, 1.0, Part::WHOLE);
    }
    let Ok(policy) = Policy::new(&state, built.policy, None) else { return };
    let mut usage = Local::new(Arc::clone(&state.usage));
    for path in ["/", "/a", "/users/7"] {
        let facts = Facts {
            method: b"GET",
            host: b"api.example.com",
            path: path.as_bytes(),
            cut: None,
            key: None,
            address: IpAddr::V4(Ipv4Addr::LOCALHOST),
            body_bytes: Some(0),
        };
        if let Decision::Forward(ticket) = policy.decide(&facts, 1, &mut usage) {
            assert!((policy.route(ticket.route).upstream as usize) < policy.upstreams().len());
        }
    }
});
