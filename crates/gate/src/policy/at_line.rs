//! The load line's part of a decision: room below the ceiling is taken last, and given back as soon as the upstream's work is
//! done, which may be before the ticket is finished.

use super::decide::{MEAN_MILLI, seconds, window};
use super::sharing::spare;
use super::{
    KeyLimits, NONE, Policy, Problem, QuotaOf, Quotas, RateLimit, Refusal, Ticket, TicketCounts,
};
use crate::admission::NoRoom;
use crate::limits::{Gcra, Quota, Rate};
use crate::usage::Local;

/// Why there is no room for a request.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Full {
    /// The share of its key is used up: mean requests per second, and nanoseconds until it has room.
    Share { per_s: f64, wait_ns: u64 },
    /// The ceiling.
    Ceiling(NoRoom),
}

impl Policy {
    /// Takes room below the load line for a request that [`Self::decide_before_body`] let through.
    ///
    /// # Errors
    /// The refusal, if there is no room. The ticket has then been given back, and must not be finished; the refusal is counted
    /// in `usage`.
    pub fn take_line(
        &self,
        ticket: &mut Ticket,
        now_ns: u64,
        usage: &mut Local,
    ) -> Result<(), Refusal> {
        match self.take_of_line(ticket.key, ticket.tier, ticket.route, ticket.cost_milli, now_ns) {
            Ok(()) => {
                ticket.held.line = true;
                Ok(())
            }
            Err(full) => {
                self.give_back_held(ticket);
                self.give_back_used(ticket, now_ns);
                usage.refuse(ticket.key, ticket.route, Problem::AtLoadLine, ticket.cost_milli);
                let refusal = Refusal {
                    key: ticket.key,
                    route: ticket.route,
                    ..Refusal::of(Problem::AtLoadLine)
                };
                Err(self.at_line(refusal, full))
            }
        }
    }

    /// Gives back a request's room below the ceiling before the request has ended, since the upstream's work is done. It still
    /// counts as in flight for its key, tier and route.
    pub fn leave_line(&self, ticket: &mut Ticket, upstream_ns: u64, now_ns: u64) {
        if std::mem::take(&mut ticket.held.line) {
            self.state.ceiling.finish(ticket.cost_milli, upstream_ns);
            self.state.ceiling.ran(now_ns, upstream_ns);
        }
    }

    /// Takes room below the ceiling, and counts it for the report to other gateways.
    ///
    /// # Errors
    /// Why there is no room.
    pub(super) fn take_of_line(
        &self,
        key: u32,
        tier: u32,
        route: u32,
        cost_milli: u32,
        now_ns: u64,
    ) -> Result<(), Full> {
        let state = &*self.state;
        if self.line().is_some() {
            self.take_room(key, tier, cost_milli, now_ns)?;
        } else {
            state.ceiling.add(cost_milli);
        }
        if state.shared.is_on() {
            self.share(key, tier, route, cost_milli);
        }
        Ok(())
    }

    /// Takes room below the ceiling: from the key's share, or from what the others leave.
    fn take_room(&self, key: u32, tier: u32, cost_milli: u32, now_ns: u64) -> Result<(), Full> {
        let state = &*self.state;
        let (_, _, part_milli) = self.tier(tier);
        let share = &state.tiers[tier as usize].share;
        let room = match key {
            NONE => Ok(share.room(part_milli, false)),
            // A request counts for its key's share whether there is room or not: retrying at once must not increase a key's
            // chances.
            key => {
                let counting = state.keys.counting(state.keys.entry(key));
                share.take(counting, cost_milli, part_milli, now_ns)
            }
        };
        match room {
            Ok(room) => state.ceiling.take(cost_milli, room, now_ns).map_err(Full::Ceiling),
            Err(full) => {
                let took = state.ceiling.take_spare(cost_milli, spare(part_milli), now_ns);
                if took { Ok(()) } else { Err(full) }
            }
        }
    }

    /// Counts a request that was let through, for the report to other gateways.
    fn share(&self, key: u32, tier: u32, route: u32, cost_milli: u32) {
        let state = &*self.state;
        let took = |of: QuotaOf| state.shared.took(of, state.unreported(of));
        if key != NONE {
            took(QuotaOf::Key(state.keys.counting_slot(key)));
        }
        // The rates of tiers, of routes and of all requests are not shared.
        for of in [QuotaOf::Tier(tier), QuotaOf::Route(route), QuotaOf::All] {
            if self.quotas(of) != Quotas::default() {
                took(of);
            }
        }
        if self.line().is_some() {
            state.shared.took_of_line(cost_milli);
        }
    }

    /// The refusal of a request for which the load line has no room. Says what is used up.
    pub(super) fn at_line(&self, refusal: Refusal, full: Full) -> Refusal {
        let ceiling = &self.state.ceiling;
        // The measured rate is not a whole number.
        let whole = |per_s: f64| window(if per_s >= 1.0 { per_s.floor() } else { per_s });
        let (name, (quota, window_s), wait_ns) = match full {
            Full::Share { per_s, wait_ns } => ("share", whole(per_s), wait_ns),
            Full::Ceiling(NoRoom::Rate { wait_ns }) => {
                ("load line", whole(ceiling.rate_per_s()), wait_ns)
            }
            Full::Ceiling(NoRoom::AtOnce { wait_ns }) => {
                return self.full_at_once(refusal, seconds(wait_ns));
            }
        };
        let (window_s, reset_s) = (Some(window_s), seconds(wait_ns));
        let limit = RateLimit { name, quota, window_s, remaining: 0, reset_s };
        Refusal { retry_after_s: Some(reset_s), limit: Some(limit), ..refusal }
    }

    /// The refusal of a request that finds as many in flight as the load line allows.
    fn full_at_once(&self, refusal: Refusal, reset_s: u32) -> Refusal {
        let quota = (self.state.ceiling.at_once() as u64).max(1);
        let (name, window_s) = ("load line", None);
        let limit = RateLimit { name, quota, window_s, remaining: 0, reset_s };
        Refusal { retry_after_s: Some(reset_s), limit: Some(limit), ..refusal }
    }

    /// Gives back the numbers of requests at once that a ticket counts in.
    pub(super) fn give_back_held(&self, ticket: &Ticket) {
        let state = &*self.state;
        let TicketCounts { key, tier, route, address, all, line: _ } = ticket.held;
        if key {
            state.keys.counting(state.keys.entry(ticket.key)).in_flight.give_back(1);
        }
        if tier {
            state.tiers[ticket.tier as usize].in_flight.give_back(1);
        }
        if route {
            state.routes[ticket.route as usize].in_flight.give_back(1);
        }
        if address {
            state.addresses.place(ticket.address_slot).in_flight.give_back(1);
        }
        if all {
            state.all.in_flight.give_back(1);
        }
    }

    /// Gives back what a ticket's request took of rates and quotas, by the limits in force.
    fn give_back_used(&self, ticket: &Ticket, now_ns: u64) {
        let state = &*self.state;
        let since_ns = now_ns.saturating_sub(ticket.admitted_at_ns);
        let give_back = |used: &Gcra, rate: Option<Rate>| {
            if let Some(rate) = rate {
                used.give_back(rate.increment_ns(MEAN_MILLI), since_ns);
            }
        };
        if ticket.key != NONE {
            let entry = state.keys.entry(ticket.key);
            let limits = KeyLimits::of(entry, self.tier(ticket.tier).1);
            let counting = state.keys.counting(entry);
            give_back(&counting.used, limits.rate);
            let quotas = Quotas { day: limits.day_quota, month: limits.month_quota };
            give_back_quotas(quotas, (&counting.day, &counting.month), ticket.periods);
        }
        let (tier, route) = (self.tier(ticket.tier).1, self.route(ticket.route));
        for (used, rate, quotas) in [
            (&state.tiers[ticket.tier as usize], tier.together.rate, tier.together_quotas),
            (&state.routes[ticket.route as usize], route.limits.rate, route.quotas),
            (&state.all, self.settings.all.rate, self.settings.all_quotas),
        ] {
            give_back(&used.rate, rate);
            give_back_quotas(quotas, (&used.day, &used.month), ticket.periods);
        }
        if ticket.address_slot != NONE {
            let place = state.addresses.place(ticket.address_slot);
            give_back(&place.used, self.settings.address.rate);
            give_back_quotas(
                self.settings.address_quotas,
                (&place.day, &place.month),
                ticket.periods,
            );
        }
    }
}

/// Gives a request back to the quotas of the day and of the month that it was taken of.
fn give_back_quotas(
    quotas: Quotas,
    (of_day, of_month): (&Quota, &Quota),
    (day, month): (u32, u32),
) {
    if quotas.day.is_some() {
        of_day.give_back(day);
    }
    if quotas.month.is_some() {
        of_month.give_back(month);
    }
}
