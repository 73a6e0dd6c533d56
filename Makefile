# The few commands that a person needs. Each is a script in tools/, which says in its head what it does.

.PHONY: help run demo test clients torture sanitize conformance release bench bench-storage bench-engine
.DEFAULT_GOAL := help

# Where `make run` listens.
PORT ?= 3306
# Clients of `make clients`; none for all.
NAMES ?=
# Minutes of `make torture`, and where its chance begins (a failure prints the seed that repeats it).
MINUTES ?= 30
SEED ?= $(shell date +%s)
# For the benchmarks; see `make bench-storage BENCH_ARGS=--help`, `make bench-engine BENCH_ARGS=--help`.
BENCH_ARGS ?=

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 26

run: ## a server on 127.0.0.1:PORT=3306 with its data in data/, until Ctrl-C
	cargo run --release -p meseta -- serve --datadir=data --port=$(PORT)

demo: ## the storage engine at work: load, update, commit, crash, recover (about ten seconds, in data/demo)
	cargo run --release -p meseta -- demo

test: ## everything that must pass before a change is merged; installs what it needs
	tools/test

clients: ## sysbench, go-tpc, drivers against a server of their own: all, or NAMES="sysbench pymysql"
	tools/setup
	tests/clients/run $(NAMES)

torture: ## power losses, models, histories, fuzzing and interleavings for MINUTES=30 with SEED=...
	tools/torture $(MINUTES) $(SEED)

sanitize: ## unit tests under Miri and ThreadSanitizer, where a nightly compiler is installed
	tools/sanitize

conformance: ## how much of CORPUS=folder (statements with a byte 0 between them) is read as MySQL reads it
	cargo run --release -p meseta-parser --example conformance -- "$(CORPUS)"

release: ## the program as it should be installed, target/optimized/meseta: compiled with a profile of itself at work (8 minutes)
	tools/release

bench: ## ten minutes: the server beside the floor, compared with the recorded baseline (BENCH_ARGS=--record writes it)
	tools/setup
	tools/bench $(BENCH_ARGS)

bench-storage: ## the storage engine beside four others, with BENCH_ARGS="..."
	tools/setup bench
	cd bench/storage && cargo run --release -- $(BENCH_ARGS)

bench-engine: ## transactions from one thread to a thousand, with BENCH_ARGS="..."
	tools/setup
	cd bench/engine && cargo run --release -- $(BENCH_ARGS)
