//! What can be wrong with a log, and how much of it makes the log what.
//!
//! What an append that was cut short leaves behind is told from real damage: no acknowledged event is lost by it.

/// What can be wrong with a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cause {
    /// The last line has no newline: an append that died, or that is going on.
    TornTail,
    /// A line that was cut short, and given its newline by the next append.
    HealedTail,
    /// Not JSON.
    NotJson,
    /// JSON, but not an event.
    NotEvent,
    /// Not UTF-8.
    InvalidUtf8,
    /// Longer than the limit.
    TooLong,
    /// A run of NUL bytes.
    Hole,
    /// A number that was there before.
    DuplicateSeq,
    /// Numbers that are not there.
    MissingSeq,
    /// A number below the one before, not there before.
    DescendingSeq,
    /// An event of another run.
    ForeignRun,
    /// A key given twice.
    DuplicateKey,
    /// A carriage return before the newline.
    CarriageReturn,
    /// A byte order mark.
    ByteOrderMark,
}

impl Cause {
    /// The stable name, as `check` prints it.
    #[must_use]
    pub fn code(self) -> &'static str {
        match self {
            Self::TornTail => "torn-tail",
            Self::HealedTail => "healed-tail",
            Self::NotJson => "not-json",
            Self::NotEvent => "not-event",
            Self::InvalidUtf8 => "invalid-utf8",
            Self::TooLong => "too-long",
            Self::Hole => "hole",
            Self::DuplicateSeq => "duplicate-seq",
            Self::MissingSeq => "missing-seq",
            Self::DescendingSeq => "descending-seq",
            Self::ForeignRun => "foreign-run",
            Self::DuplicateKey => "duplicate-key",
            Self::CarriageReturn => "carriage-return",
            Self::ByteOrderMark => "byte-order-mark",
        }
    }

    /// What it means for who reads the log.
    #[must_use]
    pub fn weight(self) -> Weight {
        match self {
            Self::TornTail | Self::HealedTail => Weight::Torn,
            Self::CarriageReturn | Self::ByteOrderMark | Self::DuplicateKey | Self::ForeignRun => Weight::Oddity,
            _ => Weight::Loss,
        }
    }
}

/// How much a damage weighs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Weight {
    /// Left by an append that was cut short; nothing that was acknowledged is lost.
    Torn,
    /// The event can be read all the same.
    Oddity,
    /// Something is missing, or cannot be relied on.
    Loss,
}

/// One damage and its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Damage {
    /// The line, from 1; `None` where reading began in the middle.
    pub line: Option<u64>,
    /// The first byte of the line or hole.
    pub offset: u64,
    /// Its length in bytes.
    pub bytes: u64,
    /// What is wrong.
    pub cause: Cause,
    /// More about it, for a person.
    pub detail: String,
}

impl std::fmt::Display for Damage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.line {
            Some(line) => write!(f, "line {line}, byte {}: {}: {}", self.offset, self.cause.code(), self.detail),
            None => write!(f, "byte {}: {}: {}", self.offset, self.cause.code(), self.detail),
        }
    }
}

/// What was seen so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Tally {
    /// Events.
    pub events: u64,
    /// Whole lines that are no events, other than healed fragments.
    pub bad: u64,
    /// Healed fragments.
    pub healed: u64,
    /// Whether the last line is torn.
    pub torn_tail: bool,
    /// Damages of weight oddity.
    pub oddities: u64,
    /// Damages of weight loss.
    pub losses: u64,
    /// The first event's number.
    pub first_seq: Option<u64>,
    /// The highest number.
    pub last_seq: Option<u64>,
}

/// The state of a log as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Nothing is wrong.
    Clean,
    /// Only remains of appends that were cut short.
    TornOnly,
    /// Something is wrong, and named.
    Damaged,
    /// So much is wrong that the log must not be taken for the audit of the run.
    Corrupt,
}

impl Tally {
    /// Judges the log: the original's rule for widespread corruption (facts 3.3) over the whole of it, and a log with
    /// whole lines of which none is an event.
    #[must_use]
    pub fn verdict(&self) -> Verdict {
        let most = self.bad > 1 && (self.bad > 100 || (self.events > 0 && self.bad * 2 > self.events));
        if most || (self.events == 0 && self.bad + self.healed > 0) {
            Verdict::Corrupt
        } else if self.losses + self.oddities > 0 {
            Verdict::Damaged
        } else if self.healed > 0 || self.torn_tail {
            Verdict::TornOnly
        } else {
            Verdict::Clean
        }
    }
}
