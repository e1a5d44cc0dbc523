//! The line reader and the judge above it: pieces cover the log without gap or overlap, and no bytes make them panic.

use std::ops::ControlFlow;

use workspacetrack::run::events::lines::{Content, End, Lines, Tail};
use workspacetrack::run::events::scan::{Found, Scan};
use workspacetrack::run::events::source::Source;
use workspacetrack::run::json::keys;

/// Gives at most so many bytes at once, like a file on a busy disk.
struct Slow<'a>(&'a [u8], usize);

impl Source for Slow<'_> {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> std::io::Result<usize> {
        let most = self.1.min(buffer.len());
        self.0.read_at(&mut buffer[..most], offset)
    }
    fn len_now(&self) -> std::io::Result<Option<u64>> {
        Ok(None)
    }
}

fn pieces<S: Source>(source: S, log: &[u8]) -> Vec<(u64, u64)> {
    let mut lines = Lines::new(source, 0);
    let (mut at, mut found) = (0, Vec::new());
    while let Some(piece) = lines.next(Tail::Emit).unwrap() {
        assert_eq!(piece.offset, at);
        let (len, end) = match piece.content {
            Content::Line(bytes, end) => {
                assert_eq!(bytes, &log[at as usize..at as usize + bytes.len()]);
                assert!(!bytes.contains(&b'\n') && !bytes.contains(&0));
                (bytes.len() as u64, end)
            }
            Content::Hole(len) => {
                assert!(log[at as usize..(at + len) as usize].iter().all(|byte| *byte == 0));
                (len, End::Hole)
            }
            Content::TooLong(len, end) => (len, end),
        };
        at += len + u64::from(end == End::Newline);
        found.push((piece.offset, len));
    }
    assert_eq!(at, log.len() as u64);
    found
}

pub(crate) fn check(input: &[u8]) {
    let (step, log) = input.split_first().map_or((1, input), |(step, log)| (usize::from(*step) + 1, log));
    assert_eq!(pieces(log, log), pieces(Slow(log, step), log));
    let mut scan = Scan::whole(log).of_run("r");
    let _ = scan
        .run(Tail::Emit, |found| {
            if let Found::Event(event, offset) = found {
                assert!(log.len() - offset as usize >= event.line.len());
                let _ = event.members_of_data();
                let thorough = keys::first_duplicate(event.text).ok().flatten();
                assert_eq!(keys::KeyCheck::default().first_duplicate(event.text), thorough);
            }
            Ok(ControlFlow::Continue(()))
        })
        .unwrap();
    let _ = scan.tally().verdict();
}
