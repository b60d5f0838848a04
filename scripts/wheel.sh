#!/bin/sh
# Builds the wheel, installs it in an empty environment, and uses it where no checkout is: it has to hold everything.
# What is given after the Python goes to `aqmlab reproduce`; unless something is, that is a quick run of a paper.
set -eu
python=$1
shift
cd "$(dirname "$0")/.."
place=$PWD/.build/wheel
rm -rf "$place"
mkdir -p "$place/elsewhere"
"$python" -m venv "$place/venv"
"$place/venv/bin/pip" wheel -q --disable-pip-version-check --no-deps --wheel-dir "$place" .
"$place/venv/bin/pip" install -q --disable-pip-version-check "$place"/aqmlab-*.whl
cd "$place/elsewhere"
"$place/venv/bin/aqmlab" run first-comparison --seeds 1 --quiet --out first
"$place/venv/bin/aqmlab" run mixed-traffic --seeds 1 --quiet --out mixed
[ $# -gt 0 ] || set -- s-pie --quick
"$place/venv/bin/aqmlab" reproduce "$@" --out paper
ls -l "$place"/aqmlab-*.whl
