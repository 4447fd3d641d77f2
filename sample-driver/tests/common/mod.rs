//! An S3 client for tests, and what it talks to.
#![allow(dead_code, unreachable_pub, reason = "no test file uses all of it")]

pub(crate) mod grants;
pub(crate) mod place;
pub(crate) mod proxy;
pub(crate) mod signed;
pub(crate) mod world;

pub(crate) use cosi_tests::seaweed::s3_client as client;
