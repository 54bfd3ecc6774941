# Everything that a person or CI does here, each by itself: what it needs is found or installed, and said.
#
#   make demo     a governed call in nine scenes
#   make test     everything that CI runs
#   make plugins  the plugins and test guests: target/plugins/*.wasm
#
# Long, by hand: make bench (what a fresh sandbox costs), make soak (every failure a hundred times), make fuzz (properties on many
# more cases).

export CALLGATE_PLUGINS = $(CURDIR)/target/plugins
export CALLGATE_SERVERS = $(CURDIR)/.toolchain

.PHONY: demo test plugins polyglot servers lint unit doc bench soak fuzz clean

demo: plugins
	cargo run --quiet -p callgate -- demo

test: lint plugins polyglot servers unit doc

lint:
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --quiet -- -D warnings

plugins:
	scripts/build-guests

polyglot:
	scripts/build-polyglot

servers:
	scripts/servers

# The whole workspace, and nothing but its tests: a part of it, or a build without tests, would resolve other features and build the
# engine once more. The command and the examples are built with them.
unit:
	cargo test --workspace

doc:
	RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --quiet

bench: plugins
	cargo test --release -p callgate-wasm --test speed -- --ignored --nocapture

soak: plugins polyglot
	cargo test --no-run -p callgate-wasm -p callgate-core
	for round in $$(seq 100); do \
		cargo test --quiet -p callgate-wasm --test failures --test failure_table --test isolation || exit 1; \
		cargo test --quiet -p callgate-core --test failures || exit 1; \
	done

fuzz:
	PROPTEST_CASES=100000 cargo test --release -p callgate-core --test properties --test steps_12_shaping

clean:
	cargo clean
	rm -rf .toolchain
