# The three that matter:  make quickstart,  make unit  and  make test.  All set up all they need by themselves (tools/setup).

# What tools/setup fetched or chose leads; a missing Rust is never fetched silently by a build.
export PATH := $(CURDIR)/.tools/bin:$(PATH)
export MATURIN_NO_INSTALL_RUST := 1
export UV_PYTHON_INSTALL_DIR ?= $(CURDIR)/.tools/python
ifneq ($(wildcard /etc/ssl/certs/ca-certificates.crt),)
export UV_SYSTEM_CERTS ?= 1
endif

.DEFAULT_GOAL := help
.PHONY: quickstart test unit torture check fuzz sanitize bench bench-speed bench-truth bench-gates docs audit dist setup clean help

# A wheel of this version for this processor that lies in dist/ is taken: then nothing is compiled.
VERSION = $(shell sed -n 's/^version = "\(.*\)"/\1/p' pyproject.toml)
WHEEL = $(wildcard dist/webdyno_engine-$(VERSION)-*$(shell uname -m).whl)
quickstart: ## measure a dozen real web servers on this machine and say who wins (6 minutes)
	@tools/setup $(if $(WHEEL),--wheel)
	uv run --no-sync webdyno run quickstart

test: ## set everything up and run every check and test
	@nice tools/test compile & tools/setup --test; status=$$?; wait; exit $$status
	@tools/test

unit: setup ## the unit tests only, a minute on two cores
	tools/test unit

torture: setup ## break disks, processes and machines, and see what is left (less than 40 minutes)
	tools/torture

check: setup ## formats, lint and types only
	tools/test check

FUZZ_SECONDS ?= 60
fuzz: ## look for bytes that confuse the engine, FUZZ_SECONDS (60) per target and stage; needs a nightly Rust and cargo-fuzz
	uv run --no-sync python tools/fuzz.py --seconds $(FUZZ_SECONDS)

sanitize: ## the engine's unsafe part under AddressSanitizer, its parsers under miri (an hour); needs a nightly Rust with miri
	cd engine && RUSTFLAGS=-Zsanitizer=address cargo +nightly test --quiet --target-dir target/sanitize \
		--target $$(rustc -vV | sed -n 's/^host: //p') --lib poll::ring
	cd engine && MIRIFLAGS=-Zmiri-disable-isolation cargo +nightly miri test --quiet --target-dir target/miri --lib wire::

bench: bench-speed bench-truth ## our own speed and truth, side by side with other load tools

bench-speed: setup ## the engine's CPU per request beside every installed load tool (about 5 minutes)
	uv run --no-sync python -m bench.speed

bench-truth: setup ## what every installed load tool says beside what the server really did (about 4 minutes)
	uv run --no-sync python -m bench.truth

bench-gates: setup ## instructions and system calls per request, beside the committed ones (10 seconds)
	uv run --no-sync python -m bench.gates

docs: setup ## write the generated reference pages anew, make the site in target/site/html and follow its links
	uv run --no-sync python tools/reference.py
	uv run --isolated --frozen --only-group docs tools/pages.py

audit: setup ## known holes of all that webdyno installs, and the licences and sources of its crates; asks the network
	uv run --no-sync python tools/audit.py

# The date in a wheel is the commit's, so that the same commit makes the same wheel.
dist: export SOURCE_DATE_EPOCH ?= $(shell git log -1 --format=%ct)
dist: setup ## the wheels into dist/: webdyno, and the engine for x86-64 and ARM64, each with its bill of materials (5 minutes)
	rm -rf dist
	uv build --quiet --wheel --out-dir dist
	uv run --isolated --frozen --only-group dist tools/wheels.py dist
	uv run --no-sync python tools/sbom.py dist/*.whl

setup: ## only set up: uv, Rust and the environment in .venv
	@tools/setup

clean: ## remove what was built and fetched in here; results stay
	rm -rf .venv .tools target engine/target engine/fuzz/target dist .mypy_cache .ruff_cache .pytest_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-11s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)
