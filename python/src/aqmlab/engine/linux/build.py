"""Builds the kernel and the guest's root, once: every step that is done stays done, whatever ends the build."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from aqmlab.engine.linux import kernel_image
from aqmlab.engine.linux.packages import Packages
from aqmlab.files import machine, session
from aqmlab.vocabulary.errors import InputError, MachineError, about

# Programs, and the packages that have them.
TOOLS = {
    "gcc": "gcc libc6-dev",
    "make": "make",
    "flex": "flex",
    "bison": "bison",
    "bc": "bc",
    "xz": "xz-utils",
    "tar": "tar",
    "dpkg-deb": "dpkg",
}
# The sources and what is made of them, gigabytes; about as many lines as make says.
SPACE_GB = 4.0
LINES = 900
CONFIG = kernel_image.HERE / "kernel.config"
# Timers of the qdiscs and of TCP count in ticks: PIE's update period of 15 ms needs HZ=1000 to be 15 ms.
HZ = 1000
# All randomness of the guest passes this function: SplitMix64 (Steele, Lea and Flood 2014) from a seed, in place of the
# machine's own.
SEEDED = """
	static unsigned long long state, is_seeded;
	unsigned char *bytes = buf;
	size_t done;

	if (!is_seeded) {
		char *seed = getenv("UML_SEED");

		if (!seed)
			return getrandom(buf, len, flags);
		state = strtoull(seed, NULL, 10);
		is_seeded = 1;
	}
	for (done = 0; done < len; done++) {
		unsigned long long mixed = state += 0x9e3779b97f4a7c15ull;

		mixed = (mixed ^ mixed >> 30) * 0xbf58476d1ce4e5b9ull;
		mixed = (mixed ^ mixed >> 27) * 0x94d049bb133111ebull;
		bytes[done] = (mixed ^ mixed >> 31) & 0xff;
	}
	return len;
"""
# File, what is replaced there, by what, and whether a kernel without it is refused.
EDITS = (
    ("arch/um/Kconfig", r"(config HZ\n\tint\n\tdefault )\d+", rf"\g<1>{HZ}", True),
    ("arch/um/os-Linux/util.c", r"\n\treturn getrandom\(buf, len, flags\);\n", SEEDED, True),
    # Older kernels have too small a buffer for the registers of processors with AMX.
    ("arch/x86/um/user-offsets.c", r"DEFINE_LONGS\(HOST_FP_SIZE, \d+\)", "DEFINE_LONGS(HOST_FP_SIZE, 12288)", False),
)

# Its presence says that the sources are complete, with our changes.
CHANGED = "source/.changed"

# What is done, and how much of it.
Tell = Callable[[str, float], None]


def build(tell: Tell, tree: Path | None = None, jobs: int | None = None) -> kernel_image.Place:
    """Build what is missing: the kernel, from Debian's newest source package or a tree, and the guest's root.

    Args:
        tell: is called with each step, and the share of it that is done.
        tree: a kernel's source tree; it is copied, not changed.
        jobs: processes of the compiler; one per core unless given.

    Raises:
        InputError: naming what is missing.
        MachineError: if a step failed.
        KeyboardInterrupt: if the user interrupted; the same call continues.

    """
    at = kernel_image.folder()
    missing = [packages for program, packages in TOOLS.items() if shutil.which(program) is None]
    if missing:
        raise about("engine linux", f"programs are missing here: apt-get install {' '.join(missing)}")
    if tree is not None and not (tree / "arch" / "um").is_dir():
        raise InputError(f"--kernel: '{tree}' is no source tree of Linux: it has no arch/um")
    work = at / "build"
    try:
        work.mkdir(parents=True, exist_ok=True)
        is_built = (at / kernel_image.KERNEL).exists() and _kept(at).get("kernel", "").startswith(_recipe())
        if not is_built or tree is not None:
            _check_space(at)
        packages = Packages(work / "packages", _call)
        has_root, has_source = (at / kernel_image.ROOT / "usr").is_dir(), (work / CHANGED).exists()
        if not has_root or not (is_built or has_source or tree):
            tell("fetching the list of packages", 0.0)
            packages.update()
        if not has_root:
            _root(at, packages, tell)
        if not is_built or tree is not None:
            source = _sources(work, packages, tree, tell)
            _kernel(at, work, source, jobs or machine.cores(), tell)
        _guest(at, tell)
        shutil.rmtree(work)
    except OSError as error:
        raise MachineError(f"engine linux: {error.strerror or error}: {error.filename or at}") from None
    return kernel_image.found()


def _recipe() -> str:
    """Identify how the kernel is built: the configuration, and the changes to the source."""
    text = CONFIG.read_text() + repr(EDITS)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _kept(at: Path) -> dict[str, str]:
    with suppress(OSError, ValueError):
        found: dict[str, str] = json.loads((at / kernel_image.IDENTITY).read_text())
        return found
    return {}


def _keep(at: Path, **more: str) -> None:
    new = at / f"{kernel_image.IDENTITY}.new"
    new.write_text(json.dumps({**_kept(at), **more}) + "\n")
    new.rename(at / kernel_image.IDENTITY)


def _check_space(at: Path) -> None:
    free_gb = shutil.disk_usage(at).free / 1e9
    if free_gb < SPACE_GB and not (at / "build" / "out").exists():
        raise about("engine linux", f"{at} has {free_gb:.1f} GB free, and the build takes {SPACE_GB:g} GB for a while")


def _root(at: Path, packages: Packages, tell: Tell) -> None:
    """Make the guest's root: it is another Debian, with an iproute2 that knows every qdisc of the kernel."""
    tell("fetching the guest's tools", 0.0)
    new = at / f"{kernel_image.ROOT}.new"
    shutil.rmtree(new, ignore_errors=True)
    for name in ("bin", "sbin", "lib", "lib64"):
        (new / "usr" / name).mkdir(parents=True)
        (new / name).symlink_to(f"usr/{name}")
    for name in ("proc", "sys", "dev", "run", "tmp"):
        (new / name).mkdir()
    tools = packages.tools()
    for number, package in enumerate(tools):
        tell("unpacking the guest's tools", number / len(tools))
        archive = new.parent / "build" / "package.tar"
        with archive.open("wb") as file:
            subprocess.run(["dpkg-deb", "--fsys-tarfile", str(package)], stdout=file, check=True)
        _call(["tar", "-x", "-C", str(new), "--keep-directory-symlink", "--no-same-owner", "-f", str(archive)], None)
    for name in ("share", "include"):
        shutil.rmtree(new / "usr" / name, ignore_errors=True)
    new.rename(at / kernel_image.ROOT)


def _sources(work: Path, packages: Packages, tree: Path | None, tell: Tell) -> Path:
    """Return the kernel's sources with our changes."""
    source = work / "source"
    if (work / CHANGED).exists() and tree is None:
        return source
    (work / CHANGED).unlink(missing_ok=True)
    shutil.rmtree(source, ignore_errors=True)
    if tree is not None:
        tell("copying the sources", 0.0)
        shutil.copytree(tree, source, symlinks=True, ignore=shutil.ignore_patterns(".git"))
    else:
        tell("fetching the sources", 0.0)
        package = packages.sources()
        tell("unpacking the sources", 0.0)
        unpacked = work / "unpacked"
        shutil.rmtree(unpacked, ignore_errors=True)
        _call(["dpkg-deb", "-x", str(package), str(unpacked)], None)
        archive = next(unpacked.glob("usr/src/linux-source-*.tar.*"))
        source.mkdir()
        _call(["tar", "-x", "--strip-components=1", "-C", str(source), "-f", str(archive)], None)
        shutil.rmtree(unpacked)
    for name, old, new, is_needed in EDITS:
        text = (source / name).read_text()
        changed, count = re.subn(old, new.replace("\\", "\\\\") if new is SEEDED else new, text)
        if not count and is_needed:
            raise about("engine linux", f"{name} of this kernel is not as expected: no '{old.strip()}'")
        (source / name).write_text(changed)
    (work / CHANGED).touch()
    return source


def _kernel(at: Path, work: Path, source: Path, jobs: int, tell: Tell) -> None:
    out = work / "out"
    out.mkdir(exist_ok=True)
    make = ["make", "-C", str(source), "ARCH=um", f"O={out}"]
    wanted = [line for line in CONFIG.read_text().splitlines() if "CONFIG_" in line]
    if not (out / ".config").exists():
        tell("configuring", 0.0)
        _call([*make, "-s", "tinyconfig"], None)
        with (out / ".config").open("a") as file:
            file.writelines(f"{line}\n" for line in wanted)
        _call([*make, "-s", "olddefconfig"], None)
    has = set((out / ".config").read_text().splitlines())
    if lacking := [line for line in wanted if line.startswith("CONFIG_") and line not in has]:
        raise about("engine linux", f"this kernel has no {lacking[0]}")
    seen = 0

    def line(_: str) -> None:
        nonlocal seen
        seen += 1
        tell("compiling the kernel", min(seen / LINES, 0.99))

    tell("compiling the kernel", 0.0)
    _call([*make, f"-j{jobs}", "linux"], None, line)
    release = (out / "include" / "config" / "kernel.release").read_text().strip()
    shutil.copy2(out / "linux", at / f"{kernel_image.KERNEL}.new")
    (at / f"{kernel_image.KERNEL}.new").rename(at / kernel_image.KERNEL)
    digest = hashlib.sha256((at / kernel_image.KERNEL).read_bytes()).hexdigest()[:16]
    _keep(at, kernel=f"{_recipe()} {digest}", release=release)


def _guest(at: Path, tell: Tell) -> None:
    """Build our own programs of the guest, and put them into its root."""
    tell("building the guest's programs", 0.0)
    here, root = kernel_image.HERE / "guest", at / kernel_image.ROOT
    flags = ["-std=gnu11", "-D_GNU_SOURCE", "-O2", "-Wall", "-Wextra", "-static"]
    _call(["gcc", *flags, "-o", str(root / "guest.new"), *map(str, sorted(here.glob("*.c")))], None)
    (root / "guest.new").rename(root / "guest")
    shutil.copyfile(here / "init.sh", root / "init")
    (root / "init").chmod(0o755)
    _keep(at, guest=kernel_image.guest_sources())


def _call(words: Sequence[str], cwd: Path | None, on_line: Callable[[str], None] | None = None) -> str:
    """Run a program; return its output.

    Raises:
        MachineError: with its last words, if it failed.

    """
    output: list[str] = []
    how: dict[str, Any] = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    how |= {"cwd": cwd, "text": True, "errors": "replace", "env": {**os.environ, "LC_ALL": "C"}}
    with session.alone(words, **how) as process:
        assert process.stdout is not None
        with process.stdout as lines:
            for line in lines:
                output.append(line)
                if on_line:
                    on_line(line)
        status = process.wait()
    if status:
        raise MachineError(f"engine linux: {words[0]} failed: {_reason(output)}; the same command continues")
    return "".join(output)


def _reason(output: Sequence[str]) -> str:
    """The line that tells most: the first that names an error, or the last."""
    lines = [line.strip() for line in output if line.strip()]
    telling = [line for line in lines if "No space left" in line] or [
        line for line in lines if re.search(r"\berror\b|^E:", line, re.I)
    ]
    return (telling or lines[-1:] or ["it printed nothing"])[0]
