//! Where the embedded server may differ, each with its reason: the list in docs/design/apiserver-differences.md.

use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::Value;

use super::Place;
use crate::call::Call;

/// One thing in which the servers may differ.
pub(crate) struct Exemption {
    /// As in the document.
    pub(crate) name: &'static str,
    covers: fn(&Call, &Place) -> bool,
    used: AtomicUsize,
}

/// All of them.
pub(crate) static EXEMPTIONS: [Exemption; 2] = [
    Exemption::new("column descriptions", |_, place| {
        place.at.contains("/columnDefinitions/") && place.at.ends_with("/description")
    }),
    Exemption::new("Protocol Buffers", |_, place| {
        const TYPE: &str = ", application/vnd.kubernetes.protobuf";
        let without = |text: &str| text.replace(&format!("{TYPE};stream=watch"), "").replace(TYPE, "");
        let texts =
            [&place.real, &place.model].map(|text| text.as_ref().and_then(Value::as_str).map(without));
        texts[0].is_some() && texts[0] == texts[1]
    }),
];

impl Exemption {
    const fn new(name: &'static str, covers: fn(&Call, &Place) -> bool) -> Self {
        Self { name, covers, used: AtomicUsize::new(0) }
    }

    /// How many differences it covered so far.
    pub(crate) fn used(&self) -> usize {
        self.used.load(Ordering::Relaxed)
    }
}

/// Whether this difference is on the list.
pub(crate) fn is_exempt(call: &Call, place: &Place) -> bool {
    let found = EXEMPTIONS.iter().find(|exemption| (exemption.covers)(call, place));
    found.is_some_and(|exemption| {
        exemption.used.fetch_add(1, Ordering::Relaxed);
        true
    })
}
