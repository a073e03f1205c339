# make demo    grades a sample class and says where the feedback is
# make test    lints, type checks and tests
# Both first make the environment .venv, once.

PYTHON ?= python3
BIN := .venv/bin
LABS := pieces random_bert layers
export PIP_DISABLE_PIP_VERSION_CHECK = 1

.PHONY: demo test expected screenshots clean

demo: .venv/ready
	@for lab in $(LABS); do \
	  $(BIN)/grader grade $$lab demo/$$lab --seconds 10 --out results || exit $$?; \
	done

test: .venv/ready
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/python -m pytest -n 2 --dist loadfile

# The values that the students' copies of the labs carry, from the solutions.
expected: .venv/ready
	$(BIN)/python -m grader.expected

# The pictures in the README; needs a chromium.
screenshots: demo
	$(BIN)/python tests/browser/screenshots.py results docs/pictures

.venv/ready: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "grader needs Python 3.11 or newer: make PYTHON=python3.11"; exit 1; }
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet -c constraints.txt -e '.[dev]'
	@touch $@

clean:
	rm -rf .venv results
