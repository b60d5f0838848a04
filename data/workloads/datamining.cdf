# Sizes of the flows of a data mining cluster, in bytes: four fifths below 10 kB, most bytes in flows above 100 MB.
# Greenberg et al., "VL2: A Scalable and Flexible Data Center Network", SIGCOMM 2009, figure 2, in the points of the
# traffic generator of Bai et al. (HKUST-SING/TrafficGenerator, conf/VL2_CDF.txt). Mean 12.6 MB.
# Lines: size, then the share of flows that are no larger.
0b          0
180b        0.1
216b        0.2
560b        0.3
900b        0.4
1100b       0.5
1870b       0.6
3160b       0.7
10000b      0.8
400000b     0.9
3160000b    0.95
100000000b  0.98
1000000000b 1
