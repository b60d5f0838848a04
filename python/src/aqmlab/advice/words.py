"""The advice in words: the answer, what it brings and costs, and the assumptions behind it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from aqmlab.advice import autorate
from aqmlab.advice.household import FIXED_BPS, FIXED_PACKETS, HOUSEHOLD
from aqmlab.advice.setups import AS_IT_IS, USUAL_SHARE, support
from aqmlab.advice.thresholds import ANNOYING_STEPS, BEST_MOS, FIGURES, MOST_STEPS, Figure
from aqmlab.advice.verdict import GAME_MEDIAN, PING, POOR, RPM, TOTAL, Judged, place
from aqmlab.vocabulary.names import listed
from aqmlab.vocabulary.units import Size

if TYPE_CHECKING:
    from aqmlab.advice.home_line import Line
    from aqmlab.advice.run import Advice

GRADE = (
    "The grade is that of speed tests, by the increase of the round-trip time while the line is full. Below 5 ms it "
    "is A+, 30 ms A, 60 ms B, 200 ms C, 400 ms D, else F"
)
RPM_IS = (
    "RPM counts round trips in a minute while the line is full: the mean of the ping and of the TCP connections that "
    "fill it. It follows draft-ietf-ippm-responsiveness-09, without trimming."
)
LEGEND = "* noticeably worse than the best of its column, and not by chance. Game: the round trip of 98 of 100 packets."
# ITU-T G.107, annex B: from 4.03 on users are satisfied.
GOOD_MOS = 4.0
TAKES, STALLS = "a page takes ", "the video stalls "
STILL = f"{STALLS}0.0 s a minute"
# Why a home would rather have a discipline than one that is as good.
_EASIER = {
    "cake": "OpenWrt's guide to SQM recommends it",
    "fq_codel": "OpenWrt's SQM has it ready to choose",
}
# What somebody cares for, by the figure that shows it.
_MATTERS = {
    "call_mos": "calls matter", "page_load_s": "pages matter", "game_rtt_ms": "games matter",
    "video_stall_s": "a video without stalls matters", "video_mbit": "the video's quality matters",
    "download_mbit": "downloads matter", "backup_mbit": "backups matter",
}  # fmt: skip


def sentences(advice: Advice) -> list[str]:
    """Return the answer, a sentence each: what to do, why, what is felt and carried, and what is better elsewhere."""
    chosen, today = advice.verdict.of(advice.chosen.name), advice.verdict.of(AS_IT_IS)
    found = [_headline(advice, chosen, today), _reason(advice, chosen)]
    if chosen is not today:
        found.append(_changes(chosen, today))
        found.append(_total(chosen, today))
        if chosen.grade in POOR:
            found.append("No setup tried here makes this line good.")
    else:
        found.append(_state(chosen))
    found += _too_slow(advice)
    if chosen.worse:
        found.append(" ".join(_instead(advice, chosen, name) for name in chosen.worse))
    return [*found, *_varying(advice)]


def openwrt(advice: Advice) -> str:
    """Return what the lines for OpenWrt are, or why there are none."""
    chosen, setup = advice.chosen, advice.for_openwrt
    if chosen.name == AS_IT_IS:
        return "OpenWrt: nothing to set, SQM stays off"
    if not chosen.is_shaped:
        return "OpenWrt: nothing to set, this is done in the modem, by the provider"
    if setup is chosen:
        return "OpenWrt with SQM instead (package luci-app-sqm; ifstatus wan | grep l3_device names the interface)"
    behind = advice.verdict.of(setup.name).behind - advice.verdict.of(chosen.name).behind
    return (
        f"OpenWrt: SQM has no script for {chosen.up.partition(' ')[0]}; "
        f"with {setup.name}, the best that it has, the line is {behind:.1f} steps further behind"
    )


def noticeable() -> list[str]:
    """Return what is noticeable in each figure and what annoys, with the sources, a sentence each."""
    return [
        f"{figure.title}: {_size(figure, figure.noticeable.least, figure.noticeable.share)} is noticeable "
        f"({figure.noticeable.source}), {_size(figure, figure.annoying.least, figure.annoying.share)} annoys "
        f"({figure.annoying.source})."
        for figure in FIGURES
    ]


def _size(figure: Figure, least: float, share: float) -> str:
    """A difference, as an amount and as a share of the best value."""
    unit = "of MOS" if figure.name == "call_mos" else figure.unit.rpartition(", ")[2]
    sizes = [f"{least:g} {unit}"] if least else []
    sizes += [f"{share:.0%}".replace("%", "\u00a0%")] if share else []
    return f"a difference of {' and '.join(sizes)}"


def assumed(line: Line) -> str:
    """Return which link layer the lines to paste are for, where nobody named one."""
    kind = line.layer.about.partition(":")[0]
    return (
        f"Assumed: {kind}, with {line.layer.overhead} bytes around each packet in the lines below. Another line: "
        "--linklayer vdsl, cable, adsl or lte."
    )


def brief(advice: Advice) -> list[str]:
    """Return the assumptions that change the answer most, a sentence each; the page has all."""
    line = advice.line
    down, up = (_buffer(*one) for one in zip(line.buffers, (line.down_bps, line.up_bps), strict=True))
    about = line.layer.about.partition(":")[0]
    return [
        f"Simulated, {len(advice.result.seeds)} runs of each: {_household()}, all at once; {_spaced(line.rtt)} to "
        f"servers (--rtt); a modem that holds {down} down and {up} up (--modem-buffer); {about}, with "
        f"{line.layer.overhead} bytes around each packet (--linklayer). The rates are those that the modem reports: "
        "where the line has less than the contract, give less.",
        "Not simulated here: Wi-Fi (--wifi typical asks about it), and the router's processor. If top shows a full "
        "core while the line is full, the router is too slow for this rate.",
    ]


def _household() -> str:
    """Return what the household does, without the parameters of it."""
    return ", ".join(re.sub(r" \([^)]*\)", "", says) for _, says in HOUSEHOLD if says)


def assumptions(advice: Advice) -> list[str]:
    """Return what the advice rests on, a sentence each."""
    line, scenario = advice.line, advice.result.scenarios[0]
    down, up = (_buffer(*one) for one in zip(line.buffers, (line.down_bps, line.up_bps), strict=True))
    layer = line.layer
    cells = "" if layer.payload == (1, 1) else " Cells are a share of the rate, without padding of the last."
    seeds, duration, warmup = len(advice.result.seeds), _spaced(scenario["duration"]), _spaced(scenario["warmup"])
    return [
        f"The household does all of this at once: {', '.join(says for _, says in HOUSEHOLD if says)}.",
        "TCP is CUBIC as in Linux, without ECN.",
        f"The round trip to servers takes {_spaced(line.rtt)}; another one: --rtt. Rates are those that the modem "
        "reports (sync) or the provider enforces.",
        f"The modem's queue holds {down} down and {up} up. 256 KB is typical (Kreibich et al., Netalyzr, IMC 2010), "
        "100 ms of a fast line are assumed: on cable without AQM some 250 ms were measured on the uplink (Flickinger "
        "et al., arXiv:2107.13968), and of fibre no such measurement is known. With less a line is better as it is; if "
        "you know yours: --modem-buffer.",
        f"Link layer: {layer.about}; {layer.overhead} bytes around each IP packet ({layer.source}).{cells}",
        *_of_shaper(advice),
        f"Simulated, packet by packet: {seeds} runs of {duration} for each setup, without the first {warmup}, with the "
        "same traffic. A setup is worse where the paired difference from the best is noticeable, and significant at "
        "5 % (Holm).",
        "Behind: the sum over all figures of how far a setup is behind the best, in steps of ITU-T P.800's scale of "
        f"degradations. 1 is noticeable, {ANNOYING_STEPS:g} is annoying, {MOST_STEPS:g} is the most; a grade is one.",
        "Choice: of the best grade within a step of the least sum, the best supported setup within two steps. Support, "
        "best first: nothing to do, CAKE, FQ-CoDel (OpenWrt's SQM has both), what only tc has. Among equals the usual "
        "one is chosen, unless another is more than a step closer.",
        *_stopped(advice),
        *noticeable(),
        *(["Tried is only what routers come with, not FQ-PIE, CoDel and PIE."] if advice.has_only_usual else []),
        f"{GRADE} (dslreports.com/faq/17930). Here both directions are full at once.",
        f"{RPM_IS} The game's median is that of one direction and of the other, added.",
        "Page load is the mean of the pages that finished. A run without one counts with its length, a lower bound "
        "(>). A video that does not start counts as one that stands still.",
        "The video begins with the run at its lowest rate (BBA-0): its mean rate is lower than that of a longer film.",
        "Not simulated: Wi-Fi, other homes on a shared cable, and the router's processor. Shaping is its work, the "
        "more the faster the line: if top shows a full core while the line is full, it is too slow for this rate.",
    ]


def _stopped(advice: Advice) -> list[str]:
    """Why fewer runs than usual were enough."""
    if advice.stopped_at is None:
        return []
    return [
        f"Stopped early: in {advice.stopped_at:.1%} of draws of as many runs from these, with replacement, the same "
        "setup is named; without --quick there are twice as many."
    ]


def _of_shaper(advice: Advice) -> list[str]:
    line = advice.line
    if line.trace:
        return ["The direction up has its mean rate throughout. cake-autorate is not simulated."]
    usual = (
        f"{USUAL_SHARE:.0%} is what OpenWrt's guide to SQM says, and 5 % more of the rate are less than is noticeable. "
    )
    found = [
        f"The router shapes to {line.share or USUAL_SHARE:.0%} of the rate where a setup names no other share. So "
        f"queues build up where it can manage them, not in the modem. {usual}On the downlink it is behind the modem's "
        "queue, so bursts still wait there: a lower --share helps."
    ]
    if _is_cake(advice):
        found.append(
            "CAKE's keyword ingress, by which it counts what it drops as sent, is neither simulated nor in the lines."
        )
    return found


def _is_cake(advice: Advice) -> bool:
    return advice.chosen.down.split()[:1] == ["cake"]


def _spaced(value: str) -> str:
    """A value in tc's notation, to be read.

    >>> _spaced("40ms")
    '40 ms'

    """
    return re.sub(r"(?<=\d)(?=[a-z])", " ", value)


def _buffer(size: str, rate_bps: int) -> str:
    """A buffer, with how long it takes to empty."""
    try:
        parsed = Size.parse(size)
    except ValueError:  # a time
        return _spaced(size)
    if parsed.in_packets:
        return f"{parsed.count} packets"
    return f"{parsed.count / 1024:.0f} KB ({parsed.count * 8000 / rate_bps:.0f} ms)"


def _rate(rate_bps: int) -> str:
    return f"{rate_bps / 1e6:g} Mbit/s"


def _headline(advice: Advice, chosen: Judged, today: Judged) -> str:
    setup = advice.chosen
    if chosen is today:
        if today.grade in POOR:
            return f"Nothing tried here makes this line good: {_no_better(advice, today)}."
        better = "better on the whole" if today.worse else "noticeably better"
        return f"Leave the line as it is: nothing tried here is {better}. Grade {today.grade}."
    if not setup.is_shaped:
        return f"Use {setup.name} ({setup.about}): {_grades(chosen, today)}."
    down, up = map(_rate, advice.line.shaped(setup.share))
    rates = f"shaped to {down} down and {up} up"
    return f"Use {setup.name} ({setup.about}), {rates}: {_grades(chosen, today)}."


def _no_better(advice: Advice, today: Judged) -> str:
    """What the line's poor grade is, and which setup has a better one that costs too much elsewhere."""
    graded = min(advice.verdict.judged, key=lambda one: (place(one.grade), one.behind))
    if place(graded.grade) == place(today.grade):
        return f"grade {today.grade} as it is, and no better with any"
    return (
        f"grade {today.grade} as it is; {graded.name} has {graded.grade}, and is "
        f"{graded.behind - today.behind:.1f} steps further behind over all figures"
    )


def _grades(chosen: Judged, today: Judged) -> str:
    same = chosen.grade == today.grade
    change = f"{chosen.grade}, as it is today" if same else f"{chosen.grade} instead of {today.grade}"
    rpm = f"{chosen.values[RPM].value:.0f} RPM instead of {today.values[RPM].value:.0f}"
    return f"bufferbloat grade {change} ({rpm})"


def _changes(chosen: Judged, today: Judged) -> str:
    """What becomes of pages, game, call and video; a video that never stalls is left out."""
    lag, call = (
        [f"{one.values[name].value:.{digits}f}" for one in (today, chosen)]
        for name, digits in ((GAME_MEDIAN, 0), ("call_mos", 1))
    )
    parts = [_change(_page(today), _page(chosen)), f"the game's lag is {' → '.join(lag)} ms"]
    if float(call[0]) >= GOOD_MOS:
        parts.append(f"the call is good either way (MOS {' → '.join(dict.fromkeys(call))} of {BEST_MOS})")
    else:
        parts.append(f"the call scores {' → '.join(call)} of {BEST_MOS} (MOS; {GOOD_MOS:g} is good)")
    if {_video(today), _video(chosen)} != {STILL}:
        parts.append(_change(_video(today), _video(chosen)))
    return f"With everything in use at once (today → then), {listed(parts)}."


def _change(then: str, now: str) -> str:
    """What was and what is; what they have in common is said once.

    >>> _change("a page takes 2.4 s", "a page takes 0.6 s"), _change("no page finishes in 40 s", "a page takes 3.0 s")
    ('a page takes 2.4 s → 0.6 s', 'no page finishes in 40 s → a page takes 3.0 s')

    """
    both = next((words for words in (TAKES, STALLS) if then.startswith(words) and now.startswith(words)), "")
    return then if then == now else f"{then} → {now.removeprefix(both)}"


def _page(one: Judged) -> str:
    """How long a page takes, and whether any finished."""
    seconds, unseen = one.values["page_load_s"].value, one.unseen.get("page_load_s", 0.0)
    if unseen == 1.0:
        return f"no page finishes in {seconds:.0f} s"
    return f"{TAKES}{'more than ' if unseen else ''}{seconds:.1f} s"


def _video(one: Judged) -> str:
    """How much of a minute the video stands still, and whether it began."""
    unseen = one.unseen.get("video_stall_s", 0.0)
    if unseen == 1.0:
        return "the video does not start"
    often = f" (in {unseen:.0%} of runs it does not start)" if unseen else ""
    return f"{STALLS}{one.values['video_stall_s'].value:.1f} s a minute{often}"


def _too_slow(advice: Advice) -> list[str]:
    """Whether the call and the game alone are more than the line carries."""
    needed_bps = FIXED_BPS + FIXED_PACKETS * 8 * advice.line.layer.overhead
    slow = [name for name, bps in zip(("down", "up"), advice.line.carried, strict=True) if bps < needed_bps]
    if not slow:
        return []
    return [
        f"The call and the game alone need {needed_bps / 1e6:.2f} Mbit/s in each direction, more than the line has "
        f"{' and '.join(slow)}: no queue discipline helps against that."
    ]


def _total(chosen: Judged, today: Judged) -> str:
    """What is carried in all, and of it the download and the backup: first what falls."""

    def change(name: str) -> str:
        now, then = chosen.values[name].value, today.values[name].value
        part = f"{round((now - then) / then, 2) + 0.0:+.0%}".replace("%", "\u00a0%") if then else "from nothing"
        return f"{then:.1f} → {now:.1f} Mbit/s ({part})"

    titles = {"download_mbit": "download", "backup_mbit": "backup"}
    order = sorted(titles, key=lambda name: chosen.values[name].value / (today.values[name].value or float("inf")))
    parts = ", ".join(f"{titles[name]} {change(name)}" for name in order)
    return f"Throughput of all: {change(TOTAL)}; {parts}."


def _state(one: Judged) -> str:
    felt = [f"a call scores {one.values['call_mos'].value:.1f} of {BEST_MOS} (MOS)", _page(one)]
    felt += [] if _video(one) == STILL else [_video(one)]
    return (
        f"With everything in use at once, {listed(felt)}. The game's lag is {one.values[GAME_MEDIAN].value:.0f} ms in "
        f"the median and below {one.values['game_rtt_ms'].value:.0f} ms for 98 of 100 packets; pings rise by "
        f"{one.values[PING].value:.0f} ms."
    )


def why_not(chosen: Judged, other: Judged) -> str:
    """Return why another setup is not named instead."""
    # Of the numbers that are shown.
    ahead = round(chosen.behind, 1) - round(other.behind, 1)
    closer = f"{ahead:.1f} steps closer"
    if place(other.grade) > place(chosen.grade):
        return "its grade is worse"
    if ahead <= 0:
        return "it is no closer"
    if support(other.name) > support(chosen.name):
        return f"{closer}, which is too little for what is less supported"
    return f"{closer}, which is too little to leave what is usual"


def _reason(advice: Advice, chosen: Judged) -> str:
    """Why this setup is named, beside those that are as good, or else the next."""
    verdict = advice.verdict
    others = [*verdict.alike, *verdict.tied]
    if others:
        how = "as good" if verdict.alike and not verdict.tied else "about as good"
        verb = "is" if len(others) == 1 else "are"
        return f"{listed(others)} {verb} {how}; {chosen.name} is named because {_because(chosen.name, others)}."
    runner_up = verdict.of(verdict.runner_up)
    if place(runner_up.grade) > place(chosen.grade):
        return f"The next best, {runner_up.name}, answers more slowly while the line is full: grade {runner_up.grade}."
    if round(chosen.behind, 1) <= round(runner_up.behind, 1):
        return f"Nothing else that was tried is better on the whole; next is {runner_up.name}."
    because = _because(chosen.name, [runner_up.name])
    ahead = (
        f"{round(chosen.behind, 1) - round(runner_up.behind, 1):.1f} steps over all figures, of which 1 is noticeable"
    )
    return f"{runner_up.name} is a little better ({ahead}); {chosen.name} is named because {because}."


def _because(chosen: str, others: Sequence[str]) -> str:
    if chosen == AS_IT_IS:
        return "there is nothing to set up"
    if not all(support(chosen) < support(name) for name in others):
        return "it is the usual choice of those that are as easy to set up"
    return _EASIER.get(chosen.split()[0], "it is easier to set up")


def _instead(advice: Advice, chosen: Judged, name: str) -> str:
    """What is better for somebody to whom one thing matters most."""
    figure = next(figure for figure in FIGURES if figure.name == name)
    pick = max if figure.is_more_better else min
    best = pick(advice.verdict.judged, key=lambda one: one.values[name].value)
    now, then = best.values[name].value, chosen.values[name].value
    change = (
        f"{now / then - 1:+.0%}".replace("%", "\u00a0%")
        if then and name.endswith("_mbit")
        else (f"{best.shown(figure)} instead of {chosen.shown(figure)} {figure.unit.rpartition(', ')[2]}")
    )
    what = "leave the line as it is" if best.name == AS_IT_IS else best.name
    price = f", but grade {best.grade}" if place(best.grade) > place(chosen.grade) else ""
    return f"If {_MATTERS[name]} most: {what} ({change}{price})."


def _varying(advice: Advice) -> list[str]:
    """What of the answer holds for a line whose rate changes all the time."""
    line = advice.line
    if not autorate.varies(line):
        return []
    rates = "the recorded rate" if line.trace else f"{_rate(line.down_bps)} down and {_rate(line.up_bps)} up"
    found = [
        f"The rate of this line changes all the time, and this holds at {rates}. Where the line is slower than the "
        "shaper, the shaper does nothing; where it is faster, the difference is lost. cake-autorate adapts the shaper "
        "by pings."
    ]
    if line.layer.name == "starlink":
        found.append(
            "Starlink changes satellites every 15 s (arXiv:2307.00402), and some of its queues do not show in pings "
            "(cake-autorate, issue 393): if it still stutters with cake-autorate, shape to the lowest rate that you "
            "see."
        )
    return found
