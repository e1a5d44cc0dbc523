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

# Whoever is somewhere else, or has another store, finds the snapshot with it as well.
test_a_command_to_copy_names_workspace_and_store_as_they_were_named() {
	workspace
	mkdir "$SCRATCH/it's there" && cd "$SCRATCH"
	set -- -C ws --store "it's there" --run 'r'
	script wt-capture "$@" -q before >/dev/null
	echo changed >ws/one
	script wt-undo "$@" before >out 2>said
	grep -qF "this undoes it: wt-undo -C ws --store 'it'\\''s there' --run r " said || fail "$(cat said)"
	(unset WT_RUN && sh -c "$(sed -n 's/.*this undoes it: //p' said)") >out 2>answer || fail "$(cat answer)"
	[ "$(cat ws/one)" = changed ] || fail "it did not undo it"
	script wt-run-node "$@" node -- sh -c 'echo made >ws/made; exit 1' 2>said && fail "a status"
	grep -qF "wt-rewind -C ws --store 'it'\\''s there' --run r --node node --iter 0" said || fail "$(cat said)"
	(unset WT_RUN && sh -c "$(sed -n 's/.*this takes it back: //p' said)") >out 2>answer || fail "$(cat answer)"
	[ ! -e ws/made ] || fail "it did not take it back"
}

test_a_node_that_is_not_marked_cannot_be_taken_back() {
	workspace
	expect 1 env ITERION_WORKSPACE_TRACK=off "$SCRIPTS/wt-run-node" node -- false 2>../said
	grep -q "ended with status 1" ../said || fail "$(cat ../said)"
	! grep -q 'takes it back' ../said || fail "$(cat ../said)"
}

test_an_empty_place_is_none() {
	workspace
	for option in --store= --run= '--store ' '--run ' '-C '; do
		name=${option%?}
		for what in wt-capture wt-bank wt-undo 'wt-boundary gate' 'wt-run-node n -- true'; do
			case $option in *=) set -- "$option" ;; *) set -- "$name" '' ;; esac
			# shellcheck disable=SC2086 # a script and its arguments
			expect 2 script ${what%% *} "$@" ${what#"${what%% *}"} x 2>../said
			grep -q "option '$name' needs a value" ../said || fail "$what: $(cat ../said)"
		done
	done
	[ ! -e "$HOME/.iterion" ] || fail "a refused command made a store"
}

test_a_label_that_exists_says_what_moves_it() {
	workspace
	script wt-capture -q good >/dev/null
	expect 6 script wt-capture -q --label-create good 2>../said
	grep -q 'without --label-create' ../said || fail "$(cat ../said)"
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
		script "$name" --help >help
		grep -q "^usage: $name " help || fail "help of $name"
		[ "$(sed -n '3,$p' help | wc -L)" -le 80 ] || fail "help of $name is too wide"
		[ "$name" = wt ] || grep -q -- '--yes-this-root' help || fail "help of $name"
	done
}

test_the_dispatcher_finds_programs_and_scripts() {
	workspace
	id=$(script wt capture -q before)
	[ "$(script wt label before)" = "$id" ] || fail "wt label"
	[ "$(script wt wt-label before)" = "$id" ] || fail "wt wt-label"
	script wt help | grep -q '^  capture  *capture the workspace' || fail "what a script does"
	script wt run-node --help | grep -q '^usage: wt-run-node' || fail "it runs, too"
	! script wt help | grep -q setup || fail "what is no command"
	script wt help | grep -q '^  run-node  *run a command' || fail "a script that is called as programs are"
	script wt help | grep -q '^  run-record  *[a-z]' || fail "what another program does"
	script wt help | grep -q '^  restore  *[a-z]' || fail "the list of commands"
	expect 2 script wt help log extra
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

# Only a lost race is run again; an engine that holds its lock would still hold it.
test_only_a_lost_race_is_begun_again() {
	workspace
	script wt-capture -q before >/dev/null
	dir=$(dirname "$(find "$HOME" -name workspace -path '*/runs/*')")
	(
		flock 9
		: >../held
		exec sleep 60
	) 9>"$dir/.lock" &
	holder=$!
	until [ -e ../held ]; do :; done
	for what in wt-capture wt-bank 'wt-undo HEAD'; do
		# shellcheck disable=SC2086 # a script and its argument
		expect 6 script $what 2>../said >/dev/null
		[ "$(grep -c error: ../said)" -eq 1 ] || fail "$what: $(cat ../said)"
		! grep -q 'beginning again' ../said || fail "$what: $(cat ../said)"
	done
	kill "$holder"
	wait "$holder" 2>/dev/null || :
}

# Another capture is published while this one walks, each time or once.
test_a_capture_that_lost_a_race_begins_again() {
	workspace
	script wt-capture -q before >/dev/null
	mkdir ../racing
	real=$(command -v wt-write-manifest)
	cat >../racing/wt-write-manifest <<-END
		#!/bin/sh
		echo x >>../tries
		if [ "\$(wc -l <../tries)" -le "\$RACES" ]; then
			cat >../stream
			echo x >>raced
			wt-ls-files -z --records | wt-hash-object -w -z --stdin-records | $real -z -q >/dev/null
			exec $real "\$@" <../stream
		fi
		exec $real "\$@"
	END
	chmod +x ../racing/wt-write-manifest
	PATH=$SCRATCH/racing:$PATH
	RACES=1 && export RACES
	expect 0 script wt-capture again >../out 2>../said
	grep -q 'beginning again' ../said || fail "$(cat ../said)"
	RACES=9
	: >../tries
	expect 6 script wt-capture never >../out 2>../said
	[ "$(wc -l <../tries)" -eq 4 ] || fail "$(cat ../tries)"
	grep -q 'error: other captures were faster each time' ../said || fail "$(cat ../said)"
}

test_an_undo_that_changed_nothing_needs_no_undo() {
	workspace
	script wt-capture -q before >/dev/null
	script wt-undo before >../out 2>../said
	! grep -q 'this undoes it' ../said || fail "$(cat ../said)"
	echo changed >one
	script wt-undo before 'a dir' >../out 2>../said
	! grep -q 'this undoes it' ../said || fail "$(cat ../said)"
	script wt-undo before one >../out 2>../said
	grep -q 'this undoes it' ../said || fail "$(cat ../said)"
}

# A store is never inherited from a directory above; who begins one below another is told so, once.
test_a_store_below_another_one_is_named() {
	workspace
	script wt-boundary pre build >/dev/null 2>../said
	! grep -q 'has one already' ../said || fail "the first store: $(cat ../said)"
	cd 'a dir'
	expect 2 wt-log 2>../../said
	grep -q "there is no run 'demo', and no store '.*-ws-a dir'" ../../said || fail "$(cat ../../said)"
	grep -q -- '-C' ../../said || fail "$(cat ../../said)"
	run-record list >/dev/null 2>../../said
	grep -q "there is no store '.*-ws-a dir'" ../../said || fail "$(cat ../../said)"
	script wt-boundary pre build 2>../../said >/dev/null
	[ "$(grep -c "'.*/ws' above has one already" ../../said)" -eq 1 ] || fail "$(cat ../../said)"
	script wt-boundary post build 2>../../said >/dev/null
	! grep -q 'has one already' ../../said || fail "it is there: $(cat ../../said)"
	cd .. && mkdir named && cd named
	script wt-boundary --store ../../named pre build 2>../../said >/dev/null
	! grep -q 'has one already' ../../said || fail "it was named: $(cat ../../said)"
	wt-label 2>../../said && fail "no label is named" || grep -q -- '--list' ../../said || fail "$(cat ../../said)"
}

test_a_capture_waits_for_a_restore_and_gives_up_in_time() {
	workspace
	expect 6 wt-lock -x -- env -u WT_LOCK_FD WT_LOCK_WAIT=0 "$SCRIPTS/wt-capture" -q before
	expect 0 wt-lock -x -- "$SCRIPTS/wt-capture" -q before
	expect 6 wt-lock -s -- "$SCRIPTS/wt-undo" -q before
	expect 0 wt-lock -s -- env -u WT_LOCK_FD "$SCRIPTS/wt-capture" -q before
}

# at_publishing COMMAND: what the command ends with while a capture publishes, held by nothing that the capture holds.
at_publishing() {
	echo "$1" >>one
	WT_TEST_HOOK="before-history-lock=WT_LOCK_FD= WT_LOCK_WAIT=0 $1; echo \$? >../ended" script wt-capture -q now >/dev/null
	cat ../ended
}

test_a_capture_shares_the_lock_to_its_end() {
	workspace
	script wt-capture -q before >/dev/null
	[ "$(at_publishing 'wt-lock -s -- true')" = 0 ] || fail "two captures"
	[ "$(at_publishing 'wt-lock -x -- true')" = 6 ] || fail "a restore could begin"
	expect 0 env WT_LOCK_WAIT=0 wt-lock -x -- true
}

test_a_capture_leaves_the_descriptors_of_its_caller_alone() {
	workspace
	script wt-capture -q before >/dev/null
	exec 9>../lock
	flock 9
	[ "$(at_publishing 'flock -n ../lock true')" = 1 ] || fail "the caller's lock is gone"
	exec 3>&9 4>&9 5>&9 6>&9 7>&9 8>&9
	[ "$(at_publishing 'flock -n ../lock true')" = 1 ] || fail "the caller's lock is gone"
	[ "$(at_publishing 'wt-lock -x -- true')" = 6 ] || fail "a restore could begin"
}

test_a_capture_that_is_killed_while_it_waits_is_none() {
	workspace
	mkfifo ../end
	# shellcheck disable=SC2016 # the inner shell expands
	flock -o . sh -c '
		WT_LOCK_WAIT=20 $WT_SHELL "$SCRIPTS/wt-capture" killed >../end 2>../said &
		exec 5<../end
		until grep -q "waiting for workspace" ../said; do :; done
		kill -9 $!
		cat <&5' >../out
	! grep -q 'were not enough' ../said || fail "it went on waiting: $(cat ../said)"
	[ ! -s ../out ] || fail "an id: $(cat ../out)"
	expect 1 wt-label -q killed
}

test_a_capture_of_what_cannot_be_locked_says_why() {
	workspace
	for root in ../nothing one; do
		expect 2 script wt-capture -q before -C $root >../out 2>../said
		[ "$(grep -c 'cannot open the workspace' ../said)" -eq 1 ] || fail "$(cat ../said)"
	done
	expect 5 script wt-capture -q before -C "$HOME" 2>../said
	grep -q '^wt-ls-files: error: .* is the home directory' ../said || fail "$(cat ../said)"
	! grep -q '^wt-hash-object' ../said || fail "said once more: $(cat ../said)"
	expect 0 script wt-capture -q before -C "$HOME" --yes-this-root >/dev/null
}

"$TEST"
