//! Files of a store are 0600 and its directories 0700, whatever the umask, from the first instant.

use crate::sandbox::Sandbox;
use crate::sandbox::stored::check_private;

#[test]
fn modes_do_not_depend_on_the_umask() {
    for umask in ["000", "022", "077", "777"] {
        let sandbox = Sandbox::new();
        sandbox.everything();
        let script = format!("umask {umask}; snap capture l; WT_FSYNC=on snap capture m");
        sandbox.sh(&script).ok();
        check_private(&sandbox.s());
        sandbox.stored().check();
        sandbox.file("more", "x");
        sandbox.capture("next");
    }
}

#[test]
fn the_default_store_and_everything_above_it_are_private() {
    let sandbox = Sandbox::new();
    sandbox.file("f", "1");
    sandbox.sh("umask 000; unset WT_STORE; snap capture l").ok();
    check_private(&sandbox.t().join("home/.iterion"));
}

#[test]
fn a_file_is_made_with_its_final_mode() {
    let sandbox = Sandbox::new();
    if sandbox.run(&["sh", "-c", "command -v strace"]).code != 0 {
        eprintln!("SKIPPED: strace is not installed");
        return;
    }
    sandbox.file("f", "secret");
    let script = "umask 000; stage_ls >$X/ls
        strace -f -o $X/trace -e trace=openat,mkdirat,mkdir,open,creat wt-hash-object -w -z --stdin-records <$X/ls >$X/hashed
        strace -f -o $X/more -e trace=openat,mkdirat,mkdir,open,creat wt-write-manifest -z <$X/hashed >/dev/null
        cat $X/trace $X/more | grep -e O_CREAT -e O_TMPFILE -e mkdir";
    let ran = sandbox.sh(script);
    if ran.err().contains("ptrace") {
        eprintln!("SKIPPED: this machine does not allow tracing");
        return;
    }
    let made = ran.ok();
    assert!(made.lines().count() > 5, "{made}");
    for line in made.lines().filter(|line| !line.contains("ENOENT") && !line.contains("EEXIST")) {
        assert!(line.contains("0600") || line.contains("0700"), "{line}");
    }
}
