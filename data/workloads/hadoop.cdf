# Sizes of the flows of a Hadoop cluster at Facebook, in bytes.
# Roy et al., "Inside the Social Network's (Datacenter) Network", SIGCOMM 2015, in the points that Li et al. use
# ("HPCC", SIGCOMM 2019; alibaba-edu/High-Precision-Congestion-Control, traffic_gen/FbHdp_distribution.txt). Mean 120 kB.
# Lines: size, then the share of flows that are no larger.
0b        0
100b      0.01
200b      0.02
300b      0.05
350b      0.15
400b      0.2
500b      0.3
600b      0.4
700b      0.5
1000b     0.6
2000b     0.67
7000b     0.7
30000b    0.72
50000b    0.82
80000b    0.87
120000b   0.9
300000b   0.95
1000000b  0.975
2000000b  0.99
10000000b 1
