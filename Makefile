# The everyday commands; .ci/run is the whole of what must hold.
.PHONY: setup test check pages bench

setup: ## a virtual environment with everything that tests and gates need
	python3 -m venv .venv && .venv/bin/pip install -q uv -c constraints.txt && .venv/bin/uv pip install -q -e '.[test]' -c constraints.txt

test: ## the default tests on all cores
	.venv/bin/python -m pytest -n auto --dist worksteal

check: ## what a commit must pass in a minute: lint, format, types, import contracts
	.venv/bin/ruff check && .venv/bin/ruff format --check && .venv/bin/mypy && .venv/bin/lint-imports

pages: ## make the generated pages and help anew
	.venv/bin/python docs/generate.py

bench: ## one benchmark: make bench run="walks"
	.venv/bin/python -m benchmarks $(run)
