//! Whether the server went away while it was measured: stopped answering, was replaced by resets or
//! server errors, or let a part of the users in no more.
//!
//! A period without service is held against the run's own service times and its own share of
//! failures: a slow server is not gone, nor is one that fails every other attempt all along. What a
//! finding makes of a run is the rule `server_gone`'s; searches, sweeps and comparisons end by it.

use model::units::{MILLISECOND, Nanos, SECOND, show_duration};
use model::{Block, ErrorClass, Presence, Run, Silence, Users};

use crate::figures::{grouped, share};
use crate::offered::{at_cap, left_behind, shortfall};

/// The shortest period without service that counts.
pub const SHORTEST: Nanos = 500 * MILLISECOND;
/// Times the median service time that a period must last in which attempts fail.
const FAILING_TIMES: u64 = 2;
/// Times the median service time that nothing must have come in when the window ends.
pub(crate) const SILENT_TIMES: u64 = 5;
/// The share of users' time, or of an open loop's attempts, that the server must have cut off.
pub const CUT_OFF: f64 = 0.05;
/// The share of what was cut off that must have been idle connections, for the server's time-out to be what ended them: one
/// that goes away, or fails, ends those that are opened anew as well.
const IDLE_CUTS: f64 = 0.9;
/// The share of the window below which a server that came back was away for a moment.
pub const MOMENT: f64 = 0.01;
/// Slots of 17 ms in which attempts must fail in a period that ended.
const FEWEST_FAILING: u32 = 3;
/// How improbable failures in a row must be by the run's own share of failures: e^-7, one in a
/// thousand.
const IMPROBABLE: f64 = 7.0;
/// Attempts that failed one after the other, at least, of a user that counts as left.
const FAILED_IN_A_ROW: f64 = 3.0;
/// A long wait that ended well: as much of the window, and as many users at once. Requests of fewer
/// users may all be slow at once by chance.
pub(crate) const STALL: (f64, u64) = (0.1, 4);
/// The shortest wait that counts of users that are connecting, or that an interruption cut short: either may be about to end.
const LONG_WAIT: Nanos = SECOND;
/// How many times what requests usually take a stall lasts: the 99th percentile of the service time; where users pause
/// between requests, and each of the few that they make may be part of it, the 90th; in an open loop, where
/// many requests may be, the median.
pub(crate) const STALL_TIMES: u64 = 20;
/// Connections cut off at once: at least this number, and this share of those that stood.
pub(crate) const AT_ONCE: (u64, f64) = (5, 0.2);
/// How many times as many as in any other period that long.
const AT_ONCE_TIMES: f64 = 10.0;
/// How often each connection must have been opened, and which share of them cut off, for that to be how the server ends them.
const AGAIN: f64 = 10.0;
const NEARLY_ALL: f64 = 0.9;
/// Blocks from which on the usual number is known.
const BLOCKS: usize = 5;

/// That the server was not there for a part of the window.
#[derive(Debug, Clone, PartialEq)]
pub struct Gone {
    /// From when to when nobody was served, since the run's start; absent where some always were.
    pub silence: Option<Silence>,
    /// How many such periods there were.
    pub times: usize,
    /// The length of all of them.
    pub away_ns: Nanos,
    /// Whether the server was away at the window's end.
    pub at_end: bool,
    /// Whether it refused or cut off a substantial part of the load.
    pub cut_off: bool,
    /// Connections that were cut off at once, where the others were served.
    pub at_once: Option<AtOnce>,
    /// The status of the errors that it responded with meanwhile, if it did.
    pub status: Option<u16>,
    /// In whose words: `Connection refused (os error 111)`, or that no response came.
    pub words: String,
}

/// Connections that were cut off within a short period, and next to none before and after.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AtOnce {
    from_ns: Nanos,
    within_ns: Nanos,
    cut: u64,
    /// Connections that stood.
    of: u64,
}

impl Gone {
    /// `the server stopped answering after 3.01s and did not come back: Connection refused`.
    pub fn sentence(&self, run: &Run) -> String {
        let after = |at: Nanos| show_duration(at.saturating_sub(run.plan.warmup_ns));
        let Some(silence) = self.silence else {
            return self.sentence_of_a_part(run);
        };
        // One that is away to the end may have served the runs before this one.
        let never_before = silence.before_any_response && !self.at_end;
        let what = if never_before { "served nobody" } else { "stopped answering" };
        let since = silence.from_ns.saturating_sub(run.plan.warmup_ns);
        let begun = match (since, never_before) {
            (0..AT_START, _) => "from the start of the window".to_owned(),
            // The first request was sent in the warm-up, and its user may have waited to try again when the window began.
            (_, true) if run.plan.warmup_ns > 0 => "from the start of the window".to_owned(),
            (_, true) => {
                format!("from the first request, {} into the window", show_duration(since))
            }
            (_, false) => format!("{} into the window", show_duration(since)),
        };
        let until = match self.at_end {
            true => "and had not come back at its end".to_owned(),
            false => format!("until {}", after(silence.to_ns)),
        };
        let again = match self.times {
            0 | 1 => String::new(),
            n => format!(" ({n} times, {} in all)", show_duration(self.away_ns)),
        };
        format!("the server {what} {begun}, {until}{again}: {}", self.words)
    }

    /// That some were always served, and others not.
    fn sentence_of_a_part(&self, run: &Run) -> String {
        let words = &self.words;
        if let Some(AtOnce { from_ns, within_ns, cut, of }) = self.at_once {
            return format!(
                "the server cut off {} of {} connections within {} from {} into the window, and almost none at \
                 other times, as when some of its instances go away: {words}",
                grouped(cut as f64, 0),
                grouped(of as f64, 0),
                show_duration(within_ns),
                show_duration(from_ns.saturating_sub(run.plan.warmup_ns))
            );
        }
        let errors = run.totals.errors.occurred().filter(|(class, _)| !answered(*class));
        match errors.max_by_key(|&(_, count)| count) {
            Some((ErrorClass::Protocol, _)) => {
                format!("some of what the server sent was not usable HTTP: {words}")
            }
            _ => {
                let each = responses_each(run).map_or_else(String::new, |responses| {
                    format!(
                        "; nearly every connection ended so, after {} responses on average: if the server closes them on \
                         purpose, let it say so (`Connection: close`), or measure with --no-keepalive",
                        grouped(responses, 1)
                    )
                });
                format!("the server cut off some of its users: {words}{each}")
            }
        }
    }
}

/// How many responses a connection had, on average, where nearly each was cut off, and opened again often.
fn responses_each(run: &Run) -> Option<f64> {
    let totals = &run.totals;
    let cut = totals.errors.read.saturating_add(totals.errors.write) as f64;
    let (opened, at_once) = (totals.connects as f64, f64::from(run.concurrency.open_max));
    let habit = opened >= AGAIN * at_once.max(1.0) && cut >= NEARLY_ALL * opened;
    (run.plan.keepalive && habit && totals.requests > 0).then(|| totals.requests as f64 / opened)
}

/// A silence that begins this early in the window is reported as one from the window's start.
const AT_START: Nanos = 20 * MILLISECOND;

/// Whether a silence is that of a server which was still starting: it had answered nothing yet, neither in a warm-up nor in an
/// earlier run of the same command, lost none of what it was sent, and answered before the window ended. Not where the load
/// itself varies, which nothing else would judge.
pub(crate) fn is_start(run: &Run, silence: &Silence) -> bool {
    let constant = run.plan.stages.is_empty() && run.plan.recorded.is_none();
    let lost_none = silence.failed_slots == 0 && silence.ended;
    let end_ns = run.plan.warmup_ns.saturating_add(run.totals.duration_ns);
    constant && lost_none && silence.to_ns < end_ns && silence.before_any_response
}

/// The time at the beginning of the window in which a server that was still starting answered nothing, where that is as long
/// as an absence.
pub(crate) fn started_late(run: &Run) -> Option<Silence> {
    let silences = &run.presence.as_ref()?.silences;
    silences.iter().find(|silence| is_start(run, silence) && away(run, silence)).copied()
}

/// Whether all of a server's absence is that it was not ready when a run began: it failed what it was sent, and then was there
/// to the end.
pub(crate) fn was_not_ready(run: &Run) -> bool {
    gone(run).is_some_and(|gone| {
        let began = gone.silence.is_some_and(|silence| silence.before_any_response);
        began && gone.times == 1 && !gone.at_end
    })
}

/// Whether the server was gone for a part of the window, or is. One that was still starting was not (`started_late`).
pub fn gone(run: &Run) -> Option<Gone> {
    let presence = run.presence.as_ref()?;
    let is_found = |silence: &&Silence| !is_start(run, silence) && away(run, silence);
    let found: Vec<&Silence> = presence.silences.iter().filter(is_found).collect();
    let longest = found.iter().max_by_key(|silence| silence.duration_ns());
    let is_cut_off = cut_off(run, presence).is_some_and(|cut| cut >= CUT_OFF);
    let at_once = if longest.is_none() { cut_at_once(run) } else { None };
    if longest.is_none() && !is_cut_off && at_once.is_none() {
        return None;
    }
    let last = found.iter().find(|silence| !silence.ended);
    Some(Gone {
        silence: last.or(longest).map(|silence| **silence),
        times: found.len(),
        away_ns: found.iter().map(|silence| silence.duration_ns()).fold(0, Nanos::saturating_add),
        at_end: last.is_some(),
        cut_off: is_cut_off,
        at_once,
        status: server_error(run),
        words: words(run),
    })
}

/// Whether an objective on `available` says how much of the absence is borne: it counts errors as responses, so that it
/// says nothing of a server that responded with errors.
pub(crate) fn is_counted_by_available(run: &Run) -> bool {
    gone(run).is_none_or(|gone| gone.status.is_none())
}

/// The commonest server error, where no other failure is as common.
fn server_error(run: &Run) -> Option<u16> {
    let errors = run.totals.errors.occurred().filter(|(class, _)| !answered(*class));
    let commonest = errors.map(|(_, count)| count).max().unwrap_or(0);
    let statuses = run.totals.statuses.iter().filter(|(status, _)| **status >= 500);
    let (status, &count) = statuses.max_by_key(|(_, count)| **count)?;
    (count > commonest).then_some(*status)
}

/// The server is gone as the run ends: nobody was served any more, and others need not try.
pub fn gone_for_good(run: &Run) -> Option<Gone> {
    gone(run).filter(|gone| gone.at_end)
}

/// The share of the load that the server refused or cut off: of users' time in a closed loop, of the
/// attempts in an open one; without what ran out on this side, which the server never saw. Time-outs do not
/// count, nor do idle connections where hardly any others were cut off, nor does an open loop of which arrivals were left
/// that the server did not refuse: an overloaded server has the one, and turns away for the other.
pub(crate) fn cut_off(run: &Run, presence: &Presence) -> Option<f64> {
    use ErrorClass::{Connect, Protocol, Read, Tls, Write};

    let cut = [Connect, Tls, Read, Write, Protocol].map(|class| run.totals.errors.of(class));
    let cut = cut.into_iter().fold(0u64, u64::saturating_add) as f64;
    let idle = run.totals.idle_cuts.unwrap_or(0) as f64;
    if idle > 0.0 && idle >= IDLE_CUTS * cut {
        return None;
    }
    let own = run.totals.limits.values().fold(0u64, |sum, &n| sum.saturating_add(n)) as f64;
    let by_server = (cut - own).max(0.0);
    if run.plan.rate_per_s.is_none() {
        // No time is kept of each kind of failure.
        let part = if own > 0.0 { by_server / cut.max(1.0) } else { 1.0 };
        return (presence.user_ns > 0)
            .then(|| part * presence.cut_ns as f64 / presence.user_ns as f64);
    }
    if at_cap(run) || left_behind(run) {
        return None;
    }
    (run.totals.attempts > 0).then(|| by_server / run.totals.attempts as f64)
}

/// Whether a period without service is one in which the server was away.
fn away(run: &Run, silence: &Silence) -> bool {
    // What ran out on this side fails attempts that the server never saw; requests that it was sent and did not answer
    // are its own.
    let own = !run.totals.limits.is_empty();
    !own && (failing(run, silence) || deserted(run, silence))
        || silent(run, silence)
        || stalled(run, silence)
}

/// A closed loop in which every user that had been served failed again and again at the end: few attempts show it, as users
/// back off. One by count ends when they have failed often enough, however soon that is.
fn deserted(run: &Run, silence: &Silence) -> bool {
    let Some(users) = &run.users else { return false };
    let totals = &run.totals;
    let failed = totals.attempts.saturating_sub(totals.requests).max(1) as f64;
    let in_a_row = FAILED_IN_A_ROW * users.left as f64;
    let end_ns = run.plan.warmup_ns.saturating_add(totals.duration_ns);
    let long = end_ns.saturating_sub(silence.from_ns) >= long_ns(run);
    (run.plan.requests.is_some() || long)
        && run.plan.rate_per_s.is_none()
        && !silence.ended
        && silence.last_failed_ns.is_some()
        && users.served > 0
        && users.left >= users.served
        && in_a_row * (totals.attempts as f64 / failed).ln() >= IMPROBABLE
}

/// The shortest time of failures that counts: longer than responses take here.
fn long_ns(run: &Run) -> Nanos {
    let typical = run.service_ns.p50.min(run.plan.timeout_ns / 2);
    SHORTEST.max(FAILING_TIMES.saturating_mul(typical))
}

/// Attempt after attempt failed, for longer than responses take here, and too many in a row to be the
/// failures that the run has anyway.
fn failing(run: &Run, silence: &Silence) -> bool {
    let Some(last) = silence.last_failed_ns else { return false };
    let long = last.saturating_sub(silence.from_ns) >= long_ns(run);
    long && silence.failed_slots >= FEWEST_FAILING && improbable(run, silence)
}

/// Whether this number of failures in a row is beyond chance, if attempts fail independently. What was never sent says nothing
/// of how often they do: it found no connection, perhaps as the server was away.
fn improbable(run: &Run, silence: &Silence) -> bool {
    let attempts = run.totals.attempts.saturating_sub(run.totals.unsent);
    let failed = attempts.saturating_sub(run.totals.succeeded) as f64;
    let attempts = attempts.max(1) as f64;
    if failed >= attempts {
        return true;
    }
    let in_a_row = f64::from(silence.failed_slots) * (attempts / failed.max(1.0)).ln();
    in_a_row >= attempts.ln() + IMPROBABLE
}

/// At the window's end nothing came any more, not in the drain either, to attempts that were open. Who
/// interrupts a run may do so for that very reason; as there was no drain then, it must have lasted longer.
fn silent(run: &Run, silence: &Silence) -> bool {
    let totals = &run.totals;
    let length = silence.duration_ns();
    // Arrivals that found no connection have nothing open, but wait behind what is.
    let behind = totals.unsent > 0
        && totals.limits.is_empty()
        && silence.failed_slots > 1
        && length >= FAILING_TIMES.saturating_mul(run.service_ns.p99);
    let answered = run.first_byte_ns.p99.min(run.service_ns.p50);
    let least = if run.interrupted {
        LONG_WAIT.max(STALL_TIMES.saturating_mul(run.service_ns.p99))
    } else {
        SHORTEST.max(SILENT_TIMES.saturating_mul(answered))
    };
    // Who is still connecting has made no attempt yet, and may be about to succeed.
    let opening = run.connect_ns.p99.saturating_add(run.tls_ns.p99);
    let long = least.max(LONG_WAIT).max(SILENT_TIMES.saturating_mul(opening));
    let waits = |users: &Users| users.end_waits.range(long..).next().is_some();
    // Users that find no port here wait for nothing of the server's: an earlier time-out says nothing of them.
    let open = totals.errors.timeout > 0 && totals.limits.is_empty()
        || totals.unfinished > 0
        || behind
        || run.users.as_ref().is_some_and(waits);
    !silence.ended && open && length >= least && many_wait(run, length)
}

/// Whether half of those who would have asked by now wait at the end of a silence: of users that pause between their requests, one
/// that waits may be the only one who asked.
fn many_wait(run: &Run, length: Nanos) -> bool {
    let Some(users) = &run.users else { return true };
    let waiting = users.end_waits.values().fold(0, |sum: u64, &n| sum.saturating_add(n));
    // Waits are kept from half a second on, which is the shortest silence too.
    asking(run, length.saturating_sub(SHORTEST)).is_none_or(|asked| waiting as f64 >= asked / 2.0)
}

/// How many users ask in a period of this length, of those that pause between their requests; none where they do not, or where
/// their number changes.
fn asking(run: &Run, length: Nanos) -> Option<f64> {
    let plan = &run.plan;
    let as_many = plan.rate_per_s.is_none() && plan.stages.is_empty();
    let pause_ns = plan.pace_ns.max(plan.think_ns).filter(|_| as_many)?;
    let each = length as f64 / pause_ns.max(1) as f64;
    Some(f64::from(plan.connections) * each.min(1.0))
}

/// Every user waited at once, far longer than requests usually do here, and in the end got a response or was
/// given up.
fn stalled(run: &Run, silence: &Silence) -> bool {
    let (part, users) = STALL;
    let length = silence.duration_ns();
    let service = &run.service_ns;
    let pauses = run.plan.think_ns.is_some() || run.plan.pace_ns.is_some();
    let usual = match run.plan.rate_per_s {
        Some(_) => service.p50,
        None if pauses => service.p90,
        None => service.p99,
    };
    let long = length >= SHORTEST
        && length as f64 >= part * run.totals.duration_ns as f64
        && length >= STALL_TIMES.saturating_mul(usual)
        && u64::from(run.plan.connections) >= users;
    if !long {
        return false;
    }
    let constant = run.plan.stages.is_empty() && run.plan.recorded.is_none();
    // Where a connection has several requests in flight, one that is slow by itself holds up those behind it.
    let apart = run.plan.pipeline <= 1;
    // Of few requests a second hardly one waits for all of it, and what was sent in the warm-up is in no figure of the window.
    let uncounted = run.plan.rate_per_s.is_some() && constant
        || pauses
        || constant && from_warmup(run, silence);
    if uncounted && apart && silence.released {
        return true;
    }
    let Ok(service) = run.histogram("service") else { return false };
    let count = |least: Nanos| {
        let held = service.recorded().filter(|&(value, _)| value >= least);
        held.map(|(_, n)| n).fold(0, u64::saturating_add)
    };
    // Who was given up waited for the time-out.
    let waited = count(length.min(run.plan.timeout_ns) / 10 * 9);
    let quick = 1.0 - count(length / 2) as f64 / service.count().max(1) as f64;
    // Users that pause may ask at the same instants, after which the one whose request is slow is the only one who waits.
    let silences = run.presence.iter().flat_map(|presence| &presence.silences);
    let as_long = silences.filter(|other| other.ended && other.duration_ns() >= length / 10 * 9);
    let times = if pauses { as_long.count().max(1) as u64 } else { 1 };
    waited >= users.saturating_mul(times) && !slow_by_themselves(run, quick, length)
}

/// Whether a silence began in the warm-up of a run, of which a silence has the part inside the window alone.
fn from_warmup(run: &Run, silence: &Silence) -> bool {
    let warmup_ns = run.plan.warmup_ns;
    warmup_ns > 0 && silence.from_ns < warmup_ns.saturating_add(AT_START)
}

/// Whether so few requests were made in a period of this length that all of them may have been slow by themselves, if the
/// others of the run were: `quick` is the share of its responses that took less than half of it. In a closed loop
/// without pauses all users wait.
fn slow_by_themselves(run: &Run, quick: f64, length: Nanos) -> bool {
    let improbable = match (run.plan.rate_per_s, asking(run, length)) {
        (Some(_), _) => run.rates.offered_per_s * length as f64 / SECOND as f64 * quick,
        (None, Some(asked)) => -asked * (1.0 - quick).ln(),
        (None, None) => return false,
    };
    improbable < (run.totals.attempts.max(1) as f64).ln() + IMPROBABLE
}

/// Connections that were cut off within one or two blocks, far more than in all others: what a part of the
/// instances behind an address takes along, and whose users then find the others.
fn cut_at_once(run: &Run) -> Option<AtOnce> {
    let overloaded = run.plan.rate_per_s.is_some() && (at_cap(run) || shortfall(run).is_some());
    let has_blocks = run.plan.keepalive && run.blocks.len() >= BLOCKS;
    if !has_blocks || overloaded || !run.totals.limits.is_empty() {
        return None;
    }
    let cut = |block: &Block| block.errors.read.saturating_add(block.errors.write);
    let all = run.blocks.iter().map(cut).fold(0, u64::saturating_add);
    let pairs =
        run.blocks.windows(2).map(|pair| (pair, cut(&pair[0]).saturating_add(cut(&pair[1]))));
    let (pair, most) = pairs.max_by_key(|&(_, most)| most)?;
    let others = all.saturating_sub(most) as f64 / (run.blocks.len() - 2) as f64 * 2.0;
    let stood = u64::from(run.concurrency.open_max);
    let at_once = most >= AT_ONCE.0
        && most as f64 >= AT_ONCE.1 * stood as f64
        && most as f64 >= AT_ONCE_TIMES * others;
    let held: Vec<&Block> = pair.iter().filter(|block| cut(block) > 0).collect();
    let within_ns = held.iter().map(|block| block.duration_ns).fold(0, Nanos::saturating_add);
    let from_ns = held.first()?.start_ns;
    at_once.then_some(AtOnce { from_ns, within_ns, cut: most.min(stood), of: stood })
}

/// What attempts failed by, in the words of the commonest failure.
fn words(run: &Run) -> String {
    if let Some(status) = server_error(run) {
        return format!("all it sent were errors, mostly of status {status}");
    }
    let errors = run.totals.errors.occurred().filter(|(class, _)| !answered(*class));
    match errors.max_by_key(|&(_, count)| count) {
        None | Some((ErrorClass::Timeout, _)) => "no response came".to_owned(),
        Some((class, _)) => match run.totals.error_samples.get(class.name()) {
            Some(sample) => sample.clone(),
            None => format!("attempts failed by {}", class.name()),
        },
    }
}

fn answered(class: ErrorClass) -> bool {
    matches!(class, ErrorClass::Status | ErrorClass::Check)
}

/// How much of the load had no server, in words.
pub(crate) fn lost_in_words(run: &Run, gone: &Gone) -> String {
    if gone.status.is_some() {
        let success = share(run.rates.success_ratio.unwrap_or(0.0));
        return format!(
            "success was {success} (`available` counts errors as responses, `success` does not)"
        );
    }
    let whose = match run.plan.rate_per_s {
        Some(_) => "of the arrivals",
        None => "of its users' time",
    };
    let ratio = run.rates.available_ratio.unwrap_or(1.0);
    if ratio >= 1.0 {
        return "no attempt was given up in the window, so `available` is 100 % all the same"
            .to_owned();
    }
    format!("it was available for {} {whose}", share(ratio))
}

/// How much of a count was made in a closed loop that ended before: nobody was served any more.
pub(crate) fn count_not_made(run: &Run) -> Option<String> {
    let plan = &run.plan;
    let by_count_alone = plan.duration_ns.is_none() && plan.rate_per_s.is_none();
    let wanted = plan.requests.filter(|_| by_count_alone && !run.interrupted)?;
    let made = run.totals.attempts;
    (made < wanted).then(|| {
        let (made, wanted) = (grouped(made as f64, 0), grouped(wanted as f64, 0));
        format!("the run ended with {made} of {wanted} requests (-n) made")
    })
}
