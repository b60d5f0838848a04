"""The page of an advice, about a line or about the Wi-Fi behind it: one HTML file."""

from __future__ import annotations

from pathlib import Path

from aqmlab.advice import autorate, figures, paste, wireless, words
from aqmlab.advice.run import Advice
from aqmlab.advice.verdict import GAME_MEDIAN, PING, RPM, shown
from aqmlab.files import disk
from aqmlab.report import inline
from aqmlab.report.templates import rendered

PAGE, WIFI_PAGE = "advice.html", "wifi.html"


def write(advice: Advice, folder: Path, interface: str = "") -> Path:
    """Write the page; return it. ``interface`` is the router's in the lines to paste, the line's if empty."""
    [page] = disk.put_all(folder, {PAGE: render(advice, interface).encode()})
    return page


def write_wireless(found: wireless.Wireless, folder: Path) -> Path:
    """Write the page about the Wi-Fi; return it."""
    page = rendered(
        __file__,
        WIFI_PAGE,
        sentences=wireless.sentences(found),
        setups=list(wireless.SETUPS),
        places=found.places,
        assumptions=wireless.assumptions(found),
    )
    [written] = disk.put_all(folder, {PAGE: page.encode()})
    return written


def render(advice: Advice, interface: str = "") -> str:
    """Return the page."""
    found = paste.interfaces(advice.line, interface)
    return rendered(
        __file__,
        PAGE,
        advice=advice,
        line=advice.line,
        headline=words.sentences(advice)[0],
        sentences=words.sentences(advice)[1:],
        figures=shown(advice.verdict.judged),
        drawn=[(one.caption, inline(figures.drawn(one), one.title)) for one in figures.figures(advice.verdict)],
        ping=PING,
        rpm=RPM,
        game_median=GAME_MEDIAN,
        judged=advice.verdict.judged,
        tc=paste.tc(advice.chosen, advice.line, interface),
        sqm=paste.sqm(advice.for_openwrt, advice.line, interface),
        openwrt=words.openwrt(advice),
        autorate=autorate.settings(advice.line, interface),
        autorate_file=autorate.FILE,
        undo=paste.undo(advice.chosen, advice.line, interface),
        grade=words.GRADE,
        interface=str(found),
        notice=found.notice,
        assumptions=words.assumptions(advice),
    )
