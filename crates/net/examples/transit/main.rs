//! How long something that stands between client and server keeps a request: `cargo xtask bench gate`.
//!
//! Client and server are one thread here, which stamps when it writes; when something arrived is stamped by the kernel as
//! the bytes reach the socket. What stands between them is charged from the client's write to the arrival at the server,
//! and from the server's write to the arrival at the client: neither how long this thread takes to notice, nor what it does
//! itself, is part of it. Requests come as random arrivals on schedule (open loop). One for which no connection is free is
//! charged from when it was due.
//!
//! A shared machine takes time from everybody. Where this thread did not run, and where the other core ran nothing at all
//! though a real-time thread wanted it, requests are left out, and counted; see `disturbed`.
//!
//!     transit SERVE THROUGH CONNECTIONS RATE SECONDS CORE PID [HEADER]
//!
//! SERVE is the address to serve at, THROUGH that of what forwards to it (or SERVE itself), CORE where that runs, and PID
//! its process. Prints JSON.

mod disturbed;
mod exchange;
mod socket;
mod tally;

use std::error::Error;

use disturbed::Watch;
use exchange::{Load, Plan};
use socket::ProcessClock;

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [serve, through, connections, rate, seconds, core, pid, header @ ..] = args.as_slice()
    else {
        return Err("transit SERVE THROUGH CONNECTIONS RATE SECONDS CORE PID [HEADER]".into());
    };
    let plan = Plan {
        serve: serve.parse()?,
        through: through.parse()?,
        connections: connections.parse()?,
        rate_per_s: rate.parse()?,
        seconds: seconds.parse()?,
        header: header.first().cloned(),
    };
    let watch = Watch::start(core.parse()?, ProcessClock::of(pid.parse()?)?)?;
    // Others get the time in which nothing is under way, and what the kernel keeps for them, which is seen.
    socket::real_time(1)?;
    let steal = disturbed::steal_ms()?;
    let ended = Load::begin(&plan)?.run()?;
    let stolen: Vec<u64> =
        disturbed::steal_ms()?.iter().zip(steal).map(|(now, before)| now - before).collect();
    let other = watch.end();
    let tally = tally::Tally::of(&ended, &other);
    println!("{}", tally.json(&ended, &other, &stolen));
    Ok(())
}
