# Everything a contributor types. Needs cargo, make and a POSIX shell.

CARGO ?= cargo
SEED ?= 1
CHAOS = $(CARGO) run --locked --quiet --bin chaos --
# Where `cargo install` puts binaries, by cargo's own order of precedence.
BIN_DIR = $(or $(CARGO_INSTALL_ROOT),$(CARGO_HOME),$(HOME)/.cargo)/bin

.DEFAULT_GOAL := help
.PHONY: help demo test kills mutants simulate fuzz e2e-kube lint bench install man completions docs schema

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' Makefile

demo: ## Run one game day on the sandbox, end to end, in under 90 seconds
	@scripts/demo

test: ## Run every test
	$(CARGO) test --locked

kills: ## End N real runs at random points (N=200 SEED=1), and by every signal in every phase
	$(CARGO) test --locked --test kills -- --drills $(or $(N),200) --seed $(SEED) --jobs $$(nproc 2>/dev/null || echo 2) --within-ms 2000
	$(CARGO) test --locked --test kills -- --every --seed $(SEED)

mutants: ## Break each law in a scratch copy and show which test notices
	@scripts/mutants

simulate: ## Run N schedules of failures (100000, or N=1000000) on all processors
	$(CARGO) test --locked --profile fuzz --test simulate -- --count $(or $(N),100000)

SECONDS ?= 60

fuzz: ## Try hostile input from a new seed for SECONDS=60, all targets together, on one core
	CHAOS_FUZZ_SECONDS=$(SECONDS) $(CARGO) test --locked --profile fuzz --test fuzz -- --nocapture --test-threads=1

e2e-kube: ## Run the tests that need a Kubernetes control plane (builds one with Go the first time)
	@folder=$$(scripts/kube-binaries) && \
	  KUBE_BIN_DIR="$$folder" CHAOS_REQUIRE_E2E=1 $(CARGO) test --locked --test it -- kubernetes::

lint: ## Check format, lints, licences, shell scripts and who imports whom
	$(CARGO) fmt --check
	$(CARGO) clippy --all-targets --locked -- -D warnings
	@scripts/lint-extras
	$(CARGO) test --locked --test it -- architecture:: project::

bench: ## Measure start-up, memory, traffic, reaction and 1,000 SLOs, in release mode
	$(CARGO) bench --locked --bench startup
	$(CARGO) bench --locked --bench traffic -- --quick
	$(CARGO) bench --locked --bench reaction
	$(CARGO) bench --locked --bench slos

install: ## Install chaos, and the same binary as gameday
	$(CARGO) install --path . --locked
	@ln -f "$(BIN_DIR)/chaos" "$(BIN_DIR)/gameday" 2>/dev/null || cp "$(BIN_DIR)/chaos" "$(BIN_DIR)/gameday"
	@printf '%s\n' '' \
	  'Installed $(BIN_DIR)/chaos and $(BIN_DIR)/gameday.' \
	  'Completions: see completions/ and the README (bash: source completions/chaos.bash).' \
	  'Man pages:   cp man/*.1 to a man1 folder of your manpath, such as ~/.local/share/man/man1.'

man: ## Write man/ again
	@rm -f man/*.1
	$(CHAOS) man --out man

completions: ## Write completions/ again
	$(CHAOS) completions bash > completions/chaos.bash
	$(CHAOS) completions zsh > completions/_chaos
	$(CHAOS) completions fish > completions/chaos.fish
	$(CHAOS) completions powershell > completions/_chaos.ps1
	$(CHAOS) completions elvish > completions/chaos.elv

docs: ## Write docs/policy-rules.md again
	UPDATE_DOCS=1 $(CARGO) test --locked --quiet --test it -- policy::page

schema: ## Print the JSON Schema of an experiment
	@$(CHAOS) schema experiment
