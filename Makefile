# Every target does its own set-up in $(VENV) and needs only Python 3.11+, make and a C++17 compiler.
# tools/venv.sh makes the environment, tools/install.py fills it; both do nothing when nothing changed.

VENV := .venv
PYTHON ?=
ARGS ?=
MINUTES ?= 1

BIN = $(VENV)/bin
SETUP = PYTHON="$(PYTHON)" sh tools/venv.sh "$(VENV)" && "$(BIN)/python" tools/install.py

.DEFAULT_GOAL := help
.PHONY: help demo test try kernels fuzz bench docs links selftest sanitize lint tidy format clean
.NOTPARALLEL:  # two installers must not write to one environment

help:  ## print this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-8s %s\n", $$1, $$2 }' Makefile
	@echo
	@echo 'Variables: ARGS="..." goes to the command a target runs; PYTHON=... names the interpreter;'
	@echo 'VENV=... the environment (.venv).  CXX, CXXFLAGS and CMAKE_ARGS reach the build.'

demo:  ## build, then run the demonstration; its results go to out/
	@$(SETUP) --package
	"$(BIN)/properboost" demo $(ARGS)

# A process more than processors; ARGS=-n0 runs the tests in one.
test:  ## build, then run the tests; ARGS="-k loss -x" goes to pytest
	@$(SETUP) --package test
	"$(BIN)/python" -m pytest -n auto --dist worksteal $(ARGS)

# Nothing is installed: an edit of Python is tried at once, one of C++ when its objects are made.
try:  ## test the sources where they are: ARGS="tests/losses -k tangent" goes to pytest
	@$(SETUP) --in-place test
	PYTHONPATH="$(abspath $(VENV))/properboost/in-place" "$(BIN)/python" -m pytest $(ARGS)

# The objects are those of the package: after the edit of a kernel only it is compiled.
kernels:  ## test the engine without Python: ARGS="-R histogram" goes to ctest, -N lists the tests
	@$(SETUP) --cases
	PATH="$(abspath $(BIN)):$$PATH" ctest --test-dir "$(VENV)/properboost/build" --output-on-failure $(ARGS)

# What breaks is shrunk, printed and kept in out/fuzz; ARGS="--replay fits:123" tries one input again.
fuzz:  ## build, then try random inputs for MINUTES=1; ARGS goes to the fuzzer
	@$(SETUP) --package test
	PATH="$(abspath $(BIN)):$$PATH" PYTHONPATH=tests "$(BIN)/python" -m fuzz --minutes $(MINUTES) $(ARGS)

# asv times whatever is installed, so the package is rebuilt first; asv keeps one record a machine.
bench:  ## build, then time the working tree with asv; ARGS replaces --quick
	@$(SETUP) --package bench
	@grep -qsF "\"$$(uname -n)\"" "$$HOME/.asv-machine.json" \
	  || (cd benchmarks && "$(abspath $(BIN))/python" -m asv machine --yes) >/dev/null
	cd benchmarks && "$(abspath $(BIN))/python" -m asv run --python=same --dry-run --show-stderr $(if $(ARGS),$(ARGS),--quick)

# Sphinx refuses links between pages that lead nowhere; the script counts names and all local links.
docs:  ## build, then make the site in docs/_build/html, without the network; warnings are errors
	@$(SETUP) --package docs
	"$(BIN)/sphinx-build" -W --keep-going -n -q docs docs/_build/html $(ARGS)
	"$(BIN)/python" tools/check_site.py docs/_build/html

links:  ## try the site's links to other sites
	@$(SETUP) --package docs
	"$(BIN)/sphinx-build" -b linkcheck -q docs docs/_build/links $(ARGS)

selftest:  ## test the engine on every processor at hand: the instruction sets, emulators
	@sh tools/selftest.sh

# The package is built first for what its tests need; they run with an extension of their own.
sanitize:  ## run the engine and a third of the tests under sanitizers; ARGS=--short does less
	@$(SETUP) --package test
	PYTHON="$(abspath $(BIN))/python" PATH="$(abspath $(BIN)):$$PATH" sh tools/sanitize.sh $(ARGS)

# stubtest compares the stub with the module, so the package is built first.
lint:  ## check style, types, the stub, spelling, imports and the one-pragma rule
	@$(SETUP) --package lint
	$(MAKE) --no-print-directory -f tools/lint.mk -k -j "$$(getconf _NPROCESSORS_ONLN)" BIN="$(BIN)"

tidy:  ## let clang-tidy read the engine
	@$(SETUP) --package lint
	find cpp -name '*.cpp' | xargs -n 1 -P "$$(getconf _NPROCESSORS_ONLN)" \
	  "$(BIN)/clang-tidy" -p "$(VENV)/properboost/build" --quiet

format:  ## put the sources into the house style
	@$(SETUP) lint
	"$(BIN)/ruff" check --fix-only
	"$(BIN)/ruff" format
	"$(BIN)/clang-format" -i $$($(CPP))

clean:  ## remove everything these targets made
	rm -rf docs/_build docs/gallery docs/api docs/tutorials docs/sg_execution_times.rst
	rm -rf "$(VENV)" build dist out benchmarks/.asv .hypothesis .mypy_cache .pytest_cache .ruff_cache
	find python tests benchmarks docs tools -name __pycache__ -type d -prune -exec rm -rf {} +
