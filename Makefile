# The targets set themselves up: `make demo` works on a fresh checkout.
# Needed beforehand: Python 3.11 or newer with venv, Rust (cargo), a C compiler.

PYTHON := $(shell for python in python3 python3.14 python3.13 python3.12 python3.11; do \
	$$python -c 'import ensurepip, sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$python && break; done)
RUST_SOURCES := Cargo.toml Cargo.lock rust-toolchain.toml pyproject.toml \
	$(shell find crates -name '*.rs' -not -path '*/tests/*' -not -path '*/benches/*') $(wildcard crates/*/Cargo.toml)
PYTHON_SOURCES := python benches ns3 p4 scripts tests validate
BIN := .venv/bin
# What a program of somebody else's may depend on; each comes after what it needs.
CRATES := $(addprefix -p aqm-,core io path sim scenario papers quinn smoltcp testbed)
# How the library for Python is built. With `dev` it consists of the crates that the tests are built of.
PROFILE := release
NATIVE := .venv/native-$(PROFILE)
# A process for each core takes the next test as soon as it is free.
PARALLEL := -n auto --dist worksteal
# What is imported is compiled once, not by each of some thousand processes, whatever containers say.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help setup capi demo test wheel wheel-aarch64 deny bench bench-live bench-playground fuzz many-runs store-check scale sweep-bench coverage verdict-rates diagnosis-rates packetdrill soak nightly playground docs pages laws link-virtual ns3 validate-ns3 validate-ns3-qdiscs validate-wifi validate-linux validate-stacks validate-live validate-p4 quick-papers rust-tests test-rust test-python crates lint lint-subject lint-rust lint-python lock clean tools

help: ## this list
	@grep -hE '^[a-z0-9-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z0-9-]+):.*## /  make \1\t/' | expand -t 16

setup: $(NATIVE) ## build everything into .venv; the command is then .venv/bin/aqmlab

PREFIX := $(CURDIR)/.build/capi
capi: tools ## build libaqmlab for C and C++, with header and pkg-config file: PREFIX=/usr/local (.build/capi)
	cargo build --release --locked -p aqm-capi
	sh scripts/install_capi.sh target/release $(PREFIX)

demo: $(NATIVE) ## compare six disciplines on recorded traffic over a recorded link
	@sh scripts/demo.sh

test: ## all tests, Rust and Python
	@$(MAKE) --no-print-directory --jobs=3 lint rust-tests .venv/docs
	@$(MAKE) --no-print-directory --jobs=2 test-rust test-python

# Beside each other: either waits for one core at times. Make would lend its jobs to cargo, whose children it does not reach.
test-rust:
	MAKEFLAGS= cargo test --locked --workspace -q
	$(BIN)/pytest $(PARALLEL) tests/oracles -o python_files='test_*.py' -o python_functions='test_*'

test-python:
	$(BIN)/pytest $(PARALLEL)

wheel: .build/release/tools playground ## build a wheel and a source distribution for upload, check and try both in empty environments (a quarter of an hour)
	rustup component add llvm-tools
	sh scripts/wheel.sh

wheel-aarch64: .build/release/tools playground ## the wheel for 64-bit ARM, built and checked here, not run
	rustup target add aarch64-unknown-linux-gnu
	sh scripts/wheel.sh --target aarch64-unknown-linux-gnu

rust-tests: tools
	cargo test --locked --workspace -q --no-run

lint: lint-subject lint-rust lint-python ## formatters, linters and type checkers; all findings are errors

lint-subject:
	@git log -1 --format=%s 2>/dev/null | awk 'length > 60 { print "commit subject: " length " characters, at most 60: " $$0; exit 1 }'

lint-rust: tools
	cargo fmt --check
	cargo clippy --locked --workspace --all-targets -q -- -D warnings
	cargo package --offline --locked --allow-dirty -q --no-verify $(CRATES)

crates: tools ## package the crates that others may depend on, and build each from the others' packages (five minutes)
	cargo package --locked $(CRATES)
	@ls -l target/package/*.crate

lint-python: $(NATIVE) .venv/dev
	$(BIN)/ruff check $(PYTHON_SOURCES)
	$(BIN)/ruff format --check $(PYTHON_SOURCES)
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache --no-logo
	$(BIN)/stubtest --mypy-config-file python/stubtest.ini aqmlab._native

deny: ## licences, sources and bans of all crates (needs cargo-deny: cargo install --locked --version 0.18.9 cargo-deny)
	cargo deny --locked --offline check licenses bans sources
	cargo deny --locked --offline --manifest-path fuzz/Cargo.toml check --config $(CURDIR)/deny.toml licenses bans sources

bench: tools ## speed, printed and written to results/bench
	$(PYTHON) benches/core.py
	$(PYTHON) benches/simulator.py

bench-check: tools ## compare instructions per packet with benches/instructions.json (two minutes; needs valgrind)
	$(PYTHON) benches/instructions.py

bench-write: tools ## count instructions per packet and update benches/instructions.json
	$(PYTHON) benches/instructions.py --write

recipe: $(NATIVE) .venv/dev ## follow docs/dev/aqm.md literally in a copy (some minutes)
	AQMLAB_RECIPE=1 $(BIN)/pytest python/tests/contributing_tests.py

FUZZ_SECONDS := 60
fuzz: tools ## fuzz everything that parses and all sequences of calls (a minute for each of 16 targets; needs nightly Rust)
	$(PYTHON) scripts/fuzz.py --seconds $(FUZZ_SECONDS)

many-runs: $(NATIVE) ## a hundred thousand small runs in one process, whose memory must not grow (ten minutes)
	$(BIN)/python scripts/many_runs.py

store-check: $(NATIVE) .venv/dev ## 10 000 reads of a result folder beside a writer at load 4, and every edit of two manifests (half an hour)
	AQMLAB_READS=10000 POLARS_MAX_THREADS=1 $(BIN)/pytest -s python/tests/snapshot_tests.py
	AQMLAB_EDITS=1 $(BIN)/pytest -s python/tests/manifest_tests.py -k traceback

bench-live: $(NATIVE) ## the live link beside a plain forwarding loop, and the error of its rates (two minutes; an idle machine, as root)
	$(BIN)/python benches/live.py

bench-playground: playground ## packets a second of the playground's module and of the native simulator, in turns (two minutes, after the builds)
	node benches/playground.mjs

scale: $(NATIVE) ## cost of building and running a growing network, up to 10 001 nodes (half a minute)
	$(BIN)/python benches/scale.py

nightly: store-check soak ## what takes too long for every change: a flood of a million flows, every edit of a manifest, kills, random cases (over an hour)
	cargo test --locked -p aqm-core --test conformance -q -- --ignored
	AQMLAB_KILLS=30 $(BIN)/pytest $(PARALLEL) python/tests/store_tests.py -k outlive

coverage: $(NATIVE) ## simulate how often intervals cover the truth and marks are wrong: writes docs/reference/error-rates.md (five minutes)
	$(BIN)/python scripts/coverage.py --write docs/reference/error-rates.md
	$(BIN)/python scripts/mark_rates.py --write docs/reference/error-rates.md

verdict-rates: $(NATIVE) ## simulate how often verdicts on claims are wrong: writes docs/reference/error-rates.md (two minutes)
	$(BIN)/python scripts/verdict_rates.py --write docs/reference/error-rates.md

advice-lines: $(NATIVE) ## what `advise` says of 24 lines, quickly and in full: writes docs/explanation/advice-lines.md (ten minutes)
	$(BIN)/python scripts/advice_lines.py docs/explanation/advice-lines.md

PACKETDRILL :=
packetdrill: tools ## play a clone of github.com/google/packetdrill (PACKETDRILL=/path): writes docs/reference/packetdrill.md
	@test -n "$(PACKETDRILL)" || { echo "name a clone of https://github.com/google/packetdrill: make packetdrill PACKETDRILL=/path" >&2; exit 2; }
	$(PYTHON) scripts/packetdrill.py "$(PACKETDRILL)" --write docs/reference/packetdrill.md

diagnosis-rates: $(NATIVE) ## how well captures of 120 simulated lines are diagnosed: writes docs/how-to/diagnose.md (some minutes)
	$(BIN)/python scripts/diagnosis_rates.py --write docs/how-to/diagnose.md

sweep-bench: $(NATIVE) ## what sweeps cost besides their simulation: time, memory, after a kill (some minutes)
	$(BIN)/python benches/sweep.py

soak: $(NATIVE) .venv/dev ## 8000 random scenarios, 2000 cases over all surfaces, 5000 mutated commands, 50 000 mutated files: none may fail its checks, abort or hang (an hour)
	$(BIN)/python tests/soak/soak.py --runs 8000
	$(BIN)/python tests/soak/surfaces.py --runs 2000
	$(BIN)/python tests/soak/commands.py --runs 5000
	$(BIN)/python tests/soak/parsers.py --runs 50000

playground: $(NATIVE) ## build the simulator into a page for browsers: .build/playground/index.html
	rustup target add wasm32-unknown-unknown
	$(BIN)/python scripts/playground.py .build/playground/index.html

docs: $(NATIVE) ## write the reference pages of docs, the manual page, the schemas, Python's keywords and README's picture (two minutes: every RFC 7567 card is measured)
	$(BIN)/python scripts/reference_pages.py docs/reference
	$(BIN)/python scripts/keywords.py python/src/aqmlab/scenario/keywords.py
	$(BIN)/python scripts/architecture_picture.py docs/explanation/architecture.svg
	$(BIN)/python benches/instructions.py --page
	$(BIN)/python scripts/man_page.py python/wheel/data/share/man/man1/aqmlab.1
	$(BIN)/python scripts/discipline_pages.py docs/reference/disciplines
	rm -rf .build/first
	$(BIN)/aqmlab compare --rate 20mbit --rtt 40ms --flows "8*cubic" --aqm fifo,codel,fq_codel --out .build/first --quiet
	$(BIN)/aqmlab plot tradeoff .build/first --out docs/first.svg --force
	rm -rf .build/garden .build/placements
	$(BIN)/aqmlab run experiments/wifi/garden.toml --out .build/garden --quiet
	$(BIN)/aqmlab plot layers .build/garden --out docs/how-to/wifi-layers.svg --force
	$(BIN)/aqmlab plot airtime .build/garden --out docs/how-to/wifi-airtime.svg --force
	$(BIN)/aqmlab run experiments/wifi/placements.toml --out .build/placements --quiet
	$(BIN)/aqmlab plot layers .build/placements --out docs/how-to/wifi-placements.svg --force

pages: playground .venv/docs ## build the site of the documentation: .build/site/index.html
	$(BIN)/python -m sphinx -q -W --keep-going -c docs/site -d .build/doctrees . .build/site
	@echo "open .build/site/index.html"

laws: $(NATIVE) ## check the transports against published formulas and draw docs/laws (five minutes)
	$(BIN)/python scripts/laws.py

validate-ns3: $(NATIVE) validate-ns3-qdiscs ## compare with ns-3 (installs g++ and libns3-dev; a quarter of an hour)
	$(BIN)/python validate/ns3/compare.py

validate-wifi: $(NATIVE) ## compare the Wi-Fi link with ns-3.44 at the points of validate/wifi (some minutes; NS3_WHEEL=/path runs ns-3 itself)
	$(BIN)/python validate/wifi/compare.py --ns3 10

validate-linux: $(NATIVE) ## compare with what a Linux kernel gave (some minutes)
	$(BIN)/python validate/linux/compare.py

link-virtual: $(NATIVE) .venv/dev ## the live link in a Linux kernel in virtual time, to the nanosecond (half a minute; `aqmlab engine build linux` before)
	$(BIN)/pytest python/tests/virtual_link_tests.py

validate-stacks: $(NATIVE) ## compare quinn's congestion controls with ours in 96 cells, and read the logs of those that differ (four minutes)
	$(BIN)/python validate/stacks/compare.py --out validate/stacks/cells.csv
	$(BIN)/python validate/stacks/compare.py --write
	$(BIN)/python validate/stacks/traces.py

validate-live: $(NATIVE) ## compare the live link with the simulator and with Linux in virtual time in up to 120 cells; what is finished is kept (two hours, on an idle machine)
	$(BIN)/python validate/live/compare.py --cells 120 --write

quick-papers: $(NATIVE) ## run the quick forms of all papers: time, and verdicts beside the full forms' (some minutes)
	$(BIN)/python scripts/quick_forms.py

validate-p4: $(NATIVE) ## compile p4/pmqecn.p4 and compare it in BMv2 with the simulator's program, packet by packet (three minutes; needs p4c-bm2-ss, simple_switch and root: PATH or P4_PREFIX=/path); WRITE=1 writes p4/results.md
	cd p4 && ../$(BIN)/python -m bmv2.validate $(if $(WRITE),--write)

validate-ns3-qdiscs: tools ## compare with ns-3's queue discs only, decision by decision (six minutes)
	@test -d /usr/include/ns3 || apt-get install -y g++ libns3-dev
	$(PYTHON) validate/ns3/qdiscs.py

ns3: $(NATIVE) capi ## every discipline as a queue disc of ns-3: its decisions there are repeated here (installs g++ and libns3-dev; two minutes)
	@test -d /usr/include/ns3 || apt-get install -y g++ libns3-dev
	$(BIN)/python ns3/check.py --paper --cost

lock: tools ## write the lock files of the Python packages from pyproject.toml
	sh scripts/lock.sh $(PYTHON)

clean: ## remove what was built (results stay)
	rm -rf .venv .build target python/src/aqmlab/_native*.so

tools:
	@test -n "$(PYTHON)" || { echo "aqmlab needs Python 3.11 or newer with venv: apt-get install python3 python3-venv" >&2; exit 1; }
	@command -v cargo >/dev/null || { echo "aqmlab needs Rust (cargo): see https://rustup.rs" >&2; exit 1; }
	@command -v cc >/dev/null || { echo "aqmlab needs a C compiler (cc): apt-get install gcc libc6-dev" >&2; exit 1; }

.venv/packages: python/requirements.lock | tools
	test -x $(BIN)/pip || $(PYTHON) -m venv .venv
	$(BIN)/pip install -q --disable-pip-version-check --require-hashes -r $<
	@touch $@

.venv/dev: python/requirements-dev.lock .venv/packages
	$(BIN)/pip install -q --disable-pip-version-check --no-compile --require-hashes -r $<
	@touch $@

.venv/docs: python/requirements-docs.lock .venv/dev
	$(BIN)/pip install -q --disable-pip-version-check --no-compile --require-hashes -r $<
	@touch $@

# Not in .venv: Zig is large, and nothing else needs it.
.build/release/tools: python/requirements-release.lock | tools
	test -x .build/release/bin/pip || $(PYTHON) -m venv .build/release
	.build/release/bin/pip install -q --disable-pip-version-check --no-compile --require-hashes -r $<
	@touch $@

$(NATIVE): $(RUST_SOURCES) .venv/packages
	@echo "building the simulator (a minute or two) ..."
	@rm -f .venv/native-*
	@$(BIN)/maturin develop --profile $(PROFILE) --locked >.venv/native.log 2>&1 || { cat .venv/native.log >&2; exit 1; }
	@$(BIN)/python -m compileall -q python/src
	@touch $@
