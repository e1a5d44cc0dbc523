#!/bin/sh
# Shows the whole of it on a real tree, and proves each step by checksum: capture thousands of files, let a script spoil
# them, show what changed, put everything back, take that back, too.
#
# The files are the sources of the crates that cargo downloads for the build, copied; the originals are not touched. All
# happens in a scratch directory that is removed at the end (WT_DEMO_KEEP=1 keeps it). Ends with 0 only if every
# checksum is as it must be.
set -eu
umask 022
LC_ALL=C
export LC_ALL
cd "$(dirname "$0")/.."
repository=$(pwd)

# Fewer files than this would prove nothing.
FILES_MIN=2000

say() {
    printf '\n==> %s\n' "$*"
}

fail() {
    printf 'demo: error: %s\n' "$*" >&2
    exit 1
}

now_ms() {
    echo $(($(date +%s%N) / 1000000))
}

# Runs a command and says how long it took.
timed() {
    started=$(now_ms)
    "$@"
    echo "    ($(($(now_ms) - started)) ms)" >&2
}

# One line for the whole tree: types, modes, names and link targets, then contents. Only the store is not part of it.
checksum() {
    (
        cd "$tree"
        {
            find . -path ./.iterion -prune -o -printf '%y %m %p %l\0' | sort -z
            find . -path ./.iterion -prune -o -type f -print0 | sort -z | xargs -0 sha256sum
        } | sha256sum | cut -d ' ' -f 1
    )
}

must_be() {
    found=$(checksum)
    [ "$found" = "$1" ] || fail "the tree is not $2: checksum $found instead of $1"
    echo "    checksum $found: the tree is $2"
}

count_letters() {
    cut -f 1 | sort | uniq -c | while read -r count letter; do
        printf '    %6d %s\n' "$count" "$letter"
    done
}

say 'building the programs (release)'
cargo build --locked --release --bins
bin=$(cd "${CARGO_TARGET_DIR:-target}/release" && pwd)
PATH=$bin:$repository/porcelain:$PATH
export PATH

scratch=$(mktemp -d "${TMPDIR:-/tmp}/wt-demo.XXXXXX")
clean_up() {
    if [ "${WT_DEMO_KEEP:-}" = 1 ]; then
        echo "kept: $scratch"
    else
        chmod -R u+rwX "$scratch" && rm -rf "$scratch"
    fi
}
trap clean_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

say 'copying the sources of the crates that the build uses'
tree=$scratch/project
mkdir "$tree" "$tree/crates"
host=$(rustc -vV | sed -n 's/^host: //p')
cargo metadata --locked --format-version 1 --filter-platform "$host" |
    grep -o '"manifest_path":"[^"]*"' | cut -d '"' -f 4 >"$scratch/packages"
while IFS= read -r manifest; do
    package=$(dirname "$manifest")
    if [ "$package" != "$repository" ]; then
        cp -R "$package" "$tree/crates/"
    fi
done <"$scratch/packages"
# What else a workspace may hold.
(
    cd "$tree"
    echo '*.bak' >.gitignore
    echo 'nobody versions this' >notes.bak
    printf '#!/bin/sh\necho hello\n' >hello.sh
    chmod 755 hello.sh
    ln -s hello.sh link
    ln -s nowhere dangling
    mkdir empty
    echo accents >"$(printf 'caf\351')"
    echo lines >"$(printf 'two\nlines')"
    mkfifo pipe
)
# A store in the workspace itself: it is left out of every capture.
mkdir "$tree/.iterion" "$tree/.iterion/runs"
unset WT_STORE WT_LOCK_FD ITERION_HOME ITERION_WORKSPACE_TRACK ITERION_WORKSPACE_MAX_FILE_MB
export HOME="$scratch" WT_WORKSPACE="$tree" WT_RUN=demo
files=$(find "$tree/crates" -type f | wc -l)
[ "$files" -ge "$FILES_MIN" ] || fail "only $files files were found; at least $FILES_MIN are needed"
echo "    $files files, $(du -sk "$tree/crates" | cut -f 1) KiB"

say 'capturing it: wt-capture before'
timed wt-capture before
before=$(wt-label before)
captured=$(checksum)
echo "    snapshot $before, $(wt-ls-manifest before | wc -l) files"
echo "    the store has $(du -sk "$tree/.iterion" | cut -f 1) KiB"
echo "    checksum $captured"

say 'capturing it again: nothing changed, so nothing is written'
timed wt-capture again
[ "$(wt-label again)" = "$before" ] || fail 'an unchanged tree became another snapshot'
must_be "$captured" 'as it was: a capture changes nothing'

say 'letting a script edit, create, delete, rename, chmod and replace'
demo/spoil.sh "$tree"
spoilt=$(checksum)
[ "$spoilt" != "$captured" ] || fail 'the script changed nothing'
echo "    checksum $spoilt"

say 'what changed: wt-diff before'
timed wt-diff before >"$scratch/diff"
head -n 5 "$scratch/diff" | sed 's/^/    /'
echo '    ...'
count_letters <"$scratch/diff"

say "putting it back: wt-undo $before"
timed wt-undo "$before" >"$scratch/report" || fail "wt-undo ended with $?"
must_be "$captured" 'as it was captured'

say 'taking that back, too'
bank=$(wt-label "pre-restore:$before:0")
timed wt-undo "$bank" >"$scratch/report" || fail "wt-undo ended with $?"
must_be "$spoilt" 'as the script left it'

say 'a node works and dies, somebody edits meanwhile, the node comes back: wt-run-node'
(cd "$tree" && wt-run-node -q fix -- sh -c 'echo half >hello.sh; echo half >crates/half; exit 1') || echo "    status $?"
echo 'remember the tests' >"$tree/TODO"
(cd "$tree" && wt-run-node -q fix -- sh -c 'rm hello.sh; echo done >crates/half')
worked=$(checksum)

say 'taking back what the node did, and only that: wt-rewind --node fix --iter 0'
timed wt-rewind -q --node fix --iter 0 >"$scratch/report" || fail "wt-rewind ended with $?"
sed 's/^/    /' "$scratch/report"
[ "$(cat "$tree/TODO")" = 'remember the tests' ] || fail 'the edit of somebody is lost'
rm "$tree/TODO"
must_be "$spoilt" 'as it was before the node, but for the edit of somebody'
echo 'remember the tests' >"$tree/TODO"

say 'taking that back, too'
timed wt-undo "$(sed -n 's/^bank	//p' "$scratch/report")" >"$scratch/undone" || fail "wt-undo ended with $?"
must_be "$worked" 'as the node left it'

say 'the history: wt-log'
wt-log | sed 's/^/    /'
echo "    the store has $(du -sk "$tree/.iterion" | cut -f 1) KiB"

say 'all checksums are as they must be'
