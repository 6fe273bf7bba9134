# Everything a person does with a checkout: `make` lists it.
#
# The virtual environment is made once. Two stamp files say what it holds: .core (to use samekind) and .dev (to work on
# it). The second includes the first, so installing it stamps both.

PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip install -qq --disable-pip-version-check
PYTEST := $(BIN)/python -m pytest

# On some CPUs oneDNN's newest bfloat16 kernels end the process (illegal instruction, exit 132, no exception). This holds
# oneDNN one step below them, at the cost of some bfloat16 speed on CPU. It is read when Python starts, hence here.
export ONEDNN_MAX_CPU_ISA = AVX512_CORE_BF16

.DEFAULT_GOAL := help
.PHONY: help demo serve-demo test check format slow device servers browser chromium clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: $(VENV)/.core ## learn from drawn characters, ask about alphabets never shown
	$(BIN)/samekind demo

# The gallery: drawings of the five alphabets that the demo asks about, none of which it was trained on.
ASKED := $(addprefix characters/,Angelic Ge_ez Mongolian Tengwar Tibetan)
serve-demo: $(VENV)/.serve ## the demo's space in a browser: compare, search, enrol, look at the map
	[ -f samekind-demo/report.html ] || $(BIN)/samekind demo
	[ -f samekind-demo/gallery/index.json ] || \
	  $(BIN)/samekind index build samekind-demo $(ASKED) --out samekind-demo/gallery --thumbnails
	$(BIN)/samekind serve samekind-demo --index samekind-demo/gallery --open

# Two processes with one thread each: on few cores, threads inside the processes only get in each other's way.
test check slow browser: export OMP_NUM_THREADS = 1

test: $(VENV)/.dev ## run every test that needs no GPU, no server and no patience
	$(PYTEST) -n 2 --dist worksteal -q

# The three test files belong to `make test` too; here they tell whether structure, names and pages still hold.
check: $(VENV)/.dev ## format, lint, types; import order, public names, the code in the docs
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(PYTEST) -n 2 --dist worksteal -q tests/test_architecture.py tests/test_public.py tests/test_docs.py

format: $(VENV)/.dev ## format the code and fix what the linter can fix
	$(BIN)/ruff check --fix --exit-zero --quiet .
	$(BIN)/ruff format .

# Exit status 5 is pytest's "no tests of that kind", which is no failure.
slow: $(VENV)/.dev ## run the tests that take minutes
	$(PYTEST) -m slow || [ $$? -eq 5 ]

device: $(VENV)/.dev ## run the tests that need a GPU
	$(PYTEST) -m device || [ $$? -eq 5 ]

# Of one server one after the other: they share the one that the first of them starts.
SERVERS = $(PYTEST) -m servers -q tests/index tests/cli/test_index.py tests/serving/test_shared.py
servers: $(VENV)/.dev ## run the tests that start database servers
	@# Side by side: most of the time each waits for its server.
	@$(SERVERS) -k "not milvus" & first=$$!; \
	$(SERVERS) -k "milvus"; second=$$?; \
	wait $$first && exit $$second

# The browser comes from the system: pip has none, and Playwright's own download is not needed.
browser: $(VENV)/.dev chromium ## run the tests of the page in a browser
	$(PYTEST) -m browser -q tests/serving/browser

chromium:
	@command -v chromium >/dev/null || command -v chromium-browser >/dev/null || command -v google-chrome >/dev/null || { \
	  [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && apt-get update -qq && apt-get install -qq -y chromium >/dev/null; } || { \
	  echo "the page is tested in a browser, and none was found; install the package chromium"; exit 1; }

clean: ## remove caches and the demo's output (runs/ and .venv stay)
	rm -rf .mypy_cache .ruff_cache .pytest_cache .hypothesis samekind-demo
	find src tests benchmarks -name __pycache__ -prune -exec rm -rf {} +

$(BIN)/pip:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
	  echo "samekind needs Python 3.11 or newer and found: $$($(PYTHON) --version 2>&1). Try: make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 1; }
	@echo "creating $(VENV) …"
	@$(PYTHON) -m venv $(VENV)

$(VENV)/.core: pyproject.toml constraints.txt requirements.txt | $(BIN)/pip
	@echo "installing samekind into $(VENV) (about a minute the first time) …"
	@$(PIP) -r requirements.txt
	@touch $@

$(VENV)/.serve: $(VENV)/.core
	@$(PIP) -c constraints.txt -e '.[serve]'
	@touch $@

$(VENV)/.dev: pyproject.toml constraints.txt requirements-dev.txt | $(BIN)/pip
	@echo "installing samekind and its development tools into $(VENV) (about two minutes the first time) …"
	@$(PIP) -r requirements-dev.txt
	@touch $(VENV)/.core $(VENV)/.serve $@
