# Rondo's commands. `make demo` is the main job, `make test` the tests; each installs what it needs.

CARGO ?= cargo

.PHONY: all setup test lint

all: test

setup:
	@scripts/setup.sh

test: setup
	$(CARGO) test --workspace --locked

lint: setup
	$(CARGO) fmt --all -- --check
	$(CARGO) clippy --workspace --all-targets --locked -- -D warnings
