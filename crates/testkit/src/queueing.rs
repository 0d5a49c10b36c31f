//! Mean response times of FIFO queues under Poisson arrivals, by theory.
//!
//! Written from the formulas, and sharing nothing with the server whose queues are compared with them.

/// The distribution of service times.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Service {
    /// Drawn from an exponential distribution: M/M/c.
    Exponential,
    /// Always the same: M/D/c.
    Fixed,
}

/// The mean response (wait and service) in mean service times, of a queue with `servers` servers of which the share
/// `busy`, below 1, is in use.
pub fn mean_response(servers: u32, service: Service, busy: f64) -> f64 {
    let c = f64::from(servers);
    match service {
        Service::Exponential => 1.0 + share_that_waits(servers, busy) / (c * (1.0 - busy)),
        // By Little's law.
        Service::Fixed => in_system(servers, busy) / (busy * c),
    }
}

/// The share of arrivals that wait in M/M/c (Erlang 1917), through Erlang B's recursion.
fn share_that_waits(servers: u32, busy: f64) -> f64 {
    let offered = busy * f64::from(servers);
    let b = (1..=servers).fold(1.0, |b, n| offered * b / (f64::from(n) + offered * b));
    b / (1.0 - busy * (1.0 - b))
}

/// The mean number in M/D/c. A request in service now is gone a service time later, and none that
/// begins in that time: so n become max(n - c, 0) and the arrivals of a service time (Crommelin 1932).
/// The stationary distribution is found by iteration.
fn in_system(servers: u32, busy: f64) -> f64 {
    const STATES: usize = 400;
    let (c, offered) = (servers as usize, busy * f64::from(servers));
    let mut arrivals = vec![(-offered).exp()];
    (1..80).for_each(|n| arrivals.push(arrivals[n - 1] * offered / n as f64));
    let mut shares = vec![0.0; STATES];
    shares[0] = 1.0;
    loop {
        let mut later = vec![0.0; STATES];
        for (n, share) in shares.iter().enumerate() {
            for (more, arrive) in arrivals.iter().enumerate() {
                later[(n.saturating_sub(c) + more).min(STATES - 1)] += share * arrive;
            }
        }
        let moved: f64 = later.iter().zip(&shares).map(|(a, b)| (a - b).abs()).sum();
        shares = later;
        if moved < 1e-12 {
            return shares.iter().enumerate().map(|(n, share)| n as f64 * share).sum();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_server_comes_to_the_closed_forms() {
        for busy in [0.3, 0.6, 0.9] {
            // M/M/1: 1 / (1 - rho). M/D/1 by Pollaczek and Khinchine: 1 + rho / (2 (1 - rho)).
            let (exponential, fixed) = (1.0 / (1.0 - busy), 1.0 + busy / (2.0 * (1.0 - busy)));
            assert!(
                (mean_response(1, Service::Exponential, busy) / exponential - 1.0).abs() < 1e-9
            );
            assert!((mean_response(1, Service::Fixed, busy) / fixed - 1.0).abs() < 1e-9);
        }
    }

    #[test]
    fn four_servers_wait_less_than_one_of_the_same_load_and_fixed_service_less_than_drawn() {
        for busy in [0.3, 0.6, 0.9] {
            for service in [Service::Exponential, Service::Fixed] {
                let four = mean_response(4, service, busy);
                assert!(four > 1.0 && four < mean_response(1, service, busy), "{busy} {service:?}");
            }
            let fixed = mean_response(4, Service::Fixed, busy);
            assert!(fixed < mean_response(4, Service::Exponential, busy), "{busy}");
        }
    }
}
