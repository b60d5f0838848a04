"""Lines to paste: tc's commands, and OpenWrt's SQM.

Grammar: tc-cake(8), tc-codel(8), tc-fq_codel(8), tc-fq_pie(8), tc-pie(8), tc-htb(8), tc-stab(8) and
tc-mirred(8) of iproute2; options of the configuration file of sqm-scripts.
"""

from __future__ import annotations

import re

from aqmlab.advice.line import Line
from aqmlab.advice.ways import Way
from aqmlab.errors import InputError

# On an Ethernet interface the kernel's length has the frame's header already, which tc-cake(8) leaves out.
FRAME_HEADER = 14
SCRIPTS = {"cake": "piece_of_cake.qos", "fq_codel": "simplest.qos"}
# The device through which the way down is sent, so that it can be queued.
MIRROR = "ifb0"


# What Linux takes for a name, less what a shell or uci would read otherwise.
INTERFACE = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.@-]{0,14}")


def checked(interface: str) -> str:
    """Return the name of an interface, which is safe to paste.

    Raises:
        InputError: if it is none.

    >>> checked("pppoe-wan")
    'pppoe-wan'

    """
    if not INTERFACE.fullmatch(interface):
        raise InputError(f"{interface!r} is not a name: allowed are 1 to 15 letters, digits and _ . @ -, as eth0")
    return interface


def tc(way: Way, line: Line, interface: str = "eth0") -> list[str]:
    """Return the commands for both directions; none without a shaper."""
    if not way.is_shaped:
        return []
    down_kbit, up_kbit = (rate // 1000 for rate in line.shaped(way.share))
    return [
        *_queue(way.up, up_kbit, line, interface),
        f"ip link add name {MIRROR} type ifb",
        f"ip link set dev {MIRROR} up",
        f"tc qdisc replace dev {interface} handle ffff: ingress",
        f"tc filter add dev {interface} parent ffff: protocol all matchall action mirred egress redirect dev {MIRROR}",
        *_queue(way.down, down_kbit, line, MIRROR),
    ]


def undo(way: Way, interface: str = "eth0") -> list[str]:
    """Return the commands that take tc's back; none without a shaper."""
    if not way.is_shaped:
        return []
    return [f"tc qdisc del dev {interface} root", f"tc qdisc del dev {interface} ingress", f"ip link del {MIRROR}"]


def sqm(way: Way, line: Line, interface: str = "eth0") -> list[str]:
    """Return OpenWrt's commands; none where SQM has no script for the way."""
    name, *words = way.up.split() or [""]
    if name not in SCRIPTS:
        return []
    down_kbit, up_kbit = (rate // 1000 for rate in line.shaped(way.share))
    if line.layer.name == "vdsl":
        down_kbit, up_kbit = (line.layer.carried(rate) for rate in (down_kbit, up_kbit))
    options = {
        "enabled": "1",
        "interface": interface,
        "download": str(down_kbit),
        "upload": str(up_kbit),
        "qdisc": name,
        "script": SCRIPTS[name],
        "linklayer": line.layer.sqm,
    }
    if line.layer.sqm != "none":
        options["overhead"] = str(line.layer.overhead)
    if line.layer.mpu:
        options |= {"linklayer_advanced": "1", "tcMPU": str(line.layer.mpu)}
    if name == "cake":
        own = " ".join(["nat", *(word for word in words if word == "ack-filter")])
        options |= {"qdisc_advanced": "1", "qdisc_really_really_advanced": "1"}
        options |= {"iqdisc_opts": "nat", "eqdisc_opts": own}
    place = "sqm." + re.sub(r"\W", "_", interface)
    return [
        f"uci set {place}=queue",
        *(f"uci set {place}.{name}='{value}'" for name, value in options.items()),
        "uci commit sqm",
        "/etc/init.d/sqm restart",
    ]


def _queue(spec: str, kbit: int, line: Line, device: str) -> list[str]:
    name, *words = spec.split()
    if name == "cake":
        # The simulator knows a home's devices apart; behind address translation CAKE does so with nat.
        more = [*words, "nat", line.layer.cake]
        return [f"tc qdisc replace dev {device} root cake bandwidth {kbit}kbit {' '.join(more)}"]
    layer = line.layer
    rate = layer.carried(kbit) if layer.name == "vdsl" else kbit
    size = f"stab overhead {layer.overhead - FRAME_HEADER} linklayer {layer.stab} " if layer.stab else ""
    if layer.mpu:
        size = size.replace("stab ", f"stab mpu {layer.mpu} ")
    return [
        f"tc qdisc replace dev {device} root handle 1: {size}htb default 10",
        f"tc class add dev {device} parent 1: classid 1:10 htb rate {rate}kbit ceil {rate}kbit",
        f"tc qdisc add dev {device} parent 1:10 {spec}",
    ]
