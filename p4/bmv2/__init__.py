"""PMQECN's data plane in a BMv2 switch: control plane, network, and the comparison with the simulator's program."""
