# Each target sets up what it needs. PYTHON: which Python makes the environment (3.10 to 3.13).
PYTHON ?= python3
SUITE ?= fixed
KEYS ?= spread
JSON ?= .build/bench/$(SUITE).json
# Left to the suite unless they are given.
BENCH_OPTIONS = $(if $(SF),--sf $(SF)) $(if $(ROWS),--rows $(ROWS)) $(if $(THREADS),--threads $(THREADS)) \
  $(if $(UPDATED),--updated $(UPDATED)) $(if $(STATE),--states $(STATE))
BIN := .venv/bin
FAST := not spark and not dbt and not thrift and not slow and not nightly
ifndef SEED
SEED := $(shell od -An -N3 -tu4 /dev/urandom | tr -d ' ')
endif

# Spark tests that `make test` leaves to `make nightly`, to stay short.
LATER := $(addprefix tests/spark/test_,$(addsuffix .py,\
  char_columns crash edited_queries hidden_columns in_values key_ranges kinds_of_tables lost_history map_order mirrors mixed_types \
  moments put_back random_queries run_memory session_values session_windows silent_changes small_constructs stamps \
  state_part tpcds tpch two_drivers types unions views_as_sources))

# Tests that compare rows, which `make nightly` repeats with other formats of sources and states.
BY_FORMAT := $(addprefix tests/spark/test_,$(addsuffix .py,operators random_queries tpcds tpch))

AT_NIGHT = SPARKIVM_SEED=$(SEED) SPARKIVM_CODEGEN=FALLBACK SPARKIVM_PARTITIONS=2 SPARKIVM_ADAPTIVE=true
LONG_TEST = $(BIN)/python -m pytest --verbose --numprocesses 2  # names a failed test at once

.DEFAULT_GOAL := help
.PHONY: help demo test test-fast nightly nightly-later nightly-marked nightly-ansi-off nightly-formats nightly-fuzz seed lint format golden fuzz packages mutants chaos bench java clean

help:      ## this list
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' $(MAKEFILE_LIST)

demo: .venv java  ## see it work; SF, STATE
	$(BIN)/python -m benchmarks.demo $(if $(SF),--sf $(SF)) $(if $(STATE),--states $(STATE))

test: lint java  ## what each change has to pass: compiler, Spark, Delta, dbt, wheel; 20 minutes on two cores
	$(BIN)/python -m pytest --numprocesses 2 --dist loadfile --no-loadscope-reorder $(addprefix --ignore=,$(LATER))

test-fast: .venv  ## what needs no Java, three minutes on two cores
	$(BIN)/python -m pytest --numprocesses auto -m "$(FAST)"

nightly: nightly-later nightly-marked nightly-ansi-off nightly-formats nightly-fuzz  ## all constructs and queries, a thousand random ones on Spark, 50,000 embedded; in parts; SEED repeats a run

nightly-later: .venv java seed  ## part of it: the Spark tests that `make test` leaves out
	$(AT_NIGHT) $(LONG_TEST) --dist loadfile $(LATER)

nightly-marked: .venv java seed  ## part of it: tests marked `nightly`
	$(AT_NIGHT) $(LONG_TEST) --dist loadgroup -m nightly

nightly-ansi-off: .venv java seed  ## part of it: the Spark tests of `make test` with ANSI off, except those that set it
	$(AT_NIGHT) SPARKIVM_ANSI=false $(LONG_TEST) --dist loadfile --no-loadscope-reorder -m "spark and not nightly" \
	  $(addprefix --ignore=,$(LATER))

nightly-formats: .venv java seed  ## part of it: tests that compare rows, with Iceberg as format of sources, of states, of both
	for formats in delta:iceberg iceberg:delta iceberg:iceberg; do \
	  $(AT_NIGHT) SPARKIVM_SOURCES=$${formats%:*} SPARKIVM_STATES=$${formats#*:} \
	  $(LONG_TEST) --dist loadfile $(BY_FORMAT) || exit 1; done

nightly-fuzz: .venv seed  ## part of it: 50,000 random queries
	$(AT_NIGHT) $(BIN)/python -m tests.fuzz.run --trees 50000 --seed $(SEED)

seed:
	@echo "SEED=$(SEED)"

lint: .venv  ## format, style, types, layers
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: .venv  ## write the format
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

golden: .venv  ## rewrite the golden files; then read the diff
	$(BIN)/python -m pytest tests/golden tests/rules --rewrite

fuzz: .venv java  ## random views, random changes, compared with their recomputation
	$(BIN)/python -m tests.fuzz.run

packages: .venv  ## all models of dbt projects as incremental views, compared: ours, or PROJECTS; SHELVES (folders of dbt packages)
	$(BIN)/python -m tests.packages.run $(PROJECTS) $(if $(SHELVES),--packages $(SHELVES)) --results docs/packages.json
	$(BIN)/python scripts/print_docs.py

chaos: .venv java  ## disturb every kind of refresh at each statement, kill dbt; writes docs/reliability.md; goes on where it was interrupted; PARTS
	$(BIN)/python -u -m tests.chaos.run --page docs/reliability.md --results docs/reliability.json $(if $(PARTS),--parts $(PARTS))

mutants: .venv  ## how many small mistakes in the compiler the fast tests find; goes on where it was interrupted
	$(BIN)/python -m tests.mutants.run

bench: .venv java  ## measure: SUITE (demo, fixed, tpch, project, seeds or growth), SF, KEYS, ROWS, THREADS, UPDATED, STATE, JSON
	mkdir -p $(dir $(JSON))
	$(BIN)/python -m benchmarks.run --suite $(SUITE) --keys $(KEYS) --json $(JSON) $(BENCH_OPTIONS)

java:
	@sh scripts/check_java.sh

.venv: .venv/installed
.venv/installed: constraints.txt pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10) and "Python 3.10 or newer is needed; name one: make PYTHON=python3.12")'
	[ -x $(BIN)/python ] || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip --version >/dev/null 2>&1 || $(BIN)/python -m ensurepip --upgrade
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[dev]'
	touch $@

clean:  ## remove what the targets made
	rm -rf .venv dist build .pytest_cache .mypy_cache .ruff_cache .import_linter_cache
