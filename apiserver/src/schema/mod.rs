//! What the API server knows of each kind: names, schema, defaults, rules.
