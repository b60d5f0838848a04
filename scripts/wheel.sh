#!/bin/sh
# Makes what can be uploaded, a wheel and a source distribution, and tries both, each in an empty environment and where no
# checkout is: they have to hold everything. The wheel's tag is a promise about the C library that it needs (manylinux2014:
# glibc 2.17, of 2012); auditwheel reads from the library whether it is true.
#
#     scripts/wheel.sh [--target TRIPLE] [-- ARGUMENTS of `aqmlab reproduce`]
#
# With --target, a wheel for another machine is built and checked, not run. Without arguments, a paper is reproduced quickly.
set -eu
target=
if [ "${1-}" = --target ]; then
    target=$2
    shift 2
fi
[ "${1-}" != -- ] || shift
[ $# -gt 0 ] || set -- s-pie --quick
cd "$(dirname "$0")/.."
tools=$PWD/.build/release/bin
machine=${target%%-*}
place=$PWD/.build/wheel${machine:+-$machine}
rm -rf "$place"
mkdir -p "$place"

# What is built from here is of this commit; what is unpacked from a source distribution does not know it.
AQMLAB_COMMIT=$(git rev-parse --short=10 HEAD)$(git diff --quiet HEAD || echo +)
export AQMLAB_COMMIT
# The playground comes along.
cp .build/playground/index.html python/src/aqmlab/playground.html
trap 'rm -f python/src/aqmlab/playground.html' EXIT

host=$(rustc --print host-tuple)
# What was counted here is of functions of this machine.
if [ -z "$target" ]; then
    echo "counting where the simulator spends its time (some minutes) ..."
    sh scripts/train.sh "$place/train" "$host"
    export RUSTFLAGS="-Cprofile-use=$place/train/counts"
fi

# maturin looks for Zig on the path.
PATH=$tools:$PATH
echo "building the wheel and the source distribution (some minutes) ..."
{
    maturin sdist --out "$place"
    maturin build --release --strip --zig --compatibility manylinux2014 --target "${target:-$host}" --out "$place"
} >"$place/build.log" 2>&1 || { cat "$place/build.log" >&2; exit 1; }
unset RUSTFLAGS
set -- "$place"/aqmlab-*.whl "$place"/aqmlab-*.tar.gz "$@"
wheel=$1 sdist=$2
shift 2
auditwheel show "$wheel" >"$place/audit.log"
grep -q "^\"manylinux_2_17_${machine:-$(uname -m)}\"\.$" "$place/audit.log" || { cat "$place/audit.log" >&2; exit 1; }
twine check --strict "$wheel" "$sdist"

# Installs a file in an environment of its own, and compares two disciplines with it.
try() {
    "$tools/python" -m venv "$place/$1"
    "$place/$1/bin/pip" install -q --disable-pip-version-check "$2"
    "$place/$1/bin/pip" check --disable-pip-version-check
    mkdir "$place/$1/elsewhere"
    cd "$place/$1/elsewhere"
    "$place/$1/bin/aqmlab" --version
    "$place/$1/bin/aqmlab" run first-comparison --seeds 1 --quiet --no-report --out first
}

if [ -z "$target" ]; then
    try from-sdist "$sdist"
    try from-wheel "$wheel"
    # Another linker and C library: the same version, and the same runs but for what they cost.
    "$place/from-wheel/bin/python" - "$place/from-sdist/elsewhere/first" first <<'END'
import sys
import aqmlab
one, other = map(aqmlab.load, sys.argv[1:])
assert one.manifest["code"] == other.manifest["code"], (one.manifest["code"], other.manifest["code"])
assert one.runs.drop("cpu_s").equals(other.runs.drop("cpu_s"))
END
    "$place/from-wheel/bin/aqmlab" run mixed-traffic --seeds 1 --quiet --out mixed
    "$place/from-wheel/bin/aqmlab" reproduce "$@" --out paper
fi
for made in "$wheel" "$sdist"; do
    printf '%10d bytes  %s\n' "$(wc -c <"$made")" "$made"
done
