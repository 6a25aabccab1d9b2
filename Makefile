# Every target sets up what it needs; a machine with Python, git and make is enough.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --quiet --disable-pip-version-check
CREATED := $(VENV)/.created
INSTALLED := $(VENV)/.installed
DEV := $(VENV)/.installed-dev
# Bytecode of the modules: without it (PYTHONDONTWRITEBYTECODE is set) every start would compile them, and every run of the tests
# the tests, with what pytest makes of their assertions: 10 s for each worker.
COMPILED := $(VENV)/.compiled
WORKERS ?= 2
# The versions and hashes of requirements/*.lock are asked for where CI tries them; elsewhere a file may be missing for them.
LOCKED ?= $(shell $(BIN)/python -c 'import sys, platform; print("yes" if sys.platform == "linux" \
	and platform.python_implementation() == "CPython" and (3, 11) <= sys.version_info[:2] <= (3, 13) else "no")')
COMPILE := uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header
ARTIFACT := dist/rdma-robust-artifact
BUILT_FROM := pyproject.toml setup.py $(shell find rdma_robust -name '*.py[xd]' -o -name '*.h')

.DEFAULT_GOAL := help
.PHONY: help run test test-long lint format litmus bench docs playground pictures proofs dist recipe artifact promote lock clean

help: ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /  make \1\t/' | expand -t 20

run: $(INSTALLED) $(COMPILED) ## decide the programs directly in litmus/ and compare with the `expect` lines
	$(BIN)/rdma-robust --expect litmus/*.rdma

test: $(DEV) $(COMPILED) ## run all tests but the long ones (under 5 minutes on 2 cores)
	PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest -q -n $(WORKERS) --dist worksteal

test-long: $(DEV) ## run the agreement tests on ten times as many, larger random programs
	$(BIN)/python -m pytest -q -n $(WORKERS) -m 'long or ci'

lint: $(DEV) ## check style, layout and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(DEV) ## lay out the Python code
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

litmus: $(DEV) ## run the tests of the litmus suite: every engine, both instrumentations, goldens
	$(BIN)/python -m pytest -q -n $(WORKERS) -m 'not long' tests/litmus

bench: $(DEV) $(COMPILED) ## run the benchmarks
	$(BIN)/python -m bench

docs: $(DEV) ## build the documentation site in site/; broken links and anchors are errors
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict

playground: $(INSTALLED) ## make the page in which the tool runs, in build/playground (needs node and npm)
	$(BIN)/python -m sitegen.playground

pictures: $(DEV) ## take the pictures of the explorer and of a report in docs/pictures anew (needs chromium)
	$(BIN)/python -m sitegen.screenshots

proofs: ## compile the machine-checked proofs and check them once more (needs Debian's coq)
	@if command -v coqc >/dev/null; then $(MAKE) -C proofs check; else echo "NOT RUN: without coqc the proofs are not checked"; fi

dist: $(DEV) ## build the sdist and, from it, a wheel in dist/
	rm -f dist/*.whl dist/rdma_robust-*.tar.gz
	$(BIN)/python -m build --no-isolation

recipe: dist ## write dist/recipe.yaml, the recipe for conda-forge with the hash of the sdist
	$(BIN)/python release/fill_recipe.py

artifact: $(VENV)/.dependencies ## pack sources, packages and expected output for a review without a network, dist/rdma-robust-artifact.tar.gz
	rm -rf $(ARTIFACT) && mkdir -p $(ARTIFACT)/wheels
	git archive HEAD | tar -x -C $(ARTIFACT)
	cp docs/artifact.md $(ARTIFACT)/ARTIFACT.md
	$(PIP) download --only-binary :all: --require-hashes --requirement requirements/dev.lock --dest $(ARTIFACT)/wheels
	$(PIP) wheel --no-deps --no-build-isolation --wheel-dir $(ARTIFACT)/wheels ./$(ARTIFACT)
	rm -rf $(ARTIFACT)/build $(ARTIFACT)/*.egg-info
	$(BIN)/python -c 'import sys, sysconfig; print(sys.version, sysconfig.get_platform())' > $(ARTIFACT)/wheels/PLATFORM
	$(BIN)/python $(ARTIFACT)/release/reproduce.py --record
	rm -rf $(ARTIFACT)/.venv $(ARTIFACT)/certificates
	tar -czf $(ARTIFACT).tar.gz -C dist $(notdir $(ARTIFACT))

promote: $(DEV) ## rewrite the goldens in litmus/expected/ (never an `expect` line) and the reference pages in docs/
	$(BIN)/python -m tests.litmus.goldens
	$(BIN)/python -m tests.litmus.prove_goldens
	$(BIN)/python -m tests.litmus.message_goldens
	$(BIN)/python -m sitegen

lock: $(CREATED) ## resolve requirements/*.lock anew, to the newest versions that pyproject.toml allows
	$(PIP) install uv
	$(BIN)/$(COMPILE) --upgrade --extra dev pyproject.toml --output-file requirements/dev.lock
	$(BIN)/$(COMPILE) --upgrade --extra build pyproject.toml --constraint requirements/dev.lock --output-file requirements/run.lock

clean: ## remove everything that can be made again
	rm -rf $(VENV) build dist site *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find rdma_robust -name '*.so' -delete
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(CREATED):
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "Python 3.11 or newer is needed; name one with make PYTHON=..." >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
	@touch $@

# $(call dependencies,LOCK,EXTRA): install what LOCK pins, or where that is not tried, what pyproject.toml allows.
define dependencies
	@case "$(LOCKED)" in \
	yes) $(PIP) install --require-hashes --requirement requirements/$(1).lock || { \
		echo "requirements/$(1).lock cannot be installed here (see above);" >&2; \
		echo "make LOCKED=no takes the versions that pyproject.toml allows, without comparing hashes" >&2; exit 1; } ;; \
	*) echo "not using requirements/$(1).lock, which is for CPython 3.11 to 3.13 on Linux (LOCKED=yes uses it anyway)" >&2; \
		$(PIP) install --editable '.[$(2)]' ;; \
	esac
endef

$(VENV)/.dependencies: requirements/run.lock pyproject.toml | $(CREATED)
	$(call dependencies,run,build)
	@touch $@

$(VENV)/.dependencies-dev: requirements/dev.lock pyproject.toml | $(CREATED)
	$(call dependencies,dev,dev)
	@touch $(VENV)/.dependencies $@

$(INSTALLED): $(VENV)/.dependencies $(BUILT_FROM)
	$(PIP) install --no-deps --no-build-isolation --editable .
	@$(BIN)/python -m compileall -q rdma_robust
	@touch $@

$(DEV): $(VENV)/.dependencies-dev $(BUILT_FROM)
	$(PIP) install --no-deps --no-build-isolation --editable .
	@$(BIN)/python -m compileall -q rdma_robust
	@touch $(INSTALLED) $@

$(COMPILED): $(shell find rdma_robust -name '*.py') | $(CREATED)
	@$(BIN)/python -m compileall -q rdma_robust
	@touch $@
