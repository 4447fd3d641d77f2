//! A run as a sequence diagram.

use std::fmt;
use std::sync::OnceLock;

use regex::Regex;

use crate::trace::{Line, Who};

/// Lanes from left to right: people, sidecars, API server, driver.
pub(super) struct Diagram<'a> {
    pub(super) sidecars: usize,
    pub(super) lines: &'a [Line],
}

/// How wide a lane is.
const WIDTH: usize = 11;

impl Diagram<'_> {
    fn lanes(&self) -> usize {
        self.sidecars + 3
    }

    /// In which lane somebody is; what the simulation itself does is in none.
    fn lane(&self, who: Who) -> Option<usize> {
        match who {
            Who::Somebody => Some(0),
            Who::Sidecar(number) => Some(1 + number.min(self.sidecars.saturating_sub(1))),
            Who::ApiServer => Some(self.lanes() - 2),
            Who::Driver => Some(self.lanes() - 1),
            Who::World => None,
        }
    }

    fn names(&self) -> String {
        let sidecars = (0..self.sidecars).map(|number| format!("sidecar {number}"));
        let names = std::iter::once("people".to_owned()).chain(sidecars);
        let names = names.chain(["API server".to_owned(), "driver".to_owned()]);
        let padded: Vec<String> = names.map(|name| format!("{name:<WIDTH$}")).collect();
        padded.concat()
    }

    /// The lanes beside one line: where it begins, and where it goes.
    fn drawn(&self, line: &Line) -> String {
        let ends = (self.lane(line.who), self.lane(line.whom));
        let (Some(from), Some(to)) = ends else { return self.drawn_empty() };
        let (left, right) = (from.min(to), from.max(to));
        let mut text = String::new();
        for here in 0..self.lanes() {
            let within = here >= left && here < right;
            let mark = match here {
                _ if here == from => '●',
                _ if here == to && to == left => '◀',
                _ if here == to => '▶',
                _ if here > left && here < right => '┼',
                _ => '│',
            };
            let between = if within { '─' } else { ' ' };
            text.push(mark);
            text.extend(std::iter::repeat_n(between, WIDTH - 1));
        }
        text
    }

    fn drawn_empty(&self) -> String {
        format!("{:<WIDTH$}", '│').repeat(self.lanes())
    }
}

impl fmt::Display for Diagram<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{:>9}  {}", "seconds", self.names().trim_end())?;
        let mut leader = None;
        for line in self.lines {
            // Who leads is worth a line when it changes.
            if line.what.contains("/leases") {
                let takes = !line.what.starts_with("GET") && line.what.contains("→ 20");
                if !takes || leader == Some(line.who) {
                    continue;
                }
                leader = Some(line.who);
            }
            // Only the first line of what a violation says; the rest is below.
            let what = short(line.what.lines().next().unwrap_or_default());
            let what = if what.contains("/leases") { "takes the Lease" } else { what.trim_end() };
            writeln!(f, "{:9.3}  {}{what}", line.at.as_secs_f64(), self.drawn(line))?;
        }
        Ok(())
    }
}

/// UUIDs cut down to what tells them apart, and without what is the same everywhere.
pub(super) fn short(text: &str) -> String {
    static UUID: OnceLock<Option<Regex>> = OnceLock::new();
    let uuid = UUID.get_or_init(|| {
        Regex::new("([0-9a-f]{4})[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}").ok()
    });
    let text = text.replace("objectstorage.k8s.io/", "");
    uuid.as_ref().map_or(text.clone(), |uuid| uuid.replace_all(&text, "$1…").into_owned())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn line(who: Who, whom: Who, what: &str) -> Line {
        Line { at: Duration::from_millis(1250), who, whom, what: what.to_owned() }
    }

    #[test]
    fn arrows_go_from_who_speaks_to_whom() {
        let uid = "PATCH buckets/bc-5a1f2b3c-7d4e-4f60-8a9b-0c1d2e3f4a5b";
        let lines = [
            line(Who::Somebody, Who::Somebody, "makes the object"),
            line(Who::Sidecar(0), Who::ApiServer, uid),
            line(Who::Sidecar(0), Who::Driver, "#1 Create"),
            line(Who::Driver, Who::Sidecar(0), "#1 answered Ok"),
            line(Who::World, Who::World, "all watches end"),
        ];
        let diagram = Diagram { sidecars: 1, lines: &lines }.to_string();
        let drawn: Vec<&str> = diagram.lines().collect();
        let expected = [
            "  seconds  people     sidecar 0  API server driver",
            "    1.250  ●          │          │          │          makes the object",
            "    1.250  │          ●──────────▶          │          PATCH buckets/bc-5a1f…",
            "    1.250  │          ●──────────┼──────────▶          #1 Create",
            "    1.250  │          ◀──────────┼──────────●          #1 answered Ok",
            "    1.250  │          │          │          │          all watches end",
        ];
        assert_eq!(drawn, expected);
    }
}
