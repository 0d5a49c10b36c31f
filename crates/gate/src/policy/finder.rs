//! Which route takes a request, of any number of routes.
//!
//! Owns the index over hosts and paths; what hosts, methods and paths mean is said by `pattern`.

use std::collections::HashMap;

use super::tree::PathTree;
use super::{Facts, Host, Problem, Route};

/// Bytes of the longest name that DNS has; no route has a longer host.
const LONGEST_HOST: usize = 255;

/// The routes of a policy by host and path. A route's number here is its place in the order in which routes are tried.
#[derive(Debug, Default)]
pub(super) struct Finder {
    exact: HashMap<Box<[u8]>, PathTree>,
    /// By domain, with its leading dot.
    below: HashMap<Box<[u8]>, PathTree>,
    any: PathTree,
}

impl Finder {
    /// Of routes in the order in which they are tried: those of one host first, then those below a domain, the longest
    /// first, then those of all hosts. `empty` makes the trees.
    pub(super) fn new<'a>(
        routes: impl Iterator<Item = &'a Route>,
        empty: impl Fn() -> PathTree,
    ) -> Self {
        let mut finder = Self { any: empty(), ..Self::default() };
        for (place, route) in routes.enumerate() {
            let tree = match &route.host {
                Host::Any => &mut finder.any,
                Host::Exact(name) => {
                    finder.exact.entry(name.as_bytes().into()).or_insert_with(&empty)
                }
                Host::Below(domain) => {
                    finder.below.entry(domain.as_bytes().into()).or_insert_with(&empty)
                }
            };
            tree.insert(&route.path, place as u32);
        }
        finder
    }

    /// The place of the first route that takes a request. `route` gives the route of a place.
    ///
    /// # Errors
    /// Whether one would, by another method.
    pub(super) fn find<'a>(
        &self,
        facts: &Facts,
        route: impl Fn(u32) -> &'a Route,
    ) -> Result<u32, Problem> {
        let mut problem = Problem::NoRoute;
        let mut by_method = |place: u32| {
            let takes = route(place).methods.take(facts.method);
            if !takes {
                problem = Problem::MethodNotAllowed;
            }
            takes
        };
        let mut name = [0; LONGEST_HOST];
        let host = self.lower(facts.host, &mut name);
        let domains = (1..host.len()).filter(|&at| host[at] == b'.').map(|at| &host[at..]);
        let exact = self.exact.get(host).into_iter();
        let below = domains.filter_map(|domain| self.below.get(domain));
        let mut trees = exact.chain(below).chain([&self.any]);
        let found = trees.find_map(|tree| tree.least(facts.path, &mut by_method));
        found.ok_or(problem)
    }

    /// The host in lower case; empty where no route has a host, or none can have this one.
    fn lower<'n>(&self, host: &[u8], name: &'n mut [u8; LONGEST_HOST]) -> &'n [u8] {
        let unused = self.exact.is_empty() && self.below.is_empty();
        if unused || host.len() > LONGEST_HOST {
            return &[];
        }
        let name = &mut name[..host.len()];
        name.copy_from_slice(host);
        name.make_ascii_lowercase();
        name
    }
}

#[cfg(test)]
mod tests {
    use std::net::{IpAddr, Ipv4Addr};

    use proptest::prelude::*;

    use super::super::{Methods, PathPattern, Policy, PolicySettings, Upstream};
    use super::*;

    fn facts<'a>(method: &'a str, host: &'a str, path: &'a str) -> Facts<'a> {
        Facts {
            method: method.as_bytes(),
            host: host.as_bytes(),
            path: path.as_bytes(),
            cut: None,
            key: None,
            address: IpAddr::V4(Ipv4Addr::LOCALHOST),
            body_bytes: Some(0),
        }
    }

    /// Looks at each route in turn, in the order in which they are tried.
    fn one_by_one<'a>(policy: &'a Policy, facts: &Facts) -> Result<&'a str, Problem> {
        let mut problem = Problem::NoRoute;
        for route in policy.routes() {
            match route.path.takes(facts.path) && route.host.takes(facts.host) {
                true if route.methods.take(facts.method) => return Ok(&route.name),
                true => problem = Problem::MethodNotAllowed,
                false => {}
            }
        }
        Err(problem)
    }

    fn policy(routes: Vec<Route>) -> Policy {
        let upstream = Upstream::of("api", "127.0.0.1:1".parse().unwrap());
        let open = Policy::open(upstream.clone());
        let settings = PolicySettings { routes, ..PolicySettings::open(upstream) };
        Policy::new(open.state(), settings, None).unwrap()
    }

    proptest! {
        #[test]
        fn it_finds_what_looking_at_each_route_finds(
            routes in prop::collection::vec((0usize..6, 0usize..6, 0usize..3), 1..20),
            asked in prop::collection::vec((0usize..5, 0usize..5, 0usize..3), 1..20),
        ) {
            let hosts = ["", "a.test", "b.a.test", ".a.test", ".test", "c.b.a.test"];
            let paths = ["/", "/x", "/x/{id}", "/{a}/y", "/x/y", "/x/y/z"];
            let methods = [&[][..], &["GET"], &["POST", "PUT"]];
            let route = |(number, &(host, path, method)): (usize, &(usize, usize, usize))| Route {
                name: number.to_string(),
                host: match hosts[host] {
                    "" => Host::Any,
                    domain if domain.starts_with('.') => Host::Below(domain.to_owned()),
                    name => Host::Exact(name.to_owned()),
                },
                path: PathPattern::parse(paths[path]).unwrap(),
                methods: Methods(methods[method].iter().map(|m| (*m).to_owned()).collect()),
                ..Route::to(0)
            };
            let policy = policy(routes.iter().enumerate().map(route).collect());
            for (host, path, method) in asked {
                let host = ["A.test", "b.a.TEST", "x.test", ".a.test", "c.b.a.test"][host];
                let path = ["/", "/x", "/x/y", "/x/y/z", "/q/y"][path];
                let facts = facts(["GET", "PUT", "HEAD"][method], host, path);
                let found = policy.find(&facts).map(|route| route.name.as_str());
                prop_assert_eq!(found, one_by_one(&policy, &facts), "{:?}", facts);
            }
        }
    }

    #[test]
    fn a_host_longer_than_any_name_is_of_routes_for_all_hosts() {
        let named = Route { host: Host::Below(".test".into()), ..Route::to(0) };
        let all = Route { name: "rest".into(), ..Route::to(0) };
        let policy = policy(vec![named, all]);
        let long = format!("{}.test", "a".repeat(300));
        assert_eq!(policy.find(&facts("GET", &long, "/")).unwrap().name, "rest");
        assert_eq!(policy.find(&facts("GET", "a.test", "/")).unwrap().name, "all");
    }
}
