# shellcheck shell=sh disable=SC2317,SC2329 # the functions are called by name
# Tests of captures and restores across mount points; only root can make them, so without root they say nothing.
set -eu

fail() {
	echo "not as expected: $*"
	exit 1
}

# mounted TYPE SOURCE DIR: mounts, or ends the test where that is not allowed.
mounted() {
	[ "$(id -u)" -eq 0 ] || exit 0
	case $1 in
	bind) mount --bind "$2" "$3" 2>/dev/null || exit 0 ;;
	*) mount -t "$1" "$2" "$3" 2>/dev/null || exit 0 ;;
	esac
	# Whatever comes, nothing may stay mounted below the scratch directory.
	trap 'umount "$SCRATCH/ws/m" "$SCRATCH/ws/t" "$SCRATCH/ws/d/in" 2>/dev/null || :' EXIT
}

test_a_restore_works_on_other_mounts() {
	mkdir -p ws/m ws/t other
	cd ws
	mounted bind ../other m
	mounted tmpfs tmpfs t
	mkdir t/x
	for place in m t; do echo 1 >$place/f; done
	echo 1 >t/x/y
	wt-capture -q p >/dev/null
	for place in m t; do
		echo 2 >$place/f
		echo 2 >$place/new
	done
	rm -r t/x
	echo 2 >t/x
	wt-capture -q q >/dev/null
	for target in p q; do
		wt-undo -q $target >/dev/null
		wt-diff --exit-code $target || fail "a mount is not as $target records it"
		[ -z "$(find . -name '.iterion*')" ] || fail "something stays"
	done
}

test_what_is_mounted_over_a_remembered_directory_is_what_is_there() {
	mkdir -p ws/m ws/t other
	cd ws
	for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
		mkdir -p d/in$i
		echo 1 >d/in$i/f
	done
	echo 1 >m/f
	cp -a m/f ../other
	echo mounted >../other/g
	touch -r m ../other
	for label in p q; do
		sleep 0.1
		wt-capture -q $label >/dev/null
	done
	memory=$(find "$HOME" -name .dirs-seen)
	[ -n "$memory" ] || fail "nothing is remembered"
	mounted bind ../other m
	mounted tmpfs tmpfs t
	echo 1 >t/late
	[ "$(wt-diff p)" = "$(printf 'A\tm/g\nA\tt/late')" ] || fail "a comparison: $(wt-diff p)"
	got=0
	dry=$(wt-restore -q -n p) || got=$?
	[ "$got" -eq 3 ] || fail "exit code $got: $dry"
	rm "$memory"
	[ "$(wt-restore -q -n p)" = "$dry" ] || fail "without a memory it is something else than $dry"
}

test_a_mount_point_is_never_taken_out_with_the_directory_around_it() {
	mkdir -p ws other
	cd ws
	echo file >d
	wt-capture -q p >/dev/null
	rm d
	mkdir -p d/in
	echo theirs >../other/o
	mounted bind ../other d/in
	got=0
	wt-undo -q p >../report || got=$?
	[ "$got" -eq 3 ] || fail "exit code $got"
	[ "$(cat d/in/o)" = theirs ] || fail "the mount was emptied"
	umount d/in
	[ "$(cat ../other/o)" = theirs ] || fail "what was mounted was emptied"
}

test_a_mount_point_that_should_go_is_denied() {
	mkdir -p ws
	cd ws
	wt-capture -q p >/dev/null
	mkdir -p d/in
	wt-capture -q q >/dev/null
	mounted tmpfs tmpfs d/in
	got=0
	report=$(wt-restore -q p) || got=$?
	[ "$got" -eq 3 ] || fail "exit code $got: $report"
	case $report in *"$(printf 'keep:denied\td/in/')"*) ;; *) fail "$report" ;; esac
}

test_two_mounts_with_the_same_inodes_are_not_mixed_up() {
	mkdir -p ws/m ws/t
	cd ws
	mounted tmpfs tmpfs m
	mounted tmpfs tmpfs t
	for i in 1 2 3 4; do echo "$i" >m/a$i; done
	wt-capture -q p >/dev/null
	rm m/a*
	for i in 1 2 3 4 5 6 7 8 9; do echo "$i" >t/y$i; done
	wt-undo -q p >/dev/null
	[ -z "$(find t -type f)" ] || fail "files were reported as deleted and are there"
	[ "$(cat m/a4)" = 4 ] || fail "files did not come back"
}

test_what_is_mounted_over_a_remembered_directory_is_seen() {
	mkdir -p ws/m other
	cd ws
	for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18; do
		mkdir "d$i"
		echo "$i" >"d$i/f"
	done
	echo mine >m/mine
	echo theirs >../other/theirs
	# Only what has been at rest for a tick is remembered.
	sleep 0.1
	for label in a b; do wt-capture -q $label >/dev/null; done
	[ -n "$(find "$SCRATCH" -name .dirs-seen)" ] || fail "nothing is remembered"
	mounted bind ../other m
	wt-capture -q covered >/dev/null
	[ "$(wt-ls-manifest covered | grep m/)" = m/theirs ] || fail "what is mounted is not seen"
	umount m
	wt-capture -q again >/dev/null
	[ "$(wt-ls-manifest again | grep m/)" = m/mine ] || fail "what was covered is not seen again"
}

# apart COMMAND: runs it where nobody else sees what it mounts, or ends the test where that is not allowed.
apart() {
	[ "$(id -u)" -eq 0 ] && unshare -m true 2>/dev/null || exit 0
	unshare -m sh -euc "$1"
}

test_what_is_mounted_in_a_new_directory_is_not_taken_back_with_it() {
	mkdir -p ws/x/y outside/sub
	echo p >outside/p1
	echo q >outside/sub/p2
	cd ws
	echo f >x/f
	echo g >x/y/g
	echo z1 >z
	wt-capture -q A >/dev/null
	rm -r x
	echo z2 >z
	wt-capture -q B >/dev/null
	got=0
	hook='before-exchange=mount --bind ../outside x/y; echo other >z'
	apart "WT_TEST_HOOK='$hook' wt-restore --all-or-nothing A" >../report 2>&1 || got=$?
	case $got in 3 | 8) ;; *) fail "exit code $got: $(cat ../report)" ;; esac
	grep -q "'x'" ../report || fail "it is not named: $(cat ../report)"
	[ "$(cat ../outside/p1 ../outside/sub/p2)" = "p
q" ] || fail "what was mounted was emptied"
	[ "$(cat z)" = other ] || fail "what somebody saved is gone"
}

test_what_is_mounted_in_the_staging_area_is_left_and_named() {
	mkdir -p ws/x/y outside
	echo p >outside/p1
	cd ws
	echo g >x/y/g
	wt-capture -q A >/dev/null
	rm -r x
	got=0
	# shellcheck disable=SC2016 # the hook expands it
	hook='before-swap=mkdir x; for y in .iterion/restore-*/n*/y; do mount --bind ../outside "$y"; done'
	apart "WT_TEST_HOOK='$hook' wt-restore A" >../report 2>&1 || got=$?
	[ "$got" -eq 3 ] || fail "exit code $got: $(cat ../report)"
	grep -q 'restore-.*/y' ../report || fail "it is not named: $(cat ../report)"
	[ "$(cat ../outside/p1)" = p ] || fail "what was mounted was emptied"
}

test_a_missing_directory_comes_back_on_a_mount_point() {
	mkdir -p ws/m ws/t
	cd ws
	mounted tmpfs tmpfs m
	mounted tmpfs tmpfs t
	chmod 755 m
	chmod 2775 t
	for place in m t; do
		mkdir -p $place/x/y
		echo 1 >$place/x/f
		echo 2 >$place/x/y/g
	done
	echo stays >t/stay
	echo k >k
	wt-capture -q p >/dev/null
	rm -r m/x t/x k
	wt-restore -q p >/dev/null
	wt-diff --exit-code p || fail "it is not as it was"
	[ -z "$(find . -name '.iterion*')" ] || fail "something stays"
}

test_a_missing_directory_comes_back_on_a_mount_of_the_same_disk() {
	mkdir -p ws/m same
	cd ws
	mounted bind ../same m
	chmod 2775 m
	mkdir -p m/x/y
	echo 1 >m/x/f
	echo 2 >m/x/y/g
	echo stays >m/stay
	wt-capture -q p >/dev/null
	for mode in 2775 755; do
		chmod $mode m
		rm -r m/x
		wt-restore -q p >/dev/null
		wt-diff --exit-code p || fail "it is not as it was"
		[ -z "$(find . -name '.iterion*')" ] || fail "something stays"
	done
}

test_a_new_directory_gets_what_the_one_around_it_hands_down() {
	mkdir -p ws/p/x/y ws/q/x ws/e
	[ "$(id -u)" -eq 0 ] || exit 0
	cd ws
	chgrp 2000 p q e
	chmod 2775 p e
	echo 1 >p/x/f
	echo 2 >p/x/y/g
	mkdir p/x/empty
	chmod 775 p/x/empty
	echo 3 >e/f
	echo 4 >q/x/f
	: >p/stays
	: >q/stays
	wt-capture -q p >/dev/null
	# An empty directory has a record of its own.
	mkdir -p e/x/y
	echo 5 >e/x/y/f
	rm e/f
	wt-capture -q p >/dev/null
	rm -r p/x q/x e/x
	wt-restore -q p >/dev/null
	for dir in p/x p/x/y e/x e/x/y; do
		[ "$(stat -c '%a %g' $dir)" = '2755 2000' ] || fail "$dir is $(stat -c '%a %g' $dir)"
	done
	[ "$(stat -c '%a %g' p/x/empty)" = '2775 2000' ] || fail "p/x/empty is $(stat -c '%a %g' p/x/empty)"
	for file in p/x/f p/x/y/g e/x/y/f; do
		[ "$(stat -c '%g' $file)" = 2000 ] || fail "$file is $(stat -c '%a %g' $file)"
	done
	# No bit, so nothing is handed down.
	[ "$(stat -c '%a %g' q/x)" = '755 0' ] || fail "q/x is $(stat -c '%a %g' q/x)"
	[ -z "$(find . -name '.iterion*')" ] || fail "something stays"
}

# key add|remove DIR: gives the file system of a directory the key of the directory, or takes it away; with add the empty
# directory is encrypted. The numbers are those of <linux/fscrypt.h>.
key() {
	python3 - "$1" "$2" <<-'END'
		import ctypes, fcntl, os, struct, sys
		todo, path = sys.argv[1:]
		fd = os.open(path, os.O_RDONLY)
		id_file = path + ".key"
		if todo == "add":
		    ask = bytearray(struct.pack("II32xII32x", 2, 0, 64, 0) + bytes(range(64)))
		    fcntl.ioctl(fd, 0xC0506617, ask)
		    open(id_file, "wb").write(ask[8:24])
		    policy = struct.pack("BBBB4x16s", 2, 1, 4, 3, bytes(ask[8:24]))
		    if not os.listdir(path):
		        fcntl.ioctl(fd, 0x800C6613, policy)
		else:
		    os.close(fd)
		    os.sync()
		    fd = os.open(os.path.dirname(path), os.O_RDONLY)
		    ask = bytearray(struct.pack("II16s16xI20x", 2, 0, open(id_file, "rb").read(), 0))
		    fcntl.ioctl(fd, 0xC0406618, ask)
	END
}

test_names_that_come_and_go_with_a_key_are_not_remembered() {
	command -v mkfs.ext4 >/dev/null && command -v python3 >/dev/null || exit 0
	mkdir -p ws/m
	truncate -s 64M image
	mkfs.ext4 -q -O encrypt image 2>/dev/null || exit 0
	mounted ext4 image "$PWD/ws/m"
	mkdir ws/m/enc
	key add "$PWD/ws/m/enc" 2>/dev/null || exit 0
	cd ws
	for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
		mkdir -p m/enc/d$i
		echo $i >m/enc/d$i/f
		touch -d '2 days ago' m/enc/d$i/f
	done
	sleep 0.1
	wt-capture -q p >/dev/null
	wt-capture -q q >/dev/null
	key remove "$PWD/m/enc"
	[ ! -e m/enc/d1/f ] || exit 0
	got=0
	wt-capture -q r >../report 2>&1 || got=$?
	[ "$got" -ne 0 ] || [ "$(wt-ls-manifest r | wc -l)" -ge 20 ] ||
		fail "without the key nothing is there: $(cat ../report)"
	key add "$PWD/m/enc"
	wt-capture -q s >/dev/null
	wt-diff --exit-code s || fail "with the key it is not what is there"
	[ "$(wt-ls-manifest s | grep -c /f)" -eq 20 ] || fail "with the key not all is there"
}

test_what_was_staged_in_a_directory_that_is_moved_away_is_named() {
	mkdir -p ws/p/x
	cd ws
	chmod 2755 p
	echo 1 >p/x/f
	: >p/stays
	wt-capture -q A >/dev/null
	rm -r p/x
	got=0
	WT_TEST_HOOK='before-swap=mv p q' wt-restore A >../report 2>&1 || got=$?
	[ "$got" -eq 3 ] || fail "exit code $got: $(cat ../report)"
	[ -n "$(find q -name '.iterion-tmp-restore-*-n1')" ] || fail "this test tests nothing any more"
	grep -q '/p/.iterion-tmp-restore-' ../report || fail "what stays is not named: $(cat ../report)"
	[ ! -e p ] || fail "an empty directory was left"
}

"$TEST"
