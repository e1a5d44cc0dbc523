//! Every command in a pipe, with `-z` and without, on 50 000 files and names of all kinds.

use std::time::{Duration, Instant};

use crate::sandbox::Sandbox;
use crate::sandbox::fixture::{odd_names, own};

const FILES: usize = 50_000;
/// Far above what it takes, far below what anything quadratic would: the programs are not optimised here.
const PATIENCE: Duration = Duration::from_secs(60);

fn fifty_thousand() -> Sandbox {
    let sandbox = Sandbox::new();
    for (number, name) in odd_names().iter().enumerate() {
        sandbox.file([b"odd/", name.as_slice()].concat(), number.to_string());
    }
    let left = FILES - odd_names().len();
    for dir in 0..100 {
        let path = sandbox.w().join(format!("d{dir}"));
        std::fs::create_dir(&path).unwrap();
        own(&path);
        for file in (dir..left).step_by(100) {
            // Few contents: what is tested is the number of names, not the disk.
            std::fs::write(path.join(format!("file {file}.txt")), (file % 50).to_string()).unwrap();
        }
    }
    sandbox
}

#[test]
fn a_workspace_at_the_file_limit_goes_through_the_pipeline_in_both_forms() {
    let sandbox = fifty_thousand();
    let begun = Instant::now();
    let first = sandbox.capture("nul");
    let lines = "wt-ls-files --records | wt-hash-object -w --stdin-records | wt-write-manifest --label line";
    assert_eq!(sandbox.sh(lines).quietly_ok(), first, "both forms say the same");
    assert_eq!(sandbox.stored().index().labels.len(), 2);
    sandbox.sh("wt-ls-files -z >$X/a; wt-ls-manifest -z HEAD >$X/b; cmp $X/a $X/b; wt-ls-files >$X/a; wt-ls-manifest HEAD >$X/b; cmp $X/a $X/b; test $(wc -l <$X/a) = 50000").ok();
    let objects = "wt-ls-manifest --records HEAD | sed -n 's/^f[0-7]* \\([0-9a-f]*\\) .*/\\1/p' | wt-cat-object -s --batch | wc -l";
    assert_eq!(sandbox.sh(objects).ok(), FILES.to_string());
    let paths = "wt-ls-files -z --end | wt-hash-object -z --stdin-paths --require-end | tr '\\0' '\\n' | wc -l";
    assert_eq!(sandbox.sh(paths).ok(), FILES.to_string());
    assert!(begun.elapsed() < PATIENCE, "it took {:?}", begun.elapsed());
    sandbox.file("one too many", "x");
    sandbox.sh("stage_ls | stage_hash | stage_write").fails(7);
}
