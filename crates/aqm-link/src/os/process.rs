//! Namespaces, signals and the ends of processes.
#![allow(unsafe_code)]

use super::checked;
use std::ffi::{CStr, CString};
use std::fs::{self, File};
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command};
use std::ptr;

/// Kinds of namespaces.
pub(crate) const NETWORK: libc::c_int = libc::CLONE_NEWNET;
pub(crate) const PROCESSES: libc::c_int = libc::CLONE_NEWPID;

const CAP_NET_ADMIN: u32 = 12;
const CAP_NET_RAW: u32 = 13;

/// Moves this process into a new namespace; a new one of processes is for its children.
pub(crate) fn unshare(kinds: libc::c_int) -> io::Result<()> {
    // SAFETY: it touches no memory of ours.
    checked(unsafe { libc::unshare(kinds) }).map(drop)
}

/// Lets this process make network namespaces: as it is if it may, else in a user namespace of its own, in which it and
/// what it starts keep their user and may administer networks.
pub(crate) fn become_able() -> io::Result<()> {
    if unshare(NETWORK).is_ok() {
        return Ok(());
    }
    // SAFETY: they touch no memory of ours.
    let (user, group) = unsafe { (libc::geteuid(), libc::getegid()) };
    unshare(libc::CLONE_NEWUSER | NETWORK)?;
    fs::write("/proc/self/setgroups", "deny")?;
    fs::write("/proc/self/gid_map", format!("{group} {group} 1"))?;
    fs::write("/proc/self/uid_map", format!("{user} {user} 1"))?;
    keep_over_exec(&[CAP_NET_ADMIN, CAP_NET_RAW])
}

/// Lets programs that this process starts have capabilities of its own (capabilities(7), ambient set).
fn keep_over_exec(capabilities: &[u32]) -> io::Result<()> {
    #[repr(C)]
    struct Header {
        version: u32,
        process: i32,
    }
    #[repr(C)]
    #[derive(Clone, Copy, Default)]
    struct Sets {
        effective: u32,
        permitted: u32,
        inheritable: u32,
    }
    let mut header = Header { version: 0x2008_0522, process: 0 };
    let mut sets = [Sets::default(); 2];
    // SAFETY: version 3 has one header and two sets, which are what is passed.
    unsafe {
        checked(libc::syscall(libc::SYS_capget, &raw mut header, sets.as_mut_ptr()) as libc::c_int)?;
    }
    for capability in capabilities {
        sets[0].inheritable |= 1 << capability;
    }
    // SAFETY: as above.
    unsafe {
        checked(libc::syscall(libc::SYS_capset, &raw mut header, sets.as_ptr()) as libc::c_int)?;
    }
    for capability in capabilities {
        let (raise, zero) = (libc::PR_CAP_AMBIENT_RAISE, 0);
        // SAFETY: it touches no memory of ours.
        checked(unsafe {
            libc::prctl(libc::PR_CAP_AMBIENT, raise, libc::c_ulong::from(*capability), zero, zero)
        })?;
    }
    Ok(())
}

/// The network namespace of this process.
pub(crate) fn network_namespace() -> io::Result<File> {
    File::open("/proc/self/ns/net")
}

/// Moves this process into a network namespace.
pub(crate) fn enter(namespace: BorrowedFd<'_>) -> io::Result<()> {
    // SAFETY: it touches no memory of ours.
    checked(unsafe { libc::setns(namespace.as_raw_fd(), libc::CLONE_NEWNET) }).map(drop)
}

/// Ends this process when its parent ends, even if that is killed. `parent` is its number: if it has ended by now, so
/// does this.
pub(crate) fn end_with(parent: u32) -> io::Result<()> {
    // SAFETY: they touch no memory of ours.
    unsafe {
        checked(libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL as libc::c_ulong))?;
        if libc::getppid() as u32 != parent {
            return Err(io::Error::other("the process that started it has ended"));
        }
    }
    Ok(())
}

/// Lets this process pass over the signals of a terminal: they are for the command.
pub(crate) fn ignore_terminal() {
    for signal in [libc::SIGINT, libc::SIGQUIT] {
        // SAFETY: no handler of ours is installed.
        unsafe { libc::signal(signal, libc::SIG_IGN) };
    }
}

/// The first process of a namespace of processes: all others in it end with it, and it with this process.
pub(crate) struct First {
    process: libc::pid_t,
}

impl First {
    /// Starts it; this process must have one thread, and the namespace be made for its children.
    pub(crate) fn start() -> io::Result<First> {
        // SAFETY: this process has one thread, so that its child may go on as it likes.
        let process = checked(unsafe { libc::fork() })?;
        if process == 0 {
            collect_orphans();
        }
        Ok(First { process })
    }
}

/// Waits for the processes that are left to it, without end.
fn collect_orphans() -> ! {
    // SAFETY: nothing of this process is used any more but the calls below, which touch none of its memory.
    unsafe {
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL as libc::c_ulong);
        // What is open here would otherwise stay open after everybody else has closed it.
        libc::syscall(libc::SYS_close_range, 0 as libc::c_uint, libc::c_uint::MAX, 0 as libc::c_uint);
        libc::signal(libc::SIGCHLD, libc::SIG_IGN);
        loop {
            libc::pause();
        }
    }
}

impl First {
    /// Ends it, and so all others in its namespace: `children` are those of them that this process has started. It ends
    /// only when somebody has waited for each.
    pub(crate) fn end(self, children: &mut [Child]) {
        // SAFETY: it is a child of this process that has not been waited for.
        unsafe { libc::kill(self.process, libc::SIGKILL) };
        for child in children {
            let _ = child.wait();
        }
        // SAFETY: as above.
        unsafe { libc::waitpid(self.process, ptr::null_mut(), 0) };
    }
}

/// Lets a command begin in a network namespace, with `/proc` of its own processes, and a file in the place of
/// `/etc/resolv.conf`. `kept` stay open in it.
pub(crate) fn starts_in(
    command: &mut Command,
    namespace: RawFd,
    kept: Vec<RawFd>,
    resolver: Option<CString>,
) {
    let begin = move || {
        // SAFETY: the descriptor belongs to the parent, whose copy this process is.
        enter(unsafe { BorrowedFd::borrow_raw(namespace) })?;
        for one in &kept {
            // SAFETY: it touches no memory of ours.
            checked(unsafe { libc::fcntl(*one, libc::F_SETFD, 0) })?;
        }
        own_view(resolver.as_deref());
        // SAFETY: they touch no memory of ours.
        unsafe {
            for signal in [libc::SIGINT, libc::SIGQUIT] {
                libc::signal(signal, libc::SIG_DFL);
            }
        }
        Ok(())
    };
    // SAFETY: `begin` makes system calls only: it takes no lock and allocates nothing.
    unsafe { command.pre_exec(begin) };
}

/// Mounts `/proc` as this process's namespace sees it, and a file over `/etc/resolv.conf`, where that is permitted: else
/// those outside are seen.
fn own_view(resolver: Option<&CStr>) {
    let mount = |source: &CStr, target: &CStr, kind: &CStr, flags| {
        // SAFETY: all texts end in a zero.
        unsafe { libc::mount(source.as_ptr(), target.as_ptr(), kind.as_ptr(), flags, ptr::null()) == 0 }
    };
    if unshare(libc::CLONE_NEWNS).is_err() || !mount(c"none", c"/", c"", libc::MS_REC | libc::MS_PRIVATE) {
        return;
    }
    if let Some(resolver) = resolver {
        mount(resolver, c"/etc/resolv.conf", c"", libc::MS_BIND);
    }
    mount(c"proc", c"/proc", c"proc", libc::MS_NOSUID | libc::MS_NODEV | libc::MS_NOEXEC);
}

/// Lets a command begin with the signals of a terminal held back.
pub(crate) fn hold_back(command: &mut Command) {
    let begin = || {
        // SAFETY: a set of signals is plain memory, which is written before it is read.
        let changed = unsafe {
            let mut signals = std::mem::zeroed();
            libc::sigemptyset(&raw mut signals);
            libc::sigaddset(&raw mut signals, libc::SIGINT);
            libc::sigaddset(&raw mut signals, libc::SIGQUIT);
            libc::pthread_sigmask(libc::SIG_BLOCK, &raw const signals, ptr::null_mut())
        };
        if changed == 0 { Ok(()) } else { Err(io::Error::from_raw_os_error(changed)) }
    };
    // SAFETY: as in `starts_in`.
    unsafe { command.pre_exec(begin) };
}

/// Opens a pipe in the file system for reading: it has a writer for as long as it is open, and nobody waits for it.
pub(crate) fn open_pipe(path: &Path) -> io::Result<File> {
    File::options().read(true).write(true).custom_flags(libc::O_NONBLOCK).open(path)
}

/// A descriptor that can be read once a child has ended.
pub(crate) fn watch(child: u32) -> io::Result<OwnedFd> {
    // SAFETY: it only makes a descriptor, which is nobody else's.
    unsafe {
        let descriptor = libc::syscall(libc::SYS_pidfd_open, child as libc::pid_t, 0 as libc::c_uint);
        Ok(OwnedFd::from_raw_fd(checked(descriptor as libc::c_int)?))
    }
}
