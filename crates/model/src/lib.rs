//! The data that every other crate meets in. Pure: values and functions on them, no clock, file or socket.
//!
//! A value only ever moves to the right:
//! [`Plan`] (what is to be sent, nothing left to default) → [`Interval`]s (what each second
//! brought) → [`Run`] (what happened) → [`Sweep`] (runs over levels). What we *think* of a run is
//! the `verdict` crate's; how it is shown is `report`'s.

pub mod blocks;
pub mod calibration;
pub mod capacity;
pub mod claim;
pub mod curve;
pub mod date;
pub mod endpoint;
pub mod environment;
pub mod finding;
pub mod gated;
pub mod histogram;
pub mod interval;
pub mod kinds;
pub mod loadline;
pub mod machine;
pub mod mined;
pub mod objective;
pub mod observed;
pub mod outcome;
pub mod percentile;
pub mod plan;
pub mod presence;
pub mod profiled;
pub mod quote;
pub mod random;
pub mod response;
pub mod run;
pub mod sample;
pub mod scaling;
pub mod scans;
pub mod schedule;
pub mod seconds;
pub mod secret;
pub mod slices;
pub mod success;
pub mod sweep;
pub mod timeline;
pub mod tuning;
pub mod units;
pub mod users;
pub mod validity;
pub mod workload;

pub use blocks::Block;
pub use calibration::{Calibration, Ceiling};
pub use capacity::CapacitySearch;
pub use claim::{Claim, Claims, Latency, LoopKind, Tool};
pub use curve::{Curve, CurveRow, DoubledLevel, SuccessMeaning};
pub use endpoint::{EndpointRun, FlowRun};
pub use environment::{Environment, Program};
pub use finding::{Finding, Findings};
pub use gated::{GateKey, GateKeys, GateUsage, GateUsageRow};
pub use histogram::Latencies;
pub use interval::{Gauge, Interval, KindTally, Phase, PresenceTally, Tally, WorkerUse};
pub use kinds::{Kinds, ResponseChange, ResponseKind};
pub use loadline::LoadLine;
pub use machine::{Machine, MachineUse};
pub use mined::Mined;
pub use objective::{Abort, Judgement, Ruling};
pub use observed::{Observed, ObservedBuilder, ObservedSource};
pub use outcome::{ErrorClass, ErrorCounts};
pub use percentile::{PERCENTILES, Percentile, Summary};
pub use plan::{Arriving, EndpointPlan, FlowPlan, Io, Load, Mix, Plan};
pub use presence::{Presence, Silence};
pub use response::{CommonestResponse, ResponseTally};
pub use run::{Run, RunBuilder, RunHead};
pub use sample::{Role, Sample};
pub use scaling::{Knee, Peak, Scaling, Usl};
pub use schedule::{Arrivals, Draw, Schedule, Shape, Share, Stages};
pub use seconds::{Departure, Dip, Seconds};
pub use success::StatusRanges;
pub use sweep::{LevelKind, Sweep};
pub use units::Nanos;
pub use users::{UserTally, Users};
pub use validity::{Reason, ReasonCode, Validity, Verdict};
pub use workload::Workload;
