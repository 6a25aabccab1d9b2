# Every target sets up what it needs; a machine with Python, git and make is enough.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
CREATED := $(VENV)/.created
INSTALLED := $(VENV)/.installed
DEV := $(VENV)/.installed-dev
WORKERS ?= 2
BUILT_FROM := pyproject.toml setup.py $(wildcard rdma_robust/*/kernel/*.p[yx][xd])

.DEFAULT_GOAL := help
.PHONY: help run test test-long lint format litmus bench docs promote clean

help: ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /  make \1\t/' | expand -t 20

run: $(INSTALLED) ## decide the whole litmus suite and compare with the `expect` lines
	$(BIN)/rdma-robust --expect litmus/*.rdma

test: $(DEV) ## run all tests but the long ones (under 5 minutes on 2 cores)
	$(BIN)/python -m pytest -q -n $(WORKERS) --dist worksteal

test-long: $(DEV) ## run the agreement tests on ten times as many, larger random programs
	$(BIN)/python -m pytest -q -n $(WORKERS) -m long

lint: $(DEV) ## check style, layout and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(DEV) ## lay out the Python code
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

litmus: $(DEV) ## run the tests of the litmus suite: every engine, both instrumentations, goldens
	$(BIN)/python -m pytest -q -n $(WORKERS) tests/litmus

bench: $(DEV) ## run the benchmarks
	$(BIN)/python -m bench

docs: $(DEV) ## build the documentation site in site/; broken links and anchors are errors
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict

promote: $(DEV) ## rewrite the goldens in litmus/expected/ (never an `expect` line) and the reference pages in docs/
	$(BIN)/python -m tests.litmus.goldens
	$(BIN)/python -m sitegen

clean: ## remove everything that can be made again
	rm -rf $(VENV) build dist site *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
	rm -f rdma_robust/*/kernel/*.so
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(CREATED):
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "Python 3.11 or newer is needed; name one with make PYTHON=..." >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
	@touch $@

$(INSTALLED): $(BUILT_FROM) | $(CREATED)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	@touch $@

$(DEV): $(BUILT_FROM) | $(CREATED)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $(INSTALLED) $@
