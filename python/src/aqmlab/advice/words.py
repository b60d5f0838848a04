"""The advice in words: the answer, what it brings and costs, and the assumptions behind it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aqmlab.advice.household import HOUSEHOLD
from aqmlab.advice.verdict import FIGURES, PING, TOTAL, Judged
from aqmlab.advice.ways import AS_IT_IS
from aqmlab.units import format_bytes, format_rate

if TYPE_CHECKING:
    from aqmlab.advice.run import Advice

_NAMES = {figure.name: figure.title.lower() for figure in FIGURES}


def sentences(advice: Advice) -> list[str]:
    """Return the answer, a sentence each."""
    chosen, today = advice.verdict.of(advice.chosen.name), advice.verdict.of(AS_IT_IS)
    found = [_headline(advice, chosen, today)]
    if chosen is not today:
        found += [_gains(chosen, today), _costs(chosen, today)]
    else:
        found.append(_state(chosen))
    if chosen.worse:
        better = (f"{_best(advice, name)} in {_NAMES[name]}" for name in chosen.worse)
        found.append(f"Noticeably better, at the price of the rest: {', '.join(better)}.")
    found.append(_alike(advice))
    return found


def assumptions(advice: Advice) -> list[str]:
    """Return what the advice rests on, a sentence each."""
    line = advice.line
    down, up = line.buffers
    seeds, duration = len(advice.result.seeds), advice.result.scenarios[0]["duration"]
    return [
        f"The household does all of this at once: {', '.join(says for _, says in HOUSEHOLD if says)}.",
        "TCP is CUBIC as in Linux, without ECN.",
        f"Servers are {line.rtt} away. Rates are those that the modem reports (sync) or the provider enforces.",
        f"The modem holds {format_bytes(int(down[:-1])) if down[:-1].isdigit() else down} down and "
        f"{format_bytes(int(up[:-1])) if up[:-1].isdigit() else up} up. 256 KB, and 100 ms of a fast line, is typical "
        "(Kreibich et al., Netalyzr, IMC 2010); if you know better: --modem-buffer.",
        f"Link layer: {line.layer.about}; {line.layer.overhead} bytes around each IP packet ({line.layer.source}). "
        "The simulator takes cells as a share of the rate; padding of the last cell is not counted.",
        *_of_shaper(advice),
        f"Simulated, {seeds} runs of {duration} for each way, the same traffic in all. A way is worse where the paired "
        "difference from the best is significant at 5 % (Holm) and large enough to be noticed.",
        "The grade is that of speed tests: the increase of the round-trip time while the line is full, below 5 ms A+,"
        " 30 A, 60 B, 200 C, 400 D, else F (dslreports.com/faq/17930). Here both directions are full at once.",
        "Not simulated: Wi-Fi, other homes on a shared cable, and what the router's processor can shape.",
    ]


def _of_shaper(advice: Advice) -> list[str]:
    line = advice.line
    if line.trace:
        return [
            "A mobile link varies, so that a fixed shaper is too slow at times and does nothing at others. The way up "
            "has its mean rate throughout. A controller such as cake-autorate is not simulated."
        ]
    return [
        f"The router shapes to {line.share:.0%} of the rate, so that queues build up where it can manage them, not in "
        "the modem. On the way down it is behind the modem's queue, so bursts still wait there: a lower --share helps."
    ]


def _headline(advice: Advice, chosen: Judged, today: Judged) -> str:
    way = advice.chosen
    if chosen is today:
        return f"Leave the line as it is: nothing tried here is noticeably better. Grade {today.grade}."
    if not way.is_shaped:
        return f"Use {way.name} ({way.about}): grade {chosen.grade} instead of {today.grade}."
    down, up = (format_rate(rate) for rate in advice.line.shaped(way.share))
    rates = f"shaped to {down} down and {up} up"
    return f"Use {way.name} ({way.about}), {rates}: grade {chosen.grade} instead of {today.grade}."


def _gains(chosen: Judged, today: Judged) -> str:
    def both(name: str, digits: int) -> tuple[str, str]:
        return f"{chosen.values[name].value:.{digits}f}", f"{today.values[name].value:.{digits}f}"

    mos, pages, game, stalls = (
        both("call_mos", 1),
        both("page_load_s", 1),
        both("game_rtt_ms", 0),
        both("video_stall_s", 1),
    )
    return (
        f"While everything is in use, a call scores {mos[0]} of 4.4 (today {mos[1]}), a page loads in {pages[0]} s "
        f"(today {pages[1]} s), the game's round trip is below {game[0]} ms for 99 of 100 packets (today {game[1]} "
        f"ms), and the video stalls {stalls[0]} s a minute (today {stalls[1]} s)."
    )


def _costs(chosen: Judged, today: Judged) -> str:
    parts = []
    for name, what in (
        (TOTAL, "all goodput together"),
        ("download_mbit", "the download"),
        ("backup_mbit", "the backup"),
    ):
        now, then = chosen.values[name].value, today.values[name].value
        change = f"{(now - then) / then:+.0%}" if then else "from nothing"
        parts.append(f"{what} {then:.2f} to {now:.2f} Mbit/s ({change})")
    return f"Price in goodput: {'; '.join(parts)}."


def _state(one: Judged) -> str:
    return (
        f"While everything is in use, a call scores {one.values['call_mos'].value:.1f} of 4.4, a page loads in "
        f"{one.values['page_load_s'].value:.1f} s, and pings rise by {one.values[PING].value:.0f} ms."
    )


def _best(advice: Advice, name: str) -> str:
    """The way that is best in a figure."""
    figure = next(figure for figure in FIGURES if figure.name == name)
    pick = max if figure.is_more_better else min
    return pick(advice.verdict.judged, key=lambda one: one.values[name].value).name


def _alike(advice: Advice) -> str:
    alike = advice.verdict.alike
    if not alike:
        return "Every other way is noticeably worse in more figures."
    return (
        f"A household cannot tell it apart from {', '.join(alike)}; it is named because it is the "
        f"{'least work' if advice.chosen.name == AS_IT_IS else 'best supported'} of them."
    )
