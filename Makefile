# make compare   set up, then judge the op graph and the fused layer at the real size, and compare them
# make test      set up, then run the test suite on two cores (with the real ttnn where it installs)
# make lint      ruff, mypy and clang-format
COMPARE ?= op_graph fused_layer
PYTEST ?=

compare: .venv/.ready
	.venv/bin/layerbench compare $(COMPARE)

test: .venv-test/.ready
	.venv-test/bin/python -m pytest -n 2 --dist loadfile $(PYTEST)

lint: .venv-test/.ready
	.venv-test/bin/ruff check .
	.venv-test/bin/ruff format --check .
	.venv-test/bin/mypy
	find harness kernels tests -name '*.h' -o -name '*.hpp' -o -name '*.cpp' | xargs -r .venv-test/bin/clang-format --dry-run -Werror

.venv/.ready: pyproject.toml .ci/venv
	sh .ci/venv .venv run
	touch $@

.venv-test/.ready: pyproject.toml .ci/venv
	sh .ci/venv .venv-test test
	touch $@

clean:
	rm -rf .venv .venv-test

.PHONY: compare test lint clean
