#!/bin/sh
# Writes python/requirements.lock (what users need) and python/requirements-dev.lock (what tests need besides)
# from the ranges in pyproject.toml: every package with its exact version, the newest that is allowed.
set -eu
cd "$(dirname "$0")/.."
venv=.build/lock
rm -rf "$venv"
"$1" -m venv "$venv"
wanted() { "$venv/bin/python" -c "import tomllib; print('\n'.join(tomllib.load(open('pyproject.toml', 'rb'))$1))"; }
write() { { echo "# Written by 'make lock' from pyproject.toml."; cat; } >"$1"; }

{ wanted "['project']['dependencies']"; wanted "['build-system']['requires']"; } >"$venv/wanted"
"$venv/bin/pip" install -q --disable-pip-version-check -r "$venv/wanted"
"$venv/bin/pip" freeze | write python/requirements.lock
wanted "['project']['optional-dependencies']['dev']" >"$venv/wanted"
"$venv/bin/pip" install -q --disable-pip-version-check -c python/requirements.lock -r "$venv/wanted"
"$venv/bin/pip" freeze | grep -vxFf python/requirements.lock | write python/requirements-dev.lock
