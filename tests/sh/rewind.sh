# shellcheck shell=sh disable=SC2317,SC2329 # the functions are called by name
# shellcheck disable=SC2015 # fail, behind && and ||, ends the test
# Tests of what an engine and a person call to mark a run and to take a part of it back. Each function is one test;
# tests/sh/run calls it in a scratch directory under each shell. Numbers are those of the facts, sections 8 and 9.
set -eu

# shellcheck source=tests/sh/helpers
. "$SCRIPTS/../tests/sh/helpers"
# shellcheck source=tests/sh/rewind-helpers
. "$SCRIPTS/../tests/sh/rewind-helpers"

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
	expect 2 boundary pre one 1000000000000000000
	expect 2 run_node --iter 1000000000000000000 one -- true
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


# Facts 47.
test_what_a_node_did_is_taken_back_and_what_somebody_did_stays() {
	workspace
	node build 0 'echo node >one; mkdir out; echo junk >out/log'
	echo mine >mine
	tree >../after
	rewind --node build
	[ "$(cat one)" = one ] || fail "an edit stays"
	[ ! -e out ] || fail "a file or its directory stays"
	[ "$(cat mine)" = mine ] || fail "somebody's file went"
	[ "$(sed -n 1p ../report)" = "bank	$(bank_of_report)" ] || fail "the bank is printed first"
	[ "$(wt-label rewind-backup:build:0)" = "$(bank_of_report)" ] || fail "the bank has no label"
	wt-ls-manifest rewind-backup:build:0 | grep -qx out/log || fail "the bank does not hold it"
	reported write one
	reported delete out/log
	reported left mine
	[ "$(lines overwritten)" -eq 0 ] || fail "nothing was overwritten"
	sh -c "$(sed -n 's/.*this undoes it: //p' ../said)" >/dev/null 2>&1 || fail "the command that undoes it"
	tree | cmp - ../after
}

test_the_event_says_what_was_done() {
	workspace
	node build 0 'echo node >one; echo node >made'
	echo mine >mine
	wt-rewind -q --node build --event-data '{"dropped_nodes":["build"],"n":1.50}' --json >../report
	bank=$(wt-label rewind-backup:build:0)
	grep -q '"scope_count":2' ../report || fail "scope_count"
	grep -q '"left_in_place":\[{"path":"mine"}\]' ../report || fail "left_in_place"
	run-events cat >../events
	for text in '"type":"run_rewound"' '"node_id":"build"' '"to_node":"build"' '"dropped_nodes":\["build"\],"n":1.50' \
		'"files_reverted":true' "\"files_ref\":\"$(wt-label pre:build:0)\"" "\"files_backup_ref\":\"$bank\"" \
		'"files_restore_scope":"produced"' '"files_scope_count":2' '"files_overwritten":0' '"files_left_in_place":1' \
		'"files_left_in_place_paths":\["mine"\]'; do
		grep -q "$text" ../events || fail "the event lacks $text"
	done
	grep -q '"undo":"wt-undo ' ../report || fail "undo"
	wt-rewind -q --node build --json >../again
	grep -q '"written":0,"deleted":0,"chmodded":0' ../again || fail "the second one changed something"
	! grep '"undo"' ../again || fail "there is nothing to undo"
	expect 2 rewind --node build --event-data '{"files_ref":"x"}'
	expect 2 rewind --node build --event-data 'x'
}

# Facts 49.
test_two_pauses_at_one_node_keep_both_edits() {
	workspace
	boundary pre build >/dev/null
	echo node >a
	boundary pause build >/dev/null
	echo mine >first
	boundary resume build >/dev/null
	echo node >b
	boundary pause build >/dev/null
	echo mine >second
	boundary resume build >/dev/null
	echo node >c
	boundary post build >/dev/null
	rewind --node build
	for file in a b c; do [ ! -e $file ] || fail "$file stays"; done
	for file in first second; do reported left $file && [ -e $file ] || fail "$file went"; done
}

# Facts 53 and 67.
test_an_empty_scope_restores_nothing_and_claims_nothing() {
	workspace
	boundary pre build >/dev/null
	boundary fail build >/dev/null
	echo mine >mine
	tree >../before
	rewind --node build
	tree | cmp - ../before
	reported left mine
	[ "$(lines left)" -eq 1 ] && [ "$(lines overwritten)" -eq 0 ] || fail "counts"
	grep -q "nothing was restored: the run changed nothing since 'pre:build:0'" ../said || fail "the reason"
	! grep -q 'back before' ../said || fail "it claims a rewind"
	run-events cat | grep -q '"files_reverted":false.*"files_skip_reason":"the run' || fail "the event"
}

# Facts 57.
test_the_scope_none_only_appends_the_event() {
	workspace
	node build 0 'echo node >one'
	snapshots=$(count)
	rewind --node build --restore-scope none
	[ "$(cat one)" = node ] || fail "it was restored"
	[ "$(count)" -eq "$snapshots" ] || fail "a bank was taken"
	run-events cat | grep -q '"files_restore_scope":"none"' || fail "the event"
	expect 2 rewind --node build --restore-scope Produced
}

test_the_scope_full_restores_the_whole_tree() {
	workspace
	tree >../before
	node build 0 'echo node >one'
	echo mine >mine
	echo mine >two
	rewind --node build --restore-scope full
	tree | cmp - ../before
	reported overwritten mine
	reported overwritten two
	[ "$(lines left)" -eq 0 ] || fail "nothing was left"
}

# Facts 59 and W33: never to an older iteration, and the reason is the true one.
test_a_stale_pivot_is_refused_with_its_cause() {
	workspace
	node build 0 'echo zero >one'
	echo one >one
	boundary post build 1 >/dev/null
	tree >../before
	snapshots=$(count)
	expect 5 rewind --node build
	expect 5 rewind --node build --iter 1
	grep -q "completed iteration 1, but the last iteration before which anything was captured is 0" ../said || fail "$(cat ../said)"
	tree | cmp - ../before
	[ "$(count)" -eq "$snapshots" ] || fail "a bank was taken"
	expect 0 rewind --node build --iter 0
	[ "$(cat two)" = two ] || fail "restored"
}

test_the_highest_iteration_not_above_the_wanted_one_is_the_pivot() {
	workspace
	node build 0 'echo zero >one'
	node build 2 'echo two >one'
	rewind --node build -n
	grep -q 'pre:build:2' ../said || fail "the last one"
	rewind --node build --iter 1 -n
	grep -q 'pre:build:0' ../said || fail "the one below"
	expect 2 rewind --node other
	grep -q "no boundary before node 'other'" ../said || fail "$(cat ../said)"
	expect 2 rewind --run nothing --node build
	grep -q "there is no run 'nothing' in the store" ../said || fail "$(cat ../said)"
	[ "$(run-events cat 2>/dev/null | wc -l)" -eq 0 ] || fail "an event of a rewind that was none"
}

# Facts 63.
test_an_edit_between_a_failure_and_the_next_stays() {
	workspace
	node implement 0 'echo node >one; echo node >made'
	boundary pre verify >/dev/null
	boundary fail verify >/dev/null
	echo mine >mine
	boundary resume verify >/dev/null
	boundary fail verify >/dev/null
	rewind --node implement
	[ "$(cat one)" = one ] && [ ! -e made ] || fail "the node's edits stay"
	[ "$(cat mine)" = mine ] || fail "somebody's file went"
	reported left mine
}

# Facts 65.
test_a_node_called_gate_has_boundaries_like_any_other() {
	workspace
	boundary pre gate 0 >/dev/null
	boundary pause gate >/dev/null
	boundary resume gate >/dev/null
	wt-label -q resume:gate:0 >/dev/null || fail "the label"
}

# Facts 39 and 41.
test_protected_paths_are_neither_written_nor_removed() {
	workspace
	node build 0 'echo node >one; echo node >made; echo node >two'
	rewind --node build --protect one --protect "$PWD/made"
	[ "$(cat one)" = node ] && [ "$(cat made)" = node ] || fail "a protected path was touched"
	[ "$(cat two)" = two ] || fail "the rest was not restored"
	snapshots=$(count)
	expect 2 rewind --node build --protect ../elsewhere
	[ "$(count)" -eq "$snapshots" ] || fail "a bank was taken"
}

test_edited_paths_are_named_and_kept_on_request() {
	workspace
	node build 0 'echo node >one; echo node >two'
	echo mine >one
	rewind --node build -n
	reported overwritten one
	rewind --node build --keep-edited
	reported keep:edited one
	reported left one
	[ "$(cat one)" = mine ] && [ "$(cat two)" = two ] || fail "the wrong one was kept"
	rewind --node build
	reported overwritten one
	[ "$(cat one)" = one ] || fail "not restored"
}

# W1: the bank of a rewind that restored nothing is no boundary, and the resume after it closes the stop.
test_an_empty_rewind_before_a_resume_does_not_make_edits_the_runs() {
	workspace
	boundary pre build >/dev/null
	boundary pause build >/dev/null
	echo mine >mine
	rewind --node build
	boundary resume build >/dev/null
	echo node >made
	boundary post build >/dev/null
	rewind --node build
	[ "$(cat mine)" = mine ] || fail "somebody's file was taken for the run's"
	[ ! -e made ] || fail "the run's file stays"
	reported left mine
}

# W3: a resume that fails has marked nothing and can be called again.
test_a_resume_that_failed_is_called_again() {
	workspace
	boundary pre build >/dev/null
	boundary pause build >/dev/null
	echo mine >mine
	path=$PATH
	dead wt-hash-object cut
	expect 4 boundary resume build
	PATH=$path
	boundary resume build >/dev/null
	echo node >made
	boundary post build >/dev/null
	rewind --node build
	[ -e mine ] && [ ! -e made ] || fail "the wrong one went"
}

# The run had stopped, and went on without saying so: nobody knows since when.
test_what_changed_behind_a_stop_without_a_resume_is_named() {
	workspace
	node build 0 'echo node >one'
	script wt-undo -q pre:build:0 >/dev/null
	echo mine >mine
	node check 0 'echo node >two'
	rewind --node build
	[ "$(cat two)" = two ] || fail "not restored"
	reported overlap mine
	echo mine >again
	node build 0 'echo node >three'
	rewind --node build --iter 0
	reported overlap again
	boundary resume build 1 >/dev/null
	echo node >four
	script wt-bank -q >/dev/null
	boundary post build 1 >/dev/null
	rewind --node build
	[ "$(lines overlap)" -eq 0 ] || fail "a bank while a node is at work is no stop: $(cat ../report)"
	[ ! -e four ] || fail "not restored"
}

# W4: without a mark nobody can tell, and the way to decide is a command that works.
test_a_process_that_died_without_a_mark_leaves_undecided_paths() {
	workspace
	boundary pre build >/dev/null
	echo debris >debris
	boundary resume build >/dev/null
	echo node >made
	boundary post build >/dev/null
	rewind --node build
	reported undecided debris
	[ -e debris ] && [ ! -e made ] || fail "the wrong one went"
	sh -c "$(sed -n 's/.*this takes them back: //p' ../said)" >/dev/null 2>&1 || fail "the command in $(cat ../said)"
	[ ! -e debris ] || fail "the debris stays"
}

# Behind a node that never ended nobody can tell either; with the end marked it is the run's.
test_what_follows_the_last_boundary_of_a_node_that_never_ended_is_undecided() {
	workspace
	boundary pre work >/dev/null
	echo debris >part
	rewind --node work --dry-run
	reported undecided part
	rewind --node work
	reported undecided part
	[ "$(lines left)" -eq 0 ] && [ -e part ] || fail "it was left to somebody: $(cat ../report)"
	grep -q "nothing was restored: no boundary shows" ../said || fail "$(cat ../said)"
	! grep -q 'this undoes it' ../said || fail "there is nothing to undo: $(cat ../said)"
	# A run that was found dead has not stopped by itself; one that said that it stopped has.
	run-events append -q --type run_interrupted --data '{}' >/dev/null
	rewind --node work --dry-run
	reported undecided part
	cp ../said ../before
	rewind --node work --dry-run --restore-scope full
	reported delete part
	sh -c "$(sed -n 's/.*this takes them back: \(.*\); so does .*/\1/p' ../before)" >/dev/null 2>&1 || fail "$(cat ../before)"
	[ ! -e part ] || fail "the debris stays"

	node plan 0 'echo plan >plan'
	boundary pre after >/dev/null
	echo mine >mine
	rewind --node after --dry-run
	reported undecided mine
	run-events append -q --type run_paused --data '{}' >/dev/null
	rewind --node after --dry-run
	reported left mine
	boundary pause after >/dev/null
	echo third >third
	rewind --node after --dry-run
	reported left third
}

test_a_wrong_iteration_is_named() {
	workspace
	node build 0 'echo node >one'
	rewind --node build --iter 7
	grep -q "there is no iteration 7 of node 'build'; going back to 0" ../said || fail "$(cat ../said)"
	grep -q 'this undoes it' ../said || fail "$(cat ../said)"
	rewind --node build --iter 0
	! grep -q 'there is no iteration' ../said || fail "$(cat ../said)"
}

# The record is the engine's; the commands that bring it in line are named, and work.
test_what_the_record_needs_after_a_rewind_is_named() {
	workspace
	run-record create -q --run demo --workflow w >/dev/null
	run-record set-status -q running >/dev/null
	script wt-run-node build -- false 2>../said || :
	grep -q "run-record fail --resumable" ../said || fail "what comes first: $(cat ../said)"
	expect 5 rewind --node build --iter 0
	grep -q "run-reconcile --run demo" ../said || fail "$(cat ../said)"
	run-record fail -q --resumable >/dev/null
	rewind --node build --dry-run
	! grep -q 'keep machines' ../said || fail "a dry run asks for nothing"
	rewind --node build
	sh -c "$(sed -n 's/.*keep machines from resuming the run: //p' ../said)" >/dev/null || fail "$(cat ../said)"
	run-record get >../record
	grep -q '"paused_operator"' ../record && grep -q '"resume_requires_explicit": *true' ../record || fail "$(cat ../record)"
	rewind --node build
	! grep -q 'set-status' ../said || fail "it is parked already"
}

# W5: an edit within a stop to a file that the run touched, too.
test_what_both_touched_is_restored_and_named() {
	workspace
	boundary pre build >/dev/null
	echo node >one
	boundary pause build >/dev/null
	echo mine >one
	boundary resume build >/dev/null
	boundary post build >/dev/null
	rewind --node build
	reported overlap one
	[ "$(cat one)" = one ] || fail "not restored"
	script wt-undo -q "$(bank_of_report)" >/dev/null
	[ "$(cat one)" = mine ] || fail "the bank does not have it"
}

# W6: what the run made and is ignored now is not silently forgotten.
test_what_the_run_made_and_is_ignored_now_is_named() {
	workspace
	node build 0 'echo node >made.o; echo node >one'
	echo '*.o' >.gitignore
	expect 3 rewind --node build
	reported keep:ignored made.o
	[ "$(cat one)" = one ] && [ -e made.o ] || fail "the wrong one was restored"
}

# A node that hides what it makes: no boundary shows it, but the rules of before do when they are back.
test_what_the_run_hid_by_its_own_rules_is_named() {
	workspace
	node build 0 'echo "hidden*" >.gitignore; echo node >hidden.a; mkdir d; echo node >d/hidden; echo node >one'
	rewind --node build
	[ ! -e .gitignore ] && [ "$(cat one)" = one ] || fail "not restored"
	reported left hidden.a
	reported left d/hidden
	grep -q 'the ignore rules are others now' ../said || fail "$(cat ../said)"
	run-events cat --last 1 | grep -q '"files_left_in_place_paths":\["d/hidden","hidden.a"\]' || fail "the event"
}

# W7: one label for several passes means the first one, and somebody has to say so.
test_a_label_that_several_passes_share_is_refused_unless_it_is_named() {
	workspace
	node build 0 'echo first >one'
	node build 0 'echo second >one'
	snapshots=$(count)
	expect 5 rewind --node build
	grep -q 'ran more than once as iteration 0' ../said || fail "$(cat ../said)"
	[ "$(count)" -eq "$snapshots" ] || fail "a bank was taken"
	rewind --node build --iter 0
	[ "$(cat one)" = one ] || fail "not restored"
	# What was taken back is no pass any more.
	boundary resume build >/dev/null
	echo third >one
	boundary post build >/dev/null
	expect 0 rewind --node build
}

# W34: a bad id changes nothing; a second restore of one id has a bank of its own.
test_restoring_a_snapshot_is_checked_first_and_banks_each_time() {
	workspace
	id=$(boundary pre build)
	tree >../before
	echo node >one
	tree >../after
	snapshots=$(count)
	expect 2 wt-rewind --restore-snapshot 1-0001 2>/dev/null
	expect 2 wt-rewind --restore-snapshot ../x 2>/dev/null
	[ "$(count)" -eq "$snapshots" ] || fail "a bank was taken"
	wt-rewind --restore-snapshot pre:build:0 >../report 2>../said
	tree | cmp - ../before
	grep -q 'larger than a rewind' ../said && grep -q 'this undoes it' ../said || fail "$(cat ../said)"
	wt-rewind -q --restore-snapshot "$(bank_of_report)" >/dev/null
	tree | cmp - ../after
	wt-rewind -q --restore-snapshot pre:build:0 >/dev/null
	wt-label -q "pre-restore:$id:1" >/dev/null || fail "the second bank has no label of its own"
}

# W35: every label, the date, and no end at a manifest that cannot be read.
test_the_list_of_snapshots_is_whole() {
	workspace
	first=$(boundary pre build)
	echo node >one
	post=$(boundary post build)
	echo x >"$(find "$HOME" -name "$post.json")"
	echo more >one
	expect 3 wt-rewind --list-snapshots >../list 2>/dev/null
	grep -q "^$first  20..-..-..T.*(pre:build:0)" ../list || fail "$(cat ../list)"
	grep -q "^$post .*unreadable" ../list || fail "$(cat ../list)"
}

# W36 and W40: a file that no bank can hold any more is left and named, the rest is restored.
test_what_the_bank_cannot_hold_is_left_and_named() {
	workspace
	node build 0 'echo node >one; echo node >two'
	head -c 3000000 /dev/zero >one
	ITERION_WORKSPACE_MAX_FILE_MB=1
	export ITERION_WORKSPACE_MAX_FILE_MB
	expect 5 rewind --node build --all-or-nothing
	[ "$(cat two)" = node ] || fail "--all-or-nothing changed something"
	expect 3 rewind --node build
	[ "$(wc -c <one)" -eq 3000000 ] && [ "$(cat two)" = two ] || fail "the wrong one was restored"
	reported keep:oversized one
	reported gap:oversized one
	reported left one
}

test_a_run_that_does_not_stand_still_is_refused() {
	workspace
	node build 0 'echo node >one'
	dir=$(dirname "$(find "$HOME" -name workspace -path '*/runs/*')")
	snapshots=$(count)
	for status in running finished; do
		echo "{\"status\":\"$status\"}" >"$dir/run.json"
		expect 5 rewind --node build
		grep -q "is $status" ../said || fail "$(cat ../said)"
	done
	echo '{' >"$dir/run.json"
	expect 4 rewind --node build
	expect 0 wt-rewind -q --list-snapshots >/dev/null
	echo '{"status":"failed","checkpoint":{"node_id":"verify"}}' >"$dir/run.json"
	# The engine that holds the lock may be the very process that calls.
	expect 5 flock "$dir/.lock" wt-rewind --node build >../report 2>../said
	grep -q 'is being executed' ../said || fail "$(cat ../said)"
	[ "$(cat one)" = node ] && [ "$(count)" -eq "$snapshots" ] || fail "something was changed"
	expect 0 rewind --node build
	run-events cat | grep -q '"from_node":"verify"' || fail "where it stood"
}

test_a_bank_that_fails_changes_nothing() {
	workspace
	node build 0 'echo node >one'
	echo more >one
	tree >../before
	expect 7 rewind --node build --max-files 1
	expect 5 env ITERION_WORKSPACE_TRACK=off wt-rewind --node build 2>/dev/null
	tree | cmp - ../before
}

test_a_damaged_history_is_not_guessed_at() {
	workspace
	node build 0 'echo node >one'
	node check 0 'echo node >two'
	echo x >"$(find "$HOME" -name "$(wt-label post:build:0).json")"
	expect 4 rewind --node build
	[ "$(cat one)" = node ] || fail "something was changed"
	expect 0 rewind --node build --restore-scope full
	[ "$(cat one)" = one ] && [ "$(cat two)" = two ] || fail "not restored"
}

test_rewind_and_undo_again_and_again_give_the_same_trees() {
	workspace
	node build 0 'echo node >one; rm two; ln -s one link; mkdir empty; chmod 755 one'
	echo mine >mine
	tree >../after
	rewind --node build
	tree >../rewound
	for _ in 1 2; do
		script wt-undo -q "$(bank_of_report)" >/dev/null
		tree | cmp - ../after
		rewind --node build
		tree | cmp - ../rewound
	done
}

test_a_dry_run_says_what_the_rewind_does_and_changes_nothing() {
	workspace
	node build 0 'echo node >one; echo node >made'
	echo mine >mine
	echo mine >one
	tree >../before
	snapshots=$(count)
	rewind -n --node build
	mv ../report ../dry
	tree | cmp - ../before
	[ "$(count)" -eq "$snapshots" ] || fail "a dry run took a bank"
	run-events cat 2>/dev/null | grep -q run_rewound && fail "a dry run left an event"
	rewind --node build
	sed 1d ../report | cmp - ../dry
}

test_odd_names_pass_through_a_rewind() {
	workspace
	node 'it'\''s a:b' 0 "printf x >'a
b'; printf y >'c	d'; printf z >'*'"
	rewind -z --node "it's a:b"
	tr '\000' '\n' <../report | grep -q '^delete	\*$' || fail "$(cat ../report)"
	[ "$(find . -type f | wc -l)" -eq 2 ] || fail "something stays"
}

# Killed before each of its effects: the bank was named before anything changed, and the next one finishes.
test_a_rewind_that_is_killed_anywhere_can_be_undone_and_finished() {
	workspace
	node build 0 'echo node >one; echo node >made'
	echo mine >mine
	tree >../before
	nth=1
	while :; do
		rm -f ../fired
		WT_TEST_FAULT=$nth:kill WT_TEST_FIRED=$SCRATCH/fired rewind --node build || :
		[ -e ../fired ] || break
		bank=$(bank_of_report)
		if ! tree | cmp -s - ../before; then
			[ -n "$bank" ] || fail "changed without a bank, at effect $nth"
		fi
		if [ $((nth % 2)) -eq 0 ]; then
			rewind --node build
			[ "$(cat one)" = one ] && [ ! -e made ] && [ "$(cat mine)" = mine ] || fail "not finished, at effect $nth"
		fi
		if [ -n "$bank" ] || ! tree | cmp -s - ../before; then
			script wt-undo -q "${bank:-$(bank_of_report)}" >/dev/null
		fi
		tree | cmp - ../before || fail "not undone, at effect $nth"
		nth=$((nth + 1))
	done
	[ "$nth" -gt 10 ] || fail "only $nth effects"
}


test_a_command_is_run_as_a_node() {
	workspace
	[ "$(run_node build -- sh -c 'echo made >made; echo out')" = out ] || fail "the output is the command's"
	[ "$(wt-label post:build:0)" != "$(wt-label pre:build:0)" ] || fail "its end"
	printf 'in\n' | run_node build -- cat >../out
	grep -qx in ../out || fail "its input"
	wt-label -q pre:build:1 >/dev/null || fail "the next iteration"
	run-events cat >../events
	grep -q '"type":"node_started".*"node_id":"build".*"iteration":1' ../events || fail "the beginning"
	grep -q '"type":"node_finished".*"node_id":"build".*"iteration":0' ../events || fail "the end"
	run_node --iter 7 other -- true
	wt-label -q post:other:7 >/dev/null || fail "an iteration that is named"
}

test_the_exit_status_of_a_command_is_passed_on_and_marked() {
	workspace
	expect 3 run_node build -- sh -c 'echo x >made; exit 3'
	wt-label -q fail:build:0 >/dev/null || fail "the mark"
	expect 143 run_node build -- sh -c 'kill -TERM $$' 2>/dev/null
	expect 127 run_node build -- ./no-such-command 2>/dev/null
	run-events cat >../events
	grep -q '"type":"run_failed".*"the command ended with status 3","resumable":true' ../events || fail "the event"
	grep -q 'status 143, as by signal TERM' ../events || fail "the signal"
	script wt-run-node "it's" -- false 2>../said || :
	sh -c "$(sed -n 's/.*this takes it back: //p' ../said)" 2>../answer || fail "the command that takes it back"
	grep -q "nothing was restored" ../answer || fail "$(cat ../answer)"
}

test_a_command_that_follows_a_stop_is_a_resume() {
	workspace
	run_node build -- false || :
	echo mine >mine
	run_node build -- sh -c 'echo made >made'
	wt-label -q resume:build:1 >/dev/null || fail "no resume behind a failure"
	rewind --node build --iter 0
	[ -e mine ] && [ ! -e made ] || fail "the wrong one went"
	echo mine >third
	run_node build -- true
	wt-label -q resume:build:2 >/dev/null || fail "no resume behind a rewind"
	run_node outer -- "$SCRIPTS/wt-run-node" -q inner -- true
	expect 1 wt-label -q resume:inner:0
}

# Each command is a process of its own; nobody can tell who was at work between two of them.
test_an_edit_between_two_commands_stays_and_is_named() {
	workspace
	run_node plan -- sh -c 'echo plan >plan'
	echo mine >one
	echo mine >mine
	run_node build -- sh -c 'echo build >build'
	rewind --node build
	[ "$(cat one)" = mine ] && [ -e mine ] && [ ! -e build ] || fail "the wrong one went"
	rewind --node plan
	[ "$(cat one)" = mine ] && [ -e mine ] && [ ! -e plan ] || fail "the wrong one went"
	reported undecided one
	reported undecided mine
}

test_a_command_is_not_run_if_its_beginning_cannot_be_marked() {
	workspace
	dead wt-hash-object cut
	expect 4 run_node build -- touch ran
	[ ! -e ran ] || fail "it was run"
	run_node --anyway build -- touch ran 2>/dev/null
	[ -e ran ] || fail "it was not run"
	expect 2 run_node build
	expect 2 run_node -- true
	expect 2 run_node build --iter x -- true
	expect 2 run_node build more -- true
}

test_a_command_does_not_hold_the_workspace_lock() {
	workspace
	# shellcheck disable=SC2016 # the command expands it
	wt-lock -x -- "$SCRIPTS/wt-run-node" -q build -- \
		sh -c '[ -z "${WT_LOCK_FD:-}" ] || exit 1; sleep 60 >/dev/null 2>&1 & echo $! >../pid'
	got=0
	WT_LOCK_WAIT=0 wt-lock -x -- true || got=$?
	kill "$(cat ../pid)"
	[ "$got" -eq 0 ] || fail "what the command left running holds the lock"
}


test_what_a_node_changed_is_listed_with_its_lines() {
	workspace
	node build 0 'echo more >>one; rm two; printf "a\000b" >bin; chmod 755 one; ln -s one link'
	node build 1 'echo again >one'
	wt-attribute --node build --iter 0 >../list
	for line in 'M	1	0	one' 'D	0	1	two' 'A	-	-	bin' 'A	1	0	link'; do
		grep -qx "$line" ../list || fail "$line in $(cat ../list)"
	done
	[ "$(wt-attribute --node build)" = 'M	1	2	one' ] || fail "the highest iteration"
	wt-attribute --node build --iter 0 --json >../list
	grep -q '"available":true,"files":\[.*{"path":"one","status":"M","added":1,"deleted":0,"binary":false}' ../list ||
		fail "$(cat ../list)"
	grep -q '"path":"bin","status":"A","binary":true' ../list || fail "$(cat ../list)"
	script wt-run-node -q big -- sh -c 'head -c 3000000 /dev/zero >one'
	ITERION_WORKSPACE_MAX_FILE_MB=1 boundary post big >/dev/null
	wt-attribute --node big --json | grep -q '"files":\[\],"uncaptured":\[{"path":"one"}\]' || fail "the gap"
}

# Facts 75.
test_a_node_that_changed_nothing_has_no_files() {
	workspace
	node build 0 :
	[ -z "$(wt-attribute --node build)" ] || fail "files of a node that did nothing"
	wt-attribute --node build --json | grep -q '"available":true,"files":\[\],"uncaptured":\[\]}' || fail "as an object"
}

# unavailable REASON ARG...: the reason that is given, in words and in the object.
unavailable() {
	reason=$1
	shift
	expect 1 wt-attribute "$@" 2>../said
	grep -q "$reason" ../said || fail "$reason is not in $(cat ../said)"
	expect 1 wt-attribute -q --json "$@" >../list
	grep -q "\"available\":false,\"reason\":\".*$reason" ../list || fail "$reason is not in $(cat ../list)"
}

# Facts 73, 5.5.
test_each_reason_why_changes_cannot_be_told_is_named() {
	workspace
	unavailable 'nothing of this run was captured' --node build
	ITERION_WORKSPACE_TRACK=off unavailable 'captures are off' --node build
	expect 7 sh -c 'wt-ls-files -z --records --max-files 1 | wt-hash-object -w -z --stdin-records | wt-write-manifest -z' \
		2>/dev/null
	unavailable 'too many files' --node build
	boundary pre build >/dev/null
	unavailable "no boundary of node 'other'" --node other
	unavailable "no end of node 'build' is recorded" --node build
	run-events append --type node_started --node build --data '{"kind":"agent"}' >/dev/null
	unavailable 'is still running' --node build
	boundary fail build >/dev/null
	unavailable "fail:build:0' shows how far it came" --node build
	boundary pause build >/dev/null
	unavailable 'the run paused in node' --node build
	for kind in subbot compute router emit wait await_answers; do
		run-events append --type node_started --node "$kind" --data "{\"kind\":\"$kind\"}" >/dev/null
		boundary pre "$kind" >/dev/null
		unavailable "of the kind '$kind', which marks no end" --node "$kind"
	done
	boundary pre build 1 >/dev/null
	boundary post build 1 >/dev/null
	unavailable 'shows how far it came' --node build --iter 0
	expect 0 wt-attribute --node build
}

# Facts 5.6 and W41: nothing is dropped, and the last node by snapshot id has a path.
test_what_lies_between_gates_is_partitioned_by_node() {
	workspace
	node build 0 'echo a >a; echo shared >shared'
	node check 0 'echo b >b; echo again >shared'
	boundary gate >/dev/null
	boundary pause gate >/dev/null
	echo mine >mine
	boundary resume gate >/dev/null
	boundary gate >/dev/null
	wt-gates >../list
	cat >../expected <<-'END'
		gate:0	build:0	A	a
		gate:0	check:0	A	b
		gate:0	check:0	A	shared
		gate:1	-	A	mine
	END
	cmp ../list ../expected || fail "$(cat ../list)"
	wt-gates --gate 1 --json | grep -q '"gate":1,.*"nodes":\[\],"other":\[{"path":"mine","status":"A"}\]}' || fail "the object"
	expect 1 wt-gates --gate 7 2>/dev/null
	boundary gate >/dev/null
	wt-gates --gate 2 2>&1 | grep -q 'gate:2: no changes' || fail "an empty range"
}

test_a_run_without_gates_is_one_range() {
	workspace
	expect 1 wt-gates 2>/dev/null
	node build 0 'echo a >a'
	echo mine >mine
	boundary pause build >/dev/null
	[ "$(wt-gates)" = "-	build:0	A	a
-	-	A	mine" ] || fail "$(wt-gates)"
}


# Resume and death on one snapshot: the stop that a mark shows is over when the run comes back.
test_a_death_right_behind_a_resume_that_changed_nothing_is_undecided() {
	workspace
	boundary pre build >/dev/null
	boundary pause build >/dev/null
	boundary resume build >/dev/null
	echo debris >debris
	boundary resume build >/dev/null
	wt-authorship -q --from pre:build:0 | grep -q '^undecided	debris$' || fail "$(wt-authorship -q --from pre:build:0)"
	boundary pause build >/dev/null
	boundary resume build >/dev/null
	boundary pause build >/dev/null
	echo mine >mine
	boundary resume build >/dev/null
	wt-authorship -q --from pre:build:0 | grep -q '^parked	mine$' || fail "a stop where there was one before"
}

# by AUTHOR FILE: one change, with the author's name in the file and in the list of what must be there.
by() {
	mkdir -p "$(dirname "$2")"
	echo "$1" >>"$2"
}

# holds FILE AUTHOR...: the lines of a file, which are its authors in their order; without any it must not exist.
holds() {
	file=$1
	shift
	if [ $# -eq 0 ]; then
		[ ! -e "$file" ] || fail "$file: $(cat "$file")"
	else
		[ "$(printf '%s\n' "$@")" = "$(cat "$file")" ] || fail "$file: $(cat "$file")"
	fi
}

# A whole run: two loops, two pauses at one node, a process that dies, a rewind of nothing before a resume (W1), and
# somebody at work in every stop.
test_a_whole_run_is_taken_back_step_by_step_and_nobody_loses_anything() {
	workspace
	node plan 0 'by plan plan'
	boundary pre ask >/dev/null
	boundary pause ask >/dev/null
	by me notes/third
	tree >../before
	rewind --node ask
	tree | cmp - ../before || fail "a rewind of nothing changed something"
	boundary resume ask >/dev/null
	boundary pre build >/dev/null
	by build src/a
	boundary pause build >/dev/null
	by me notes/first
	by me src/a
	boundary resume build >/dev/null
	by build src/b
	boundary pause build >/dev/null
	by me notes/second
	boundary resume build >/dev/null
	by build src/c
	boundary post build >/dev/null
	node check 0 'by check report'
	# The loop comes round: the same nodes in their next iteration.
	node build 1 'by again src/c; by again src/d'
	boundary pre check 1 >/dev/null
	by check report
	# It dies here, and somebody cleans up before it comes back.
	by me notes/fourth
	boundary resume check 1 >/dev/null
	by check verdict
	boundary fail check 1 >/dev/null
	by me notes/fifth
	by me src/d
	tree >../end

	# Back before the last check: what happened around the death is undecided.
	rewind --node check
	holds verdict
	holds report check check
	reported undecided report
	reported undecided notes/fourth
	reported left notes/fifth
	holds src/d again me
	script wt-undo -q "$(bank_of_report)" >/dev/null
	tree | cmp - ../end || fail "undone"

	# Back before the second build: its files go, also the one that somebody went on with, which the bank has.
	rewind --node build
	holds src/d
	reported overwritten src/d
	holds src/c build
	wt-ls-manifest "$(bank_of_report)" | grep -qx src/d || fail "the bank"
	for file in first second third fourth fifth; do holds notes/$file me; done

	# And before the first one: everything of the run but the plan.
	rewind --node build --iter 0
	for file in src/a src/b src/c src/d verdict; do holds $file; done
	reported overlap src/a
	holds plan plan
	for file in first second third fourth fifth; do holds notes/$file me; done
	rewind --node plan
	holds plan
	for file in first second third fourth fifth; do holds notes/$file me; done
	# Every state that was there is there again by its bank.
	script wt-undo -q rewind-backup:check:0 >/dev/null
	tree | cmp - ../end || fail "the first bank"
	[ "$(run-events cat | grep -c '"type":"run_rewound"')" -eq 5 ] || fail "an event for each rewind"
}


test_what_another_run_of_the_workspace_changed_is_named() {
	workspace
	boundary pre build >/dev/null
	echo first >first
	boundary --run other pre build >/dev/null
	echo second >second
	boundary --run other post build >/dev/null
	boundary post build >/dev/null
	rewind --node build -n
	reported shared:other second
	[ "$(lines shared:other)" -eq 1 ] || fail "$(cat ../report)"
	rewind --node build
	grep -q '1 restored paths were changed by another run' ../said || fail "$(cat ../said)"
	[ ! -e first ] && [ ! -e second ] || fail "not restored"
	[ -z "$(wt-label -q --run other --list 'rewind*')" ] || fail "the other run was touched"
	# Another workspace with the same store is another matter.
	mkdir ../elsewhere
	store=$(dirname "$(dirname "$(dirname "$(find "$HOME" -name workspace -path '*/runs/demo/*')")")")
	boundary -C ../elsewhere --store "$store" --run third pre build >/dev/null
	script wt-undo -q "$(bank_of_report)" >/dev/null
	rewind --node build
	[ "$(lines shared:third)" -eq 0 ] || fail "$(cat ../report)"
	echo x >"$store/runs/other/workspace/index.json"
	rewind --node build -n
	grep -q "cannot tell what run 'other' did" ../said || fail "$(cat ../said)"
}


# W42: an operator's pause between two nodes takes no capture, but the log tells of it; behind a node that marks no end it
# shows nothing.
test_an_event_shows_a_stop_between_two_nodes_and_only_there() {
	workspace
	node build 0 'echo node >made'
	run-events append --type run_paused --data '{"reason":"operator"}' >/dev/null
	echo mine >mine
	boundary resume check >/dev/null
	echo node >verdict
	boundary post check >/dev/null
	boundary pre fan >/dev/null
	run-events append --type node_started --node fan --data '{"kind":"router"}' >/dev/null
	echo branch >branch
	run-events append --type run_paused --data '{"reason":"operator"}' >/dev/null
	boundary resume last >/dev/null
	rewind --node build
	reported left mine
	reported undecided branch
	[ -e mine ] && [ -e branch ] && [ ! -e made ] && [ ! -e verdict ] || fail "the wrong one went"
}

"$TEST"
