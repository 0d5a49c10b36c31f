//! The thread for periodic work: the calendar, changes of the store, the ceiling, usage, troubles.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use super::active_checks::{Checked, all_out};
use super::clock_changes::ClockChanges;
use super::control::{Control, Standing, unix_s};
use super::failing::Failing;
use super::notes;
use super::quota_writes::QuotaWrites;
use super::refused_connections::RefusedConnections;
use crate::admission::{Asking, ErrorStatuses, Governor, Line, Shortfall, Throughput};
use crate::policy::NONE;
use crate::usage::Collector;

/// How often changes of the store are looked for, usage is collected and shares are computed.
const LOOK_EVERY: Duration = Duration::from_millis(100);
/// How often the ceiling is moved.
const GOVERN_EVERY: Duration = Duration::from_millis(500);
/// How often troubles are looked for.
const TROUBLES_EVERY: Duration = Duration::from_secs(1);

/// Runs until `stop` is set; then it hands the rest of the usage to the reporter.
pub(super) fn run(
    control: &Control,
    collector: &mut Collector,
    mut quota_writes: QuotaWrites,
    stop: &AtomicBool,
) {
    let mut governed = Governed::default();
    let mut asking = Asking::default();
    let (mut failing, mut checked) = (Failing::default(), Checked::default());
    let mut refused_connections = RefusedConnections::default();
    let mut clock_changes = ClockChanges::default();
    let begun = Instant::now();
    let (mut last_look, mut last_collect, mut last_troubles) = (begun, begun, begun);
    while !stop.load(Ordering::SeqCst) {
        thread::sleep(LOOK_EVERY);
        let again = control.state().calendar.set(unix_s());
        if again && let Err(error) = control.recall_used() {
            let sentence = format!(
                "{error}: what was used of quotas before the clock was changed does not count"
            );
            control.troubles().say(sentence);
        }
        // A store that cannot be read leaves keys as they are; the next look tries again.
        let store = control.look();
        let now = Instant::now();
        let since = now.duration_since(last_look);
        if since >= GOVERN_EVERY {
            last_look = now;
            govern(control, &mut governed, since.as_secs_f64());
        }
        // How many gateways hold the line may have changed meanwhile.
        control.hold();
        collect(control, collector);
        let asked = collector.asked_milli().map(|(slot, _)| slot);
        quota_writes.look(&control.policy(), asked, control.awaits_used());
        let seconds = now.duration_since(last_collect).as_secs_f64();
        control.state().note_asked(&mut asking, collector.asked_milli(), seconds);
        last_collect = now;
        control.policy().share_out(&asking, governed.throughput.per_s());
        if now.duration_since(last_troubles) >= TROUBLES_EVERY {
            last_troubles = now;
            control.look_for_troubles(store.as_ref().err());
            let servers = control.health().view(net::clock::now());
            control.troubles().set("active checks", all_out(&servers));
            let since_s = now.duration_since(begun).as_secs();
            let said = failing.look(&servers, since_s).into_iter();
            let said = said.chain(checked.look(&servers, since_s));
            let said = said.chain(refused_connections.look(&control.path(), since_s));
            // Both clocks at once: a look at the troubles may have waited for a disk.
            let said = said.chain(clock_changes.look(unix_s(), begun.elapsed().as_secs()));
            said.for_each(|sentence| control.troubles().say(sentence));
        }
    }
    collect(control, collector);
    let policy = control.policy();
    collector.flush(unix_s(), |route| policy.route_name(route).to_owned());
}

fn collect(control: &Control, collector: &mut Collector) {
    let policy = control.policy();
    let keys = &control.state().keys;
    let key_id = |slot| if slot == NONE { 0 } else { keys.entry(slot).id() };
    collector.collect(unix_s(), key_id, |route| policy.route_name(route).to_owned());
}

/// The state for the line in force.
#[derive(Default)]
struct Governed {
    line: Option<(Arc<Line>, Governor)>,
    throughput: Throughput,
    shortfall: Shortfall,
    error_statuses: ErrorStatuses,
}

/// Moves the ceiling of the line in force by what was seen.
fn govern(control: &Control, governed: &mut Governed, seconds: f64) {
    let policy = control.policy();
    let ceiling = &control.state().ceiling;
    let seen = ceiling.look(net::clock::now());
    let Some(line) = policy.line() else {
        *governed = Governed::default();
        control.stand(Standing { factor: 1.0, ..Standing::default() });
        return;
    };
    if governed.line.as_ref().is_none_or(|(known, _)| known != line) {
        let governor = Governor::new(line);
        *governed = Governed { line: Some((Arc::clone(line), governor)), ..Governed::default() };
    }
    let Some((_, governor)) = &mut governed.line else { return };
    let (own_per_s, at_once) = (ceiling.own_per_s(), ceiling.at_once());
    governed.throughput.learn(&seen, seconds, own_per_s, at_once);
    let short = governed.shortfall.learn(&seen, seconds, own_per_s, at_once);
    // The factor is of the whole line, of which all gateways complete as much as this one.
    let own = policy.part(net::clock::now()).own();
    let seen = seen.of_all(own);
    let verdict = governor.step(&seen, seconds);
    let mostly = governed.error_statuses.learn(&seen);
    let misfit = if verdict.fits {
        notes::mostly_errors(line, mostly)
            .or_else(|| short.map(|short| notes::carries_less(&short)))
    } else {
        Some(notes::slower(line))
    };
    let latency_ns = verdict.latency_ns.or(control.standing().latency_ns);
    control.stand(Standing { factor: verdict.factor, latency_ns, misfit });
}
