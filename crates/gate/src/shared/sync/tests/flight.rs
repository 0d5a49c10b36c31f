//! Gateways that begin and end before one API, in virtual time: what all have in flight stays within the formula.

use super::*;
use crate::admission::Room;
use crate::shared::command::COUNTS_US;

/// How often a gateway takes in what the server answered.
const LOOK_NS: u64 = 100 * MS;
/// How long a request takes.
const TAKES_NS: u64 = 20 * MS;
/// The number in flight of the line.
const AT_ONCE: f64 = 60.0;

/// Who gave a sign of life, and when.
type Signs = HashMap<usize, u64>;

struct One {
    state: Arc<State>,
    policy: Policy,
    line: Arc<Line>,
    alive: std::ops::Range<u64>,
    /// When each of its requests ends.
    in_flight: Vec<u64>,
    sign_ns: u64,
    on_the_way: Option<u64>,
    coming: Option<(u64, u32)>,
    look_ns: u64,
}

impl One {
    fn new(alive: std::ops::Range<u64>, gateways: u32) -> Self {
        let state = Arc::new(State::new(Arc::new(Keys::default()), 1));
        let line = Arc::new(Line { rate_per_s: 1e9, at_once: AT_ONCE, ..Line::default() });
        let open = PolicySettings::open(Upstream::of("api", "127.0.0.1:1".parse().unwrap()));
        let settings = PolicySettings { line: Some(Arc::clone(&line)), gateways, ..open };
        let policy = Policy::new(&state, settings, None).unwrap();
        let (sign_ns, look_ns) = (alive.start, alive.start);
        let (on_the_way, coming) = (None, None);
        Self {
            state,
            policy,
            line,
            alive,
            in_flight: Vec::new(),
            sign_ns,
            on_the_way,
            coming,
            look_ns,
        }
    }

    fn step(&mut self, id: usize, signs: &mut Signs, way_ns: u64, draws: &mut Draws, now_ns: u64) {
        if !self.alive.contains(&now_ns) {
            // Its connections are closed.
            self.in_flight.clear();
            return;
        }
        if now_ns >= self.sign_ns && self.on_the_way.is_none() && self.coming.is_none() {
            self.sign_ns = now_ns + AGAIN_NS;
            self.on_the_way = Some(now_ns + draws.below(way_ns));
        }
        if self.on_the_way.take_if(|at| *at <= now_ns).is_some() {
            signs.insert(id, now_ns);
            signs.retain(|_, at| *at >= now_ns - COUNTS_US * 1000);
            self.coming = Some((now_ns + draws.below(way_ns), signs.len() as u32));
        }
        if let Some((_, count)) = self.coming.take_if(|(at, _)| *at <= now_ns) {
            self.state.shared.answered(count, now_ns);
        }
        let ceiling = &self.state.ceiling;
        if now_ns >= self.look_ns {
            self.look_ns = now_ns + LOOK_NS;
            ceiling.set(&self.line, 1.0, self.policy.part(now_ns));
        }
        let before = self.in_flight.len();
        self.in_flight.retain(|ends| *ends > now_ns);
        (self.in_flight.len()..before).for_each(|_| ceiling.finish(1000, TAKES_NS));
        // More come than may pass.
        while ceiling.take(1000, Room::ALL, now_ns).is_ok() {
            self.in_flight.push(now_ns + TAKES_NS);
        }
    }
}

#[test]
fn what_is_in_flight_stays_within_the_formula() {
    let (mut settled, mut most) = (0u32, 0.0f64);
    for seed in 0..40 {
        let mut draws = Draws(seed);
        let (count, gateways) = (2 + draws.below(5) as usize, 1 + draws.below(3) as u32);
        let way_ns = (1 + draws.below(30)) * MS;
        let begin = 10 * SECOND;
        let mut all: Vec<One> = (0..count)
            .map(|_| {
                let from = begin + draws.below(6_000) * MS;
                let to = from + (2_000 + draws.below(12_000)) * MS;
                One::new(from..to, gateways)
            })
            .collect();
        let mut signs = Signs::new();
        for now_ns in (begin..begin + 15 * SECOND).step_by(MS as usize) {
            for (id, one) in all.iter_mut().enumerate() {
                one.step(id, &mut signs, way_ns, &mut draws, now_ns);
            }
            let in_flight: usize = all.iter().map(|one| one.in_flight.len()).sum();
            let reported_ns = AGAIN_NS + 4 * way_ns + LOOK_NS + TAKES_NS + 4 * MS;
            let alive = || all.iter().filter(|one| one.alive.contains(&now_ns));
            let new = alive().filter(|one| now_ns - one.alive.start <= reported_ns).count();
            let bound =
                AT_ONCE.max(alive().count() as f64) + new as f64 * AT_ONCE / f64::from(gateways);
            assert!(in_flight as f64 <= bound, "seed {seed}: {in_flight} of {bound}, {new} new");
            most = most.max(in_flight as f64 / AT_ONCE);
            settled += u32::from(new == 0 && in_flight as f64 >= 0.9 * AT_ONCE);
        }
    }
    assert!(most > 1.5, "nobody began while others held all of it: {most}");
    assert!(settled > 100_000, "all of it is held once all are known: {settled}");
}
