# Sizes of a web search cluster's flows, in bytes: query traffic, short messages and background together.
# Alizadeh et al., "Data Center TCP (DCTCP)", SIGCOMM 2010, figure 4, in the points of the traffic generator of
# Bai et al. (HKUST-SING/TrafficGenerator, conf/DCTCP_CDF.txt), which later papers use. Mean 1.71 MB.
# Lines: size, then the share of flows that are no larger.
0b        0
10000b    0.15
20000b    0.2
30000b    0.3
50000b    0.4
80000b    0.53
200000b   0.6
1000000b  0.7
2000000b  0.8
5000000b  0.9
10000000b 0.97
30000000b 1
