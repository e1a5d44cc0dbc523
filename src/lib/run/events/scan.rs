//! A log read as events and damages. All readers see the same log through this one judge.
//!
//! A damage is named once, with the place and the cause. What an append that was cut short leaves behind is told from
//! real damage: no acknowledged event is lost by it.

use std::ops::ControlFlow;

use super::damage::{Cause, Damage, Tally, Weight};
use super::event::{Event, Flaw};
use super::lines::{Content, End, Lines, Piece, Tail};
use super::order::{Misplaced, Order};
use super::source::Source;
use super::{LINE_BYTES_MAX, bare_line};
use crate::error::{IoContext, Result};
use crate::run::json::keys::KeyCheck;
use crate::stream::quote;

/// What a visitor of a log is given.
#[derive(Debug)]
pub enum Found<'a> {
    /// An event and where its line begins.
    Event(&'a Event<'a>, u64),
    /// A damage.
    Damage(&'a Damage),
}

/// Reads a log from some place on.
pub struct Scan<S> {
    lines: Lines<S>,
    numbered: bool,
    run: Option<String>,
    order: Order,
    keys: KeyCheck,
    tally: Tally,
}

impl<S: Source> Scan<S> {
    /// Reads the whole log.
    pub fn whole(source: S) -> Self {
        Self {
            lines: Lines::new(source, 0),
            numbered: true,
            run: None,
            order: Order::whole(),
            keys: KeyCheck::default(),
            tally: Tally::default(),
        }
    }

    /// Reads from `offset`, where a line begins; what is before it is not judged.
    pub fn from(source: S, offset: u64) -> Self {
        let mut scan = Self::whole(source);
        if offset > 0 {
            scan.lines = Lines::new(scan.lines.into_source(), offset);
            scan.numbered = false;
            scan.order = Order::part();
        }
        scan
    }

    /// Reads events that came through a pipe: some may have been filtered out, so only their order is judged.
    pub fn selected(source: S) -> Self {
        let mut scan = Self::whole(source);
        scan.order = Order::selection();
        scan
    }

    /// Names the run that the events must belong to.
    #[must_use]
    pub fn of_run(mut self, run: &str) -> Self {
        self.run = Some(run.to_owned());
        self
    }

    /// What was seen so far.
    pub fn tally(&self) -> &Tally {
        &self.tally
    }

    /// Where the next line begins.
    pub fn offset(&self) -> u64 {
        self.lines.offset()
    }

    /// What is read from.
    pub fn source(&self) -> &S {
        self.lines.source()
    }

    /// Goes on reading at another place, perhaps of another file, as if the log had not been interrupted.
    pub fn resume(&mut self, source: S, offset: u64) {
        self.lines = Lines::new(source, offset);
        self.numbered = offset == 0;
    }

    /// Calls `visit` with everything up to the end of what is there now, or until it breaks.
    ///
    /// # Errors
    /// [`crate::error::Kind::Io`], and what `visit` returns.
    pub fn run(
        &mut self,
        tail: Tail,
        mut visit: impl FnMut(Found<'_>) -> Result<ControlFlow<()>>,
    ) -> Result<ControlFlow<()>> {
        loop {
            let Some(piece) = self.lines.next(tail).on("cannot read", "the event log")? else {
                return Ok(ControlFlow::Continue(()));
            };
            let mut judge = Judge {
                line: self.numbered.then_some(piece.number),
                run: self.run.as_deref(),
                order: &mut self.order,
                keys: &mut self.keys,
                tally: &mut self.tally,
            };
            if judge.piece(&piece, &mut visit)?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
    }
}

/// Judges one piece.
struct Judge<'s> {
    line: Option<u64>,
    run: Option<&'s str>,
    order: &'s mut Order,
    keys: &'s mut KeyCheck,
    tally: &'s mut Tally,
}

impl Judge<'_> {
    fn piece(
        &mut self,
        piece: &Piece<'_>,
        visit: &mut impl FnMut(Found<'_>) -> Result<ControlFlow<()>>,
    ) -> Result<ControlFlow<()>> {
        match piece.content {
            Content::Hole(len) => {
                let detail = format!("{len} NUL bytes");
                visit(Found::Damage(&self.damage(piece.offset, len, Cause::Hole, detail)))
            }
            Content::TooLong(len, end) => {
                let cause = if end == End::Eof { Cause::TornTail } else { Cause::TooLong };
                let detail = format!("{len} bytes, and {} are the limit", LINE_BYTES_MAX - 1);
                visit(Found::Damage(&self.damage(piece.offset, len, cause, detail)))
            }
            Content::Line(bytes, end) => self.line(piece, bytes, end, visit),
        }
    }

    fn line(
        &mut self,
        piece: &Piece<'_>,
        bytes: &[u8],
        end: End,
        visit: &mut impl FnMut(Found<'_>) -> Result<ControlFlow<()>>,
    ) -> Result<ControlFlow<()>> {
        let line = bare_line(bytes);
        if line.iter().all(|byte| matches!(byte, b' ' | b'\t')) {
            return Ok(ControlFlow::Continue(()));
        }
        let (offset, len) = (piece.offset, bytes.len() as u64);
        let event = match Event::parse(line) {
            Ok(event) => event,
            Err(flaw) => {
                let (cause, detail) = explain(&flaw, end, offset);
                return visit(Found::Damage(&self.damage(offset, len, cause, detail)));
            }
        };
        for (cause, detail) in self.oddities(bytes, &event, end) {
            if visit(Found::Damage(&self.damage(offset, len, cause, detail)))?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        self.tally.events += 1;
        self.tally.first_seq.get_or_insert(event.seq);
        self.tally.last_seq = self.tally.last_seq.max(Some(event.seq));
        visit(Found::Event(&event, offset))
    }

    /// What is wrong with a line that is an event.
    fn oddities(&mut self, bytes: &[u8], event: &Event<'_>, end: End) -> Vec<(Cause, String)> {
        let mut odd = Vec::new();
        match self.order.next(event.seq) {
            None => {}
            Some(Misplaced::Duplicate) => {
                odd.push((Cause::DuplicateSeq, format!("{} was there before", event.seq)));
            }
            Some(Misplaced::Late(above)) => {
                odd.push((Cause::DescendingSeq, format!("{} comes after {above}", event.seq)));
            }
            Some(Misplaced::Gap(from, to)) => {
                let what = if from == to { from.to_string() } else { format!("{from} to {to}") };
                odd.push((Cause::MissingSeq, format!("{what} missing before {}", event.seq)));
            }
        }
        if self.run.is_some_and(|run| run != event.run_id) {
            let named = quote::name(event.run_id.as_bytes());
            odd.push((Cause::ForeignRun, format!("the event says it is of run {named}")));
        }
        if bytes.starts_with(b"\xef\xbb\xbf") {
            odd.push((Cause::ByteOrderMark, "the line begins with a byte order mark".into()));
        }
        if bytes.ends_with(b"\r") {
            odd.push((Cause::CarriageReturn, "the line ends in a carriage return".into()));
        }
        if end == End::Eof {
            odd.push((Cause::TornTail, "the event is whole, only its newline is missing".into()));
        }
        if let Some(key) = self.keys.first_duplicate(event.text) {
            odd.push((Cause::DuplicateKey, format!("key {} is given twice", quote::name(key.as_bytes()))));
        }
        odd
    }

    /// Notes a damage in the tally.
    fn damage(&mut self, offset: u64, bytes: u64, cause: Cause, detail: String) -> Damage {
        match cause.weight() {
            Weight::Torn if cause == Cause::TornTail => self.tally.torn_tail = true,
            Weight::Torn => self.tally.healed += 1,
            Weight::Oddity => self.tally.oddities += 1,
            Weight::Loss => {
                self.tally.losses += 1;
                let whole_line =
                    matches!(cause, Cause::NotJson | Cause::NotEvent | Cause::InvalidUtf8 | Cause::TooLong);
                self.tally.bad += u64::from(whole_line);
            }
        }
        Damage { line: self.line, offset, bytes, cause, detail }
    }
}

fn explain(flaw: &Flaw, end: End, offset: u64) -> (Cause, String) {
    match (flaw, end) {
        (Flaw::CutShort, End::Newline) => {
            (Cause::HealedTail, "the beginning of an event, left by an append that was cut short".into())
        }
        // A tail is being written, or never will be: either way nobody has acknowledged it.
        (_, End::Eof) => (Cause::TornTail, "the last line has no newline and is no event".into()),
        (Flaw::CutShort, End::Hole) => (Cause::NotJson, "an event that a hole cuts short".into()),
        (Flaw::NotJson(why), _) => (Cause::NotJson, why.clone()),
        (Flaw::NotEvent(why), _) => (Cause::NotEvent, why.clone()),
        (Flaw::InvalidUtf8(at), _) => (Cause::InvalidUtf8, format!("not UTF-8 at byte {}", offset + *at as u64)),
    }
}

#[cfg(test)]
mod tests {
    use super::super::damage::Verdict;
    use super::*;

    fn causes(log: &[u8]) -> (Vec<(u64, u64, &'static str)>, u64, Verdict) {
        let mut scan = Scan::whole(log).of_run("r");
        let mut found = Vec::new();
        let done = scan.run(Tail::Emit, |item| {
            if let Found::Damage(damage) = item {
                found.push((damage.line.unwrap(), damage.offset, damage.cause.code()));
            }
            Ok(ControlFlow::Continue(()))
        });
        assert_eq!(done.unwrap(), ControlFlow::Continue(()));
        (found, scan.tally().events, scan.tally().verdict())
    }

    fn event(seq: u64) -> String {
        format!("{{\"seq\":{seq},\"type\":\"t\",\"run_id\":\"r\"}}\n")
    }

    #[test]
    fn a_clean_log_is_clean() {
        let log = format!("{}{}\n{}", event(0), event(1), event(2));
        assert_eq!(causes(log.as_bytes()), (vec![], 3, Verdict::Clean));
        assert_eq!(causes(b""), (vec![], 0, Verdict::Clean));
    }

    #[test]
    fn each_damage_has_its_place_and_cause() {
        let e = |seq| event(seq);
        let len = event(0).len() as u64;
        for (log, expected) in [
            (format!("{}{{\"seq\":1,\"t", e(0)), vec![(2, len, "torn-tail")]),
            (format!("{}{{\"seq\":1,\"t\n{}", e(0), e(1)), vec![(2, len, "healed-tail")]),
            (format!("{}oops\n{}", e(0), e(1)), vec![(2, len, "not-json")]),
            (format!("{}[1]\n{}", e(0), e(1)), vec![(2, len, "not-event")]),
            (format!("{}\0\0{}", e(0), e(1)), vec![(2, len, "hole")]),
            (format!("{}{}", e(0), e(0)), vec![(2, len, "duplicate-seq")]),
            (format!("{}{}{}", e(0), e(2), e(1)), vec![(2, len, "missing-seq"), (3, 2 * len, "descending-seq")]),
            (e(1), vec![(1, 0, "missing-seq")]),
            (e(0).replace("\"r\"", "\"q\""), vec![(1, 0, "foreign-run")]),
            (e(0).replace('\n', "\r\n"), vec![(1, 0, "carriage-return")]),
            (format!("\u{feff}{}", e(0)), vec![(1, 0, "byte-order-mark")]),
            (e(0).replace("\"t\"", "\"t\",\"data\":{\"a\":1,\"a\":2}"), vec![(1, 0, "duplicate-key")]),
            (e(0).replace('\n', ""), vec![(1, 0, "torn-tail")]),
        ] {
            assert_eq!(causes(log.as_bytes()).0, expected, "{log:?}");
        }
        let bad = [event(0).as_bytes(), b"{\"\xff\":1}\n"].concat();
        assert_eq!(causes(&bad).0, [(2, len, "invalid-utf8")]);
    }

    #[test]
    fn widespread_corruption_is_told_from_a_bad_line() {
        let verdict = |log: &str| causes(log.as_bytes()).2;
        let good = |n: u64| (0..n).map(event).collect::<String>();
        assert_eq!(verdict(&format!("{}x\nx\n", good(3))), Verdict::Corrupt);
        assert_eq!(verdict(&format!("{}x\nx\n", good(4))), Verdict::Damaged);
        assert_eq!(verdict(&format!("{}x\n", good(1))), Verdict::Damaged);
        assert_eq!(verdict(&format!("{}{}", good(300), "x\n".repeat(101))), Verdict::Corrupt);
        assert_eq!(verdict("x\n"), Verdict::Corrupt, "all bad");
        assert_eq!(verdict("{\"a\n{\"a\n{\"a\n{\"a\n{\"a\n"), Verdict::Corrupt, "all bad, all cut short");
        let healed: Vec<String> = (0..5).map(|n| format!("{{\"seq\":{n},\n{}", event(n))).collect();
        assert_eq!(verdict(&healed.concat()), Verdict::TornOnly, "crashes that were healed are not corruption");
        assert_eq!(verdict("{\"a"), Verdict::TornOnly);
    }
}
