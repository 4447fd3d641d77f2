//! Test doubles with memory: a scripted driver and a fault-injecting API proxy.
