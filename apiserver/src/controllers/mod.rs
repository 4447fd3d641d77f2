//! What a cluster's controllers do to objects that lost their owner or their namespace.
