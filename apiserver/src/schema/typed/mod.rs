//! The forms of the kinds that are built into Kubernetes, and of every object's metadata.
//!
//! A real API server reads those into Go structures and writes them again. That drops what a structure doesn't have,
//! fills in what it always writes, and refuses values of other types in words of their own. The tables in here say what
//! such a structure looks like.

mod bytes;
mod convert;
pub(super) mod kinds;
mod meta;
mod read;
mod time;
mod tree;
mod wire;

pub(super) use meta::OBJECT_META;
pub use read::ReadError;
pub(super) use read::{convert, read};
pub(super) use tree::node;
pub use wire::WireError;
pub(super) use wire::decode;

/// The form of a value.
#[derive(Debug)]
pub(crate) enum Shape {
    /// A text, and its type's name in Go.
    Text(&'static str),
    /// True or false.
    Bool,
    /// A whole number of 8 bits, from 0.
    Byte,
    /// A whole number of 32 bits.
    Int32,
    /// A whole number of 64 bits.
    Int64,
    /// A point in time in whole seconds.
    Time,
    /// A point in time in microseconds.
    MicroTime,
    /// Bytes, as base64.
    Bytes,
    /// A map from texts.
    Map(&'static Shape),
    /// A list, and how its items are told apart.
    List(&'static Shape, Items),
    /// A structure.
    Struct(&'static Struct),
    /// Any JSON.
    Raw,
}

/// How the items of a list are told apart.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Items {
    /// Not at all.
    Atomic,
    /// By their values.
    Set,
    /// By this field.
    By(&'static str),
}

/// A structure.
#[derive(Debug)]
pub(crate) struct Struct {
    /// Its name in Go.
    pub(crate) name: &'static str,
    /// Whether it has one owner, rather than one for each field.
    pub(crate) atomic: bool,
    /// Its fields.
    pub(crate) fields: &'static [Field],
}

/// A field of a structure.
#[derive(Debug)]
pub(crate) struct Field {
    /// Its number in Protocol Buffers; 0 if it isn't in there.
    pub(crate) number: u32,
    pub(crate) name: &'static str,
    pub(crate) shape: Shape,
    pub(crate) empty: Empty,
}

/// What is written for a field that is absent or has the zero of its type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Empty {
    /// Nothing.
    Dropped,
    /// The zero, if it was given: absent and zero are different.
    Kept,
    /// The zero, always.
    Written,
}

/// A field that isn't written when it is empty.
const fn field(number: u32, name: &'static str, shape: Shape) -> Field {
    Field { number, name, shape, empty: Empty::Dropped }
}

/// A field that may be zero or absent.
const fn optional(number: u32, name: &'static str, shape: Shape) -> Field {
    Field { number, name, shape, empty: Empty::Kept }
}

/// A field that is always written.
const fn always(number: u32, name: &'static str, shape: Shape) -> Field {
    Field { number, name, shape, empty: Empty::Written }
}

/// Any text.
const TEXT: Shape = Shape::Text("string");
