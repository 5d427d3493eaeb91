//! The sandbox over real sockets: its Chaos API against the contract, its pipeline against outages.

mod chaos_api;
mod lifetime;
mod pipeline;
