//! A call in one line, for a person.

use std::fmt::{self, Display, Formatter};

use super::{Body, Call, Edit, Seen};

/// More of a body is not shown.
const LONGEST: usize = 600;

impl Display for Call {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.method, self.path)?;
        for (n, (name, value)) in self.query.iter().enumerate() {
            write!(f, "{}{name}={value}", if n == 0 { '?' } else { '&' })?;
        }
        if let Some(accept) = self.accept {
            write!(f, " as {accept}")?;
        }
        if let Some(agent) = self.user_agent {
            write!(f, " by {agent}")?;
        }
        if let Some(kind) = self.content_type {
            write!(f, " [{kind}]")?;
        }
        write!(f, "{}", self.body)
    }
}

impl Display for Body {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => Ok(()),
            Self::Text(text) if text.len() > LONGEST => {
                let start: String = text.chars().take(LONGEST).collect();
                write!(f, " {start}… ({} bytes)", text.len())
            }
            Self::Text(text) => write!(f, " {text}"),
            Self::Seen(seen) => write!(f, " {seen}"),
        }
    }
}

impl Display for Seen {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "({} as seen", self.id.0)?;
        if self.back > 0 {
            write!(f, " {} versions before", self.back)?;
        }
        for edit in &self.edits {
            write!(f, ", {edit}")?;
        }
        f.write_str(")")
    }
}

impl Display for Edit {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match &self.to {
            Some(value) => write!(f, "{} = {value}", self.at),
            None => write!(f, "without {}", self.at),
        }
    }
}
