//! The commands in a guide, as a person would type them.

/// The commands of the console block below that heading, in order; a line that begins with a space goes on with the
/// command before it.
#[must_use]
pub fn commands(guide: &str, heading: &str) -> Vec<String> {
    let section = guide.lines().skip_while(|line| *line != heading).skip(1);
    let block = section.take_while(|line| !line.starts_with('#')).skip_while(|line| *line != "```console");
    let mut commands: Vec<String> = vec![];
    for line in block.skip(1).take_while(|line| *line != "```") {
        match (line.strip_prefix("$ "), commands.last_mut()) {
            (Some(command), _) => commands.push(command.to_owned()),
            (None, Some(last)) if line.starts_with(' ') => {
                last.push('\n');
                last.push_str(line);
            }
            // What the command before prints.
            (None, _) => {}
        }
    }
    commands
}

#[cfg(test)]
mod tests {
    use super::commands;

    #[test]
    fn commands_are_found_below_their_heading_without_what_they_print() {
        let guide = "# A\n```console\n$ no\n```\n# B\ntext\n```console\n$ one -d 'a\n  b'\nprinted\n$ two\n```\n$ no\n```console\n$ no\n```\n";
        assert_eq!(commands(guide, "# B"), ["one -d 'a\n  b'", "two"]);
        assert!(commands(guide, "# C").is_empty());
    }
}
