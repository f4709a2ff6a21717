# All that is needed is Python 3.11 or newer, git and make.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

.PHONY: help demo test lint bench quality stress readme clean

help:            ## Say what there is
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

$(STAMP): pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	@touch $@

demo: $(STAMP)   ## Write the demo session, save a checkpoint of it into a temporary repository, show it
	@$(BIN)/python demo/run.py --checkpoint $(BIN)/checkpoint

readme: $(STAMP) ## Put the demo's document into the README
	@$(BIN)/python demo/excerpt.py --write

test: $(STAMP)   ## Run the tests
	$(BIN)/python -m pytest

lint: $(STAMP)   ## Check style, types and the direction of imports
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(STAMP)  ## Measure against bare decoding, a bare commit and a bare process
	$(BIN)/python bench/bench.py

quality: $(STAMP) ## Measure what documents keep; SESSIONS="a b": sample their lines into sheet.tsv
	$(BIN)/python bench/quality.py
	@if [ -n "$(SESSIONS)" ]; then $(BIN)/python bench/sheet.py $(SESSIONS) > sheet.tsv; fi

stress: $(STAMP) ## The long fault and load runs
	$(BIN)/python -m pytest -m stress

clean:           ## Remove what was built
	rm -rf $(VENV) dist build .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
