# shellcheck shell=sh disable=SC2317,SC2329 # the functions are called by name
# shellcheck disable=SC2015 # fail, behind && and ||, ends the test
# Tests of putting whole snapshots back in a run: wt-rewind --restore-snapshot and wt-undo. Numbers are those of the facts.
set -eu

# shellcheck source=tests/sh/helpers
. "$SCRIPTS/../tests/sh/helpers"
# shellcheck source=tests/sh/rewind-helpers
. "$SCRIPTS/../tests/sh/rewind-helpers"

run_dir() {
	dirname "$(find "$HOME" -name workspace -path '*/runs/demo/*')"
}

# Facts 6.6: finished is allowed, what executes is not.
test_a_snapshot_is_restored_only_into_a_run_that_stands_still() {
	workspace
	node build 0 'echo node >one'
	dir=$(run_dir)
	snapshots=$(count)
	tree >../before
	echo '{"status":"running"}' >"$dir/run.json"
	expect 5 wt-rewind --restore-snapshot pre:build:0 2>../said
	grep -q 'is running' ../said || fail "$(cat ../said)"
	echo '{"status":"failed"}' >"$dir/run.json"
	expect 5 flock "$dir/.lock" wt-rewind --restore-snapshot pre:build:0 2>../said
	grep -q 'is being executed' ../said || fail "$(cat ../said)"
	tree | cmp - ../before
	[ "$(count)" -eq "$snapshots" ] || fail "a bank was taken"
	echo '{"status":"finished"}' >"$dir/run.json"
	expect 0 wt-rewind -q --restore-snapshot pre:build:0 >/dev/null
	[ "$(cat one)" = one ] || fail "not restored"
}

# No engine can begin, and nobody capture, between the check and the last change.
test_both_locks_are_held_until_the_end() {
	workspace
	node build 0 'echo node >one'
	lock=$(run_dir)/.lock
	: >"$lock"
	for hook in before-swap before-exchange; do
		echo node >one
		rm -f ../engine ../other
		WT_TEST_HOOK="$hook=flock -n '$lock' true; echo \$? >../engine; WT_LOCK_FD= WT_LOCK_WAIT=0 wt-lock -s -- true; echo \$? >../other" \
			wt-rewind -q --restore-snapshot pre:build:0 >/dev/null 2>&1
		[ "$(cat ../engine)" = 1 ] || fail "an engine could begin at $hook: $(cat ../engine)"
		[ "$(cat ../other)" = 6 ] || fail "somebody could capture at $hook: $(cat ../other)"
		[ "$(cat one)" = one ] || fail "not restored"
	done
	flock -n "$lock" true || fail "the lock stays"
}

# W39: the log of a run tells of it.
test_the_log_of_a_run_tells_of_a_restore() {
	workspace
	node build 0 'echo node >one'
	script wt-undo -q pre:build:0 >/dev/null
	[ ! -e "$(run_dir)/events.jsonl" ] || fail "a log was made for a run that has none"
	run-events append --type run_started >/dev/null
	script wt-undo -q -n post:build:0 >/dev/null
	[ "$(run-events cat | wc -l)" -eq 1 ] || fail "a dry run left an event"
	wt-rewind -q --restore-snapshot post:build:0 >../report
	run-events cat --type run_snapshot_restored >../events
	grep -q "\"files_ref\":\"$(wt-label post:build:0)\",\"files_backup_ref\":\"$(bank_of_report)\",\"files_restore_scope\":\"full\",\"complete\":true" \
		../events || fail "$(cat ../events)"
	script wt-undo -q --protect two pre:build:0 one >/dev/null
	run-events cat --last 1 | grep -q '"files_restore_scope":"paths"' || fail "$(run-events cat --last 1)"
	expect 2 script wt-undo -q nothing >/dev/null 2>&1
	[ "$(run-events cat | wc -l)" -eq 3 ] || fail "an event of what did not happen"
	# The restore is done all the same.
	chmod 0 "$(run_dir)/events.jsonl"
	[ "$(id -u)" -eq 0 ] || expect 3 script wt-undo post:build:0 >/dev/null 2>&1
}

test_programs_find_those_they_were_installed_with() {
	workspace
	node build 0 'echo node >one'
	mkdir "$SCRATCH/bin"
	for program in "$(dirname "$(command -v wt-rewind)")"/wt-* "$(dirname "$(command -v wt-rewind)")"/run-* "$SCRIPTS"/*; do
		[ ! -f "$program" ] || ln -sf "$program" "$SCRATCH/bin/"
	done
	rm "$SCRATCH/bin/wt-rewind"
	cp "$(command -v wt-rewind)" "$SCRATCH/bin/wt-rewind"
	PATH=/usr/bin:/bin "$SCRATCH/bin/wt-rewind" --list-snapshots | grep -q 'pre:build:0' || fail "the list"
	PATH=/usr/bin:/bin "$SCRATCH/bin/wt-rewind" -q --restore-snapshot pre:build:0 >/dev/null || fail "the restore"
	[ "$(cat one)" = one ] || fail "not restored"
}

"$TEST"
