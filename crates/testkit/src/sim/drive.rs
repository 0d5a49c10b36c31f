//! The loop: lets each party do what is due, then moves time to whatever happens next.

use net::{Event, Next, Party};

use super::state::{News, Upcall};
use super::{SimNet, World};

/// Rounds at one instant after which it is taken that time will never go on.
const ROUNDS_AT_ONE_INSTANT: u32 = 1_000_000;

/// A party and the host it runs on.
pub struct Actor<'a> {
    /// The host.
    pub net: &'a mut SimNet,
    /// The party.
    pub party: &'a mut dyn Party<SimNet>,
}

/// Why a run is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// Every party is done.
    Finished,
    /// Nothing is on its way and nobody waits for an instant: nothing will ever happen again.
    Idle,
    /// The instant given has come.
    Time,
}

/// Drives the parties until all of them are done, nothing is left to happen, or virtual time has
/// reached `until_ns`. [`Next::Spin`] is taken as [`Next::Wait`]. May be called again to go on.
///
/// # Panics
/// When time stands still, because a party asks to be called again at once for ever.
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

/// Ticks everyone; the earliest instant that somebody waits for.
fn tick(actors: &mut [Actor<'_>], finished: &mut [bool]) -> Option<u64> {
    let mut deadline = None;
    for (actor, done) in actors.iter_mut().zip(finished) {
        if *done {
            continue;
        }
        match actor.party.tick(actor.net) {
            Next::Wait(u64::MAX) | Next::Spin(u64::MAX) => {}
            Next::Wait(at) | Next::Spin(at) => {
                deadline = Some(deadline.map_or(at, |other: u64| other.min(at)));
            }
            Next::Finished => {
                *done = true;
                actor.net.kernel.borrow_mut().retire(actor.net.host);
            }
        }
    }
    deadline
}

/// Hands out everything that is due at this instant.
fn deliver(world: &World, actors: &mut [Actor<'_>], finished: &[bool]) {
    loop {
        let step = world.kernel.borrow_mut().step();
        let upcall = match step {
            None => return,
            Some(None) => continue,
            Some(Some(upcall)) => upcall,
        };
        let found = actors.iter_mut().zip(finished).find(|(a, _)| a.net.host == upcall.host);
        if let Some((actor, false)) = found {
            tell(actor, upcall);
        }
    }
}

fn tell(actor: &mut Actor<'_>, upcall: Upcall) {
    let Upcall { host, conn, token, news } = upcall;
    let event = match &news {
        News::Accepted => {
            let token = actor.party.accepted(actor.net, conn);
            actor.net.kernel.borrow_mut().accepted(host, conn, token);
            return;
        }
        News::Connected => Event::Connected,
        News::Received(bytes) => Event::Received(bytes),
        News::Eof => Event::Eof,
        News::Drained => Event::Drained,
        News::Failed(failure) => Event::Failed(*failure),
    };
    actor.party.event(actor.net, token, event);
}
