//! COSI's Kubernetes types, names and value types.
