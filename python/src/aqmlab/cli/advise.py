"""``aqmlab advise``: which queue discipline a home's line should have, and what that brings."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from aqmlab.cli.compare import Force, Jobs, Json, OptText, Out, Quiet, Seeds, check_count, check_target, write_json
from aqmlab.cli.terminal import Terminal, Text, give
from aqmlab.vocabulary.errors import CheckError, InputError, about
from aqmlab.vocabulary.json_text import json_text
from aqmlab.vocabulary.units import bytes_per_second, format_rate, parse_bytes, parse_fraction, parse_rate, parse_span

if TYPE_CHECKING:
    from rich.console import RenderableType

    from aqmlab.advice import Advice, Line
    from aqmlab.advice.thresholds import Figure

# A longer name of a setup stands in a line of its own.
LONGEST_NAME = 16
# Rates as providers name them: 50/10, or with units.
_RATES = re.compile(r"([^/\s]+)\s*/\s*([^/\s]+)")
RTT = "40ms"
# What is no line, but lies behind one.
WIRELESS = ("wifi", "wi-fi", "wlan")


def advise(
    rates: Annotated[
        str, typer.Argument(metavar="[DOWN/UP]", help="Both rates in Mbit/s, as providers name them: 50/10.")
    ] = "",
    down: Annotated[
        str, typer.Option("--down", metavar="R", help="Rate towards the home, or a link trace (LTE).")
    ] = "",
    up: Annotated[
        str, typer.Option("--up", metavar="R", help="Rate from the home, or a link trace: its mean rate.")
    ] = "",
    linklayer: Annotated[
        OptText,
        typer.Option("--linklayer", metavar="KIND", help="adsl, vdsl, cable, fibre, lte, starlink."),
    ] = None,
    overhead: Annotated[
        str,
        typer.Option("--overhead", metavar="B", help="Bytes around each IP packet, as 22b; those of the link layer."),
    ] = "",
    rtt: Annotated[str, typer.Option("--rtt", metavar="T", help="Round-trip time to servers.")] = RTT,
    modem_buffer: Annotated[
        str,
        typer.Option(
            "--modem-buffer", metavar="B", help="The modem's buffer in each direction, as 256kb; typical if not given."
        ),
    ] = "",
    share: Annotated[
        str,
        typer.Option("--share", metavar="P", help="Share of the rate that the router shapes to; several are tried."),
    ] = "",
    wifi: Annotated[
        str,
        typer.Option(
            "--wifi",
            metavar="DEVICES",
            help="Is it the Wi-Fi or the line? 'typical', or devices with their rates, the caller first.",
        ),
    ] = "",
    interface: Annotated[
        str,
        typer.Option(
            "--interface",
            metavar="NAME",
            help="The interface in the lines to paste; ppp0 with PPPoE, wwan0, or eth0 (OpenWrt: pppoe-wan, wan).",
        ),
    ] = "",
    quick: Annotated[
        bool, typer.Option("--quick", help="Stop after half of the runs where the answer does not hang on the rest.")
    ] = False,
    seeds: Seeds = None,
    jobs: Jobs = None,
    out: Out = None,
    as_json: Json = None,
    quiet: Quiet = False,
    force: Force = False,
) -> None:
    """Recommend a queue discipline for a home line, with its gains, costs and lines to paste.

    For example:

    aqmlab advise 50/10

    aqmlab advise --down 16mbit --up 1mbit --linklayer adsl

    aqmlab advise --down 250mbit --up 25mbit --linklayer cable --rtt 20ms

    aqmlab advise 50/10 --wifi 'sofa=vht-mcs7-2ss-80mhz, garden=ht-mcs0'
    """
    from aqmlab import advice, store
    from aqmlab.advice import advice_json, advice_page, paste, words
    from aqmlab.cli import show

    number, count = check_count("--jobs", jobs), check_count("--seeds", seeds)
    if count == 1:
        raise InputError("--seeds: '1' is out of range: allowed is 2 or more, for an interval")
    try:
        paste.checked(interface)
    except ValueError as error:
        raise InputError(f"--interface: {error}") from None
    check_target(as_json, force=force)
    down, up = _rates(rates, down, up)
    line = _line(down, up, linklayer, overhead, rtt, modem_buffer, share)
    folder = store.dated("advise") if out is None else out
    if wifi:
        for name, given in {"--share": share, "--quick": quick}.items():
            if given:
                raise InputError(f"{name}: is of the line alone: leave it out with --wifi")
        with show.watching(show.Bar, folder, dated=out is None, quiet=quiet) as bar:
            how = {"folder": folder, "seeds": count, "jobs": number, "watcher": bar}
            of_line = {"linklayer": linklayer, "overhead": overhead, "rtt": rtt if rtt != RTT else ""}
            of_line |= {"modem-buffer": modem_buffer, "interface": interface}
            given = [rates] if rates else ["--down", down, "--up", up]
            given += [part for name, text in of_line.items() if text for part in (f"--{name}", text)]
            _give_wireless(line, wifi, shlex.join(["aqmlab", "advise", *given]), how, as_json, quiet=quiet)
        return
    with show.watching(show.Bar, folder, dated=out is None, quiet=quiet) as bar:
        found = advice.advise(line, folder=folder, quick=quick, seeds=count, jobs=number, watcher=bar)
        shown = advice_page.write(found, folder, interface)
    write_json(json_text(advice_json.document(found, interface)), as_json)
    if not quiet:
        console = Terminal(to_stderr=as_json == "-")
        if count is not None and len(found.result.seeds) > count:
            more = f"{folder} has {len(found.result.seeds)} runs of each already, more than --seeds {count}: all count"
            console.print(Text(more, style="yellow"))
        assumed = words.assumed(line) if linklayer is None and not overhead else ""
        for part in _shown(found, interface, console.width, assumed):
            # Lines to copy are never wrapped or cut.
            console.print(part, soft_wrap=isinstance(part, str))
        console.print(show.open_page(shown))
    elif as_json != "-":
        give(folder)
    failures = found.result.manifest["failures"]
    if failures:
        raise CheckError("; ".join(failures))


def _give_wireless(line: Line, wifi: str, of_line: str, how: Any, as_json: Any, *, quiet: bool) -> None:
    from aqmlab.advice import advice_page, wireless
    from aqmlab.cli import columns, show

    stations = wireless.TYPICAL if wifi == "typical" else wifi
    try:
        found = wireless.wireless(line, stations, **how)
    except InputError as error:
        raise about("wifi", error, "--wifi") from None
    page = advice_page.write_wireless(found, how["folder"])
    write_json(json_text(wireless.document(found)), as_json)
    if quiet:
        if as_json != "-":
            give(how["folder"])
        return
    console = Terminal(to_stderr=as_json == "-")
    headline, *others = wireless.sentences(found)
    console.print(Text(headline, style="bold"))
    for one in others:
        console.print(Text(one))
    heads = [
        *(("Packets wait, ms", where) for where in ("line", "Wi-Fi")),
        *(("Quality of the call (MOS)", setup) for setup in wireless.SETUPS),
    ]
    waits = [[f"{one.line_ms:.0f}", f"{one.wifi_ms:.0f}"] for one in found.places]
    calls = [[f"{mos:.1f}" for mos in one.call.values()] for one in found.places]
    lines = [
        (one.device, [columns.marked(text, "") for text in (*wait, *call)])
        for one, wait, call in zip(found.places, waits, calls, strict=True)
    ]
    console.print("")
    console.print(columns.table(heads, lines, width=console.width))
    console.print("")
    for text in wireless.assumptions(found):
        console.print(Text(text, style="dim"))
    console.print("")
    if any(one.enough in (wireless.SQM, wireless.BOTH) or one.where in ("line", "both") for one in found.places):
        console.print(Text(f"What to enter for SQM: {of_line}"), soft_wrap=True)
    console.print(show.open_page(page))


def check_rate(rate_bps: int, text: str, also: str = "") -> None:
    """Raise an error if no line of a home has such a rate."""
    if not 100_000 <= rate_bps <= 10_000_000_000:
        raise InputError(f"{text} is out of range: allowed is 100kbit to 10gbit{also}")


def _rates(rates: str, down: str, up: str) -> tuple[str, str]:
    """Return the rates of a line, given as ``50/10`` or by option.

    >>> _rates("50/10", "", ""), _rates("1gbit/50mbit", "", ""), _rates("", "16mbit", "1mbit")
    (('50mbit', '10mbit'), ('1gbit', '50mbit'), ('16mbit', '1mbit'))

    """
    if not rates:
        missing = [name for name, text in (("--down", down), ("--up", up)) if not text]
        if missing:
            raise InputError(
                f"{' and '.join(missing)}: missing: give both rates, as 'aqmlab advise 50/10' for 50 Mbit/s down and "
                "10 Mbit/s up"
            )
        return down, up
    if down or up:
        raise InputError(f"'{rates}': contradicts {'--down' if down else '--up'}: give the rates once")
    found = _RATES.fullmatch(rates)
    if found is None:
        from aqmlab.advice import layer

        try:
            layer(rates)
        except ValueError:
            is_layer = rates.lower() in WIRELESS
        else:
            is_layer = True
        example = f"50/10 --linklayer {rates}" if is_layer else "50/10"
        raise InputError(f"'{rates}' is not DOWN/UP: give both rates in Mbit/s, as 'aqmlab advise {example}'")
    one, other = (f"{text}mbit" if text.replace(".", "", 1).isdigit() else text for text in found.groups())
    return one, other


def _line(down: str, up: str, linklayer: str | None, overhead: str, rtt: str, modem_buffer: str, share: str) -> Line:
    from aqmlab.advice import Line, layer
    from aqmlab.files import shipped
    from aqmlab.scenario.inputs import STEPS, link_trace
    from aqmlab.vocabulary.units import Size

    def rate(option: str, text: str) -> tuple[int, str]:
        """A rate, or the mean rate of a link trace and its name."""
        try:
            if bytes_per_second([text]):
                # What a provider means by Mbps is an eighth of what tc does.
                meant = re.sub("bps", "bit", text, flags=re.IGNORECASE).lower()
                also = f"for bits write {meant}, for bytes {format_rate(parse_rate(text))}"
                raise InputError(f"'{text}' is bytes a second in tc's notation: {also}")
            recorded = text if text.startswith(STEPS) else shipped.link_trace(text)
            trace = None if recorded is None else link_trace(str(recorded))
            if trace is None and is_file_name(text):
                raise InputError(f"no such file: '{text}', and no link trace of this name comes with aqmlab")
            found = parse_rate(text) if trace is None else int(trace.summary()["mean_rate_bps"])
        except ValueError as error:
            raise InputError(f"{option}: {error}") from None
        mean = f" ({format_rate(found)} on average)" if trace else ""
        check_rate(found, f"{option}: '{text}'{mean}", ", or a link trace of that")
        return found, str(recorded) if trace else ""

    def is_file_name(text: str) -> bool:
        """Whether it is meant as one: rates begin with a digit, and have no other folder or ending."""
        return "/" in text or not text[:1].isdigit() or Path(text).suffix[1:2].isalpha()

    if (linklayer or "").lower() in WIRELESS:
        raise about(
            "linklayer",
            f"'{linklayer}' is no link layer of a line: name that behind it, and ask about the Wi-Fi with "
            "--wifi typical",
            "--linklayer",
        )
    (down_bps, trace), (up_bps, _) = rate("--down", down), rate("--up", up)
    try:
        kind = layer(linklayer or ("lte" if trace else "ethernet"))
    except ValueError as error:
        raise InputError(f"--linklayer: {error}") from None
    try:
        around = parse_bytes(overhead) if overhead else kind.overhead
    except ValueError as error:
        raise InputError(f"--overhead: {error}") from None
    if around > 256:
        raise InputError(f"--overhead: '{overhead}' is out of range: allowed is 0b to 256b")
    kind = kind.with_overhead(around)
    try:
        if not 0 < parse_span(rtt) <= 2_000_000_000:
            raise InputError(f"'{rtt}' is out of range: allowed is more than 0 and up to 2s")
    except ValueError as error:
        raise InputError(f"--rtt: {error}") from None
    try:
        if modem_buffer and not Size.parse(modem_buffer).count:
            raise InputError(f"'{modem_buffer}' is zero")
    except ValueError as error:
        raise InputError(f"--modem-buffer: {error}") from None
    try:
        part = parse_fraction(share) if share else None
    except ValueError as error:
        raise InputError(f"--share: {error}") from None
    if part is not None and not 0.3 <= part <= 1.0:
        raise InputError(f"--share: '{share}' is out of range: allowed is 30% to 100%")
    return Line(down_bps, up_bps, kind, trace, rtt, modem_buffer, part)


def _shown(advice: Advice, interface: str, width: int, assumed: str) -> list[RenderableType]:
    from aqmlab.advice import autorate, paste, words

    headline, reason, *others = words.sentences(advice)
    parts: list[RenderableType] = [Text(headline, style="bold"), Text(reason)]
    parts += [Text(assumed, style="yellow")] if assumed else []
    parts += ["", *map(Text, others), ""]
    parts += [_table(advice, width), Text(words.LEGEND, style="dim"), ""]
    found = paste.interfaces(advice.line, interface)
    for title, lines in (
        (f"Linux ({found})", paste.tc(advice.chosen, advice.line, interface)),
        ("To undo it", paste.undo(advice.chosen, advice.line, interface)),
        (words.openwrt(advice), paste.sqm(advice.for_openwrt, advice.line, interface)),
        (
            f"cake-autorate, beside SQM with cake: {autorate.FILE} on the router (not simulated)",
            autorate.settings(advice.line, interface),
        ),
    ):
        if lines or title.startswith("OpenWrt"):
            parts += [Text(title, style="bold"), *lines, ""]
    parts += [Text(one, style="dim") for one in words.brief(advice)]
    warnings = [*([found.notice] if found.notice else []), *advice.result.warnings]
    return [*parts, *(Text(f"warning: {one}", style="yellow") for one in warnings), ""]


def _table(advice: Advice, width: int) -> RenderableType:
    from aqmlab.advice.verdict import PING, shown
    from aqmlab.cli import columns

    # Without intervals, steps and round trips a minute, which the page has, it fits into 80 columns.
    figures = shown(advice.verdict.judged)
    heads = [("Grade", "ping +ms"), *map(_head, figures)]
    lines = []
    for one in advice.verdict.judged:
        cells = [columns.marked(f"{one.grade} {one.values[PING].value:.0f}", "")]
        for figure in figures:
            is_worse = figure.name in one.worse
            cells.append(columns.marked(one.shown(figure), "*" if is_worse else "", style="red" if is_worse else ""))
        lines.append((one.name, cells))
    return columns.table(heads, lines, left=LONGEST_NAME, width=width)


def _head(figure: Figure) -> tuple[str, str]:
    """Return the title and the unit of a figure in few letters."""
    short = {"page_load_s": "Page", "game_rtt_ms": "Game", "video_stall_s": "Stalls"}
    units = {"call_mos": "MOS", "video_stall_s": "s/min"}
    return short.get(figure.name, figure.title), units.get(figure.name, figure.unit.rpartition(", ")[2])


__all__ = ["advise", "check_rate"]
