//! Upstreams as a worker has them: their servers, idle connections, and the choice of a server.
//!
//! Owns which server a request goes to. Connections are made and used by the worker.

use std::net::SocketAddr;
use std::sync::Arc;

use super::certificates::Trust;
use super::retry::Budget;
use super::upstream::NONE;
use crate::health::{Health, ServerHealth, Taken, Trial};
use crate::policy::{Balance, Policy, Upstream, UpstreamAddress};

/// The upstreams of one worker. Numbers of pools and servers stay their own over policies.
#[derive(Debug, Default)]
pub(super) struct Pools {
    pub(super) pools: Vec<Pool>,
    pub(super) servers: Vec<Server>,
    /// Of each upstream of the policy in force, by its number: its pool.
    of_policy: Vec<u32>,
    /// What is known of servers that nobody asks about any more.
    forgotten: Arc<ServerHealth>,
}

/// One upstream.
#[derive(Debug)]
pub(super) struct Pool {
    pub(super) upstream: Upstream,
    pub(super) budget: Budget,
    servers: Vec<u32>,
    turn: usize,
}

/// One server.
#[derive(Debug)]
pub(super) struct Server {
    pub(super) socket: SocketAddr,
    /// The name that it is checked against where it speaks TLS.
    tls: Option<String>,
    /// The authorities that may have signed its certificate, then.
    trust: Option<Trust>,
    pub(super) pool: u32,
    /// Its place in the upstream's list.
    pub(super) place: usize,
    pub(super) health: Arc<ServerHealth>,
    /// Idle connections: the last is used first, so that those not needed grow old.
    pub(super) idle: Vec<u32>,
    /// Connections, idle ones included.
    pub(super) open: u32,
    /// No policy names it any more.
    pub(super) retired: bool,
    /// When it is checked next.
    pub(super) check_ns: u64,
    /// A check is under way.
    pub(super) checking: bool,
}

impl Pools {
    /// Takes the upstreams of a policy in force from now on.
    pub(super) fn adopt(&mut self, policy: &Policy, health: &Health) {
        self.servers.iter_mut().for_each(|server| server.retired = true);
        self.of_policy.clear();
        for upstream in policy.upstreams() {
            let Some(upstream) = upstream else {
                self.of_policy.push(NONE);
                continue;
            };
            let known = self.pools.iter().position(|pool| pool.upstream.name == upstream.name);
            let number = known.unwrap_or(self.pools.len());
            let servers = self.servers_of(upstream, number as u32, policy.trust(), health);
            let pool =
                Pool { upstream: upstream.clone(), budget: Budget::default(), servers, turn: 0 };
            match self.pools.get_mut(number) {
                Some(known) => *known = Pool { budget: known.budget, ..pool },
                None => self.pools.push(pool),
            }
            self.of_policy.push(number as u32);
        }
        for number in 0..self.servers.len() {
            self.forget(number as u32);
        }
    }

    /// Lets go of what is known of a server that no policy names and no connection leads to. Its place may be used
    /// for another, once its own pool does not list it either.
    pub(super) fn forget(&mut self, number: u32) {
        let server = &mut self.servers[number as usize];
        if server.retired && server.open == 0 {
            server.health = Arc::clone(&self.forgotten);
        }
    }

    fn servers_of(
        &mut self,
        upstream: &Upstream,
        pool: u32,
        trust: Option<&Trust>,
        health: &Health,
    ) -> Vec<u32> {
        let mut numbers = Vec::new();
        for (place, address) in upstream.addresses.iter().enumerate() {
            let health = health.of(&upstream.name, address.socket);
            if upstream.active.is_none() {
                health.not_checked();
            }
            let trust = trust.filter(|_| address.tls.is_some());
            let same = |server: &Server| {
                // A connection that was made plainly, to another name or by the word of an authority that is trusted no more
                // carries nothing from now on.
                let checked_alike = server.tls == address.tls && server.trust.as_ref() == trust;
                let alike = server.socket == address.socket && checked_alike;
                server.retired && server.pool == pool && alike
            };
            let number = match self.servers.iter().position(same) {
                Some(number) => number,
                None => self.new_server(address, pool, trust, Arc::clone(&health)),
            };
            let server = &mut self.servers[number];
            (server.place, server.retired, server.health) = (place, false, health);
            numbers.push(number as u32);
        }
        numbers
    }

    /// A server of its own, in a place that is free. Those of pools without an upstream keep theirs, since requests in
    /// flight may turn to them again.
    fn new_server(
        &mut self,
        address: &UpstreamAddress,
        pool: u32,
        trust: Option<&Trust>,
        health: Arc<ServerHealth>,
    ) -> usize {
        let new = Server {
            socket: address.socket,
            tls: address.tls.clone(),
            trust: trust.cloned(),
            pool,
            place: 0,
            health,
            idle: vec![],
            open: 0,
            retired: true,
            check_ns: 0,
            checking: false,
        };
        let listed = |number: usize, server: &Server| {
            let own = self.pools.get(server.pool as usize);
            own.is_some_and(|own| own.servers.contains(&(number as u32)))
        };
        // The list of the pool itself is being replaced.
        let is_free = |(number, server): (usize, &Server)| {
            server.retired && server.open == 0 && (server.pool == pool || !listed(number, server))
        };
        match self.servers.iter().enumerate().position(is_free) {
            Some(number) => {
                self.servers[number] = new;
                number
            }
            None => {
                self.servers.push(new);
                self.servers.len() - 1
            }
        }
    }

    /// The pool of an upstream of the policy in force.
    pub(super) fn of_policy(&self, upstream: u32) -> u32 {
        self.of_policy[upstream as usize]
    }

    /// The server for a request, other than `not`, and its trial where the request tries it after its rest; [`NONE`] where all
    /// that are well have as many connections as they may. Where none is well, one of them is taken all the same.
    pub(super) fn choose(&mut self, pool: u32, not: u32, now_ns: u64) -> (u32, Option<Trial>) {
        let Pool { upstream, servers, turn, .. } = &mut self.pools[pool as usize];
        let most = upstream.connections_max;
        if let [only] = servers[..] {
            // There is no other to turn to, whatever its state.
            let room = self.servers[only as usize].has_room(most);
            return (if room { only } else { NONE }, None);
        }
        *turn = (*turn + 1) % servers.len();
        let in_turn = (0..servers.len()).map(|step| servers[(*turn + step) % servers.len()]);
        let fits = |&number: &u32| number != not && self.servers[number as usize].has_room(most);
        let load = |number: u32| self.servers[number as usize].health.in_flight();
        let well = in_turn
            .clone()
            .filter(fits)
            .filter(|&number| self.servers[number as usize].health.is_well(now_ns));
        // Where another worker has just taken the one request that tries a server, the next best is looked for.
        for _ in 0..servers.len() {
            let chosen = match upstream.balance {
                Balance::RoundRobin => well.clone().next(),
                Balance::LeastConnections => well.clone().min_by_key(|&number| load(number)),
            };
            let Some(chosen) = chosen else { break };
            match self.servers[chosen as usize].health.take(now_ns) {
                Taken::No => {}
                Taken::Yes => return (chosen, None),
                Taken::OnTrial(trial) => return (chosen, Some(trial)),
            }
        }
        // A server that is well but full is no reason to send the request to one that is not well. Whether one that has yet to be
        // tried is well nobody knows.
        let is_full = |number: u32| {
            let server = &self.servers[number as usize];
            number != not && !server.has_room(most) && server.health.is_proven()
        };
        if in_turn.clone().any(is_full) {
            return (NONE, None);
        }
        let any = in_turn.clone().find(fits).or_else(|| in_turn.clone().next());
        let any = any.filter(|&number| self.servers[number as usize].has_room(most));
        (any.unwrap_or(NONE), None)
    }
}

impl Server {
    fn has_room(&self, most: u32) -> bool {
        !self.idle.is_empty() || self.open < most
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keys::Keys;
    use crate::policy::{ActiveCheck, PolicySettings, State};

    fn upstream(ports: &[u16], balance: Balance) -> Upstream {
        let address = |port: &u16| {
            let socket = SocketAddr::from(([127, 0, 0, 1], *port));
            UpstreamAddress { text: socket.to_string(), socket, tls: None }
        };
        let addresses = ports.iter().map(address).collect();
        let first = SocketAddr::from(([127, 0, 0, 1], ports[0]));
        Upstream { addresses, balance, connections_max: 2, ..Upstream::of("api", first) }
    }

    fn pools(ports: &[u16], balance: Balance) -> (Pools, Health) {
        let (mut pools, health) = (Pools::default(), Health::default());
        pools.adopt(&Policy::open(upstream(ports, balance)), &health);
        (pools, health)
    }

    #[test]
    fn round_robin_takes_turns_and_leaves_out_who_is_unwell() {
        let (mut pools, _) = pools(&[1, 2, 3], Balance::RoundRobin);
        let mut turns: Vec<u32> = (0..3).map(|_| pools.choose(0, NONE, 0).0).collect();
        turns.sort_unstable();
        assert_eq!(turns, [0, 1, 2]);
        let rule = pools.pools[0].upstream.passive;
        (0..rule.failures).for_each(|_| pools.servers[1].health.did_not_answer(&rule, 0));
        assert!((0..9).all(|_| pools.choose(0, NONE, 1).0 != 1));
        assert!((0..9).all(|_| pools.choose(0, 2, 1).0 == 0), "not the one that failed before");
    }

    #[test]
    fn a_server_that_is_checked_no_more_is_left_out_no_more() {
        let (mut pools, health) = (Pools::default(), Health::default());
        let every_ns = 1_000_000;
        let rule = ActiveCheck {
            path: "/".into(),
            every_ns,
            timeout_ns: every_ns,
            up_after: 1,
            down_after: 1,
        };
        let plain = upstream(&[1, 2], Balance::RoundRobin);
        let checked = Upstream { active: Some(rule.clone()), ..plain.clone() };
        pools.adopt(&Policy::open(checked), &health);
        pools.servers[0].health.checked(false, &rule);
        assert!((0..4).all(|_| pools.choose(0, NONE, 0).0 == 1));
        pools.adopt(&Policy::open(plain), &health);
        assert!((0..4).any(|_| pools.choose(0, NONE, 0).0 == 0));
    }

    #[test]
    fn least_connections_takes_the_idlest() {
        let (mut pools, _) = pools(&[1, 2], Balance::LeastConnections);
        pools.servers[0].health.begin();
        assert!((0..4).all(|_| pools.choose(0, NONE, 0).0 == 1));
        pools.servers[1].health.begin();
        pools.servers[1].health.begin();
        assert!((0..4).all(|_| pools.choose(0, NONE, 0).0 == 0));
    }

    #[test]
    fn full_servers_take_nothing() {
        let (mut pools, _) = pools(&[1, 2], Balance::RoundRobin);
        pools.servers[0].open = 2;
        assert!((0..4).all(|_| pools.choose(0, NONE, 0).0 == 1));
        pools.servers[1].open = 2;
        assert_eq!(pools.choose(0, NONE, 0).0, NONE);
        pools.servers[1].idle.push(7);
        assert_eq!(pools.choose(0, NONE, 0).0, 1);
    }

    #[test]
    fn a_server_that_is_unwell_takes_nothing_while_one_is_well_though_full() {
        let (mut pools, _) = pools(&[1, 2], Balance::RoundRobin);
        let rule = pools.pools[0].upstream.passive;
        (0..rule.failures).for_each(|_| pools.servers[0].health.did_not_answer(&rule, 0));
        pools.servers[1].open = 2;
        assert_eq!(pools.choose(0, NONE, 1).0, NONE);
        // Where the one that is full has just failed the request itself, the other is asked.
        assert_eq!(pools.choose(0, 1, 1).0, 0);
    }

    /// Its connections hang, so nobody can try it: the other one is no worse.
    #[test]
    fn a_full_server_that_is_still_to_be_tried_keeps_no_request_back() {
        let (mut pools, _) = pools(&[1, 2], Balance::RoundRobin);
        let rule = pools.pools[0].upstream.passive;
        (0..rule.failures).for_each(|_| pools.servers[1].health.did_not_answer(&rule, 0));
        // Another one begins to rest just as its own rest is over.
        let now = rule.rest_ns.max(1);
        (0..rule.failures).for_each(|_| pools.servers[0].health.did_not_answer(&rule, now));
        pools.servers[1].open = 2;
        assert!(pools.servers[1].health.is_well(now), "it may be tried");
        assert_eq!(pools.choose(0, NONE, now), (0, None));
    }

    #[test]
    fn where_none_is_well_one_is_tried() {
        let (mut pools, _) = pools(&[1, 2], Balance::RoundRobin);
        let rule = pools.pools[0].upstream.passive;
        for server in 0..2 {
            (0..rule.failures).for_each(|_| pools.servers[server].health.did_not_answer(&rule, 0));
        }
        assert_ne!(pools.choose(0, NONE, 1).0, NONE);
    }

    #[test]
    fn a_new_policy_keeps_servers_and_retires_others() {
        let (mut pools, health) = pools(&[1, 2], Balance::RoundRobin);
        // A connection still leads to each.
        pools.servers.iter_mut().for_each(|server| server.open = 1);
        pools.adopt(&Policy::open(upstream(&[2, 3], Balance::RoundRobin)), &health);
        assert_eq!(pools.pools.len(), 1);
        let retired: Vec<bool> = pools.servers.iter().map(|server| server.retired).collect();
        assert_eq!(retired, [true, false, false]);
        assert_eq!(pools.servers[1].open, 1);
        assert!((0..9).all(|_| pools.choose(0, NONE, 0).0 != 0));
    }

    /// A connection to a server without TLS is not used for the same address with TLS, or under another name.
    #[test]
    fn a_server_that_speaks_tls_from_now_on_is_another() {
        let (mut pools, health) = pools(&[1], Balance::RoundRobin);
        for (round, tls) in ["a", "b", "c"].into_iter().enumerate() {
            let before = pools.choose(0, NONE, 0).0;
            pools.servers[before as usize].idle.push(round as u32);
            pools.servers[before as usize].open = 1;
            let mut upstream = upstream(&[1], Balance::RoundRobin);
            upstream.addresses[0].tls = Some(tls.to_owned());
            pools.adopt(&Policy::open(upstream), &health);
            let chosen = pools.choose(0, NONE, 0).0;
            assert!(pools.servers[chosen as usize].idle.is_empty(), "{tls}");
            assert!(pools.servers[before as usize].retired);
        }
    }

    /// A renewed file with the same authorities changes nothing.
    #[test]
    fn a_connection_is_used_no_more_once_its_authority_is_trusted_no_more() {
        let folder = tempfile::tempdir().unwrap();
        let trust = |name: &str| {
            let path = folder.path().join(name);
            if !path.exists() {
                let names = ["localhost".to_owned()];
                let made = rcgen::generate_simple_self_signed(names).unwrap();
                std::fs::write(&path, made.cert.pem()).unwrap();
            }
            Some(Trust::read(Some(&path)).unwrap())
        };
        let mut upstream = upstream(&[1], Balance::RoundRobin);
        upstream.addresses[0].tls = Some("localhost".to_owned());
        let (mut pools, health) = (Pools::default(), Health::default());
        let state = Arc::new(State::new(Arc::new(Keys::default()), 1));
        let adopt = |pools: &mut Pools, trust: Option<Trust>| {
            let settings = PolicySettings { trust, ..PolicySettings::open(upstream.clone()) };
            pools.adopt(&Policy::new(&state, settings, None).unwrap(), &health);
            pools.choose(0, NONE, 0).0
        };
        let first = adopt(&mut pools, trust("one"));
        pools.servers[first as usize].open = 1;
        assert_eq!(adopt(&mut pools, trust("one")), first);
        let other = adopt(&mut pools, trust("two"));
        assert_ne!(other, first);
        assert!(pools.servers[first as usize].retired && !pools.servers[other as usize].retired);
    }

    /// An upstream whose servers change with every policy, as a scaled one's do, and one whose name does.
    #[test]
    fn reloads_pile_up_neither_servers_nor_what_is_known_of_them() {
        let (mut pools, health) = pools(&[1, 2], Balance::RoundRobin);
        for round in 0..100u16 {
            let ports = [3 + 2 * round, 4 + 2 * round];
            pools.adopt(&Policy::open(upstream(&ports, Balance::RoundRobin)), &health);
            let chosen: Vec<_> = (0..2).map(|_| pools.choose(0, NONE, 0).0).collect();
            let mut found: Vec<u16> =
                chosen.iter().map(|&n| pools.servers[n as usize].socket.port()).collect();
            found.sort_unstable();
            assert_eq!(found, ports);
        }
        assert!(pools.servers.len() <= 4, "{}", pools.servers.len());
        assert_eq!(health.view(0).len(), 2);
    }

    #[test]
    fn an_upstream_that_is_gone_is_known_while_a_connection_leads_to_it() {
        let (mut pools, health) = pools(&[1], Balance::RoundRobin);
        pools.servers[0].open = 1;
        let other = Upstream { name: "other".into(), ..upstream(&[2], Balance::RoundRobin) };
        pools.adopt(&Policy::open(other), &health);
        assert!(pools.servers[0].retired && health.view(0).len() == 2);
        // A request in flight may still turn to it.
        assert_eq!(pools.choose(0, NONE, 0).0, 0);
        pools.servers[0].open = 0;
        pools.forget(0);
        assert_eq!(health.view(0).len(), 1);
    }
}
