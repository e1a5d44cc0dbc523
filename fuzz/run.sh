#!/bin/sh
# Fuzzes one target on stable Rust, where cargo-fuzz is not at hand: fuzz/run.sh TARGET [SECONDS]
# With a nightly toolchain 'cargo fuzz run TARGET' does the same.
set -eu
cd "$(dirname "$0")"
target=$1
seconds=${2:-600}
# event_lines and event_backwards begin with the same seeds and words.
kind=${target%%_*}
export RUSTC_BOOTSTRAP=1
export RUSTFLAGS="-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
 -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
 -Cllvm-args=-sanitizer-coverage-trace-compares --cfg fuzzing -Ccodegen-units=1 -Zsanitizer=address"
# A target triple keeps build scripts and macros free of the instrumentation.
triple=$(rustc -vV | sed -n 's/^host: //p')
cargo build --release --target "$triple" --bin "$target"
mkdir -p "corpus/$target" artifacts
for seed in "seeds/$kind"/*; do cp -n "$seed" "corpus/$target/"; done
exec "${CARGO_TARGET_DIR:-target}/$triple/release/$target" -artifact_prefix="artifacts/$target-" \
    -max_total_time="$seconds" -max_len=4096 -timeout=20 -rss_limit_mb=2048 -print_final_stats=1 \
    -dict="$kind.dict" "corpus/$target"
