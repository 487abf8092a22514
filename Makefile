# Needs make and Python 3.11 or newer, nothing else. PYTHON=/path/to/python names an interpreter, ARGS="..." goes to
# pytest and to the benchmark.

VENV  := .venv
BIN   := $(VENV)/$(if $(filter Windows_NT,$(OS)),Scripts,bin)
READY := $(VENV)/.ready
PAGE  := three-services.html
ARGS  :=

.DEFAULT_GOAL := help
.PHONY: demo test lint bench bench-full clean help

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-11s %s\n", $$1, $$2 }' Makefile

demo: $(READY) ## report on a real run and open the page
	$(BIN)/analyze report --manifest sample_traces/three-services/run.json --out $(PAGE)
	@case "$$CI,$$(uname -s),$(OS),$$DISPLAY$$WAYLAND_DISPLAY" in \
	  ,Darwin,*) opener=open ;; \
	  ,*,Windows_NT,*) opener=start ;; \
	  ,*,,?*) opener=xdg-open ;; \
	  *) opener= ;; \
	esac; \
	if [ -n "$$opener" ] && command -v $$opener >/dev/null; then \
	  echo "Opening $(CURDIR)/$(PAGE)"; \
	  $$opener $(PAGE) </dev/null >/dev/null 2>&1 & \
	else \
	  echo "Open this file in a browser: $(CURDIR)/$(PAGE)"; \
	fi

test: $(READY) ## run every test
	$(BIN)/python -m pytest -n auto $(ARGS)

lint: $(READY) ## check format, rules, types and layers
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(READY) ## measure how fast files become a store, in under five minutes
	$(BIN)/python benchmarks/ingest.py --spans 100000 --rounds 3 $(ARGS)

bench-full: $(READY) ## up to ten million spans; takes long, and 30 GB of disk
	$(BIN)/python benchmarks/ingest.py --spans 200000 1600000 $(ARGS)
	$(BIN)/python benchmarks/ingest.py --spans 10000000 --rounds 1 $(ARGS)

clean: ## remove everything that make has made
	rm -rf $(VENV) $(PAGE) $(PAGE:.html=.summary.json) sample_traces/*/.analyze build dist
	rm -rf .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache

# The interpreter is tried by running it: a name on PATH may be a stub that refuses. Newest tested version first.
$(READY): pyproject.toml constraints.txt
	@rm -rf $(VENV); \
	find_python() ( \
	  IFS=:; \
	  for name in python3.13 python3.12 python3.11 python3 python; do \
	    for place in $$PATH; do \
	      "$$place/$$name" -c 'import ensurepip, sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1 \
	        && echo "$$place/$$name" && return; \
	    done; \
	  done; \
	  return 1 \
	); \
	python="$(PYTHON)"; \
	[ -n "$$python" ] || python=$$(find_python) || { \
	  echo "No Python 3.11 or newer with ensurepip on PATH: install one (Debian: python3 and python3-venv)," \
	    "or say make PYTHON=/path/to/python" >&2; exit 1; }; \
	echo "Setting up $(VENV) with $$python"; \
	"$$python" -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --upgrade pip --constraint constraints.txt
	@$(BIN)/python -m pip install --quiet --editable . --group test --group static \
	  --constraint constraints.txt --build-constraint constraints.txt
	@touch $@
