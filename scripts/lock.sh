#!/bin/sh
# Writes python/requirements.lock (what users need), python/requirements-dev.lock (what tests need besides, the extras
# among it, so that no test of one is skipped), python/requirements-docs.lock (what the site needs besides those) and
# python/requirements-release.lock (what `make wheel` needs, in an environment of its own) from the ranges in
# pyproject.toml: every package with its exact version, the newest that is allowed, and the hashes of its files for all
# platforms, which pip can check but not list: uv does.
set -eu
cd "$(dirname "$0")/.."
venv=.build/lock
rm -rf "$venv"
"$1" -m venv "$venv"
wanted() { "$venv/bin/python" -c "import tomllib; print('\n'.join(tomllib.load(open('pyproject.toml', 'rb'))$1))"; }
write() {
    "$venv-uv/bin/uv" pip compile -q --no-deps --generate-hashes --no-header --no-annotate --python "$venv/bin/python" \
        "$1" -o "$venv/hashed"
    { echo "# Written by 'make lock' from pyproject.toml."; cat "$venv/hashed"; } >"$2"
}

rm -rf "$venv-uv"
"$1" -m venv "$venv-uv"
"$venv-uv/bin/pip" install -q --disable-pip-version-check uv==0.13.9

{ wanted "['project']['dependencies']"; wanted "['build-system']['requires']"; } >"$venv/wanted"
"$venv/bin/pip" install -q --disable-pip-version-check -r "$venv/wanted"
"$venv/bin/pip" freeze >"$venv/needed.txt"
write "$venv/needed.txt" python/requirements.lock
for extra in arrow dask dev gym pandas tune; do wanted "['project']['optional-dependencies']['$extra']"; done >"$venv/wanted"
"$venv/bin/pip" install -q --disable-pip-version-check -c "$venv/needed.txt" -r "$venv/wanted"
"$venv/bin/pip" freeze | grep -vxFf "$venv/needed.txt" >"$venv/besides.txt"
write "$venv/besides.txt" python/requirements-dev.lock

cat "$venv/needed.txt" "$venv/besides.txt" >"$venv/both.txt"
wanted "['project']['optional-dependencies']['docs']" >"$venv/wanted"
"$venv/bin/pip" install -q --disable-pip-version-check -c "$venv/both.txt" -r "$venv/wanted"
"$venv/bin/pip" freeze | grep -vxFf "$venv/both.txt" >"$venv/site.txt"
write "$venv/site.txt" python/requirements-docs.lock

rm -rf "$venv-release"
"$1" -m venv "$venv-release"
{ wanted "['project']['optional-dependencies']['release']"; wanted "['build-system']['requires']"; } >"$venv/wanted"
"$venv-release/bin/pip" install -q --disable-pip-version-check -r "$venv/wanted"
"$venv-release/bin/pip" freeze >"$venv/release.txt"
write "$venv/release.txt" python/requirements-release.lock
