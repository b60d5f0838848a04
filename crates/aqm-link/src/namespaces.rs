//! Three network namespaces: `near`, in which the command runs; `far`, in which servers run; and that of this process
//! between them.

use crate::config::LinkError;
use crate::os::process;
use std::fs::{self, File};
use std::io::{self, Write};
use std::os::fd::{AsFd, RawFd};
use std::process::{Command, Stdio};

/// The three namespaces.
pub(crate) struct Namespaces {
    pub(crate) between: File,
    pub(crate) near: File,
    pub(crate) far: File,
}

impl Namespaces {
    /// Makes those of the ends beside the one that this process is in; it is at the far end afterwards.
    pub(crate) fn new() -> io::Result<Namespaces> {
        let between = process::network_namespace()?;
        process::unshare(process::NETWORK)?;
        let near = process::network_namespace()?;
        process::unshare(process::NETWORK)?;
        Ok(Namespaces { between, near, far: process::network_namespace()? })
    }
}

/// The interface at each end.
pub(crate) const INTERFACE: &str = "eth0";

/// Moves this process into a namespace.
pub(crate) fn enter(namespace: &File) -> Result<(), LinkError> {
    process::enter(namespace.as_fd()).map_err(|error| LinkError::machine("a network namespace", &error))
}

/// Whether interfaces of this network namespace have IPv6: the kernel may lack it, or have it switched off.
pub(crate) fn has_ipv6() -> bool {
    fs::read_to_string("/proc/sys/net/ipv6/conf/default/disable_ipv6").is_ok_and(|value| value.trim() == "0")
}

/// Runs lines of `ip` in a namespace.
pub(crate) fn ip(batch: &str, namespace: RawFd, kept: Vec<RawFd>) -> Result<(), LinkError> {
    iproute2("ip", batch, namespace, kept)
}

/// Runs lines of `tc` in a namespace.
pub(crate) fn tc(batch: &str, namespace: RawFd) -> Result<(), LinkError> {
    iproute2("tc", batch, namespace, Vec::new())
}

fn iproute2(program: &str, batch: &str, namespace: RawFd, kept: Vec<RawFd>) -> Result<(), LinkError> {
    let fails = |why: String| LinkError::Machine(format!("{program} (iproute2): {why}"));
    // Users' paths may lack the folders of the administrator.
    let place = ["/usr/sbin", "/sbin", "/usr/bin"]
        .map(|folder| format!("{folder}/{program}"))
        .into_iter()
        .find(|path| fs::exists(path).unwrap_or(false));
    let mut command = Command::new(place.as_deref().unwrap_or(program));
    command.args(["-batch", "-"]).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
    process::starts_in(&mut command, namespace, kept, None);
    let mut child = command.spawn().map_err(|error| fails(format!("cannot be run: {error}")))?;
    let written = child.stdin.take().map_or(Ok(()), |mut stdin| stdin.write_all(batch.as_bytes()));
    let output = child.wait_with_output().and_then(|output| written.map(|()| output));
    let output = output.map_err(|error| fails(error.to_string()))?;
    if output.status.success() {
        return Ok(());
    }
    let errors = String::from_utf8_lossy(&output.stderr);
    Err(fails(errors.lines().next().unwrap_or("failed").to_string()))
}
