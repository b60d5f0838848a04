"""The Linux kernel in virtual time as an engine: its qdiscs, its TCP, and nothing of ours but the measurement."""

from __future__ import annotations

import functools
import time
from collections.abc import Sequence

from aqmlab.engine.protocol import Capabilities, Monitor, Report, Task, Trace
from aqmlab.scenario.model import PLAIN, UNDER_TEST, Link, Rate, Scenario
from aqmlab.vocabulary.errors import InputError

# Its modules are imported where they are used: every start of aqmlab imports this one, few make a guest.

# Processor time of a guest's start, and of each packet through its bottleneck, seconds: measured on a server.
START_S = 0.6
PACKET_S = 0.00016


class Linux:
    """User-mode Linux with time travel: every run is a guest, which is a process of its own.

    Processing takes no time in it and idle time is skipped, so that the load of the machine changes nothing.
    """

    name = "linux"
    about = "the Linux kernel's qdiscs and TCP, in virtual time"

    @functools.cached_property
    def capabilities(self) -> Capabilities:
        """What the guest supports."""
        from aqmlab.engine.linux import job, tc

        return Capabilities(
            topologies=frozenset({"dumbbell", "asymmetric", "parking_lot"}),
            kinds=frozenset((*job.CONTROLS, *job.DATAGRAMS.values())),
            aqms=tc.DISCIPLINES,
            captures=False,
        )

    @functools.cached_property
    def version(self) -> str:
        """The kernel's release, and the hash of all that decides its results."""
        from aqmlab.engine.linux import kernel_image

        return kernel_image.found().version

    def of(self, name: str) -> Linux:
        """Return itself: it stands for no others."""
        assert name in ("", self.name)
        return self

    def cost_s(self, scenario: Scenario) -> float:
        """Return about what a run costs: a start, and something for each packet; 0 for a link that is recorded."""
        from aqmlab.engine.linux import tc

        if not isinstance(scenario.capacity, Rate):
            return 0.0
        links = scenario.topology.links if scenario.topology else [Link("", "", None, 0, UNDER_TEST)]
        rates = [link.rate_bps or scenario.capacity.rate_bps for link in links if link.queue != PLAIN]
        packets = sum(rates) * scenario.duration_ns / 8e9 / tc.FULL_BYTES
        return START_S + PACKET_S * packets

    def refusal(self, scenario: Scenario) -> str:
        """Return in words why it does not run a scenario; empty if it does."""
        from aqmlab.engine.linux import job

        try:
            job.described(scenario, 1)
        except InputError as error:
            return str(error)
        return ""

    def prepare(self, tasks: Sequence[Task]) -> None:
        """Look whether the kernel has been built, and can be started here."""
        from aqmlab.engine.linux import guest, kernel_image

        if tasks:
            guest.check(kernel_image.found())

    def monitor(self, task: Task) -> Monitor:
        """Return a monitor for one run."""
        from aqmlab.engine.linux import guest

        del task
        return guest.Watch()

    def run(self, task: Task, monitor: Monitor) -> Report:
        """Run a guest, and measure what its taps have seen."""
        from aqmlab.engine.linux import guest, job, kernel_image, measure

        assert isinstance(monitor, guest.Watch)
        described = job.described(task.scenario, task.seed, inputs=task.inputs)
        image = kernel_image.found()
        with guest.finished(image, described, f"{task.aqm}, seed {task.seed}", monitor) as (folder, cpu_s):
            began = time.thread_time()
            seen = measure.measured(folder, task.scenario, described)
            return Report(**seen, cpu_s=cpu_s + time.thread_time() - began, engine=self.name)

    def trace(self, task: Task, monitor: Monitor) -> Trace:
        """Run a guest with a tap at the senders, too, that samples TCP's state every millisecond."""
        from aqmlab.engine.linux import guest, job, kernel_image, tracing

        assert isinstance(monitor, guest.Watch)
        described = job.described(task.scenario, task.seed, tracing.STATES_NS, task.inputs)
        with guest.finished(kernel_image.found(), described, f"{task.aqm}, seed {task.seed}", monitor) as (folder, _):
            return tracing.traced(folder, described)


__all__ = ["Linux"]
