//! For tests: what stands in for the world.
//!
//! * [`sim`]: a clock and a network that exist in memory only, seeded and exactly repeatable. It
//!   implements [`net::Net`], so that workers and servers are tested on the code that runs for real.
//!
//! Nothing here is part of the product; it depends on `net`'s interface alone.

pub mod sim;
