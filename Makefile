# Needs Python 3.11 or later and make; everything else goes into .venv.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: demo test check clean

demo: $(VENV)/.installed
	$(BIN)/phenes demo

test: $(VENV)/.installed-dev
	$(BIN)/pytest -n 2 --dist worksteal

check: $(VENV)/.installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyright --pythonpath $(BIN)/python
	$(MAKE) test

clean:
	rm -rf $(VENV) out

# the stamps make the second run quick; a change of versions installs again
$(VENV)/.installed: pyproject.toml constraints.txt | $(BIN)/python
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e .
	touch $@

$(VENV)/.installed-dev: pyproject.toml constraints.txt | $(BIN)/python
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[dev]"
	touch $@ $(VENV)/.installed

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)
