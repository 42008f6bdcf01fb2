# relgrad: everything that can be made. `make help` lists it.
SHELL       := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
.PHONY: help setup test-setup build demo test faults gpu-sanitize test-unit golden fuzz lint pg-setup pg-install pg-demo bench servers-demo growth-bench memory-bench sites-bench gpu-bench delta-bench gpu-bundle pg-bench servers-bench release deb all install clean

# A clone that another user owns, or one without git, builds too.
export GOFLAGS := -buildvcs=false $(GOFLAGS)

FUZZTIME ?= 30s
REPORT    = go run ./internal/testreport

help: ## list these targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: ## install what this machine lacks (no network where nothing is missing)
	@scripts/setup

build: setup ## make bin/relgrad
	go build -o bin/relgrad ./cmd/relgrad

demo: build ## train a graph network and a factorisation from their SQL scripts (under 5 minutes)
	@scripts/demo

# Of the planted faults every forty-eighth; make faults plants all of them.
test: export RELGRAD_FAULTS ?= 48
# A garbage collector that waits longer halves the work of compiling and of many small queries. Binaries of tests need no
# tables for debuggers, and all packages have been vetted.
test: export GOGC = 300
test: build test-setup pg-setup ## all tests that this machine can run, every forty-eighth planted fault
	go vet ./...
	go test -json -vet=off -ldflags=-w -timeout 25m ./... | $(REPORT)

faults: build pg-setup ## plant every fault into the code and see it caught (more than an hour on two processors)
	go test -v -timeout 3h ./internal/faults

# The checks of both kinds run the same tests, on more random plans than make test.
gpu-sanitize: export RELGRAD_CUDA_PLANS ?= 24
gpu-sanitize: export RELGRAD_CUDA_APART = yes
gpu-sanitize: export RELGRAD_REQUIRE = g++,sanitizers
gpu-sanitize: test-setup ## check kernels of graphics processors for memory errors and races, on the double (15 to 25 minutes)
	for check in memory races; do echo "$$check:"; RELGRAD_MOCK_CHECK=$$check go test -count=1 -vet=off -timeout 3h \
		-run '^(TestChecks|TestOnTheMock|TestCudaDevice|TestCudaUpdates|TestGraphics)$$' \
		./internal/cudamock ./internal/randquery ./kernels/cuda ./executor ./train . || exit 1; done

test-unit: export GOGC = 300
test-unit: setup ## the quick tests: neither data nor Postgres (under 5 minutes once packages are built)
	go test -json -short -vet=off -ldflags=-w ./... | $(REPORT)

golden: setup ## rewrite expected results and generated pages; read the diff before committing it
	scripts/golden
	git --no-pager diff --stat

fuzz: setup ## fuzz each front-end target for FUZZTIME (default 30s)
	scripts/fuzz $(FUZZTIME)

lint: setup ## go vet, and the project's own rules: format, import order, documents
	go vet ./...
	go test ./internal/archtest

# Tests compile the kernels of graphics processors as C++, and open the pages of relgrad board in Chromium. Without these
# programs such tests are skipped, which they say.
test-setup: setup
	@scripts/setup g++ || [ -z "$(findstring g++,$(RELGRAD_REQUIRE))" ]
	@scripts/setup chromium || [ -z "$(findstring chromium,$(RELGRAD_REQUIRE))" ]

# Where no server can be installed, the tests that need one are skipped, which their last lines say.
pg-setup: setup
	@scripts/pg-setup || [ -z "$(findstring pg,$(RELGRAD_REQUIRE))" ]

pg-install: setup ## build and install the Postgres extension for the server that pg_config names
	@scripts/pg-install

pg-demo: pg-install ## train the same two models from psql, on a Postgres server of its own
	@scripts/pg-demo

servers-demo: pg-install ## train where three other Postgres servers have the rows: all on this machine, of their own
	@scripts/servers-demo

bench: export RELGRAD_DATA := $(or $(RELGRAD_DATA),$(abspath $(wildcard ../shared/data)))
bench: build ## measure beside PyTorch, NumPy and others; writes bench/RESULTS.md (about 30 minutes, 3 GB to download)
	@scripts/bench-setup
	bin/relgrad bench --write bench/RESULTS.md

growth-bench: export RELGRAD_DATA := $(or $(RELGRAD_DATA),$(abspath $(wildcard ../shared/data)))
growth-bench: build ## measure as data grow, up to 60 million edges; writes bench/GROWTH.md (about 20 minutes)
	bin/relgrad bench growth --write bench/GROWTH.md

memory-bench: build ## measure within budgets of memory, up to 60 million edges in 4 GiB; writes bench/MEMORY.md
	bin/relgrad bench memory --rounds 1 --write bench/MEMORY.md

sites-bench: export RELGRAD_DATA := $(or $(RELGRAD_DATA),$(abspath $(wildcard ../shared/data)))
sites-bench: build ## measure at several sites of one process; writes bench/SITES.md (about 10 minutes)
	bin/relgrad bench sites --seconds 0.4 --write bench/SITES.md

gpu-bench: build ## measure on the first graphics processor; writes bench/GPU.md (about 5 minutes)
	bin/relgrad bench gpu --write bench/GPU.md

delta-bench: export RELGRAD_DATA := $(or $(RELGRAD_DATA),$(abspath $(wildcard ../shared/data)))
delta-bench: build ## measure tensors in tables of Delta Lake beside other ways; writes bench/DELTA.md (about 10 minutes)
	@scripts/bench-setup
	bin/relgrad bench delta --write bench/DELTA.md

gpu-bundle: setup ## pack dist/gpu-bundle.tar.gz: tests and benchmark for a machine with a card, without Go; NVIDIA=no leaves out NVRTC
	@scripts/gpu-bundle

pg-bench: pg-setup ## measure on a private Postgres server; writes bench/POSTGRES.md (about 5 minutes)
	go test ./bench -run '^$$' -bench Postgres -benchtime 1x -timeout 30m -write

servers-bench: pg-setup ## measure at three private Postgres servers; writes bench/SERVERS.md (about 10 minutes)
	go test ./bench -run '^$$' -bench Servers -benchtime 1x -timeout 30m -write

release: setup ## the command as it is released, with SHA256SUMS, in dist
	@scripts/release

deb: setup ## Debian packages of the command and of the extension for the server that pg_config names, in dist
	@scripts/deb

# What PGXN's client calls.
all: build
install: pg-install

clean: ## remove what was built
	rm -rf bin dist
