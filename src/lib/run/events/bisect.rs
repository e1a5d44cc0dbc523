//! Where to begin reading: a number is found by bisection, the last events by walking back, so that what lies before them
//! is never read.

use std::io;

use super::backwards::Backwards;
use super::bare_line;
use super::event::Event;
use super::filter::Filter;
use super::lines::{Content, Lines, Tail};
use super::source::Source;

/// Once the place is known to so many bytes, reading on is cheaper than another probe.
const CLOSE_BYTES: u64 = if cfg!(fuzzing) { 64 } else { 64 * 1024 };

/// An offset, where a line begins, before which every event has a number below `seq`; not far before the first one that
/// has not. Lines that are no events are passed over at a probe. Numbers must ascend, as `check` verifies.
///
/// # Errors
/// What the source said.
pub fn offset_of_seq<S: Source>(source: &S, len: u64, seq: u64) -> io::Result<u64> {
    let (mut low, mut high) = (0, len);
    while high - low > CLOSE_BYTES {
        let middle = low + (high - low) / 2;
        match first_event(source, middle, high)? {
            Some((offset, found)) if found < seq => low = offset,
            _ => high = middle,
        }
    }
    Ok(low)
}

/// The first event whose line begins behind `offset` and before `high`.
fn first_event<S: Source>(source: &S, offset: u64, high: u64) -> io::Result<Option<(u64, u64)>> {
    let mut lines = Lines::new(source, offset);
    let mut is_rest_of_a_line = true;
    while let Some(piece) = lines.next(Tail::Emit)? {
        if piece.offset >= high {
            break;
        }
        if !std::mem::take(&mut is_rest_of_a_line)
            && let Content::Line(bytes, _) = piece.content
            && let Ok(event) = Event::parse(bare_line(bytes))
        {
            return Ok(Some((piece.offset, event.seq)));
        }
    }
    Ok(None)
}

/// An offset, where a line begins, from which on there are the last `count` events that `filter` selects, or all.
///
/// # Errors
/// What the source said.
pub fn offset_of_last<S: Source>(source: &S, len: u64, tail: Tail, filter: &Filter, count: u64) -> io::Result<u64> {
    let mut begin = len;
    let mut wanted = count;
    walk_back(source, len, tail, |offset, event| {
        if wanted > 0 && filter.selects(event) {
            wanted -= 1;
            begin = offset;
        }
        wanted > 0
    })?;
    Ok(if wanted > 0 { 0 } else { begin })
}

/// What the last event before `len` that says so makes of the run.
///
/// # Errors
/// What the source said.
pub fn last_turn<S: Source>(source: &S, len: u64) -> io::Result<Option<super::vocabulary::Turn>> {
    let mut turn = None;
    walk_back(source, len, Tail::Hold, |_, event| {
        turn = super::vocabulary::turn(&event.kind);
        turn.is_none()
    })?;
    Ok(turn)
}

/// Gives the events of a log before `len` from the last to the first, with the offsets of their lines, until `visit` says that
/// it has enough. What is no event is passed over.
///
/// # Errors
/// What the source said.
pub fn walk_back<S: Source>(
    source: &S,
    len: u64,
    tail: Tail,
    mut visit: impl FnMut(u64, &Event<'_>) -> bool,
) -> io::Result<()> {
    let mut walk = Backwards::new(source, len)?;
    let mut line = Vec::new();
    while let Some(span) = walk.previous()? {
        if tail == Tail::Hold && !span.terminated {
            continue;
        }
        let Some(line) = walk.read(span, &mut line)? else { continue };
        // A line that holes part into pieces is rare; what lies before the last one is left to a forward reader.
        let piece = line.rsplit(|byte| *byte == 0).next().unwrap_or_default();
        if let Ok(event) = Event::parse(bare_line(piece))
            && !visit(span.end - piece.len() as u64, &event)
        {
            break;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A log of `count` events of uneven length, with `junk` behind every seventh.
    fn log(count: u64, junk: &[u8]) -> (Vec<u8>, Vec<u64>) {
        let (mut log, mut offsets) = (Vec::new(), Vec::new());
        for seq in 0..count {
            offsets.push(log.len() as u64);
            let filler = "\u{2014}".repeat(usize::try_from(seq * 37 % 900).unwrap());
            log.extend_from_slice(
                format!("{{\"seq\":{seq},\"type\":\"t{}\",\"x\":\"{filler}\"}}\n", seq % 5).as_bytes(),
            );
            if seq % 7 == 0 {
                log.extend_from_slice(junk);
            }
        }
        (log, offsets)
    }

    #[test]
    fn any_number_is_found_close_before_it_whatever_lies_about() {
        let (wide, hole) = (vec![b'y'; 70_000], vec![0; 200_000]);
        for junk in [&b""[..], b"junk\n", b"\0\0\0\0", b"{\"seq\":999999,\n", &wide, &hole] {
            let (log, offsets) = log(160, junk);
            for seq in [0, 1, 7, 8, 80, 158, 159, 160, 5000] {
                let begin = offset_of_seq(&&*log, log.len() as u64, seq).unwrap();
                let place = offsets.get(usize::try_from(seq).unwrap()).copied().unwrap_or(log.len() as u64);
                assert!(begin <= place, "{seq} begins at {place}, not behind {begin}");
                let slack = 2 * CLOSE_BYTES + 2 * junk.len() as u64 + 8192;
                assert!(place - begin <= slack, "{seq}: {begin} is far before {place}");
            }
        }
    }

    /// A log of ten gigabytes that exists only where it is read: every line has 1000 bytes. Counts what is read.
    struct Huge(std::cell::Cell<u64>);

    const HUGE_EVENTS: u64 = 10_000_000;

    impl Source for Huge {
        fn len_now(&self) -> io::Result<Option<u64>> {
            Ok(Some(HUGE_EVENTS * 1000))
        }

        fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
            let len = buffer.len().min(usize::try_from(HUGE_EVENTS * 1000 - offset).unwrap());
            let mut line = (u64::MAX, String::new());
            for (place, byte) in buffer.iter_mut().take(len).enumerate() {
                let at = offset + place as u64;
                if line.0 != at / 1000 {
                    let head = format!("{{\"seq\":{},\"type\":\"", at / 1000);
                    line = (at / 1000, format!("{head}{}\"}}\n", "x".repeat(997 - head.len())));
                }
                *byte = line.1.as_bytes()[usize::try_from(at % 1000).unwrap()];
            }
            self.0.set(self.0.get() + len as u64);
            Ok(len)
        }
    }

    #[test]
    fn ten_gigabytes_are_not_read_to_find_an_event() {
        let huge = Huge(std::cell::Cell::new(0));
        let len = HUGE_EVENTS * 1000;
        let begin = offset_of_seq(&huge, len, 9_876_543).unwrap();
        assert!((9_876_543_000 - begin) <= 2 * CLOSE_BYTES, "{begin}");
        assert_eq!(begin % 1000, 0);
        let begin = offset_of_last(&huge, len, Tail::Emit, &Filter::default(), 5).unwrap();
        assert_eq!(begin, len - 5000);
        assert!(huge.0.get() < 8 * 1024 * 1024, "{} bytes were read", huge.0.get());
    }

    #[test]
    fn the_last_events_are_found_from_the_end() {
        let (mut log, offsets) = log(50, b"junk\n");
        let last = |log: &[u8], tail, filter: &Filter, count| {
            offset_of_last(&log, log.len() as u64, tail, filter, count).unwrap()
        };
        let all = Filter::default();
        assert_eq!(last(&log, Tail::Emit, &all, 3), offsets[47]);
        assert_eq!(last(&log, Tail::Emit, &all, 0), log.len() as u64);
        assert_eq!(last(&log, Tail::Emit, &all, 500), 0);
        let some = Filter { types: vec!["t1".into()], ..all.clone() };
        assert_eq!(last(&log, Tail::Emit, &some, 2), offsets[41]);
        log.extend_from_slice(b"{\"seq\":50,\"type\":\"x\"}");
        assert_eq!(last(&log, Tail::Hold, &all, 1), offsets[49]);
        assert_eq!(last(&log, Tail::Emit, &all, 1), log.len() as u64 - 21);
    }
}
