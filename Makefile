PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/pip --disable-pip-version-check -q

.PHONY: setup learn test lint types unit docs notebooks docs-output bench-ilp bench-step bench-eval bench-run torture fuzz bench-env bench-rl bench-compare bench-data bench-report pictures clean

setup: .venv/.done

# What `make learn` runs: the core and torch, byte-compiled as they are loaded, which is a small part of torch.
.venv/.core: pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(PIP) install --no-compile -c constraints.txt -e '.[gradient]'
	touch $@

.venv/.done: .venv/.core
	$(PIP) install -c constraints.txt -e '.[all]'
	$(BIN)/python -m compileall -qq -j 2 .venv/lib || true  # some files of packages are templates, not Python
	touch $@

learn: .venv/.core
	$(BIN)/dlm learn family/is-grandparent

test: lint types unit

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: setup
	$(BIN)/mypy

unit: setup
	$(BIN)/pytest -n 2 --dist worksteal

docs: setup  # the documentation site, in build/site; a broken link or name is an error
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

notebooks: setup  # run the notebooks of examples/ and keep what they show
	$(BIN)/python tools/notebooks.py --write

docs-output: setup  # write what the pages' Python prints into their output blocks
	DLM_WRITE_DOCS=1 $(BIN)/pytest -q tests/test_docs.py -k python_in_pages

bench-ilp: setup
	$(BIN)/python -m benchmarks.ilp $(ARGS)

bench-step: setup
	$(BIN)/python -m benchmarks.step $(ARGS)

bench-eval: setup
	$(BIN)/python -m benchmarks.evaluate

bench-run: setup
	$(BIN)/python -m benchmarks.run $(ARGS)

fuzz: setup
	$(BIN)/python -m benchmarks.fuzz $(ARGS)

torture: setup
	PYTHONPATH=tests $(BIN)/python -m benchmarks.torture $(ARGS)

bench-data: setup
	OMP_NUM_THREADS=1 $(BIN)/python -m benchmarks.data $(ARGS)

bench-report: setup
	OMP_NUM_THREADS=1 $(BIN)/python -m benchmarks.report

bench-env: setup
	$(BIN)/python -m benchmarks.env

bench-rl: setup
	$(BIN)/python -m benchmarks.rl $(ARGS)
	$(BIN)/python -m benchmarks.learned_policies

pictures: setup  # screenshots of reports, for the documentation
	OMP_NUM_THREADS=1 $(BIN)/python -m benchmarks.pictures

OLD ?= ../old
bench-compare: setup
	$(BIN)/python -m benchmarks.compare $(OLD) . $(ARGS)

clean:
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .hypothesis
