"""What a household does with its line, all at once."""

from __future__ import annotations

# What does not yield when the line is full, a second in each direction: the call (packets of 200 bytes) and the game.
FIXED_BPS, FIXED_PACKETS = (200 + 172) * 8 * 50, 100

# Flows over the topology of a line, and their description. Each service is another host, since CAKE distinguishes
# hosts.
HOUSEHOLD = (
    ("1*voip:name=call:from=callee:to=phone", "a call (G.711)"),
    (
        "1*arrivals:name=game_down:from=arena:to=console:gap=20ms:size=172b",
        "a game (50 small packets a second in each direction)",
    ),
    ("1*arrivals:name=game_up:from=console:to=arena:gap=20ms:size=172b", ""),
    ("2*web:name=pages:from=sites:to=laptop:transport=cubic:profile=linux:pause=2s..6s", "two people who browse"),
    ("1*video:from=films:to=tv:transport=cubic:profile=linux", "a video (adaptive, up to 5.8 Mbit/s)"),
    ("1*cubic:name=download:from=files:to=laptop:profile=linux", "a download"),
    ("1*cubic:name=backup:from=laptop:to=files:profile=linux", "a backup to the cloud"),
    ("1*arrivals:name=ping_down:from=arena:to=console:gap=200ms:size=56b", "and a ping, for the grade"),
    ("1*arrivals:name=ping_up:from=console:to=arena:gap=200ms:size=56b", ""),
)
