# The checks of `make lint`, side by side: make -f tools/lint.mk -j 2 BIN=.venv/bin

.PHONY: lint types style format pragmas imports words spelling

# Those that take long begin first.
lint: types words style format pragmas imports spelling

# One after the other, because both write to mypy's cache.
types:
	"$(BIN)/mypy"
	"$(BIN)/python" -m mypy.stubtest properboost._core properboost.native_losses

words:
	"$(BIN)/python" tools/check_words.py

style:
	"$(BIN)/ruff" check
	"$(BIN)/ruff" format --check

format:
	find cpp -name '*.hpp' -o -name '*.cpp' | xargs "$(BIN)/clang-format" --dry-run -Werror

pragmas:
	"$(BIN)/python" tools/check_openmp.py

imports:
	"$(BIN)/python" tools/check_imports.py

spelling:
	"$(BIN)/codespell"
