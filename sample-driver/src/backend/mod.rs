//! The embedded S3 server: object operations for those who may, on buckets that only the driver makes and deletes.

mod access;
mod accounts;
mod buckets;
mod keys;
mod objects;
mod operator;
mod server;

pub use self::{
    accounts::{Accounts, Rights, Scope},
    operator::{OperatorKey, OperatorKeyError},
    server::{S3Server, serve},
};
