# One task runner. `make setup` needs only python3; everything else comes from the lock file.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PACKAGES := $(VENV)/.packages
STAMP := $(VENV)/.stamp
JARS := .jars
PEERS := .venv-peers
# Where it is set, every process compiles what it imports anew, for seconds; the tests start hundreds.
unexport PYTHONDONTWRITEBYTECODE
UV = $(shell command -v uv 2>/dev/null || echo $(VENV)/uv/bin/uv)

.PHONY: setup lock lint format test test-local test-spark test-cluster test-kafka jars fuzz bench bench-spark bench-peers lock-peers demo clean

setup: $(STAMP)

$(PACKAGES): pyproject.toml requirements.lock
	@command -v uv >/dev/null 2>&1 || test -x $(VENV)/uv/bin/uv || \
		{ $(PYTHON) -m venv $(VENV)/uv && $(VENV)/uv/bin/python -m pip install -q uv; }
	@test -x $(BIN)/python || $(UV) venv -q --allow-existing --python $(PYTHON) $(VENV)
	$(UV) pip sync -q --python $(BIN)/python --require-hashes requirements.lock
	$(UV) pip install -q --python $(BIN)/python --no-deps -e .
	@touch $@

$(STAMP): $(PACKAGES)
	@echo "Compiling the kernels, once: three to six minutes on two cores."
	$(BIN)/trendloom warm-up
	@touch $@

LOCKED := -q --universal --python-version 3.11 --generate-hashes \
	--no-annotate --no-header --no-emit-index-url --no-emit-find-links

# Pinned with hashes; `uv pip sync` refuses anything else.
lock:
	$(UV) pip compile $(LOCKED) --all-extras --group dev pyproject.toml -o requirements.lock

# Without caches: ruff's does not notice that an imported file has moved.
lint: $(PACKAGES)
	$(BIN)/ruff check --no-cache .
	$(BIN)/ruff format --no-cache --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(PACKAGES)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# Spark's tests wait for its planner more than for the cores: two processes take half of the time of one.
test: test-local test-spark

test-local: setup
	$(BIN)/pytest -n 2 --dist worksteal --ignore tests/spark

test-spark: setup
	$(BIN)/pytest -n 2 --dist worksteal --timeout 900 --ignore tests/spark/cluster --ignore tests/spark/kafka tests/spark

test-cluster: setup
	$(BIN)/pytest --timeout 600 tests/spark/cluster

test-kafka: setup jars
	$(BIN)/pytest --timeout 600 tests/spark/kafka

# Kafka's broker, and Spark's connector to it, by the Java world's own client.
jars: $(JARS)/broker/.stamp $(JARS)/connector/.stamp

$(JARS)/%/.stamp: tests/spark/kafka/%.xml
	@command -v mvn >/dev/null 2>&1 || \
		{ echo "make $(MAKECMDGOALS): Maven (mvn) is missing; install it to fetch Kafka's jars" >&2; exit 1; }
	rm -rf $(@D)
	mvn -B -q -f $< dependency:copy-dependencies -DincludeScope=runtime -DoutputDirectory=$(CURDIR)/$(@D)
	@touch $@

# Other cases every time; TRENDLOOM_SEED=… repeats a run, TIMES=… draws more.
fuzz: TIMES ?= 5
fuzz: setup
	TRENDLOOM_FUZZ=$(TIMES) $(BIN)/pytest -n 2 --dist worksteal --timeout 0 \
		tests/generated tests/engine/live tests/acel tests/language/test_fuzzed_texts.py

bench: setup
	$(BIN)/python -m benchmarks

bench-spark: setup
	$(BIN)/python -m benchmarks spark_batch spark_stream

# Other systems, in an environment of their own: nothing of theirs is a dependency. Flink needs Java 17 with javac.
bench-peers: setup $(PEERS)/.stamp
	$(BIN)/python -m benchmarks against_peers

$(PEERS)/.stamp: benchmarks/peers/requirements.lock | $(PACKAGES)
	@command -v javac >/dev/null 2>&1 || \
		{ echo "make $(MAKECMDGOALS): javac is missing; install a JDK 17 to compile Flink's program" >&2; exit 1; }
	$(UV) venv -q --allow-existing --python $(PYTHON) $(PEERS)
	$(UV) pip sync -q --python $(PEERS)/bin/python --require-hashes benchmarks/peers/requirements.lock
	@touch $@

lock-peers:
	$(UV) pip compile $(LOCKED) benchmarks/peers/requirements.in -o benchmarks/peers/requirements.lock

demo: setup
	$(BIN)/trendloom demo

clean:
	rm -rf $(VENV) $(PEERS) $(JARS) .mypy_cache .ruff_cache .pytest_cache .hypothesis
