//! What a person reads: numbered chapters, what is done, what was checked.

/// Prints the story; plain text, one sentence a line.
#[derive(Debug, Default)]
pub(super) struct Narrator {
    chapter: usize,
}

impl Narrator {
    /// Begins the next chapter.
    pub(super) fn chapter(&mut self, title: &str) {
        self.chapter += 1;
        println!("\n{}. {title}", self.chapter);
    }
}

/// Tells what is done.
pub(super) fn tell(sentence: &str) {
    println!("   - {sentence}");
}

/// Tells what was just checked.
pub(super) fn checked(sentence: &str) {
    println!("   ✓ {sentence}");
}
