#!/bin/sh
# Builds, once, what `run.py` runs: user-mode Linux with time travel from Debian's kernel source, and the programs
# that measure inside it. They go to ~/.cache/aqmlab/linux (or $AQMLAB_LINUX); the source is removed afterwards.
#   validate/linux/kernel.sh        6 minutes on two cores, 3 GB meanwhile
set -eu
VERSION=6.12
# Timers of the qdiscs and of TCP count in ticks: PIE's update period of 15 ms needs HZ=1000 to be 15 ms.
HZ=1000
here=$(cd "$(dirname "$0")" && pwd)
to=${AQMLAB_LINUX:-${XDG_CACHE_HOME:-$HOME/.cache}/aqmlab/linux}
archive=/usr/src/linux-source-$VERSION.tar.xz
mkdir -p "$to"

missing=""
need() {
	command -v "$1" >/dev/null || missing="$missing $2"
}
need gcc gcc; need make make; need flex flex; need bison bison; need bc bc; need xz xz-utils; need ip iproute2
[ -x "$to/linux" ] || [ -e "$archive" ] || missing="$missing linux-source-$VERSION"
# shellcheck disable=SC2086 # a list of packages
[ -z "$missing" ] || apt-get install -y --no-install-recommends libc6-dev $missing

gcc -std=gnu11 -D_GNU_SOURCE -O2 -Wall -Wextra -Werror -static -o "$to/guest.new" "$here"/guest/*.c
mv "$to/guest.new" "$to/guest"

identity="$VERSION HZ=$HZ registers=12288 $(sha256sum <"$here/kernel.config")"
[ -x "$to/linux" ] && [ "$(cat "$to/identity")" = "$identity" ] && exit

echo "building Linux $VERSION, once (six minutes) ..."
work=$to/build
rm -rf "$work"
mkdir -p "$work/out"
tar -x -C "$work" -f "$archive"
source=$work/linux-source-$VERSION
sed -i "/^config HZ\$/,/^\$/s/default 100\$/default $HZ/" "$source/arch/um/Kconfig"
# Registers of a guest process are kept in a buffer of fixed size, too small for processors with AMX (11 kB).
sed -i "s/DEFINE_LONGS(HOST_FP_SIZE, 2696)/DEFINE_LONGS(HOST_FP_SIZE, 12288)/" "$source/arch/x86/um/user-offsets.c"
kernel() {
	nice make -s -C "$source" ARCH=um O="$work/out" "$@" >>"$work/log" 2>&1 || { tail -n 20 "$work/log" >&2; exit 1; }
}
kernel tinyconfig
grep CONFIG_ "$here/kernel.config" >>"$work/out/.config"
kernel olddefconfig
grep ^CONFIG_ "$here/kernel.config" | while read -r line; do
	grep -qxF "$line" "$work/out/.config" || { echo "kernel.sh: the kernel has no $line" >&2; exit 1; }
done
kernel -j2 linux
mv "$work/out/linux" "$to/linux"
echo "$identity" >"$to/identity"
rm -rf "$work"
