#!/bin/sh
# The main job on real input: six disciplines on recorded traffic and four TCP flows, over a recorded link
# with the deep buffer that such links have. What is given goes to `aqmlab compare`.
set -eu
cd "$(dirname "$0")/.."
.venv/bin/aqmlab compare --rtt 40ms --buffer 500ms --duration 30s --seeds 10 \
    --link-trace data/link-traces/aqmlab-lte.down --capture data/captures/aqmlab-lan.pcap \
    --flows "4*cubic" --aqm fifo,red,codel,pie,fq_codel,s-pie "$@"
echo "The page shows table and figures; the numbers are beside it, and '.venv/bin/aqmlab compare --help' says what else there is."
