//! How far the run has come for one worker, and the clock of its instants.

use model::Nanos;
use net::Net;

/// Each of these is set once and stays so.
#[derive(Debug, Default)]
pub(super) struct RunState {
    /// What instants count from, on the net's clock: the run's start once it is known.
    base_ns: u64,
    /// Before the start: the connections that are open, and since when they are as many.
    open: (u32, Nanos),
    /// Connections that were still opening at the start, and for how long by then: no instant of the run says it.
    pub(super) early: Vec<(u32, Nanos)>,
    /// The start has come.
    pub(super) started: bool,
    /// The start has come, and not everything is counted yet.
    pub(super) measuring: bool,
    /// The source sends nothing more.
    pub(super) silent: bool,
    /// The window is over: nothing is sent any more.
    pub(super) ended: bool,
    /// The window was cut short.
    pub(super) stopped: bool,
}

impl RunState {
    /// Instants count from the first call until the start is known; whether this was it.
    pub(super) fn begin_clock(&mut self, now: u64) -> bool {
        let first = self.base_ns == 0;
        if first {
            self.base_ns = now;
        }
        first
    }

    /// Before the start, with this many connections open: how long ago their number changed last.
    pub(super) fn since_opened(&mut self, open: u32, now: Nanos) -> Nanos {
        if self.open.0 != open {
            self.open = (open, now);
        }
        now.saturating_sub(self.open.1)
    }

    /// The run starts: from here on instants count from `start_ns` of the net's clock. Returns by how
    /// much they decrease.
    pub(super) fn start(&mut self, start_ns: u64) -> Nanos {
        let shift = start_ns.saturating_sub(self.base_ns);
        (self.base_ns, self.started, self.measuring) = (start_ns, true, true);
        shift
    }

    /// For how long what connection `j` does had gone on at the start; said once.
    pub(super) fn before_start(&mut self, j: u32) -> Nanos {
        let at = self.early.iter().position(|&(early, _)| early == j);
        at.map_or(0, |at| self.early.swap_remove(at).1)
    }

    /// Everything is counted, and nothing is sent any more.
    pub(super) fn end_measuring(&mut self) {
        (self.ended, self.measuring) = (true, false);
    }

    #[inline]
    pub(super) fn now<N: Net>(&self, net: &N) -> Nanos {
        self.instant(net.now())
    }

    /// An instant of the net's clock in nanoseconds since the run's start.
    #[inline]
    pub(super) fn instant(&self, at: u64) -> Nanos {
        at.saturating_sub(self.base_ns)
    }

    /// An instant on the net's clock.
    pub(super) fn on_net_clock(&self, at: Nanos) -> u64 {
        self.base_ns.saturating_add(at)
    }
}
