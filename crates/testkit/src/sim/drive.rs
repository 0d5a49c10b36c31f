//! The loop: lets each handler do what is due, then moves time to the next event.

use net::{Event, Handler, Net as _, Next, Taken};

use super::state::{News, Upcall};
use super::{SimNet, World};

/// Rounds at one instant after which it is assumed that time will never advance.
const ROUNDS_AT_ONE_INSTANT: u32 = 1_000_000;

/// A handler and the host it runs on.
pub struct Actor<'a> {
    /// The host.
    pub net: &'a mut SimNet,
    /// The handler.
    pub handler: &'a mut dyn Handler<SimNet>,
}

/// Why a run is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// Every handler is done.
    Finished,
    /// Nothing is on its way and no handler waits for an instant: nothing will ever happen again.
    Idle,
    /// The instant given has come.
    Time,
}

/// Drives the handlers until all of them are done, nothing is left to happen, or virtual time has
/// reached `until_ns`. [`Next::Spin`] is taken as [`Next::Wait`]. May be called again to go on.
///
/// # Panics
/// When time stands still because a handler keeps asking to be called again at once.
pub fn run(world: &World, until_ns: u64, actors: &mut [Actor<'_>]) -> Ended {
    let mut finished = vec![false; actors.len()];
    let mut rounds = 0;
    loop {
        let deadline = tick(actors, &mut finished);
        if finished.iter().all(|&done| done) {
            return Ended::Finished;
        }
        let event = world.kernel.borrow().next_instant();
        let Some(next) = event.into_iter().chain(deadline).min() else { return Ended::Idle };
        if next > until_ns {
            let mut kernel = world.kernel.borrow_mut();
            kernel.now = kernel.now.max(until_ns);
            return Ended::Time;
        }
        rounds = if next > world.now() { 0 } else { rounds + 1 };
        assert!(rounds < ROUNDS_AT_ONE_INSTANT, "time stands still at {} ns", world.now());
        world.kernel.borrow_mut().now = next.max(world.now());
        deliver(world, actors, &finished);
    }
}

/// Ticks every handler that is not at work, and those with a batch behind them. Returns the earliest
/// instant that a handler waits for. The tick ends a host's batch: what it sent leaves.
fn tick(actors: &mut [Actor<'_>], finished: &mut [bool]) -> Option<u64> {
    let mut deadline = None;
    let mut wait = |at: u64| deadline = Some(deadline.map_or(at, |other: u64| other.min(at)));
    for (actor, done) in actors.iter_mut().zip(finished) {
        if *done {
            continue;
        }
        let Actor { net, handler } = actor;
        let now = net.kernel.borrow().now;
        let clock = net.clock();
        if clock > now && !net.owes_tick {
            wait(clock);
            continue;
        }
        if clock == now && net.kernel.borrow().hosts[net.host].deferred.is_empty() {
            net.looked = now;
        }
        let next = handler.tick(*net);
        net.hand_over();
        net.owes_tick = false;
        match next {
            Next::Wait(_) | Next::Spin(_) if net.clock() > now => wait(net.clock()),
            Next::Wait(u64::MAX) | Next::Spin(u64::MAX) => {}
            Next::Wait(at) | Next::Spin(at) => wait(at),
            Next::Finished => {
                *done = true;
                net.kernel.borrow_mut().retire(net.host);
            }
        }
    }
    deadline
}

/// Delivers everything that is due at this instant; to a host at work, once its work is over.
fn deliver(world: &World, actors: &mut [Actor<'_>], finished: &[bool]) {
    for (actor, _) in actors.iter_mut().zip(finished).filter(|(_, done)| !**done) {
        catch_up(actor);
    }
    loop {
        let step = world.kernel.borrow_mut().step();
        let upcall = match step {
            None => return,
            Some(None) => continue,
            Some(Some(upcall)) => upcall,
        };
        let found = actors.iter_mut().zip(finished).find(|(a, _)| a.net.host == upcall.host);
        let Some((actor, false)) = found else { continue };
        let net = &mut *actor.net;
        if net.clock() > world.now() {
            net.kernel.borrow_mut().hosts[net.host].deferred.push(upcall);
            continue;
        }
        if net.taken.at != world.now() {
            take_in(net, 0);
        }
        deliver_one(actor, upcall);
    }
}

/// A batch of events begins, of which the oldest may have waited for this long.
fn take_in(net: &mut SimNet, waited_ns: u64) {
    net.looked = net.clock();
    net.taken = Taken { at: net.looked, waited_ns };
    net.owes_tick = true;
}

/// Hands out what came while the host was at work, if it is not any more.
fn catch_up(actor: &mut Actor<'_>) {
    let now = actor.net.kernel.borrow().now;
    let clock = actor.net.clock();
    let host = actor.net.host;
    let deferred = if clock > now {
        Vec::new()
    } else {
        std::mem::take(&mut actor.net.kernel.borrow_mut().hosts[host].deferred)
    };
    if deferred.is_empty() {
        return;
    }
    let waited_ns = clock - actor.net.looked;
    take_in(actor.net, waited_ns);
    for upcall in deferred {
        let gone = actor.net.kernel.borrow().end_of(host, upcall.conn).is_none();
        if !gone || matches!(upcall.news, News::Failed(_)) {
            deliver_one(actor, upcall);
        }
    }
}

fn deliver_one(actor: &mut Actor<'_>, upcall: Upcall) {
    let Upcall { host, conn, token, mut news } = upcall;
    actor.net.kernel.borrow_mut().delivers(host, conn, &news);
    let event = match &mut news {
        News::Accepted => {
            let token = actor.handler.accepted(actor.net, conn);
            actor.net.kernel.borrow_mut().accepted(host, conn, token);
            return;
        }
        News::Connected => Event::Connected,
        News::Received(bytes) => Event::Received(bytes),
        News::Skipped(bytes) => Event::Skipped(*bytes),
        News::Eof => Event::Eof,
        News::Drained => Event::Drained,
        News::Failed(failure) => Event::Failed(*failure),
    };
    actor.handler.event(actor.net, token, event);
}
