//! Fills of real databases, and what `clean` leaves of them.

mod engine;
mod partial;
mod taken_back;
