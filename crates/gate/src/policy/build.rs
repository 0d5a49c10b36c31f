//! From settings to a policy: numbers names, and keeps what earlier policies had for requests in flight.

use std::cmp::Reverse;
use std::fmt;
use std::mem;
use std::sync::Arc;

use super::finder::Finder;
use super::limits_of::shares_milli;
use super::state::{NAMES_MOST, Names, State};
use super::{ClientBounds, KeySource, Limits, PathTree, Policy, Quotas, Route, Tier, Upstream};
use crate::admission::Line;
use crate::keys::Digester;
use crate::path::Trust;

/// What a policy is built from.
#[derive(Debug, Clone)]
pub struct PolicySettings {
    /// The routes, in any order. [`Route::upstream`] is an index into `upstreams`; [`Route::number`] is given.
    pub routes: Vec<Route>,
    /// The upstreams, by different names.
    pub upstreams: Vec<Upstream>,
    /// The tiers, by different names. The first is the default tier.
    pub tiers: Vec<Tier>,
    /// Where requests carry their key.
    pub key_source: KeySource,
    /// What makes digests of keys; `None` asks for no key.
    pub digester: Option<Digester>,
    /// What clients are held to.
    pub client: ClientBounds,
    /// Limits of all requests together.
    pub all: Limits,
    /// Quotas of all requests together.
    pub all_quotas: Quotas,
    /// Limits of each address.
    pub address: Limits,
    /// Quotas of each address.
    pub address_quotas: Quotas,
    /// The longest body of any request.
    pub body_max_bytes: u64,
    /// The load line that all requests are held to.
    pub line: Option<Arc<Line>>,
    /// How many gateways stand before the same API, for as long as they cannot count each other: 1 or more.
    pub gateways: u32,
    /// What certificates of upstreams are checked against. Without it, no upstream may use TLS.
    pub trust: Option<Trust>,
}

impl PolicySettings {
    /// Forwards everything to one upstream, and asks for no key.
    pub fn open(upstream: Upstream) -> Self {
        Self {
            routes: vec![Route::to(0)],
            upstreams: vec![upstream],
            tiers: Vec::new(),
            key_source: KeySource::none(),
            digester: None,
            client: ClientBounds::default(),
            all: Limits::default(),
            all_quotas: Quotas::default(),
            address: Limits::default(),
            address_quotas: Quotas::default(),
            body_max_bytes: u64::MAX,
            line: None,
            gateways: 1,
            trust: None,
        }
    }
}

/// A policy cannot be built: the process has seen too many names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TooManyNames;

impl fmt::Display for TooManyNames {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "more than {NAMES_MOST} names of routes, tiers or upstreams since the start: restart the gateway to \
             forget the old ones"
        )
    }
}

impl std::error::Error for TooManyNames {}

impl Policy {
    /// The policy of these settings. `before` is the one it replaces, if any, of the same state.
    ///
    /// # Errors
    /// When the process has seen too many names.
    pub fn new(
        state: &Arc<State>,
        mut settings: PolicySettings,
        before: Option<&Self>,
    ) -> Result<Self, TooManyNames> {
        let (upstreams, numbers) = numbered(state, mem::take(&mut settings.upstreams))?;
        let mut routes = before.map(|before| before.routes.clone()).unwrap_or_default();
        let mut order = Vec::with_capacity(settings.routes.len());
        for mut route in mem::take(&mut settings.routes) {
            route.upstream = numbers[route.upstream as usize];
            if let Some(shadow) = &mut route.shadow {
                shadow.upstream = numbers[shadow.upstream as usize];
            }
            let name = route.name.clone();
            order.push(place(&mut routes, &state.route_names, &name, route)?);
        }
        for (number, route) in routes.iter_mut().enumerate() {
            route.number = number as u32;
        }
        order.sort_by_key(|&number| Reverse(narrowness(&routes[number as usize])));
        let ordered = || order.iter().map(|&number| &routes[number as usize]);
        let finder = Finder::new(ordered(), PathTree::default);
        let any_case = Finder::new(ordered(), PathTree::of_any_case);
        let capitals = ordered().any(|route| route.path.has_capitals());
        let tiers = mem::take(&mut settings.tiers);
        let shares = shares_milli(&tiers);
        let mut by_number = Vec::new();
        let mut default = None;
        for (tier, share) in tiers.into_iter().zip(shares) {
            let number = state.tier_names.number(&tier.name).ok_or(TooManyNames)? as usize;
            by_number.resize(by_number.len().max(number + 1), None);
            by_number[number] = Some((tier, share));
            default.get_or_insert(number);
        }
        let default = default.unwrap_or_else(|| {
            by_number.resize(1, Some((Tier::unlimited("default"), 1000)));
            0
        });
        if settings.digester.is_none() {
            settings.key_source = KeySource::none();
        }
        Ok(Self {
            state: Arc::clone(state),
            routes,
            order,
            finder,
            any_case,
            capitals,
            upstreams,
            tiers: by_number,
            default,
            settings,
        })
    }
}

/// Larger for narrower routes: compares the host, then the path, then whether only some methods match.
fn narrowness(route: &Route) -> (usize, (usize, bool, usize), bool) {
    (route.host.narrowness(), route.path.narrowness(), !route.methods.0.is_empty())
}

/// Upstreams by the numbers of their names, and the number of each in the order given. An upstream that is no longer
/// configured is absent: data paths keep what requests in flight to it need.
type Numbered = (Vec<Option<Upstream>>, Vec<u32>);

fn numbered(state: &State, upstreams: Vec<Upstream>) -> Result<Numbered, TooManyNames> {
    let (mut by_number, mut numbers) = (Vec::new(), Vec::new());
    for upstream in upstreams {
        let number = state.upstream_names.number(&upstream.name).ok_or(TooManyNames)?;
        by_number.resize(by_number.len().max(number as usize + 1), None);
        by_number[number as usize] = Some(upstream);
        numbers.push(number);
    }
    Ok((by_number, numbers))
}

/// Puts a thing at its name's number, which it returns.
fn place<T: Clone>(
    things: &mut Vec<T>,
    names: &Names,
    name: &str,
    thing: T,
) -> Result<u32, TooManyNames> {
    let number = names.number(name).ok_or(TooManyNames)?;
    // Numbers are given in order, so no gap is left.
    let at = number as usize;
    while things.len() <= at {
        things.push(thing.clone());
    }
    things[at] = thing;
    Ok(number)
}
