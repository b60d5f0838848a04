//! Runs a target on files: `replay TARGET FILE...`, to look at what the fuzzer has found.

use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [target, files @ ..] = words.as_slice() else { return Err("usage: replay TARGET FILE...".into()) };
    for file in files {
        aqm_fuzz::target(target)(&std::fs::read(file)?);
        println!("{file}: nothing wrong");
    }
    Ok(())
}
