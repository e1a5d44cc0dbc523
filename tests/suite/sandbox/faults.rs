//! Running a script once for every effect of one of its programs, with that effect disturbed.

use super::{Ran, Sandbox};

/// How many effects a small case may have at most; more means that a fault never stops firing.
const EFFECTS_MAX: u32 = 400;

/// Runs `script` with the n-th effect disturbed for n = 1, 2, ... until there is no n-th one, each time in a sandbox that
/// `prepare` made. In the script, `FAULT` is the value of `WT_TEST_FAULT` for the program under test. Returns how
/// many effects there were; `then` looks at what each run left behind.
#[track_caller]
pub(crate) fn at_every_effect(
    what: &str,
    prepare: impl Fn() -> Sandbox,
    script: &str,
    mut then: impl FnMut(u32, &Sandbox, Ran),
) -> u32 {
    for number in 1..=EFFECTS_MAX {
        let sandbox = prepare();
        let fired = sandbox.x("fired");
        let ran = sandbox.call().env("FAULT", format!("{number}:{what}")).env("WT_TEST_FIRED", &fired).sh(script);
        if !fired.exists() {
            assert!(number > 1, "the fault never fired:\n{}", ran.text());
            assert!(ran.code == 0, "without a fault it should have succeeded:\n{}", ran.text());
            return number - 1;
        }
        // How the numbers in the README are counted.
        if let Some(path) = std::env::var_os("WT_TEST_COUNT") {
            use std::io::Write;
            let file = std::fs::OpenOptions::new().append(true).create(true).open(path);
            file.unwrap().write_all(b"x").unwrap();
        }
        then(number, &sandbox, ran);
    }
    panic!("there are more than {EFFECTS_MAX} effects");
}
