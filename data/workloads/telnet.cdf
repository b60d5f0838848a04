# Times between the packets that the originator of a Telnet session sends.
# Danzig and Jamin, "tcplib: A Library of TCP Internetwork Traffic Characteristics", USC-CS-91-495, 1991: the 10 000
# equally likely values that ns-2 draws from (tcp/tcplib-telnet.cc), in the quantiles below. Mean 1.09 s.
# Lines: time, then the share of times that are no longer.
606us       0
1165us      0.01
1919us      0.02
2740us      0.03
5806us      0.04
20400us     0.05
67989us     0.1
93407us     0.15
112532us    0.2
135986us    0.25
156273us    0.3
176188us    0.35
193762us    0.4
212397us    0.45
236401us    0.5
267169us    0.55
302824us    0.6
367529us    0.65
420367us    0.7
532294us    0.75
725789us    0.8
831537us    0.82
960031us    0.84
1038970us   0.86
1237187us   0.88
1563819us   0.9
1757312us   0.91
2042979us   0.92
2332133us   0.93
2796211us   0.94
3486177us   0.95
4482960us   0.96
5409128us   0.97
8380743us   0.98
10698852us  0.985
17759039us  0.99
22053215us  0.992
27705676us  0.994
40703480us  0.996
59229398us  0.998
59755855us  0.999
64415309us  0.9995
209921219us 1
