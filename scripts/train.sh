#!/bin/sh
# Counts where the simulator spends its time, for the compiler (profile-guided optimisation): builds the library with counters,
# runs what follows with it, and writes FOLDER/counts. What is run is not what `make bench` measures.
#
#     scripts/train.sh FOLDER TRIPLE
set -eu
cd "$(dirname "$0")/.."
folder=$1 triple=$2
tools=$PWD/.build/release/bin
merge=$(rustc --print target-libdir)/../bin/llvm-profdata
rm -rf "$folder"
mkdir -p "$folder/raw" "$folder/results"

# With the target named, as for the wheel: the counts are found by names of functions that contain it.
RUSTFLAGS="-Cprofile-generate=$folder/raw" "$tools/maturin" build --release --target "$triple" --compatibility linux \
    --out "$folder" >"$folder/build.log" 2>&1 || { cat "$folder/build.log" >&2; exit 1; }
"$tools/python" -m venv "$folder/counting"
"$folder/counting/bin/pip" install -q --disable-pip-version-check "$folder"/aqmlab-*.whl

compare() {
    "$folder/counting/bin/aqmlab" compare --quiet --no-report --seeds 2 --out "$folder/results/$1" --duration "$2" \
        --rate "$3" --rtt "$4" --aqm "$5" --flows "$6" --flows "$7"
}
compare home 20s 20mbit 40ms fifo,codel,pie,fq_codel,cake "3*cubic" "4*voip"
compare office 10s 200mbit 30ms red,pi2,fq_pie,s-pie,sfq "30*cubic" "10*cbr:rate=2mbit"
compare marks 10s 100mbit 20ms dualpi2,pie,fq_codel "4*prague" "4*cubic:ecn=classic"
compare core 5s 400mbit 50ms fifo,codel,sqm-lru "400*cubic" "20*web"
compare fast 4s 600mbit 60ms fifo,fq_codel "20*bbr3" "10*onoff:rate=5mbit:on=1s:off=1s:transport=cubic"
"$merge" merge -o "$folder/counts" "$folder/raw"
