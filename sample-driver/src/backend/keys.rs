//! Which object keys are served. They become paths, so what a path would bend or a file name can't hold is refused.

use s3s::{S3Result, s3_error};

/// Longest key in bytes: it stands base64-encoded in the names of metadata files, which may have 255 bytes.
pub(crate) const MAX_KEY: usize = 128;

/// # Errors
/// `InvalidArgument` for keys with an empty, `.` or `..` segment (a leading, trailing or doubled slash makes an empty one) or a
/// control character, which no XML can hold: it would make its bucket impossible to list; `KeyTooLongError` above [`MAX_KEY`].
pub(crate) fn check(key: &str) -> S3Result<()> {
    if key.len() > MAX_KEY {
        return Err(s3_error!(KeyTooLongError, "Keys may have {MAX_KEY} bytes here"));
    }
    if key.contains(char::is_control) || key.split('/').any(|segment| matches!(segment, "" | "." | "..")) {
        return Err(s3_error!(
            InvalidArgument,
            "Keys with empty, \".\" or \"..\" segments or control characters aren't served here"
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("/a")]
    #[case("a/")]
    #[case("a//b")]
    #[case("..")]
    #[case("a/../b")]
    #[case("./a")]
    #[case("a/.")]
    #[case("")]
    #[case("a\0b")]
    #[case("a\u{b}b")]
    #[case("a\nb")]
    fn keys_that_bend_a_path_are_refused(#[case] key: &str) {
        assert!(check(key).is_err());
    }

    #[rstest]
    #[case("a")]
    #[case("a/b.c/..d/e..")]
    #[case(".hidden")]
    #[case("ключ/with space+%2e%2e")]
    fn ordinary_keys_are_served(#[case] key: &str) {
        assert!(check(key).is_ok());
    }

    #[test]
    fn the_longest_key_still_fits_into_the_name_of_its_upload_metadata() {
        let base64 = |bytes: usize| (bytes * 4).div_ceil(3);
        let upload = "00000000-0000-0000-0000-000000000000";
        let fixed = ".bucket-.object-.upload-.metadata.json".len() + upload.len();
        assert!(fixed + base64(crate::store::OBJECTS.len()) + base64(MAX_KEY) <= 255);
        assert!(check(&"k".repeat(MAX_KEY)).is_ok());
        assert!(check(&"k".repeat(MAX_KEY + 1)).is_err());
    }
}
