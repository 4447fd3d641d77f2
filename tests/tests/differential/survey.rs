//! All differences at once, sorted.

use std::{
    collections::BTreeMap,
    fmt::{self, Display, Formatter},
};

use crate::run::Difference;

/// Differences by what they are, with the shortest example of each.
#[derive(Default)]
pub(crate) struct Survey {
    sorts: BTreeMap<String, (usize, Box<Difference>)>,
}

impl Survey {
    /// How many there are.
    pub(crate) fn differing(&self) -> usize {
        self.sorts.values().map(|(count, _)| count).sum()
    }

    /// Adds one.
    pub(crate) fn add(&mut self, difference: Box<Difference>) {
        let verb = difference.what.split(' ').next().unwrap_or_default();
        let places: Vec<String> = difference.places.iter().map(crate::compare::Place::sort).take(3).collect();
        let sort = format!("{verb} {}", places.join(" ; "));
        match self.sorts.get_mut(&sort) {
            Some((count, example)) => {
                *count += 1;
                if difference.story.len() < example.story.len() {
                    *example = difference;
                }
            }
            None => drop(self.sorts.insert(sort, (1, difference))),
        }
    }
}

impl Display for Survey {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let mut sorts: Vec<_> = self.sorts.iter().collect();
        sorts.sort_by_key(|(_, (count, _))| std::cmp::Reverse(*count));
        for (sort, (count, example)) in sorts {
            writeln!(f, "=== {count} × {sort}\n{example}\n")?;
        }
        Ok(())
    }
}
