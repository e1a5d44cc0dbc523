# The tasks of this repository. Cargo does the work; nothing here needs more than a Rust toolchain and a POSIX shell.

PREFIX = /usr/local
DESTDIR =
CARGO = cargo

TARGET_DIR = $${CARGO_TARGET_DIR:-target}

# All tests that cargo finds in tests/; the programs themselves have no tests, and a harness each would cost a link.
TESTS = $(patsubst tests/%/main.rs,--test %,$(wildcard tests/*/main.rs)) \
        $(patsubst tests/%.rs,--test %,$(wildcard tests/*.rs))

.PHONY: help build test demo bench-compare docs lint install uninstall

help:
	@echo 'make test     build and run all tests'
	@echo 'make demo     capture, change, restore and undo a real tree, and prove each step by checksum'
	@echo 'make bench-compare  measure against git, restic, borg and rsync (benches/README.md)'
	@echo 'make docs     write the manual pages, completions and tables that are generated'
	@echo 'make lint     format, lints, documentation, shell scripts'
	@echo 'make install  install programs, scripts, pages and completions below PREFIX ($(PREFIX))'

build:
	$(CARGO) build --locked --release --bins

test:
	$(CARGO) test --locked --lib $(TESTS)
	if [ -x tests/sh/run ]; then tests/sh/run; fi

demo:
	demo/run.sh

bench-compare:
	benches/compare/run

docs:
	$(CARGO) build --locked --bins
	.ci/docs "$(TARGET_DIR)/debug"

lint:
	$(CARGO) fmt --check
	$(CARGO) clippy --locked --all-targets -- -D warnings
	RUSTDOCFLAGS='-D warnings' $(CARGO) doc --locked --no-deps --document-private-items
	sh .ci/scripts | xargs shellcheck -x -s sh

install: build
	install -d "$(DESTDIR)$(PREFIX)/bin"
	for source in src/bin/*; do \
	    name=$$(basename "$$source" .rs) && \
	    install -m 755 "$(TARGET_DIR)/release/$$name" "$(DESTDIR)$(PREFIX)/bin/$$name" || exit 1; \
	done
	for script in porcelain/*; do \
	    if [ -x "$$script" ]; then mode=755; else mode=644; fi; \
	    if [ -f "$$script" ]; then install -m $$mode "$$script" "$(DESTDIR)$(PREFIX)/bin/" || exit 1; fi; \
	done
	for section in 1 5 7; do \
	    install -d "$(DESTDIR)$(PREFIX)/share/man/man$$section" && \
	    install -m 644 man/*.$$section "$(DESTDIR)$(PREFIX)/share/man/man$$section/" || exit 1; \
	done
	install -d "$(DESTDIR)$(PREFIX)/share/bash-completion/completions"
	install -m 644 completions/bash/* "$(DESTDIR)$(PREFIX)/share/bash-completion/completions/"
	install -d "$(DESTDIR)$(PREFIX)/share/zsh/site-functions"
	install -m 644 completions/zsh/* "$(DESTDIR)$(PREFIX)/share/zsh/site-functions/"
	install -d "$(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d"
	install -m 644 completions/fish/* "$(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d/"

uninstall:
	for source in src/bin/* porcelain/*; do \
	    rm -f "$(DESTDIR)$(PREFIX)/bin/$$(basename "$$source" .rs)"; \
	done
	for page in man/*; do \
	    rm -f "$(DESTDIR)$(PREFIX)/share/man/man$${page##*.}/$$(basename "$$page")"; \
	done
	for file in completions/bash/*; do \
	    rm -f "$(DESTDIR)$(PREFIX)/share/bash-completion/completions/$$(basename "$$file")"; \
	done
	for file in completions/zsh/*; do \
	    rm -f "$(DESTDIR)$(PREFIX)/share/zsh/site-functions/$$(basename "$$file")"; \
	done
	for file in completions/fish/*; do \
	    rm -f "$(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d/$$(basename "$$file")"; \
	done
