//! Keys of clients: 128 random bits, shown once; kept as a digest that cannot be turned back.
//!
//! [`Store`] keeps them with their owners in a file. [`Keys`] is what decisions look them up in: at most 200 bytes a
//! key with an owner of up to 16 letters, read by several workers while another thread adds and revokes. A [`Digester`] makes
//! of a key what both are asked with.

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
pub use table::{Entry, Keys, Settings};
