# Everything a person runs; `make run` and `make test` are all the set-up there is.
PYTHON ?= python3
BIN := .venv/bin
NOT_SLOW := not browser and not load and not crash and not notebook and not ollama
SLOW := browser or load or crash or notebook
# Starting from source text takes three times as long, and the tests start many processes.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help run test check lint types slow eval install install-dev

help: ## this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

run: install ## install, index the bundled knowledge base, open the chat on http://127.0.0.1:7860
	$(BIN)/python -m app serve

test: install-dev ## every test that needs no browser; offline, a few minutes
	$(BIN)/python -m pytest -n auto --dist loadfile -m "$(NOT_SLOW)"

check: lint types test slow eval ## what CI runs: lint, types, all tests, quality floors

lint: install-dev ## ruff: format and rules
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

types: install-dev ## mypy, strict
	$(BIN)/mypy

slow: install-dev ## browser, load, crash and notebook tests
	$(BIN)/python -m pytest -n 2 --dist loadfile -m "$(SLOW)"

eval: install ## the embedded default over the goldsets; fails below the floors
	PV_DATA_DIR=build/eval PV_OLLAMA_URL=http://127.0.0.1:9 $(BIN)/python -m app ingest
	PV_DATA_DIR=build/eval PV_OLLAMA_URL=http://127.0.0.1:9 $(BIN)/python -m evaluation floors

install: .venv/installed

install-dev: .venv/installed-dev

.venv/installed: requirements.txt constraints.txt
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --disable-pip-version-check uv
	$(BIN)/uv pip install --quiet --compile-bytecode --python $(BIN)/python -r requirements.txt
	@touch $@

.venv/installed-dev: .venv/installed requirements-dev.txt
	$(BIN)/uv pip install --quiet --compile-bytecode --python $(BIN)/python -r requirements-dev.txt
	@touch $@
