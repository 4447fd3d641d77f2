//! Files that are too long to be read in one go.

use super::file::{File, Finding};

/// More lines than most files have.
pub(super) const LONGISH: usize = 200;
const LONGEST: usize = 500;
const LONGEST_MAIN: usize = 60;

pub(super) fn too_long(file: &File) -> Vec<Finding> {
    if !file.is("rs") || file.is_generated() {
        return Vec::new();
    }
    let limit = if file.name() == "main.rs" { LONGEST_MAIN } else { LONGEST };
    let length = file.code_length();
    if length <= limit {
        return Vec::new();
    }
    vec![file.finding(limit + 1, format!("{length} lines without tests, at most {limit} are allowed"))]
}

pub(super) fn is_longish(file: &File) -> bool {
    file.is("rs") && !file.is_generated() && file.code_length() > LONGISH
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(path: &str, lines: usize) -> File {
        File::new(path, &"x\n".repeat(lines))
    }

    #[test]
    fn a_file_may_have_500_lines_and_no_more() {
        assert!(too_long(&of("a/src/b.rs", 500)).is_empty());
        assert_eq!(too_long(&of("a/src/b.rs", 501)).len(), 1);
    }

    #[test]
    fn a_main_may_have_60_lines_and_no_more() {
        assert!(too_long(&of("a/src/main.rs", 60)).is_empty());
        assert_eq!(too_long(&of("a/src/main.rs", 61)).len(), 1);
    }

    #[test]
    fn tests_and_generated_files_may_be_long() {
        assert!(too_long(&of("a/tests/main.rs", 900)).is_empty());
        assert!(too_long(&of("proto/src/generated/a.rs", 900)).is_empty());
        assert!(too_long(&of("LICENSE", 900)).is_empty());
    }

    #[test]
    fn more_than_200_lines_are_counted() {
        assert!(is_longish(&of("a/src/b.rs", 201)));
        assert!(!is_longish(&of("a/src/b.rs", 200)));
    }
}
