//! Bytes, which JSON has as base64.

use super::ReadError;
use base64::Engine as _;
use base64::alphabet;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig, STANDARD};

/// Go does not look at the bits that are left over in the last symbol.
const LENIENT: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_allow_trailing_bits(true),
);

/// The text as it is written again after it was read.
pub(super) fn normalised(text: &str) -> Result<String, ReadError> {
    let packed: String = text.chars().filter(|c| !matches!(c, '\r' | '\n')).collect();
    let bytes = LENIENT.decode(packed).map_err(|_| ReadError::Base64 { at: first_fault(text.as_bytes()) })?;
    Ok(encoded(&bytes))
}

/// Bytes as JSON has them.
pub(super) fn encoded(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}

/// Where Go says that a text is wrong: at the first byte that can't be there, or at the beginning of a last group of
/// four in which some are missing.
fn first_fault(text: &[u8]) -> usize {
    let mut bytes = text.iter().copied().enumerate().filter(|(_, byte)| !matches!(byte, b'\r' | b'\n'));
    let mut group = 0;
    while let Some((at, byte)) = bytes.next() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/') {
            group = (group + 1) % 4;
            continue;
        }
        if byte != b'=' || group < 2 {
            return at;
        }
        if group == 2 {
            match bytes.next() {
                Some((_, b'=')) => {}
                Some((next, _)) => return next.saturating_sub(1),
                None => return text.len(),
            }
        }
        return bytes.next().map_or(text.len(), |(at, _)| at);
    }
    text.len() - group
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case("Yg==", "Yg==")]
    #[case("Yh==", "Yg==")]
    #[case("Y\ng=\r\n=", "Yg==")]
    #[case("", "")]
    fn texts_are_read_as_go_reads_them(#[case] text: &str, #[case] written: &str) {
        assert_eq!(normalised(text).unwrap(), written);
    }

    #[rstest]
    #[case("twice", 4)]
    #[case("nonsense!", 8)]
    #[case("Yg", 0)]
    #[case("Yg=", 3)]
    #[case("Yg=a", 2)]
    #[case("Yg==a", 4)]
    #[case("YWJj=", 4)]
    #[case("YWJjY", 4)]
    #[case("Y=", 1)]
    fn a_fault_is_told_at_its_place(#[case] text: &str, #[case] at: usize) {
        assert_eq!(normalised(text).unwrap_err(), ReadError::Base64 { at });
    }
}
