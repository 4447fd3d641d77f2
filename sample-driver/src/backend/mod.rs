//! The embedded S3 server: object operations for those who may, on buckets that only the driver makes and deletes.

mod access;
mod accounts;
mod buckets;
mod keys;
mod objects;
mod operator;
mod server;
mod visit;

pub use self::{
    operator::{OperatorKeyError, operator_key},
    server::{S3Server, serve},
};
