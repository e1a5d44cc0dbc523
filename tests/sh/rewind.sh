# shellcheck shell=sh disable=SC2317,SC2329 # the functions are called by name
# Tests of what an engine and a person call to mark a run and to take a part of it back. Each function is one test;
# tests/sh/run calls it in a scratch directory under each shell. Numbers are those of the facts, sections 8 and 9.
set -eu

# shellcheck source=tests/sh/helpers
. "$SCRIPTS/../tests/sh/helpers"

workspace() {
	mkdir ws
	cd ws
	echo one >one
	echo two >two
}

boundary() {
	script wt-boundary -q "$@"
}

# own SNAPSHOT: its own label.
own() {
	wt-log --json | sed -n 's/^{"id":"'"$(wt-label --resolve "$1")"'".*"label":"\([^"]*\)","created_at.*/\1/p'
}

count() {
	wt-log --all | wc -l
}

# Facts 3: an alias points to the same snapshot and moves nothing else.
test_pre_behind_the_end_of_a_node_is_an_alias_without_a_walk() {
	workspace
	boundary pre one >/dev/null
	echo changed >one
	post=$(boundary post one)
	chmod 0 one
	dead wt-ls-files silent
	[ "$(boundary pre two)" = "$post" ] || fail "an alias onto the newest snapshot"
	[ "$(wt-label pre:two:0)" = "$post" ] || fail "the label"
	[ "$(wt-label HEAD)" = "$post" ] || fail "head moved"
	[ "$(own "$post")" = post:one:0 ] || fail "the own label"
}

test_pre_is_never_moved() {
	workspace
	first=$(boundary pre one)
	echo changed >one
	boundary post one >/dev/null
	[ "$(boundary pre one)" = "$first" ] || fail "its id is printed"
	[ "$(boundary pre one 1)" != "$first" ] || fail "another iteration is another label"
	boundary pre one --json | grep -q "\"id\":\"$first\"" || fail "as an object"
}

test_pre_behind_anything_else_is_a_capture() {
	workspace
	boundary pre human >/dev/null
	echo somebody >one
	id=$(boundary pre next)
	[ "$(own "$id")" = pre:next:0 ] || fail "behind a node without an end"
	boundary post next >/dev/null
	script wt-bank -q >/dev/null
	echo more >one
	[ "$(own "$(boundary pre third)")" = pre:third:0 ] || fail "behind a bank"
	boundary fail third >/dev/null
	echo somebody >two
	id=$(boundary pre third 1)
	wt-ls-manifest --records "$id" | grep -q "	two$" || fail "it has the file"
	[ "$(own "$id")" = pre:third:1 ] || fail "behind a stop"
}

test_resume_makes_a_missing_pre_with_it() {
	workspace
	id=$(boundary resume one 3)
	[ "$(wt-label pre:one:3)" = "$id" ] || fail "pre is missing"
	[ "$(own "$id")" = resume:one:3 ] || fail "its own label is $(own "$id")"
	echo changed >one
	boundary fail one 3 >/dev/null
	echo again >one
	[ "$(boundary resume one 3)" != "$id" ] || fail "a second one"
	[ "$(wt-label pre:one:3)" = "$id" ] || fail "pre was moved"
}

test_gates_are_numbered() {
	workspace
	id=$(boundary gate)
	[ "$(wt-label gate:0)" = "$id" ] || fail "the first gate"
	[ "$(boundary pre next)" = "$id" ] || fail "pre behind a gate is an alias"
	echo changed >one
	[ "$(boundary gate)" != "$id" ] || fail "the second gate"
	wt-label -q gate:1 >/dev/null || fail "its label"
}

# W1: what a bank recorded is not the boundary that a resume needs.
test_resume_behind_a_bank_is_a_snapshot_of_its_own() {
	workspace
	boundary pre one >/dev/null
	boundary pause one >/dev/null
	echo somebody >one
	bank=$(script wt-bank -q rewind-backup:one)
	id=$(boundary resume one)
	[ "$id" != "$bank" ] || fail "a boundary on a bank"
	wt-authorship --from pre:one:0 | grep -q '^parked	one$' || fail "the edit is the run's"
}

test_boundaries_that_make_no_sense_are_refused() {
	workspace
	expect 2 boundary
	expect 2 boundary pre
	expect 2 boundary before one
	expect 2 boundary pre one x
	expect 2 boundary pre one 01
	expect 2 boundary pre one 0 more
	expect 2 boundary gate one
	expect 2 boundary pre one --nonsense
	expect 2 env WT_RUN= "$SCRIPTS/wt-boundary" pre one
	[ ! -e "$HOME/.iterion" ] || fail "a refused command made a store"
}

test_boundaries_with_captures_off_leave_no_trace() {
	workspace
	ITERION_WORKSPACE_TRACK=' Off '
	export ITERION_WORKSPACE_TRACK
	for phase in pre post resume; do
		[ -z "$(boundary $phase one)" ] || fail "an id was printed"
	done
	[ ! -e "$HOME/.iterion" ] || fail "a store was made"
}

test_odd_names_of_nodes_pass() {
	workspace
	for node in -x 'a b' a.b:c "it's" '*'; do
		id=$(boundary pre -- "$node")
		boundary -- post "$node" 7 >/dev/null
		[ "$(wt-label -- "pre:$node:0")" = "$id" ] || fail "node $node"
		wt-label -q -- "post:$node:7" >/dev/null || fail "node $node"
	done
}

"$TEST"
