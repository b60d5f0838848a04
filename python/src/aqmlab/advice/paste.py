"""Lines to paste: tc's commands, and OpenWrt's SQM.

Grammar: tc-cake(8), tc-codel(8), tc-fq_codel(8), tc-fq_pie(8), tc-pie(8), tc-htb(8), tc-stab(8) and
tc-mirred(8) of iproute2; options of the configuration file of sqm-scripts.
"""

from __future__ import annotations

import re

from aqmlab.advice.line import Line
from aqmlab.advice.ways import INTERVAL_US, Way
from aqmlab.vocabulary.errors import InputError
from aqmlab.vocabulary.units import parse_span

# The kernel's length has an Ethernet frame's header already, which tc-cake(8) leaves out; these interfaces have none.
FRAME_HEADER, WITHOUT_HEADER = 14, ("ppp", "wwan", "tun", "wg")
SCRIPTS = {"cake": "piece_of_cake.qos", "fq_codel": "simplest.qos"}
# The device through which the way down is sent, so that it can be queued: not ifb0, which modprobe may have made.
MIRROR = "ifb-aqmlab"


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
    uncounted = _uncounted(line, interface)
    return [
        *_queue(way.up, up_kbit, line, interface, uncounted),
        f"ip link add name {MIRROR} type ifb",
        f"ip link set dev {MIRROR} up",
        f"tc qdisc replace dev {interface} handle ffff: ingress",
        f"tc filter add dev {interface} parent ffff: protocol all matchall action mirred egress redirect dev {MIRROR}",
        *_queue(way.down, down_kbit, line, MIRROR, uncounted),
    ]


def undo(way: Way, interface: str = "eth0") -> list[str]:
    """Return the commands that take tc's back; none without a shaper."""
    if not way.is_shaped:
        return []
    return [f"tc qdisc del dev {interface} root", f"tc qdisc del dev {interface} ingress", f"ip link del {MIRROR}"]


def has_script(way: Way) -> bool:
    """Return whether OpenWrt's SQM has a script for a way."""
    return way.up.partition(" ")[0] in SCRIPTS


def sqm(way: Way, line: Line, interface: str = "eth0") -> list[str]:
    """Return OpenWrt's commands; none where SQM has no script for the way."""
    if not has_script(way):
        return []
    name = way.up.partition(" ")[0]
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
        # SQM gives CAKE the overhead of IP packets, and tc-stab(8) what it is told.
        options["overhead"] = str(line.layer.overhead if name == "cake" else _uncounted(line, interface))
    if line.layer.mpu:
        options |= {"linklayer_advanced": "1", "tcMPU": str(line.layer.mpu)}
    if name == "cake":
        own = ["nat " + " ".join(spec.split()[2:]) for spec in (way.down, way.up)]
    elif parse_span(line.rtt) > INTERVAL_US * 1000:
        own = [" ".join(spec.split()[1:]) for spec in (way.down, way.up)]
    else:
        own = []  # SQM finds the same target and interval by itself.
    if own:
        options |= {"qdisc_advanced": "1", "qdisc_really_really_advanced": "1"}
        options |= {"iqdisc_opts": own[0].strip(), "eqdisc_opts": own[1].strip()}
    place = "sqm." + re.sub(r"\W", "_", interface)
    return [
        f"uci set {place}=queue",
        *(f"uci set {place}.{name}='{value}'" for name, value in options.items()),
        "uci commit sqm",
        "/etc/init.d/sqm restart",
    ]


def _uncounted(line: Line, interface: str) -> int:
    """Bytes of the overhead that are not in the kernel's length of a packet."""
    return line.layer.overhead - (0 if interface.startswith(WITHOUT_HEADER) else FRAME_HEADER)


def _queue(spec: str, kbit: int, line: Line, device: str, uncounted: int) -> list[str]:
    name, *words = spec.split()
    if name == "cake":
        # The simulator knows a home's devices apart; behind address translation CAKE does so with nat.
        more = [*words, "nat", line.layer.cake]
        return [f"tc qdisc replace dev {device} root cake bandwidth {kbit}kbit {' '.join(more)}"]
    layer = line.layer
    rate = layer.carried(kbit) if layer.name == "vdsl" else kbit
    size = f"stab overhead {uncounted} linklayer {layer.stab} " if layer.stab else ""
    if layer.mpu:
        size = size.replace("stab ", f"stab mpu {layer.mpu} ")
    return [
        f"tc qdisc replace dev {device} root handle 1: {size}htb default 10",
        f"tc class add dev {device} parent 1: classid 1:10 htb rate {rate}kbit ceil {rate}kbit",
        f"tc qdisc add dev {device} parent 1:10 {spec}",
    ]
