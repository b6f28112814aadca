# Rondo's commands. `make demo` is the main job, `make test` the tests; each installs what it needs.

CARGO ?= cargo
RONDO := target/release/rondo
SEED  ?= 1

.PHONY: all setup build demo test lint bench soak docs registers

all: test

setup:
	@scripts/setup.sh

build: setup
	$(CARGO) build --release --locked

# Main job: Verilog, its check, the paper's testbed with the RTL deciding, the budget, and the same
# transport in a simulated datacenter.
demo: build
	$(RONDO) gen --paths 4 --window 128 --flows 1024 -o out/rtl
	$(RONDO) cosim --all --cycles 200000 --seed $(SEED) --flows 1024 --rtl out/rtl
	$(RONDO) run tests/scenarios/testbed-homogeneous.toml --seed $(SEED)
	$(RONDO) run tests/scenarios/testbed-heterogeneous.toml --seed $(SEED)
	$(RONDO) budget
	$(RONDO) net run tests/scenarios/net/permutation-clos.toml --seed $(SEED) -o out/permutation-clos
	$(RONDO) net all --quick --seed $(SEED) -o out/figures

test: setup
	$(CARGO) test --workspace --locked
	scripts/registers.sh

lint: setup
	$(CARGO) fmt --all -- --check
	$(CARGO) clippy --workspace --all-targets --locked -- -D warnings
	$(CARGO) clippy -p rondo-models --no-default-features --locked -- -D warnings
	$(CARGO) clippy -p rondo --no-default-features --locked -- -D warnings

bench: build
	$(RONDO) bench --block sender --paths 4 --seed $(SEED)
	$(RONDO) net bench --seed $(SEED)
	$(CARGO) bench --locked -p rondo-net --bench queues

# Hours-long confidence, not part of CI: every shape, long runs, planted bugs.
soak: build
	scripts/soak.sh $(SEED)
	tests/planted/run.sh $(SEED)

# What is generated from the register map (models/src/registers): `make test` fails when it differs.
registers: build
	$(RONDO) registers
	scripts/registers.sh --write

# Timing diagrams of the block pages, from real runs.
docs: build
	scripts/docs.sh
