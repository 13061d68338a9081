# Everything a person runs. `make run` and `make test` are all the set-up there is.
PYTHON ?= python3
BIN := .venv/bin
export PYTHONDONTWRITEBYTECODE = 1

.PHONY: run test check lint types eval browser slow notebooks install install-dev

run: install ## install, index the bundled knowledge base, open the chat on http://127.0.0.1:7860
	$(BIN)/python -m app serve

test: install ## everything that needs no browser, offline
	$(BIN)/python -m pytest -n auto -m "not browser and not load and not crash and not notebook and not ollama"

check: install-dev lint types test slow eval ## what CI runs

lint: install-dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

types: install-dev
	$(BIN)/mypy

slow: install-dev ## browser, load, crash and notebook tests
	$(BIN)/python -m pytest -m "browser or load or crash or notebook"

install: .venv/installed
install-dev: .venv/installed-dev

.venv/installed: requirements.txt constraints.txt
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --disable-pip-version-check uv
	$(BIN)/uv pip install --quiet --python $(BIN)/python -r requirements.txt
	touch $@

.venv/installed-dev: .venv/installed requirements-dev.txt
	$(BIN)/uv pip install --quiet --python $(BIN)/python -r requirements-dev.txt
	touch $@
