//! Links between documents.

use std::path::{Component, Path, PathBuf};

use super::file::{File, Finding};

/// Links that cannot be right wherever the file lies.
pub(super) fn broken(file: &File) -> Vec<Finding> {
    let empty = links(file).filter(|(_, target)| target.is_empty());
    empty.map(|(number, _)| file.finding(number, "a link to nothing")).collect()
}

/// Links to files or headings that are not there.
pub(super) fn to_nowhere(files: &[File], root: &Path) -> Vec<Finding> {
    let check = |file: &File, target: &str| {
        let (path, heading) = target.split_once('#').unwrap_or((target, ""));
        let path = if path.is_empty() { PathBuf::from(file.path()) } else { beside(file, path) };
        let document = files.iter().find(|other| Path::new(other.path()) == path);
        match document {
            Some(document) => heading.is_empty() || !document.is("md") || has_heading(document, heading),
            None => root.join(&path).exists(),
        }
    };
    let mut findings = Vec::new();
    for file in files {
        let inner = links(file).filter(|(_, target)| !target.is_empty() && !is_external(target));
        let dead = inner.filter(|(_, target)| !check(file, target));
        findings.extend(dead.map(|(number, target)| file.finding(number, format!("{target} is not there"))));
    }
    findings
}

/// Where `target`, seen from `file`, is, from the top folder.
fn beside(file: &File, target: &str) -> PathBuf {
    let mut path = PathBuf::new();
    for part in Path::new(file.folder()).join(target).components() {
        match part {
            Component::ParentDir => _ = path.pop(),
            Component::Normal(name) => path.push(name),
            _ => {}
        }
    }
    path
}

fn is_external(target: &str) -> bool {
    target.contains("://") || target.starts_with("mailto:")
}

/// The targets of Markdown links, outside of code.
fn links(file: &File) -> impl Iterator<Item = (usize, String)> {
    let mut in_code = false;
    let lines = file.lines().filter(|_| file.is("md")).filter(move |(_, line)| {
        let fence = line.trim_start().starts_with("```");
        in_code ^= fence;
        !fence && !in_code
    });
    lines.flat_map(|(number, line)| targets(line).into_iter().map(move |target| (number, target)))
}

fn targets(line: &str) -> Vec<String> {
    // Every second piece is code.
    let text: String = line.split('`').step_by(2).collect();
    let ends = text.split("](").skip(1).filter_map(|rest| rest.split_once(')'));
    ends.map(|(target, _)| target.trim().to_owned()).collect()
}

/// Whether a heading of `document` has the anchor that web views make of it.
fn has_heading(document: &File, anchor: &str) -> bool {
    let headings = document.lines().filter_map(|(_, line)| line.strip_prefix('#'));
    headings.map(|line| slug(line.trim_start_matches('#').trim())).any(|found| found == anchor)
}

fn slug(heading: &str) -> String {
    let kept = heading.chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
    kept.collect::<String>().to_lowercase().replace(' ', "-")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(text: &str) -> usize {
        let files = [File::new("docs/a.md", text), File::new("docs/b/c.md", "# One, two\n")];
        to_nowhere(&files, Path::new("/nonexistent")).len()
    }

    #[test]
    fn links_to_files_and_headings_that_are_there_pass() {
        for link in ["b/c.md", "./b/c.md", "b/../b/c.md#one-two", "https://example.org/x", "a.md"] {
            assert_eq!(findings(&format!("see [it]({link})")), 0, "{link}");
        }
        assert_eq!(findings("# Here\n\n[up](#here)"), 0);
    }

    #[test]
    fn links_to_nowhere_are_found() {
        for link in ["b/d.md", "../b/c.md", "b/c.md#three", "#gone"] {
            assert_eq!(findings(&format!("see [it]({link}) and [that](b/c.md)")), 1, "{link}");
        }
    }

    #[test]
    fn code_holds_no_links() {
        assert_eq!(findings("`[a](gone)`\n```\n[a](gone)\n```\n"), 0);
    }

    #[test]
    fn an_empty_link_is_found() {
        assert_eq!(broken(&File::new("a.md", "[x]()")).len(), 1);
    }
}
