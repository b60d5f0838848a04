#!/bin/sh
# Installs libaqmlab: scripts/install_capi.sh BUILT PREFIX
# BUILT is the folder with libaqmlab.so and libaqmlab.a. `make capi` calls it; $DESTDIR is put before the prefix.
set -eu
built=$1
prefix=$2
root=$(cd "$(dirname "$0")/.." && pwd)
crate=$root/crates/aqm-capi
version=$(sed -n 's/^version = "\(.*\)"$/\1/p' "$root/Cargo.toml" | head -n 1)
interface=${version%.*}
to=${DESTDIR:-}$prefix
mkdir -p "$to/include" "$to/lib/pkgconfig"
install -m 644 "$crate/include/aqmlab.h" "$to/include/aqmlab.h"
strip -g -o "$to/lib/libaqmlab.a" "$built/libaqmlab.a"
strip -g -o "$to/lib/libaqmlab.so.$version" "$built/libaqmlab.so"
ln -sf "libaqmlab.so.$version" "$to/lib/libaqmlab.so.$interface"
ln -sf "libaqmlab.so.$interface" "$to/lib/libaqmlab.so"
sed -e "s|@PREFIX@|$prefix|" -e "s|@VERSION@|$version|" "$crate/aqmlab.pc.in" >"$to/lib/pkgconfig/aqmlab.pc"
