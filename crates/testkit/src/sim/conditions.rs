//! How the network between the hosts behaves, and what a host may use.

/// How the network between the hosts behaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Conditions {
    /// The way of bytes, from one end to the other. Bytes never overtake each other.
    pub delay: Delay,
    /// The way of a connection request, and of its response back: half a handshake.
    pub handshake: Delay,
    /// Where a stream of bytes is cut on its way.
    pub cut: Cut,
    /// Bytes that sender and receiver together hold for an application that does not read. At
    /// least 1.
    pub buffer_bytes: usize,
    /// Of a million deliveries, how many turn into a reset of the connection.
    pub resets_per_million: u32,
}

impl Default for Conditions {
    fn default() -> Self {
        Self {
            delay: Delay::Fixed(50_000),
            handshake: Delay::Fixed(50_000),
            cut: Cut::Whole,
            buffer_bytes: 256 * 1024,
            resets_per_million: 0,
        }
    }
}

/// A length of time in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Delay {
    /// Always the same.
    Fixed(u64),
    /// Drawn uniformly between the two, both included.
    Between(u64, u64),
}

/// How what is received is cut into deliveries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cut {
    /// All that has come is delivered at once, up to 64 KiB.
    Whole,
    /// Anywhere, as the seed has it; what came apart may also be delivered together.
    Anywhere,
    /// Into single bytes.
    Bytes,
}

/// What a host may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HostLimits {
    /// Connections open at once, accepted ones included.
    pub files: usize,
    /// Local ports for each pair of own address and destination.
    pub ports: usize,
}

impl Default for HostLimits {
    fn default() -> Self {
        Self { files: 1 << 20, ports: 28_232 }
    }
}
