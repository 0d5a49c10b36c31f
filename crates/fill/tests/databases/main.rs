//! Fills of real databases, and what `clean` leaves of them.

mod engine;
mod taken_back;
