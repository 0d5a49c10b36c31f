//! Keys of clients: 128 random bits, shown once and stored only as a digest, from which the key cannot be computed.
//!
//! [`Store`] is the file of keys and their owners. [`Keys`] is the table in memory for decisions: at most 200 bytes for
//! a key with an owner of up to 16 letters, read by several workers while another thread adds and revokes keys. A
//! [`Digester`] computes the digest by which both find a key.

mod configured;
mod digest;
mod owners;
mod record;
mod rotation;
mod store;
mod table;

pub use configured::NamedByKeys;
pub use digest::{Digest, Digester, new_key};
pub(crate) use digest::{PREFIX, is_like_key};
pub use owners::Owner;
pub use record::{Change, KeyRecord, NewKey, Stamp, StoreError};
pub use rotation::Replaced;
pub use store::Store;
pub(crate) use store::open_to_inspect;
pub use table::{Entry, Keys, Settings};
