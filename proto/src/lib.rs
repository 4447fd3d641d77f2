//! The COSI wire protocol: proto file, generated types and service stubs.
