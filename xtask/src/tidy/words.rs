//! Marks of unfinished work.

use super::file::{File, Finding};

// Put together here, so that this file does not accuse itself.
const WORDS: [&str; 3] = [concat!("TO", "DO"), concat!("FIX", "ME"), concat!("XX", "X")];
const CODE: [&str; 3] = [concat!("to", "do!("), concat!("unimplem", "ented!("), concat!("#[ign", "ore")];

pub(super) fn unfinished(file: &File) -> Vec<Finding> {
    if file.is_generated() {
        return Vec::new();
    }
    let found = |line: &str| {
        let word = WORDS.into_iter().find(|word| has_word(line, word));
        word.or_else(|| CODE.into_iter().find(|code| file.is("rs") && line.contains(code)))
    };
    file.lines()
        .filter_map(|(number, line)| {
            Some(file.finding(number, format!("{} is unfinished work", found(line)?)))
        })
        .collect()
}

fn has_word(line: &str, word: &str) -> bool {
    line.split(|c: char| !c.is_ascii_alphanumeric()).any(|found| found == word)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(path: &str, text: &str) -> usize {
        unfinished(&File::new(path, text)).len()
    }

    #[test]
    fn each_mark_is_found() {
        for word in WORDS {
            assert_eq!(findings("docs/a.md", &format!("fine\n- {word}: later")), 1, "{word}");
        }
        for code in CODE {
            assert_eq!(findings("a/src/b.rs", &format!("    {code}")), 1, "{code}");
        }
    }

    #[test]
    fn part_of_a_longer_word_is_no_mark() {
        assert_eq!(findings("a.sh", &format!("mktemp -d /tmp/{0}{0}", WORDS[2])), 0);
    }
}
