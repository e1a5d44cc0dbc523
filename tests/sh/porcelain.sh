# shellcheck shell=sh disable=SC2317,SC2329 # the functions are called by name
# Tests of wt-capture, wt-bank, wt-undo and wt. Each function is one test; tests/sh/run calls it in a scratch directory
# under each shell, with WT_SHELL set so that a script that runs itself again stays under that shell.
set -eu

# shellcheck source=tests/sh/helpers
. "$SCRIPTS/../tests/sh/helpers"

workspace() {
	mkdir ws 'ws/a dir' ws/empty
	cd ws
	echo one >one
	echo two >'a dir/two'
	ln -s one link
}

change() {
	echo changed >one
	rm -r 'a dir' empty
	echo new >new
	ln -sf new link
}

test_a_capture_prints_the_id_and_sets_every_label() {
	workspace
	id=$(script wt-capture -q before 'also this')
	[ "$(wt-label before)" = "$id" ] || fail "label before"
	[ "$(wt-label 'also this')" = "$id" ] || fail "label with a blank"
	[ "$(script wt-capture -q again)" = "$id" ] || fail "an unchanged workspace makes no snapshot"
	[ "$(script wt-capture -q --no-dedupe more)" != "$id" ] || fail "--no-dedupe makes one"
}

test_undo_banks_first_and_can_be_undone() {
	workspace
	script wt-capture -q before >/dev/null
	tree >../before
	change
	tree >../after
	script wt-undo before >../report
	bank=$(sed -n 's/^bank	//p' ../report)
	[ "$(sed -n 1p ../report)" = "bank	$bank" ] || fail "the bank is printed first"
	tree | cmp - ../before
	script wt-undo "$bank" >/dev/null
	tree | cmp - ../after
}

test_a_dry_run_says_what_the_real_run_does_and_changes_nothing() {
	workspace
	script wt-capture -q before >/dev/null
	change
	tree >../after
	labels=$(wt-label --list)
	script wt-undo -q -n before >../dry
	tree | cmp - ../after
	[ "$(wt-label --list)" = "$labels" ] || fail "a dry run took a bank"
	script wt-undo -q before | sed 1d | cmp - ../dry
}

test_a_bank_is_numbered_and_marked() {
	workspace
	first=$(script wt-bank -q)
	echo 3 >three
	second=$(script wt-bank -q)
	[ "$(wt-label bank:0)" = "$first" ] || fail "the first bank has number 0"
	[ "$(wt-label bank:1)" = "$second" ] || fail "the next has number 1"
	third=$(script wt-bank -q my:prefix)
	[ "$(wt-label my:prefix:0)" = "$third" ] || fail "a prefix of one's own"
	wt-log | grep -q "$second.*bank" || fail "the log marks a bank"
}

test_protected_and_edited_paths_stay() {
	workspace
	script wt-capture -q before >/dev/null
	echo theirs >one
	script wt-capture -q post >/dev/null
	echo mine >one
	echo mine >'a dir/two'
	expect 0 script wt-undo -q --protect 'a dir/two' --keep-edited post before >../report
	[ "$(cat one)" = mine ] || fail "an edited path was overwritten"
	[ "$(cat 'a dir/two')" = mine ] || fail "a protected path was overwritten"
	grep -q '^keep:edited	one$' ../report || fail "the edited path is named"
}

test_what_no_bank_can_hold_is_left_and_named() {
	workspace
	script wt-capture -q before >/dev/null
	head -c 3000000 /dev/zero >one
	expect 3 env ITERION_WORKSPACE_MAX_FILE_MB=1 "$SCRIPTS/wt-undo" -q before >../report
	[ "$(wc -c <one)" -eq 3000000 ] || fail "bytes without a copy were overwritten"
	grep -q '^keep:oversized	one$' ../report || fail "the path is named"
}

test_options_that_do_not_exist_are_refused() {
	workspace
	expect 2 script wt-capture --nonsense
	expect 2 script wt-bank one two
	expect 2 script wt-undo
	expect 2 script wt-undo one two
	expect 2 script wt-undo nothing-is-called-so
	expect 2 script wt
	expect 2 script wt nonsense
	expect 2 env WT_RUN= "$SCRIPTS/wt-capture" label
	[ ! -e "$HOME/.iterion" ] || fail "a refused command made a store"
}

test_help_is_on_standard_output() {
	for name in wt wt-capture wt-bank wt-undo wt-boundary wt-run-node; do
		script "$name" --help | grep -q "^usage: $name " || fail "help of $name"
	done
}

test_the_dispatcher_finds_programs_and_scripts() {
	workspace
	id=$(script wt capture -q before)
	[ "$(script wt label before)" = "$id" ] || fail "wt label"
	[ "$(script wt wt-label before)" = "$id" ] || fail "wt wt-label"
	script wt help | grep -q '^  restore$' || fail "the list of commands"
}

test_leading_dashes_and_odd_names_pass() {
	workspace
	echo x >-rf
	script wt-capture -q before >/dev/null
	expect 2 script wt-capture -- -x
	rm -- -rf
	script wt-undo -q -- before >/dev/null
	[ -e ./-rf ] || fail "a name that begins with a dash"
}

test_a_dead_first_stage_makes_no_snapshot() {
	workspace
	id=$(script wt-capture -q before)
	change
	dead wt-ls-files cut
	expect 4 script wt-capture -q after
	expect 1 wt-label -q after
	[ "$(wt-label HEAD)" = "$id" ] || fail "head moved"
}

test_a_dead_middle_stage_makes_no_snapshot() {
	workspace
	id=$(script wt-capture -q before)
	change
	dead wt-hash-object cut
	expect 4 script wt-capture -q after
	expect 1 wt-label -q after
	[ "$(wt-label HEAD)" = "$id" ] || fail "head moved"
}

test_a_stage_that_never_speaks_makes_no_snapshot() {
	workspace
	script wt-capture -q before >/dev/null
	dead wt-ls-files silent
	expect 4 script wt-capture -q after
	expect 1 wt-label -q after
}

test_undo_changes_nothing_when_its_bank_fails() {
	workspace
	script wt-capture -q before >/dev/null
	change
	tree >../after
	dead wt-hash-object cut
	expect 4 script wt-undo -q before
	tree | cmp - ../after
}

test_the_off_switch_leaves_no_trace() {
	workspace
	ITERION_WORKSPACE_TRACK=off
	export ITERION_WORKSPACE_TRACK
	[ -z "$(script wt-capture before)" ] || fail "an id was printed"
	[ ! -e "$HOME/.iterion" ] || fail "a store was made"
}

test_a_capture_waits_for_a_restore_and_gives_up_in_time() {
	workspace
	expect 6 wt-lock -x -- env -u WT_LOCK_FD WT_LOCK_WAIT=0 "$SCRIPTS/wt-capture" -q before
	expect 0 wt-lock -x -- "$SCRIPTS/wt-capture" -q before
	expect 6 wt-lock -s -- "$SCRIPTS/wt-undo" -q before
	expect 0 wt-lock -s -- env -u WT_LOCK_FD "$SCRIPTS/wt-capture" -q before
}

"$TEST"
