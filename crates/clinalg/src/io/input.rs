//! Files that are read as a whole, and the memory that compressed ones take.

use std::fs::File;
use std::io::{Error, ErrorKind, Read, Result};
use std::path::Path;

/// Bytes that are read at once.
const CHUNK: u64 = 1 << 16;

/// Bytes that a pipe or a device may give.
const MOST_OF_PIPE: u64 = 256 << 20;

/// Bytes of memory that what is read may take, however far it was compressed.
const SMALL: u64 = 64 << 20;

/// More memory is taken only by so many times the compressed bytes: indices and values of matrices are compressed to a tenth or so.
const MOST_EXPANDED: u64 = 100;

/// An error, as a message, where `needed` bytes of memory come from `compressed` bytes of a file and are out of proportion to them: a small
/// file must not fill the memory.
///
/// # Errors
/// More than 64 MiB, and more than 100 times the compressed bytes.
pub fn check_expansion(needed: u64, compressed: u64) -> std::result::Result<(), String> {
    match needed > SMALL && needed / MOST_EXPANDED > compressed {
        true => Err(format!(
            "{compressed} bytes in the file would take {needed} bytes of memory, more than {MOST_EXPANDED} times as many; if that is intended, write the file without compression"
        )),
        false => Ok(()),
    }
}

/// The text of a file.
///
/// # Errors
/// Those of opening and reading it; [`ErrorKind::InvalidData`] with the place of a byte that is not UTF-8 text, zero included, so that a device
/// without an end or a file of holes is not read further; [`ErrorKind::FileTooLarge`] for a pipe of more than 256 MiB.
pub fn read_text(path: impl AsRef<Path>) -> Result<String> {
    let zero = |bytes: &[u8]| bytes.iter().position(|&byte| byte == 0);
    let bytes = read(path.as_ref(), &zero)?;
    String::from_utf8(bytes).map_err(|error| no_text(error.utf8_error().valid_up_to()))
}

fn no_text(at: usize) -> Error {
    Error::new(ErrorKind::InvalidData, format!("the file is not UTF-8 text: byte {} does not belong to a text", at + 1))
}

/// The bytes of a file.
///
/// # Errors
/// Those of opening and reading it; [`ErrorKind::FileTooLarge`] for a pipe or a device of more than 256 MiB.
pub fn read_bytes(path: impl AsRef<Path>) -> Result<Vec<u8>> {
    read(path.as_ref(), &|_| None)
}

/// Reads up to the end, or to the first byte that `refused` finds.
fn read(path: &Path, refused: &dyn Fn(&[u8]) -> Option<usize>) -> Result<Vec<u8>> {
    let mut file = File::open(path)?;
    let about = file.metadata()?;
    let mut bytes = Vec::new();
    loop {
        let start = bytes.len();
        if (&mut file).take(CHUNK).read_to_end(&mut bytes)? == 0 {
            return Ok(bytes);
        }
        if let Some(at) = refused(&bytes[start..]) {
            return Err(no_text(start + at));
        }
        if !about.is_file() && bytes.len() as u64 > MOST_OF_PIPE {
            let message = format!("more than {MOST_OF_PIPE} bytes from a pipe or device; write them to a file first");
            return Err(Error::new(ErrorKind::FileTooLarge, message));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_come_back_and_zeros_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.txt");
        let text = "ä 1 2\n".repeat(40_000);
        std::fs::write(&path, &text).unwrap();
        assert_eq!(read_text(&path).unwrap(), text);
        assert_eq!(read_bytes(&path).unwrap(), text.as_bytes());
        for (content, place) in [(&b"ab\0c"[..], "byte 3"), (b"ab\xffc", "byte 3")] {
            std::fs::write(&path, content).unwrap();
            let error = read_text(&path).unwrap_err();
            assert!(error.kind() == ErrorKind::InvalidData && error.to_string().contains(place), "{error}");
        }
        assert_eq!(read_text(folder.path().join("none")).unwrap_err().kind(), ErrorKind::NotFound);
    }

    #[cfg(unix)]
    #[test]
    fn devices_without_an_end_are_refused() {
        assert_eq!(read_text("/dev/zero").unwrap_err().kind(), ErrorKind::InvalidData);
        assert_eq!(read_bytes("/dev/zero").unwrap_err().kind(), ErrorKind::FileTooLarge);
    }

    #[test]
    fn what_grows_out_of_proportion_is_refused() {
        assert!(check_expansion(SMALL, 1).is_ok() && check_expansion(SMALL + 1, 1 << 20).is_ok());
        assert!(check_expansion(2 << 30, 2 << 20).unwrap_err().contains("2147483648 bytes of memory"));
    }
}
