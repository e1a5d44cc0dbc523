//! The tail-backwards reader: it sees the lines that a forward reader sees, and the number it finds is above every event.

use std::ops::ControlFlow;

use workspacetrack::run::events::LINE_BYTES_MAX;
use workspacetrack::run::events::backwards::{Backwards, log_end};
use workspacetrack::run::events::bisect::{offset_of_last, offset_of_seq};
use workspacetrack::run::events::filter::Filter;
use workspacetrack::run::events::lines::Tail;
use workspacetrack::run::events::scan::{Found, Scan};

pub(crate) fn check(log: &[u8]) {
    let len = log.len() as u64;
    let mut walk = Backwards::new(log, len).unwrap();
    let mut spans = Vec::new();
    while let Some(span) = walk.previous().unwrap() {
        spans.push((span.start, span.end));
    }
    spans.reverse();
    let mut expected = Vec::new();
    let mut at = 0;
    for line in log.split_inclusive(|byte| *byte == b'\n') {
        let bare = line.strip_suffix(b"\n").unwrap_or(line);
        expected.push((at, at + bare.len() as u64));
        at += line.len() as u64;
    }
    assert_eq!(spans, expected);

    let end = log_end(log, len).unwrap();
    assert_eq!((end.len, end.terminated), (len, log.is_empty() || log.ends_with(b"\n")));
    let (mut last, mut ascending) = (None, true);
    let mut scan = Scan::whole(log);
    let _ = scan
        .run(Tail::Emit, |found| {
            if let Found::Event(event, _) = found {
                ascending &= last < Some(event.seq);
                last = Some(event.seq);
            }
            Ok(ControlFlow::Continue(()))
        })
        .unwrap();
    // In a line above the limit only the number at its beginning and its last piece are looked at.
    let small = spans.iter().all(|(start, end)| end - start < LINE_BYTES_MAX as u64);
    assert!(!small || last.is_none_or(|last| end.next_seq > last), "{last:?} {end:?}");

    let begin = offset_of_last(&log, len, Tail::Emit, &Filter::default(), 1).unwrap();
    assert!(
        begin <= len && (begin == 0 || log.get(begin as usize - 1).is_none_or(|byte| *byte == b'\n' || *byte == 0))
    );
    if ascending && let Some(last) = last {
        let begin = offset_of_seq(&log, len, last).unwrap();
        let mut seen = false;
        let mut scan = Scan::from(log, begin);
        let _ = scan
            .run(Tail::Emit, |found| {
                seen |= matches!(found, Found::Event(event, _) if event.seq == last);
                Ok(ControlFlow::Continue(()))
            })
            .unwrap();
        assert!(seen, "{last} is not behind {begin}");
    }
}
