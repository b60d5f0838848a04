//! A plain forwarding loop between the ends of a link: `plain CONFIG COMMAND...`, for `benches/live.py`. `CONFIG` is the
//! JSON of a link; what passed is printed as JSON.

use std::ffi::OsString;
use std::os::unix::process::parent_id;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args_os().skip(1);
    let config = arguments.next().ok_or("plain CONFIG COMMAND...")?;
    let command: Vec<OsString> = arguments.collect();
    let config = serde_json::from_str(&config.to_string_lossy())?;
    let done = aqm_link::plain::run(&config, &command, parent_id()).map_err(|error| format!("{error:?}"))?;
    let shown = serde_json::json!({
        "packets": done.packets, "missed": done.missed, "duration_s": done.duration_s, "cpu_s": done.cpu_s,
    });
    println!("{shown}");
    Ok(())
}
