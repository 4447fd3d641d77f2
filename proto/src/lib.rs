//! The COSI wire protocol: proto file, generated types and service stubs.
//!
//! `cosi.proto`, below `sigs/`, is the specification: its comments hold the numbered requirements on drivers and sidecars. The
//! types here are generated from it by `cargo xtask codegen` and committed, so that building this crate needs neither
//! protoc nor a build script.
//!
//! Debug output of the messages is safe to log (I7): no credential is in it, and of `parameters` only the keys.

mod redact;

/// Package `sigs.k8s.io.cosi.v1alpha2`: messages, and a client and a server module for each service.
#[allow(missing_docs, unreachable_pub, clippy::all, clippy::pedantic, reason = "generated")]
pub mod v1alpha2 {
    include!("generated/sigs.k8s.io.cosi.v1alpha2.rs");
}

/// The protocol's `google.protobuf.FileDescriptorSet`, encoded, with everything it imports and with its own options
/// (`cosi_secret` and so on): for server reflection and for tools that look at messages by name.
pub const FILE_DESCRIPTOR_SET: &[u8] = include_bytes!("generated/cosi.binpb");

/// Metadata key on Create and Grant: the last moment at which a driver may begin the work, in decimal nanoseconds of
/// `CLOCK_BOOTTIME` (R15, COSI-GEN-11).
pub const NOT_AFTER_KEY: &str = "cosi-not-after-ns";

/// Environment variable that names the driver's socket, for driver and sidecar alike (COSI-GEN-1).
pub const ENDPOINT_VARIABLE: &str = "COSI_ENDPOINT";

/// The driver's socket if [`ENDPOINT_VARIABLE`] is not set.
pub const DEFAULT_ENDPOINT: &str = "unix:///var/lib/cosi/cosi.sock";
