# SPDX-License-Identifier: Apache-2.0
PREFIX ?= /usr/local
FUZZ_SECONDS ?= 300
LINT ?=
KAI ?=
SUITE ?=
RUNS ?= 10
SEED ?= 1
WHO ?= muster
LOAD ?= whole
MINUTES ?= 60
# Warnings are errors for developers; never in the build of `make build`, whose compiler may be newer than ours.
ASAN = -Doptimization=1 -Db_sanitize=address,undefined -Dwerror=true

.DEFAULT_GOAL := help
.PHONY: help build run test cluster conformance kai-e2e bench blows soak fuzz lint format coverage install clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

build: ## install what is missing and build the program: build/muster
	@scripts/install-deps build
	@scripts/build build/release -Db_lto=true -Ddebug=false -Dtests=false
	@ln -sf release/muster build/muster

run: build ## build, simulate a day of three teams and write a report, then run three teams on pretended nodes, live
	./build/muster simulate examples/three-teams/cluster --trace examples/three-teams/day.csv --report build/report.html
	@scripts/first-run build/muster

test: ## build with sanitizers and run every test suite; FUZZ_SECONDS=N fuzzes for N seconds (120)
	@scripts/install-deps build
	@scripts/install-deps test
	@scripts/install-deps ui
	@scripts/install-deps fuzz
	@scripts/install-deps cluster
	@scripts/install-deps machine
	@python3 tests/cluster/build.py
	@scripts/build build/asan $(ASAN)
	@scripts/test

cluster: ## build a real Kubernetes from its Go modules, once, and try the CRDs on it
	@scripts/install-deps cluster
	python3 tests/cluster/build.py
	tests/cluster/run

conformance: ## run Kubernetes' conformance cases against `muster up`, on fake nodes and with processes, and write their page
	@scripts/install-deps build
	@scripts/install-deps cluster
	@scripts/build build/asan $(ASAN)
	tests/conformance/conformance.py --write

kai-e2e: ## run KAI Scheduler's own suites against Muster: KAI=DIR, a copy of its source; SUITE=NAME, one of them
	@test -n "$(KAI)" || { echo "make kai-e2e KAI=DIR: DIR is a copy of KAI Scheduler's source, v0.17.0"; exit 2; }
	@scripts/install-deps build
	@scripts/install-deps cluster
	@python3 tests/cluster/build.py
	@scripts/build build/asan $(ASAN)
	tests/e2e/kai.py --kai $(KAI) $(SUITE)
	tests/e2e/report.py

bench: build ## run the benchmarks and print their figures
	@ninja --quiet -C build/release steady devices-bench
	bench/run
	bench/month
	bench/traces

blows: build ## kill the API server, with ETCD=1 etcd too, under load: RUNS (10) runs from SEED (1) on, of WHO with LOAD
	@scripts/install-deps cluster
	@python3 tests/cluster/build.py
	bench/blows --runs $(RUNS) --seed $(SEED) --who $(WHO) --load $(LOAD) $(if $(ETCD),--etcd)

soak: build ## random load and faults with every service installed, for MINUTES (60) from SEED (1)
	@scripts/install-deps cluster
	@python3 tests/cluster/build.py
	MUSTER=$(CURDIR)/build/muster tests/soak/run --minutes $(MINUTES) --seed $(SEED) --write

fuzz: ## run every fuzzer, FUZZ_SECONDS (300) in total
	@scripts/install-deps build
	@scripts/install-deps fuzz
	scripts/fuzz $(FUZZ_SECONDS)

lint: ## check format, layers, names, spelling and run the analysers; LINT=--fast leaves out the slow one
	@scripts/install-deps build
	@scripts/install-deps test
	@scripts/install-deps lint
	@scripts/build build/asan $(ASAN)
	@scripts/lint $(LINT)

format: ## format the C sources
	@scripts/install-deps lint
	find $(wildcard src tests bench) -name '*.[ch]' -exec clang-format-19 -i {} +

coverage: ## run the tests and show which lines they reach
	@scripts/install-deps build
	@scripts/install-deps test
	@scripts/install-deps coverage
	scripts/coverage

install: build ## install into $(DESTDIR)$(PREFIX)
	install -D -m 755 build/release/muster $(DESTDIR)$(PREFIX)/bin/muster
	install -D -m 755 -t $(DESTDIR)$(PREFIX)/lib/muster build/release/src/gpu/tenant/libmuster-gpu.so
	install -D -m 755 -t $(DESTDIR)$(PREFIX)/lib/muster/proxy build/release/src/gpu/tenant/libmuster-gpu-core.so \
		build/release/src/gpu/tenant/libcuda.so.1 build/release/src/gpu/tenant/libnvidia-ml.so.1
	scripts/install-texts build/release/muster $(DESTDIR)$(PREFIX)/share
	deploy/systemd/install $(PREFIX)/bin/muster $(DESTDIR)$(PREFIX)/lib

dist: build ## build the image, chart, Debian package, bill of materials and checksums into build/dist
	@mkdir -p build/dist && rm -f build/dist/*
	@deploy/image/oci build/release build/dist/muster-image.tar
	@deploy/image/package build/release build/dist
	@deploy/image/sbom build/release build/dist/muster.spdx.json
	@tar -czhf build/dist/muster-chart.tgz -C deploy/chart --owner=0 --group=0 --sort=name --exclude=.helmignore muster
	@cd build/dist && sha256sum -- * >SHA256SUMS && cat SHA256SUMS

clean: ## remove what was built
	rm -rf build
