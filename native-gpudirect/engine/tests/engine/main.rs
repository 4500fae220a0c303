//! The engine against a scripted store.

mod basics;
mod kit;
