# shellcheck shell=sh disable=SC2317,SC2329 # the functions are called by name
# shellcheck disable=SC2015 # fail, behind && and ||, ends the test
# Tests of nodes that run at the same time, each with its own marks: what cannot be told apart is said, never guessed.
set -eu

# shellcheck source=tests/sh/helpers
. "$SCRIPTS/../tests/sh/helpers"
# shellcheck source=tests/sh/rewind-helpers
. "$SCRIPTS/../tests/sh/rewind-helpers"

# marks PHASE NODE [ITERATION]...: boundaries, two words each.
marks() {
	while [ $# -gt 0 ]; do
		boundary "$1" "$2" >/dev/null
		shift 2
	done
}

# While one node waits for somebody, another goes on: its work is not somebody's, and neither is the rest its own.
test_what_another_node_did_during_a_pause_is_undecided() {
	workspace
	marks pre left pre right
	echo left >l
	marks pause left
	echo right >r
	echo mine >mine
	marks resume left
	echo left >l2
	marks post left post right
	wt-authorship -q --from pre:left:0 >../list
	cmp ../list - <<-'END' || fail "$(cat ../list)"
		produced	l
		produced	l2
		undecided	mine
		undecided	r
	END
	wt-authorship -q --from pre:left:0 --explain r | grep -q "'right:0' was at work all the while" || fail "the reason"
	rewind --node left
	reported undecided r
	reported undecided mine
	[ -e mine ] && [ -e r ] && [ ! -e l ] && [ ! -e l2 ] || fail "the wrong one went"
}

# The other way round: the node that went on began first, and only its end shows that it was at work.
test_a_node_that_began_first_and_ends_later_was_at_work_during_a_pause() {
	workspace
	marks pre right pre left pause left
	echo right >r
	marks resume left
	wt-authorship -q --from pre:left:0 | grep -q '^parked	r$' || fail "nothing shows it yet"
	marks post left
	marks post right
	wt-authorship -q --from pre:left:0 | grep -q '^undecided	r$' || fail "$(wt-authorship -q --from pre:left:0)"
}

test_what_changed_beside_a_paused_node_is_taken_back_and_named() {
	workspace
	marks pre left pre right pause left
	echo right >one
	echo mine >two
	marks post right resume left post left
	rewind --node left
	[ "$(cat one)" = one ] && [ "$(cat two)" = two ] || fail "not restored"
	reported overlap one
	reported overlap two
	wt-ls-manifest "$(bank_of_report)" | grep -qx two || fail "the bank"
	# One node after the other is not flagged so.
	marks pre third
	echo third >one
	marks post third
	rewind --node third
	[ "$(lines overlap)" -eq 0 ] || fail "$(cat ../report)"
}

test_a_node_without_a_mark_of_its_own_has_not_stopped_with_another() {
	workspace
	marks pre left pre right pause left
	echo debris >debris
	# The engine dies here.
	marks resume right
	wt-authorship -q --from pre:left:0 | grep -q '^undecided	debris$' || fail "$(wt-authorship -q --from pre:left:0)"
}

test_every_node_that_was_at_work_is_named() {
	workspace
	marks pre left pre right
	echo either >both
	marks post left
	echo right >r
	echo right >one
	marks post right
	wt-authorship -q --from pre:left:0 --by-node >../list
	cmp ../list - <<-'END' || fail "$(cat ../list)"
		left	produced	both
		right	produced	both
		right	produced	one
		right	produced	r
	END
	wt-attribute --node left >../list 2>../said
	[ "$(cat ../list)" = "A	1	0	both" ] || fail "$(cat ../list)"
	grep -q "'right:0' was at work at the same time as 'left'" ../said || fail "$(cat ../said)"
	wt-attribute -q --node left --json | grep -q '"beside":\[{"node_id":"right","iteration":0}\]' || fail "as an object"
	boundary gate >/dev/null
	wt-gates >../list 2>../said
	cmp ../list - <<-'END' || fail "$(cat ../list)"
		gate:0	left:0	A	both
		gate:0	right:0	A	both
		gate:0	right:0	M	one
		gate:0	right:0	A	r
	END
	grep -q '1 paths changed while several nodes were at work' ../said || fail "$(cat ../said)"
	wt-gates -q --json >../list
	grep -q '"shared":\[{"path":"both","status":"A","nodes":\[{"node":"left","iteration":0},{"node":"right","iteration":0}\]}\],"other":\[\]' \
		../list || fail "$(cat ../list)"
}

# Something may have changed since the end of the last node: the beginning of the next one looks.
test_pre_is_no_alias_while_another_node_is_at_work() {
	workspace
	marks pre left pre right post left
	echo right >one
	id=$(boundary pre third)
	[ "$id" != "$(wt-label post:left:0)" ] || fail "an alias onto a state that is past"
	marks post third
	echo third >made
	boundary post right >/dev/null
	rewind --node third
	[ "$(cat one)" = right ] && [ ! -e made ] || fail "the wrong one went"
}

test_commands_that_run_at_the_same_time_lose_nothing() {
	workspace
	run_node split -- true
	for name in a b c d; do
		run_node $name -- sh -c "echo $name >$name; echo $name >>all" 2>../err.$name &
	done
	wait
	for name in a b c d; do
		wt-label -q post:$name:0 >/dev/null || fail "the end of $name: $(cat ../err.$name)"
		run-events cat --node $name --type node_finished | grep -q . || fail "the event of $name"
	done
	run-events check || fail "the log"
	wt-authorship -q --from post:split:0 >../list
	[ "$(wc -l <../list)" -eq 5 ] || fail "$(cat ../list)"
	! grep -q '^parked' ../list || fail "the run was never parked: $(cat ../list)"
	tree >../after
	rewind --node split
	sh -c "$(sed -n 's/.*this takes them back: //p' ../said)" >/dev/null 2>&1 || :
	[ "$(find . -type f | wc -l)" -eq 2 ] || fail "something stays: $(find . -type f)"
	script wt-undo -q "$(bank_of_report)" >/dev/null
	tree | cmp - ../after
}

"$TEST"
