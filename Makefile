# Every target sets up what it needs. `make` alone lists them.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check -q
SAMPLE ?= data/samples/shop
KIND ?= samples
PROFILE ?= default
SUITE ?= data/samples

.DEFAULT_GOAL := help
.PHONY: help setup model demo test docs bad-input mutations peers test-full attacks large check format lock serve doctor record pictures tokens recall extractors ways many machines bench throughput overhead interruptions faults judged clean

help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F':.*## ' '{printf "  make %-13s %s\n", $$1, $$2}'

$(VENV)/.runtime: requirements.txt pyproject.toml
	@$(PYTHON) -c 'import sys; v = sys.version_info; sys.exit(0 if v >= (3, 11) else f"Python 3.11 or newer is needed, this is {v.major}.{v.minor}; try make PYTHON=python3.11")'
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "installing the locked packages (about two minutes the first time)"
	@$(PIP) install --no-deps --require-hashes -r requirements.txt
	@$(PIP) install --no-deps --no-build-isolation -e .
	@touch $@

$(VENV)/.dev: requirements-dev.txt $(VENV)/.runtime
	@$(PIP) install --no-deps --require-hashes -r requirements-dev.txt
	@touch $@

$(VENV)/.docs: requirements-docs.txt $(VENV)/.dev
	@$(PIP) install --no-deps --require-hashes -r requirements-docs.txt
	@touch $@

$(VENV)/.bench: requirements-bench.txt $(VENV)/.dev
	@$(PIP) install --no-deps --require-hashes -r requirements-bench.txt
	@touch $@

EXTRAS := requirements-ocr.txt requirements-databases.txt requirements-stores.txt requirements-machines.txt requirements-s3server.txt

$(VENV)/.extras: $(EXTRAS) $(VENV)/.dev
	@for file in $(EXTRAS); do $(PIP) install --no-deps --require-hashes -r $$file || exit 1; done
	@touch $@

setup: $(VENV)/.dev ## environment for running and developing

model: $(VENV)/.runtime ## get the local model (1.1 GB, once)
	@$(BIN)/tablewright model fetch

demo: model ## answer a bundled question with the local model; no key needed
	@$(BIN)/tablewright answer $(SAMPLE) --profile local

test: setup ## the tests: offline after set-up, under 10 minutes
	@$(BIN)/pytest -n 2 --dist worksteal -m "not service and not browser and not slow and not model"

bad-input: setup ## every case of dirty input as root and not, one line each, and the totals
	@$(BIN)/python tests/bad_input.py

mutations: setup ## 500 damaged and hostile files, each beside three good ones: counts by kind and state; 1 if any breaks the folder
	@$(BIN)/python tests/mutations.py

peers: setup ## the same files read by DuckDB, pandas and polars with their defaults: who is silently wrong
	@$(BIN)/python tests/peers.py

docs: $(VENV)/.docs ## the documentation as web pages, reference made from the code: docs/_build/index.html; a warning is an error
	@$(BIN)/python -m sphinx -W --keep-going -n -q -b html docs docs/_build
	@echo docs/_build/index.html

test-full: $(VENV)/.extras $(VENV)/.docs model ## all tests, with services, browser, faults, large files; writes docs/test-full.md; MORE="-m 'slow or service'": a part
	@$(BIN)/python tests/full.py -n 2 --dist worksteal $(MORE) --hypothesis-profile=deep

attacks: setup ## attack everything by SQL and programs, in each tier, as root and not; 1 if anything escapes
	@$(BIN)/python tests/attacks.py

large: setup ## large files: time and memory of ours, DuckDB, pandas and polars; 1 if ours loses anything
	@$(BIN)/python tests/large.py

check: setup ## format, lint, types, architecture
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/mypy
	@$(BIN)/pytest tests/test_architecture.py

format: setup ## format the code
	@$(BIN)/ruff format .
	@$(BIN)/ruff check --fix .

lock: ## pin the newest allowed versions anew (needs uv)
	uv pip compile pyproject.toml deployments/build.in --extra local --universal --python-version 3.11 --generate-hashes --no-header --no-annotate -q -o requirements.txt
	uv pip compile pyproject.toml deployments/build.in --extra local --extra dev --universal --python-version 3.11 --generate-hashes --no-header --no-annotate -q -c requirements.txt -o requirements-dev.txt
	printf 'psycopg[binary]>=3.2\npymysql>=1.1.1\n' | uv pip compile - -c requirements.txt --universal --python-version 3.11 --generate-hashes --no-header --no-annotate -q -o requirements-databases.txt
	printf 'qdrant-client>=1.15\n' | uv pip compile - -c requirements.txt --universal --python-version 3.11 --generate-hashes --no-header --no-annotate -q -o requirements-stores.txt
	printf 'prefect-dask>=0.3.7\ns3fs>=2026.9\n' | uv pip compile - -c requirements.txt --universal --python-version 3.11 --generate-hashes --no-header --no-annotate -q -o requirements-machines.txt
	printf 'moto[server,s3]>=5\n' | uv pip compile - -c requirements.txt --universal --python-version 3.11 --generate-hashes --no-header --no-annotate -q -o requirements-s3server.txt
	printf 'rapidocr>=3.10\nopencv-python-headless>=4.12\n' | uv pip compile - -c requirements.txt --universal --python-version 3.11 --generate-hashes --no-header --no-annotate -q -o requirements-ocr.txt
	printf 'sphinx>=8\nmyst-parser>=4\nfuro>=2025.9\n' | uv pip compile - -c requirements.txt --universal --python-version 3.11 --generate-hashes --no-header --no-annotate -q -o requirements-docs.txt
	printf 'pytest-benchmark>=5.1\npdfplumber>=0.11\npymupdf4llm>=1\n' | uv pip compile - -c requirements.txt -c requirements-dev.txt --universal --python-version 3.11 --generate-hashes --no-header --no-annotate -q -o requirements-bench.txt

serve: $(VENV)/.runtime ## Prefect server, UI and deployments on this machine
	@$(BIN)/tablewright serve

doctor: $(VENV)/.runtime ## what works on this machine, and what to do about the rest
	@$(BIN)/tablewright doctor

record: setup ## record the samples' model replies anew from MODEL_API_URL (KIND=documents: those of the document tasks, KIND=sales: those of region_sales)
	@$(BIN)/python tests/record.py $(KIND)

pictures: setup ## take the documentation's pictures of a report and of the Prefect UI anew
	@$(BIN)/python tests/pictures.py

tokens: setup ## count the prompt tokens of documents against sending each section all of it; SUITE="DIR …"
	@$(BIN)/python tests/tokens.py --suite $(SUITE)

extractors: setup ## documents of 100 and 1,000 records read by slices and by learned patterns: tokens, wrong and missing cells, seconds; SUITE="DIR …" of folders with truth; writes docs/documents.md
	@$(BIN)/python tests/extractors.py $(if $(filter-out data/samples,$(SUITE)),--suite $(SUITE),--write docs/documents.md)

recall: setup ## how much of what an answer needs is recalled, shown and found: sample, made folders, a suite with SUITE=DIR
	@$(BIN)/python tests/recall.py $(if $(filter-out data/samples,$(SUITE)),--suite $(SUITE))

ways: setup ## first prompt and score with all tables unfolded, folded by votes, folded and merged; PROFILE=NAME, QUESTIONS="NAME …"
	@$(BIN)/python tests/ways.py --profile $(PROFILE) $(if $(QUESTIONS),--questions $(QUESTIONS))

interruptions: setup ## kill, fill, cut off, server and worker too: every fault x ways to go on, each against an undisturbed run; writes docs/resume.md, 1 if one differs
	@$(BIN)/python tests/interruptions.py --write docs/resume.md

many: setup ## the whole answer flow over 300 and 3,000 made tables with a scripted model: seconds by stage, memory; 1 if wrong
	@$(BIN)/python tests/many.py

machines: $(VENV)/.extras ## 40 tasks over two machines (work pool, then Dask) with PostgreSQL and S3; one is killed half way; 1 if anything is missing, wrong or asked twice
	@$(BIN)/python tests/several.py

bench: $(VENV)/.bench ## how fast each part is beside peers, and how it grows; writes docs/performance.md (ONLY="WORDS" for some); 1 if over a limit
	@$(BIN)/python tests/performance.py --write docs/performance.md $(if $(ONLY),--only "$(ONLY)")

throughput: setup ## 100 tasks with a model that answers after 4 s, 8 and 16 at once, against the ideal schedule; 1 if below 0.85
	@$(BIN)/python tests/throughput.py

overhead: setup ## what Prefect costs: seconds by stage and run through it and as plain calls, cached and not; writes docs/prefect.md, 1 if more than 5 % or 2 s
	@$(BIN)/python tests/overhead.py --write docs/prefect.md

faults: setup ## plant faults in right queries and count how many are found; SUITE="DIR …" [GOLD="DIR …"] [ASK=30 STORE=DIR PROFILE=NAME]
	@$(BIN)/python tests/faults.py $(foreach dir,$(filter-out data/samples,$(SUITE)),--suite $(dir)) $(foreach dir,$(GOLD),--gold $(dir)) $(if $(ASK),--ask $(ASK) --profile $(PROFILE) --store $(STORE))

judged: setup ## judge stored attempts without validators, by code, and (FULL=1) by a model; BATCHES="OUT/PROFILE/SUITE …" SUITES=DIR
	@$(BIN)/python tests/judged.py $(BATCHES) --suites $(SUITES) $(if $(FULL),--full --profile $(PROFILE)) $(if $(STORE),--store $(STORE))

clean: ## remove the environment and all runs; the model's file stays in your cache
	rm -rf $(VENV) data/runs
