//! What the fuzzer has kept: `fuzz/corpus/TARGET.pack`, and beside it, in the folder TARGET, the inputs that have a name.

use std::io::{Error, ErrorKind, Result};
use std::path::Path;
use std::{fs, str};

/// Every input of a target, each with what it is called.
///
/// # Errors
/// If a file cannot be read, or a pack is cut off.
pub fn inputs(corpus: &Path, target: &str) -> Result<Vec<(String, Vec<u8>)>> {
    let pack = corpus.join(target).with_extension("pack");
    let unpacked = unpack(&fs::read(&pack)?)
        .ok_or_else(|| Error::new(ErrorKind::InvalidData, format!("{}: cut off", pack.display())))?;
    let mut inputs: Vec<_> = unpacked
        .into_iter()
        .enumerate()
        .map(|(number, input)| (format!("{}, number {number}", pack.display()), input))
        .collect();
    let folder = corpus.join(target);
    if folder.is_dir() {
        for file in fs::read_dir(&folder)? {
            let path = file?.path();
            inputs.push((path.display().to_string(), fs::read(&path)?));
        }
    }
    Ok(inputs)
}

/// The inputs of a pack: each is its length in decimal digits, a line end, and its bytes. `None` if something is missing.
fn unpack(mut pack: &[u8]) -> Option<Vec<Vec<u8>>> {
    let mut inputs = Vec::new();
    while !pack.is_empty() {
        let end = pack.iter().position(|byte| *byte == b'\n')?;
        let length = str::from_utf8(&pack[..end]).ok()?.parse().ok()?;
        let (input, rest) = pack[end + 1..].split_at_checked(length)?;
        inputs.push(input.to_vec());
        pack = rest;
    }
    Some(inputs)
}

#[cfg(test)]
mod tests {
    use super::unpack;

    #[test]
    fn a_pack_holds_any_bytes_and_an_end_that_is_missing_is_seen() {
        let pack = b"3\na\n\x000\n2\n5\n";
        assert_eq!(unpack(pack), Some(vec![b"a\n\x00".to_vec(), vec![], b"5\n".to_vec()]));
        assert_eq!(unpack(b""), Some(vec![]));
        for missing in 1..pack.len() {
            let cut = unpack(&pack[..pack.len() - missing]);
            assert!(cut.is_none_or(|inputs| inputs.len() < 3), "without {missing}");
        }
        assert_eq!(unpack(b"x\n"), None);
        assert_eq!(unpack(b"-1\n"), None);
    }
}
