//! What is done, one command after the other.

/// One step. `{p}` in arguments and input stands for the run's own prefix.
#[derive(Clone, Copy)]
pub(crate) enum Step {
    /// Runs kubectl to its end.
    Run(&'static [&'static str]),
    /// The same, with this text on its standard input.
    Feed(&'static str, &'static [&'static str]),
    /// Starts kubectl, waits until it asks the server for a path with this in it, and goes on meanwhile.
    Start(&'static str, &'static [&'static str]),
    /// Starts kubectl, reads so many lines that it prints, and goes on.
    Watch(&'static [&'static str], usize),
    /// Waits for what was started last to end by itself.
    Finish,
    /// Reads so many more lines of what was started last, and ends it.
    Stop(usize),
}
