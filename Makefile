# Needs Python 3.11 or later and make; everything else goes into .venv.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: demo test laws rl runs lab pages due golden check docs clean

demo: $(VENV)/.installed
	$(BIN)/phenes demo

test: $(VENV)/.installed-dev
	$(BIN)/pytest -n 2 --dist loadfile

# a tier of tests/tiers.py, changed or not; `make due` runs those whose code changed, as CI does
laws rl runs lab pages: $(VENV)/.installed-dev
	$(BIN)/python -m tests.tiers run $@

due: $(VENV)/.installed-dev
	$(BIN)/python -m tests.tiers run due

# short seeded runs of BASE and of the work tree, compared bit for bit; ONLY="learn run_" selects
golden: $(VENV)/.installed-dev
	$(BIN)/python tools/golden.py "$(BASE)" $(ONLY)

check: $(VENV)/.installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyright --pythonpath $(BIN)/python
	$(MAKE) test

# every figure is drawn anew if the library has changed; a warning is an error
docs: $(VENV)/.installed-docs
	$(BIN)/sphinx-build -W --keep-going -b html docs docs/_build/html
	@echo "The pages are in docs/_build/html/index.html."

clean:
	rm -rf $(VENV) .cache out docs/_build docs/_figures

# the stamps make the second run quick; a change of versions installs again
$(VENV)/.installed: pyproject.toml constraints.txt | $(BIN)/python
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e .
	touch $@

$(VENV)/.installed-dev: pyproject.toml lab/pyproject.toml constraints.txt | $(BIN)/python
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[dev]" -e ./lab
	touch $@ $(VENV)/.installed

$(VENV)/.installed-docs: pyproject.toml lab/pyproject.toml constraints.txt | $(BIN)/python
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[docs]" -e ./lab
	touch $@ $(VENV)/.installed

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)
