# Everything that a person or CI does here, each by itself: what it needs is found or installed, and said.
#
#   make demo     a governed call in nine scenes
#   make test     everything that CI runs
#   make plugins  the plugins and test guests: target/plugins/*.wasm

export CALLGATE_PLUGINS = $(CURDIR)/target/plugins
export CALLGATE_SERVERS = $(CURDIR)/.toolchain

.PHONY: demo test plugins polyglot servers lint unit doc e2e clean

demo: plugins
	cargo run --quiet -p callgate -- demo

test: lint plugins polyglot servers unit e2e doc

lint:
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --quiet -- -D warnings

plugins:
	scripts/build-guests

polyglot:
	scripts/build-polyglot

servers:
	scripts/servers

unit:
	cargo test --workspace --exclude callgate-e2e

e2e:
	cargo build --quiet -p callgate
	cargo test -p callgate-e2e

doc:
	RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --quiet

clean:
	cargo clean
	rm -rf .toolchain
