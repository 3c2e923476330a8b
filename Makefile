# helixd. Every target sets up what it needs and may run again at once.
SHELL := /bin/bash
GO ?= go
STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.7.0

.DEFAULT_GOAL := help
.PHONY: help demo test test-17 test-long chaos bench check fmt dev dev-down build quick build-record engines setup fuzz vuln release faketime

help: ## this list
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: setup ## three devices edit notes offline and come together; skills run; speech becomes text; memories become patterns (2 min)
	@$(GO) run ./testenv/playground demo

test: setup faketime check ## format, vet, lint and all tests, with the race detector but for the attacks (45 min)
	$(GO) test -race -timeout 20m $$($(GO) list ./... | grep -v -e /attack -e cmd/helixd -e examples/ -e /deploy)
	$(GO) test -race -timeout 30m -p 1 -skip '^TestChaos$$' ./cmd/helixd ./deploy ./examples/... # one by one: they start many processes, and wait for them
	$(GO) test -race -run '^TestChaos$$' ./cmd/helixd # 90 s, alone: it breaks the whole project
	cd deploy/kubernetes && $(GO) test ./...
	cd bench && $(GO) vet . && $(GO) test .
	$(GO) test -p 1 ./reactors/skills/attack ./reactors/voice/decode/attack ./reactors/synthesis ./reactors/synthesis/cluster ./reactors/synthesis/analysis/local
	$(GO) test -run 'Law' ./reactors/sync -rapid.checks 5000

test-17: setup ## the tests on Postgres 17, in containers; makes the image and starts dockerd where it must (15 min)
	@GO=$(GO) testenv/test-17.sh

test-long: setup check ## the full counts: kills, restarts, property cases, fuzzing (1 h)
	HELIX_TEST_LONG=1 $(GO) test -race -timeout 90m $$($(GO) list ./... | grep -v -e /attack -e cmd/helixd -e examples/ -e /deploy)
	HELIX_TEST_LONG=1 $(GO) test -race -timeout 120m -p 1 -skip '^TestChaos$$' ./cmd/helixd ./deploy ./examples/...
	HELIX_TEST_LONG=1 $(GO) test -timeout 30m ./reactors/skills/attack ./reactors/voice/decode/attack
	$(GO) test -timeout 60m -run 'Law' ./reactors/sync -rapid.checks 100000
	@$(MAKE) --no-print-directory fuzz FUZZTIME=5m
	@$(MAKE) --no-print-directory chaos
	@$(MAKE) --no-print-directory test-17

chaos: setup faketime ## kills, crashes, full disks, cut networks, lost slots and more, under load, for CHAOS (10m); writes .helix/chaos.md
	HELIX_CHAOS=$(CHAOS) $(GO) test -race -count 1 -timeout 0 -v -run '^TestChaos$$' ./cmd/helixd
CHAOS ?= 10m

fuzz: ## each fuzz target for FUZZTIME (30s)
	@set -e; for p in ./replication/pgoutput ./reactors/sync ./reactors/sandbox ./reactors/sandbox/precheck \
	  ./reactors/skills/javascript ./reactors/skills/schema ./reactors/skills/workflow ./reactors/skills/rights \
	  ./reactors/skills/host/broker ./reactors/voice/provider ./reactors/voice/storage ./reactors/voice/command \
	  ./reactors/synthesis/phrase ./reactors/synthesis/analysis/local ./reactors/decay ./reactors/llm ./reactors/redact ./internal/phoenix; do \
	  for f in $$($(GO) test -list '^Fuzz' $$p | grep ^Fuzz); do \
	    echo "fuzzing $$p $$f for $(FUZZTIME)"; \
	    $(GO) test -run '^$$' -fuzz "^$$f\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 1s $$p; done; done
FUZZTIME ?= 30s

bench: setup ## measure docs/benchmarks.md and its plots anew, beside peers, on a plain build (1 h)
	@cd bench && $(GO) run . --report ../docs/benchmarks.md

check: ## gofmt, vet and staticcheck
	@out=$$(gofmt -l $$($(GO) list -f '{{.Dir}}' ./...)); test -z "$$out" || { echo "not gofmt-ed:"; echo "$$out"; exit 1; }
	$(GO) vet ./...
	$(GO) vet -tags failpoint ./...
	CGO_ENABLED=1 $(GO) vet -tags record ./cmd/helixd
	$(GO) run $(STATICCHECK) ./...

vuln: ## known vulnerabilities in what helixd uses; asks vuln.go.dev
	$(GO) run golang.org/x/vuln/cmd/govulncheck@v1.1.4 ./...

release: ## archives for Linux and macOS, SBOMs and SHA256SUMS in dist/; VERSION=v1.2.3
	@GO=$(GO) deploy/release.sh $(VERSION)

fmt: ## gofmt everything
	gofmt -w .

build: engines ## bin/helixd, static
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags '-s -w' -o bin/helixd ./cmd/helixd

quick: ## bin/helixd, static, without the audio decoder, which is made from FFmpeg's source
	@reactors/skills/javascript/fetch.sh || echo "building without the JavaScript engine: JavaScript tools will not run" >&2
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags '-s -w' -o bin/helixd ./cmd/helixd

build-record: engines ## bin/helixd with helixd record; needs a C compiler (2 min, the first time)
	CGO_ENABLED=1 $(GO) build -tags record -trimpath -ldflags '-s -w' -o bin/helixd ./cmd/helixd

engines:
	@reactors/skills/javascript/fetch.sh || echo "building without the JavaScript engine: JavaScript tools will not run" >&2
	@reactors/voice/decode/build.sh || echo "building without the audio decoder: recordings will go to the provider as they are" >&2

dev: setup ## a Supabase-shaped Postgres with helixd beside it, left running; see .helix/dev.env
	@$(GO) run ./testenv/playground up

dev-down: ## end what make dev started
	@$(GO) run ./testenv/playground down

setup:
	@testenv/setup.sh
	@testenv/voice.sh || echo "going on without: tests that need speech are skipped" >&2

faketime:
	@testenv/faketime.sh || echo "going on without: Postgres's clock will not jump in TestChaos" >&2
