"""Disciplines in Python, put together from parts: most are as they should be, and some are mistakes."""

CLASS = '''"""A discipline in Python."""

import aqmlab
{above}

class Mine(aqmlab.AQM):
    """One that is tried."""

    {declared}

    def __init__(self):
        self.count = 0
        {begun}

    def enqueue(self, packet, now):
        {arrived}

    def dequeue(self, now):
        {left}
{below}'''
# The parts of a class, the right ones first: of each one is chosen.
PARTS: dict[str, tuple[str, ...]] = {
    "above": (
        "",
        "",
        "",
        "import math, random",
        "import missing_module",
        "raise ValueError('no')",
        "x = (",
        "raise SystemExit(0)",
    ),
    "declared": (
        "pass",
        "drops_queued = True",
        "ecn = True",
        "reorders_flows = reorders_within_flow = True",
        "params = {'target': '5ms 1us..10s'}",
        "params = {'target': '5ms', 'share': '50%', 'often': '3'}",
        "probes = {'count': 'packets'}",
        "quiet_packets = 2",
        "params = {'target': 'never'}",
        "probes = {'missing': 'packets'}",
        "params = 3",
        "quiet_packets = -1",
        "ecn = 'yes'",
        "drops_queued = ecn = True",
    ),
    "begun": ("pass", "pass", "pass", "self.other = {}", "self.queue = None", "1 / 0", "self.target = 3"),
    "arrived": (
        "self.queue.append(packet)",
        "self.queue.append(packet)",
        "self.drop(packet) if self.random.random() < 0.05 else self.queue.append(packet)",
        "self.queue.appendleft(packet)",
        "self.queue.append(packet); self.count += packet.length",
        "self.mark(packet) or self.drop(packet) if len(self.queue) > 9 and False else self.queue.append(packet)",
        "self.queue.append(packet); self.mark(packet) if len(self.queue) > 5 else None",
        "len(self.queue) > 8 and self.drop(self.queue.popleft()); self.queue.append(packet)",
        "pass",
        "self.queue.append(packet); self.queue.append(packet)",
        "self.drop(packet); self.queue.append(packet)",
        "raise RuntimeError('two\\nlines')",
        "self.queue.append(packet.length)",
        "packet.length = 0",
        "self.count = 'many'; self.queue.append(packet)",
        "self.enqueue(packet, now)",
        "self.drop(None)",
        "raise KeyboardInterrupt",
        "raise SystemExit(3)",
    ),
    "left": (
        "return self.queue.popleft() if self.queue else None",
        "return self.queue.popleft() if self.queue else None",
        "return self.queue.pop() if self.queue else None",
        "return self.queue.popleft() if self.queue and now % 2 == 0 else None",
        "return None",
        "return 3",
        "return self.queue[0] if self.queue else None",
        "return self.queue.popleft()",
        "return max(self.queue, key=lambda packet: packet.flow) if self.queue else None",
    ),
    "below": (
        "",
        "",
        "",
        "\n    def next_wakeup(self):\n        return self.count\n\n"
        "    def on_wakeup(self, now):\n        self.count = now + 1_000_000\n",
        "\n    def next_wakeup(self):\n        return None\n",
        "\n    def next_wakeup(self):\n        return 'soon'\n",
        "\n    def next_wakeup(self):\n        return -1\n",
        "\n    def next_wakeup(self):\n        return 2**80\n",
        "\n    def remove(self, packet):\n        self.queue.remove(packet)\n",
        "\n    def on_wakeup(self, now):\n        raise ValueError\n",
    ),
}
