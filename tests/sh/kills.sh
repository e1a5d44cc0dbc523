# shellcheck shell=sh disable=SC2317,SC2329 # the functions are called by name
# shellcheck disable=SC2015 # fail, behind && and ||, ends the test
# Tests of scripts that are killed: before each command that they start, with that command alone or with the whole script,
# and before each effect inside of those commands. Whatever was there, running them again gives the right marks.
# shells: sh
set -eu

# shellcheck source=tests/sh/helpers
. "$SCRIPTS/../tests/sh/helpers"
# shellcheck source=tests/sh/rewind-helpers
. "$SCRIPTS/../tests/sh/rewind-helpers"

# deadly: a search path on which the command with the number in ../deadly/nth dies before it does anything; the group of
# processes with it where ../deadly/group is.
deadly() {
	mkdir "$SCRATCH/deadly" "$SCRATCH/deadly/bin"
	programs=$(dirname "$(command -v wt-restore)")
	for name in wt-label wt-lock wt-ls-files wt-hash-object wt-write-manifest wt-ls-manifest wt-restore run-events; do
		cat >"$SCRATCH/deadly/bin/$name" <<-END
			#!/bin/sh
			turn=1
			until mkdir "$SCRATCH/deadly/turn/\$turn" 2>/dev/null; do turn=\$((turn + 1)); done
			if [ "\$turn" -eq "\$(cat "$SCRATCH/deadly/nth")" ]; then
				: >"$SCRATCH/fired"
				[ ! -e "$SCRATCH/deadly/group" ] || kill -9 0
				kill -9 \$\$
			fi
			exec "$programs/$name" "\$@"
		END
		chmod +x "$SCRATCH/deadly/bin/$name"
	done
}

# killed WAY NTH SCRIPT ARG...: runs it, with a death on the way; false if it ended before that.
killed() {
	way=$1
	nth=$2
	victim=$3
	shift 3
	rm -rf ../fired ../deadly/turn ../deadly/group
	mkdir ../deadly/turn
	echo "$nth" >../deadly/nth
	case $way in
	effect) WT_TEST_FAULT=$nth:kill WT_TEST_FIRED=$SCRATCH/fired script "$victim" "$@" || : ;;
	command) PATH=$SCRATCH/deadly/bin:$PATH script "$victim" "$@" || : ;;
	group)
		: >../deadly/group
		# shellcheck disable=SC2086 # a shell and its first argument
		PATH=$SCRATCH/deadly/bin:$PATH setsid -w $WT_SHELL "$SCRIPTS/$victim" "$@" || :
		;;
	esac
	[ -e ../fired ]
}

# keep: remembers workspace and store; again: puts them back.
keep() {
	rm -rf ../kept
	mkdir ../kept
	cp -a . ../kept/ws
	cp -a "$HOME/.iterion" ../kept/store
}

again() {
	find . -mindepth 1 -delete
	rm -rf "$HOME/.iterion"
	cp -a ../kept/ws/. .
	cp -a ../kept/store "$HOME/.iterion"
}

# each WAY CHECK SCRIPT ARG...: kills it everywhere in turn, and then lets CHECK look.
each() {
	how=$1
	check=$2
	shift 2
	at=1
	while again && killed "$how" "$at" "$@" >../killed 2>../killed.said; do
		"$check" "$@" || fail "$check, killed by $how $at: $*"
		at=$((at + 1))
	done
	[ "$at" -gt "$least" ] || fail "only $at deaths by $how: $*"
}

# A boundary that is marked again is what one that was never killed is.
marked_again() {
	shift
	id=$(boundary "$@") || fail "it cannot be marked again"
	wt-diff -q --exit-code "$id" >/dev/null || fail "it does not show the workspace"
	[ "$1" = gate ] || [ "$(wt-label -- "$1:$2:0")" = "$id" ] || fail "its label"
	[ "$1" != resume ] || wt-label -q pre:build:0 >/dev/null || fail "the beginning"
	wt-fsck -q >/dev/null || fail "the store"
	boundary pre after >/dev/null || fail "the next one"
	boundary post after >/dev/null
	rewind --node build -n || fail "a rewind: $(cat ../said)"
	grep -qx 'write	one' ../report || fail "what the node did: $(cat ../report)"
	! grep -qx 'delete	mine' ../report || fail "somebody's file is the run's"
}

state() {
	# What happens within a command does not depend on the shell.
	ways="command group"
	[ "$WT_SHELL" != sh ] || ways="$ways effect"
	workspace
	deadly
	least=2
	boundary pre build >/dev/null
	echo node >one
}

test_a_boundary_that_is_killed_anywhere_is_marked_again() {
	state
	keep
	for phase in post fail pause; do
		for way in $ways; do each "$way" marked_again wt-boundary $phase build; done
	done
}

test_a_gate_that_is_killed_anywhere_is_marked_again() {
	state
	boundary post build >/dev/null
	echo gate >two
	keep
	for way in $ways; do each "$way" marked_again wt-boundary gate; done
	[ "$(boundary gate)" = "$(wt-label gate:0)" ] || fail "more than one snapshot"
}

test_a_beginning_that_is_killed_anywhere_is_marked_again() {
	state
	keep
	for way in $ways; do each "$way" marked_again wt-boundary pre next; done
	# And as an alias.
	again
	boundary post build >/dev/null
	keep
	for way in $ways; do each "$way" marked_again wt-boundary pre next; done
}

test_a_resume_that_is_killed_anywhere_is_marked_again() {
	state
	boundary pause build >/dev/null
	echo mine >mine
	keep
	for way in $ways; do each "$way" marked_again wt-boundary resume build; done
}

# Each execution that anything is known of began once, ended at most once, and the last one ended.
run_again() {
	echo mine >mine
	run_node build -- sh -c 'echo again >again' || fail "the command cannot be run again"
	run-events check -q || fail "the log"
	run-events cat >../events
	for type in node_started node_finished run_failed; do
		doubled=$(sed -n "s/.*\"type\":\"$type\".*\"node_id\":\"build\".*\"iteration\":\([0-9]*\).*/\1/p" ../events | sort | uniq -d)
		[ -z "$doubled" ] || fail "$type twice: $(cat ../events)"
	done
	last=$(wt-label --list 'post:build:*' | sed 's/	.*//; s/.*://' | sort -n | tail -n 1)
	wt-label -q "pre:build:$last" >/dev/null || fail "the last execution has no beginning"
	grep -q "\"type\":\"node_finished\".*\"iteration\":${last}[^0-9]" ../events || fail "no event of the end"
	wt-fsck -q >/dev/null || fail "the store"
	! wt-authorship -q --from pre:build:0 --produced | grep -qx mine || fail "somebody's file is the run's"
	wt-authorship -q --from pre:build:0 --produced | grep -qx again || fail "what was made again is not the run's"
	rewind --node build
	[ ! -e again ] || fail "what was made again stays: $(cat ../report)"
	wt-ls-manifest "$(bank_of_report)" | grep -qx mine || fail "the bank"
}

test_a_command_whose_script_is_killed_anywhere_is_run_again() {
	state
	rm -r "$HOME/.iterion"
	boundary pre first >/dev/null
	boundary post first >/dev/null
	keep
	for way in $ways; do each "$way" run_again wt-run-node -q build -- sh -c 'echo made >made'; done
	for way in $ways; do each "$way" run_again wt-run-node -q build -- sh -c 'echo made >made; exit 1'; done
}

# Whatever was changed, the bank was named before; the same command finishes, and the bank brings back what was there.
undone_or_finished() {
	way_out=$((at % 2))
	bank=$(sed -n 's/^bank	//p' ../killed)
	tree | cmp -s - ../before || [ -n "$bank" ] || fail "changed without a bank"
	if [ "$way_out" -eq 0 ] || [ -z "$bank" ]; then
		script wt-undo -q begun >../report || fail "it cannot be finished"
		tree | cmp - ../begun || fail "not finished"
		script wt-undo -q "$(bank_of_report)" >/dev/null
		[ -z "$bank" ] || script wt-undo -q "$bank" >/dev/null
	else
		script wt-undo -q "$bank" >/dev/null || fail "it cannot be undone"
	fi
	tree | cmp - ../before || fail "not undone"
	[ -z "$(find . -name '.iterion*')" ] || fail "something stays: $(find . -name '.iterion*')"
	run-events check -q || fail "the log"
}

test_an_undo_that_is_killed_anywhere_is_undone_or_finished() {
	state
	run-events append --type run_started >/dev/null
	mkdir dir empty
	echo three >dir/three
	ln -s one link
	script wt-capture -q begun >/dev/null
	tree >../begun
	echo mine >one
	rm -r two dir empty link
	echo mine >dir
	mkdir link
	echo mine >link/new
	chmod 700 one
	tree >../before
	keep
	for way in $ways; do each "$way" undone_or_finished wt-undo -q begun; done
}

"$TEST"
