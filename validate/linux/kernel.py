"""One run in the kernel: the job, the guest, its result; results are kept and reused."""

import hashlib
import json
import os
import random
import shlex
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import taps
import tc

from aqmlab.scenario import Plan
from aqmlab.scenario.model import Flows, Scenario, Trace
from aqmlab.scenario.options import OPTIONS
from aqmlab.scenario.resolve import Contestant
from aqmlab.vocabulary.errors import InputError

HERE = Path(__file__).resolve().parent
KERNEL = Path(os.environ.get("AQMLAB_LINUX") or Path.home() / ".cache/aqmlab/linux")
LONGEST_S = 600
MEMORY = "512M"
ACK_BYTES = 66
FULL_BYTES = tc.FULL_BYTES
CONTROLS = {"newreno": "reno", "cubic": "cubic", "dctcp": "dctcp", "bbr1": "bbr"}


@dataclass(frozen=True)
class Setting:
    """Settings of Linux's TCP."""

    sysctls: str
    hystart: int
    meaning: str


# Options that the guest follows, or that change nothing in it.
SUPPORTED = ("rtt", "access_rate", "duration", "series", "flow_monitor")
SETTINGS = {
    "default": Setting("", 1, "as Linux comes"),
    "plain": Setting(
        "net.ipv4.tcp_recovery=0 net.ipv4.tcp_early_retrans=0", 0, "HyStart, RACK and tail loss probes are off"
    ),
    "no-hystart": Setting("", 0, "HyStart is off"),
    "no-rack": Setting("net.ipv4.tcp_recovery=0", 1, "RACK is off: three duplicates, as RFC 6675"),
    "no-tlp": Setting("net.ipv4.tcp_early_retrans=0", 1, "tail loss probes are off"),
}


@dataclass(frozen=True)
class Run:
    """A run and its key."""

    plan: Plan
    contestant: Contestant
    seed: int
    setting: str

    def job(self) -> dict[str, Any]:
        """Return everything that decides the run; refuse what Linux does not support.

        Raises:
            InputError: naming what the guest cannot do.

        """
        scenario = self.plan.base
        _check(scenario)
        tcps = [group.transport[1] for group in scenario.flows]
        rate = scenario.capacity.rate_bps
        setting = SETTINGS[self.setting]
        switches = f"net.ipv4.tcp_sack={int(tcps[0]['sack'])} net.ipv4.tcp_ecn={int(tcps[0]['ecn'] == 'classic')}"
        # The guest's packets take no time on wires. Their serialisation times in the simulator are added to the base
        # RTT.
        wires_ns = (FULL_BYTES + ACK_BYTES) * 8e9 * (1 / rate + 2 / (scenario.settings["access_rate_bps"] or 10 * rate))
        draw = random.Random(self.seed)
        flows = []
        for group in scenario.flows:
            flows += [(_control(group), draw.randint(*group.start_ns)) for _ in range(group.count)]
        return {
            "RATE_BPS": rate,
            "DELAY_US": (scenario.settings["rtt_ns"] + round(wires_ns)) / 1000,
            "QDISC": tc.qdisc(self.contestant.spec, rate),
            "SHAPER": "own" if self.contestant.spec.name in tc.SHAPERS else "htb",
            "INITIAL_WINDOW": tcps[0]["iw"],
            "SYSCTLS": f"{switches} {setting.sysctls}".strip(),
            "HYSTART": setting.hystart,
            "WARM_NS": scenario.warmup_ns,
            "END_NS": scenario.duration_ns,
            "flows": flows,
        }

    @property
    def key(self) -> str:
        """The hash of everything that decides the run: the job, its seed, the kernel and its programs."""
        parts = [json.dumps(self.job()), str(self.seed), (KERNEL / "identity").read_text()]
        parts += [path.read_text() for path in (HERE / "dumbbell.sh", *sorted(HERE.glob("guest/*.[ch]")))]
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:32]

    def is_kept(self, store: Path) -> bool:
        """Whether the store has the result."""
        return (store / f"{self.key}.json").exists()

    def answer(self, store: Path) -> dict[str, Any]:
        """Return the result from the store, or run the guest and store it."""
        kept = store / f"{self.key}.json"
        if not self.is_kept(store):
            store.mkdir(parents=True, exist_ok=True)
            new = kept.with_suffix(".new")
            new.write_text(json.dumps(self._ask(), indent=1))
            new.rename(kept)
        found: dict[str, Any] = json.loads(kept.read_text())
        return found

    def _ask(self) -> dict[str, Any]:
        began = time.monotonic()
        job = self.job()
        flows = job.pop("flows")
        with tempfile.TemporaryDirectory(prefix="aqmlab-linux-") as name:
            folder = Path(name)
            job["GUEST"] = KERNEL / "guest"
            (folder / "job.env").write_text("".join(f"{key}={shlex.quote(str(job[key]))}\n" for key in job))
            lines = [f"{taps.FIRST_PORT + number} {flow[0]} {flow[1]}\n" for number, flow in enumerate(flows)]
            (folder / "flows").write_text("".join(lines))
            _boot(folder)
            if not (folder / "done").exists():
                logs = [(folder / log).read_text() for log in ("console", "log") if (folder / log).exists()]
                raise RuntimeError(f"the guest failed: {self.contestant.label}\n{''.join(logs)[-3000:]}")
            starts_s = [start / 1e9 for _, start in flows]
            names = [group.congestion_control for group in self.plan.base.flows for _ in range(group.count)]
            summary = taps.summarise(folder, self.plan.base, starts_s, names)
            release, counters = [(folder / name).read_text().strip() for name in ("kernel", "qdisc")]
        run = {"aqm": self.contestant.label, "seed": self.seed, **summary}
        return {
            **run,
            "kernel": release,
            "tc": counters,
            "job": {**job, "GUEST": "guest"},
            "wall_s": time.monotonic() - began,
        }


def _boot(folder: Path) -> None:
    """Run the guest until it switches itself off. Its time is virtual: processing costs none, idle time is skipped."""
    command = [KERNEL / "linux", "time-travel=inf-cpu", f"mem={MEMORY}", "root=/dev/root", "rootfstype=hostfs"]
    command += ["rootflags=/", "ro", f"init={HERE / 'dumbbell.sh'}", f"JOB={folder}", "con=null", "con0=null,fd:1"]
    command += ["ssl=null", "quiet", "seccomp=off"]
    with (folder / "console").open("w") as console:
        environment = {**os.environ, "TMPDIR": "/dev/shm"}
        subprocess.run(
            [str(word) for word in command],
            stdin=subprocess.DEVNULL,
            stdout=console,
            stderr=console,
            timeout=LONGEST_S,
            check=False,
            env=environment,
        )


def _control(group: Flows) -> str:
    """Linux's name of a congestion control."""
    control = group.congestion_control
    if control not in CONTROLS:
        raise InputError(f"validate/linux: '{control}' is not one of {', '.join(CONTROLS)}")
    return CONTROLS[control]


def _check(scenario: Scenario) -> None:
    """Refuse what the guest does not support."""

    def refuse(what: str) -> None:
        raise InputError(f"validate/linux: {what}")

    if isinstance(scenario.capacity, Trace) or scenario.captures:
        refuse("recorded links and traffic are not for the kernel")
    for option in OPTIONS:
        if option.field and option.name not in SUPPORTED and scenario.settings[option.field] != option.value:
            refuse(f"{option.name} is {option.default}, not {option.write(scenario.settings[option.field])}")
    fixed = {"mss_bytes": 1448, "delack_ns": 40_000_000, "minrto_ns": 200_000_000}
    shared = ("iw", "sack", "ecn")
    for group in scenario.flows:
        (carrier, tcp), (form, source) = group.transport, group.source
        if carrier != "tcp" or form != "bulk" or any(one is not None for one in source.values()):
            refuse("flows are TCP and without end")
        if group.rtt_ns is not None or tcp["window_bytes"] is not None or tcp["ipv6"]:
            refuse("flows share one RTT, IPv4, and no window is capped")
        for name, value in fixed.items():
            if tcp[name] != value:
                refuse(f"{name} is {value}, as in Linux, not {tcp[name]}")
        _, first = scenario.flows[0].transport
        for name in shared:
            if tcp[name] != first[name]:
                refuse(f"{name} is the same for all flows")
