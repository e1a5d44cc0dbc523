# shellcheck shell=sh disable=SC2317,SC2329 # the functions are called by name
# shellcheck disable=SC2015 # fail, behind && and ||, ends the test
# Where each case of the facts, section 8, that belongs to a rewind is tested through the commands, and the cases that have
# no other place.
#
#   39 41     rewind.sh     test_protected_paths_are_neither_written_nor_removed,
#                           test_what_a_node_did_is_taken_back_and_what_somebody_did_stays
#   43        here          test_a_path_that_leads_out_of_the_workspace_touches_nothing
#   47        rewind.sh     test_what_a_node_did_is_taken_back_and_what_somebody_did_stays
#   49        rewind.sh     test_two_pauses_at_one_node_keep_both_edits
#   51 55 61  -             these are of runs in a git worktree, which this toolkit does not have
#   53 67     rewind.sh     test_an_empty_scope_restores_nothing_and_claims_nothing
#   57        rewind.sh     test_the_scope_none_only_appends_the_event
#   59        rewind.sh     test_a_stale_pivot_is_refused_with_its_cause
#   63        rewind.sh     test_an_edit_between_a_failure_and_the_next_stays
#   65        rewind.sh     test_a_node_called_gate_has_boundaries_like_any_other
#   69        here          test_a_run_without_a_document_keeps_what_it_names
#   71        here          test_a_prune_that_only_looks_removes_nothing
#   73        rewind.sh     test_each_reason_why_changes_cannot_be_told_is_named
#   75        rewind.sh     test_a_node_that_changed_nothing_has_no_files
#   77 79 81  -             banks in git: not of this toolkit
#
# And of the weaknesses, section 9:
#
#   W1        rewind.sh     test_resume_behind_a_bank_is_a_snapshot_of_its_own,
#                           test_an_empty_rewind_before_a_resume_does_not_make_edits_the_runs
#   W2        here          test_a_stop_is_known_though_its_label_has_moved_on_or_made_no_snapshot
#   W3        rewind.sh     test_a_resume_that_failed_is_called_again
#             kills.sh      test_a_resume_that_is_killed_anywhere_is_marked_again
#   W4        rewind.sh     test_a_process_that_died_without_a_mark_leaves_undecided_paths
#   W5        rewind.sh     test_what_both_touched_is_restored_and_named
#   W6        rewind.sh     test_what_the_run_made_and_is_ignored_now_is_named
#   W7        rewind.sh     test_a_label_that_several_passes_share_is_refused_unless_it_is_named
#   W33       rewind.sh     test_a_stale_pivot_is_refused_with_its_cause
#   W34       rewind.sh     test_restoring_a_snapshot_is_checked_first_and_banks_each_time
#             snapshots.sh  test_a_snapshot_is_restored_only_into_a_run_that_stands_still
#   W35       rewind.sh     test_the_list_of_snapshots_is_whole
#   W36 W40   rewind.sh     test_what_the_bank_cannot_hold_is_left_and_named
#   W37       rewind.sh     test_what_both_touched_is_restored_and_named
#   W38       here          test_a_bank_says_what_it_does_not_hold
#   W39       snapshots.sh  test_the_log_of_a_run_tells_of_a_restore
#   W41       rewind.sh     test_what_lies_between_gates_is_partitioned_by_node
#   W42       rewind.sh     test_an_event_shows_a_stop_between_two_nodes_and_only_there
set -eu

# shellcheck source=tests/sh/helpers
. "$SCRIPTS/../tests/sh/helpers"
# shellcheck source=tests/sh/rewind-helpers
. "$SCRIPTS/../tests/sh/rewind-helpers"

test_every_test_of_the_table_is_there() {
	cd "$SCRIPTS/../tests/sh"
	sed -n 's/^#.* \([a-z]*[.]sh\|here\)  *\(test_[a-z_]*\),\{0,1\}$/\1 \2/p; s/^#  *\(test_[a-z_]*\)$/- \1/p' cases.sh >"$SCRATCH/table"
	while read -r file name; do
		case $file in
		here) file=cases.sh ;;
		-) file=rewind.sh ;;
		esac
		grep -q "^$name() {\$" "$file" || fail "$name in $file"
	done <"$SCRATCH/table"
	[ "$(wc -l <"$SCRATCH/table")" -gt 30 ] || fail "the table cannot be read"
}

# Facts 43.
test_a_path_that_leads_out_of_the_workspace_touches_nothing() {
	workspace
	echo outside >../outside
	ln -s .. up
	boundary pre build >/dev/null
	echo node >one
	for path in ../outside /etc/passwd a/../../outside "$SCRATCH/outside"; do
		printf '%s\n' "$path" >../list
		got=0
		wt-restore -q --paths-from-stdin pre:build:0 <../list >../report 2>&1 || got=$?
		[ "$got" -eq 2 ] || [ "$got" -eq 4 ] || fail "exit code $got for $path: $(cat ../report)"
		expect 2 script wt-undo -q pre:build:0 "$path" >/dev/null 2>&1
	done
	wt-restore -q pre:build:0 up/outside >/dev/null 2>&1 || :
	[ "$(cat ../outside)" = outside ] || fail "it was touched"
	[ "$(cat one)" = node ] || fail "something else was restored"
}

# Facts 69, for the objects: a run that cannot be loaded is not taken for a dead one.
test_a_run_without_a_document_keeps_what_it_names() {
	workspace
	first=$(boundary --run other pre build)
	echo node >one
	boundary pre build >/dev/null
	dir=$(dirname "$(find "$HOME" -name workspace -path '*/runs/demo/*')")
	[ ! -e "$(dirname "$dir")/other/run.json" ] || fail "it has one"
	rm -r "$dir"
	wt-prune -q --grace 0 >/dev/null
	echo x >one
	script wt-undo -q --run other "$first" >/dev/null
	[ "$(cat one)" = one ] || fail "its objects are gone"
	[ "$(find "$HOME" -path '*/workspace-objects/??/*' -type f -exec grep -lx node {} + | wc -l)" -eq 0 ] ||
		fail "those of the other one stay"
}

# Facts 71.
test_a_prune_that_only_looks_removes_nothing() {
	workspace
	boundary pre build >/dev/null
	rm -r "$(dirname "$(find "$HOME" -name workspace -path '*/runs/demo/*')")"
	find "$HOME/.iterion" | sort >../before
	wt-prune -n --grace 0 >../report 2>&1
	find "$HOME/.iterion" | sort | cmp - ../before
	wt-prune -q --grace 0 >/dev/null
	! find "$HOME/.iterion" | sort | cmp -s - ../before || fail "there was something to remove"
}

# W2: a pause that found nothing changed made no snapshot, and one that came again moved the label of the first.
test_a_stop_is_known_though_its_label_has_moved_on_or_made_no_snapshot() {
	workspace
	boundary pre build >/dev/null
	pre=$(wt-label pre:build:0)
	[ "$(boundary pause build)" = "$pre" ] || fail "a snapshot of its own"
	echo mine >first
	boundary resume build >/dev/null
	echo node >made
	boundary pause build >/dev/null
	[ "$(wt-label pause:build:0)" != "$pre" ] || fail "the label did not move"
	echo mine >second
	boundary resume build >/dev/null
	[ "$(boundary pause build)" = "$(wt-label resume:build:0)" ] || fail "a snapshot of its own"
	echo mine >third
	boundary resume build >/dev/null
	boundary post build >/dev/null
	rewind --node build
	[ "$(lines undecided)" -eq 0 ] || fail "$(cat ../report)"
	for file in first second third; do reported left $file && [ -e $file ] || fail "$file went"; done
	[ ! -e made ] || fail "the node's file stays"
}

# W38.
test_a_bank_says_what_it_does_not_hold() {
	workspace
	node build 0 'echo node >one'
	head -c 3000000 /dev/zero >large
	ITERION_WORKSPACE_MAX_FILE_MB=1
	export ITERION_WORKSPACE_MAX_FILE_MB
	rewind --node build
	reported gap:oversized large
	script wt-bank 2>../said >/dev/null
	grep -q large ../said || fail "$(cat ../said)"
	script wt-undo HEAD 2>../said >/dev/null
	grep -q large ../said || fail "$(cat ../said)"
}

"$TEST"
