//! Whether numbers follow one another, in memory that does not grow with the log.

/// Gaps remembered, so that a number that comes late is told from one that comes twice.
const GAPS_MAX: usize = 256;

/// What is wrong with a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Misplaced {
    /// It was there before.
    Duplicate,
    /// It comes after a higher one; this is the highest so far.
    Late(u64),
    /// Those from the first to the second were not there yet.
    Gap(u64, u64),
}

/// Follows the numbers of a log.
#[derive(Debug)]
pub struct Order {
    highest: Option<u64>,
    /// Below this nothing was seen, because reading began in the middle.
    floor: u64,
    gaps: Vec<(u64, u64)>,
    gaps_matter: bool,
    starts_at_zero: bool,
}

impl Order {
    /// For a log that is read from its start: numbers begin at 0.
    #[must_use]
    pub fn whole() -> Self {
        Self { highest: None, floor: 0, gaps: Vec::new(), gaps_matter: true, starts_at_zero: true }
    }

    /// For a log that is read from somewhere in it.
    #[must_use]
    pub fn part() -> Self {
        Self { starts_at_zero: false, ..Self::whole() }
    }

    /// For some events of a log: gaps are what was asked for.
    #[must_use]
    pub fn selection() -> Self {
        Self { gaps_matter: false, ..Self::part() }
    }

    /// Takes the next number and says what is wrong with it.
    pub fn next(&mut self, seq: u64) -> Option<Misplaced> {
        let Some(highest) = self.highest else {
            self.highest = Some(seq);
            if self.starts_at_zero {
                return self.gap(0, seq);
            }
            self.floor = seq;
            return None;
        };
        if seq > highest {
            self.highest = Some(seq);
            return self.gap(highest + 1, seq);
        }
        match self.gaps.iter().position(|(from, to)| (*from..=*to).contains(&seq)) {
            Some(place) => {
                self.fill(place, seq);
                Some(Misplaced::Late(highest))
            }
            None if seq < self.floor => Some(Misplaced::Late(highest)),
            None => Some(Misplaced::Duplicate),
        }
    }

    fn gap(&mut self, from: u64, seq: u64) -> Option<Misplaced> {
        let to = seq.checked_sub(1).filter(|to| *to >= from)?;
        if self.gaps.len() < GAPS_MAX {
            self.gaps.push((from, to));
        }
        self.gaps_matter.then_some(Misplaced::Gap(from, to))
    }

    fn fill(&mut self, place: usize, seq: u64) {
        let (from, to) = self.gaps.swap_remove(place);
        if from < seq {
            self.gaps.push((from, seq - 1));
        }
        if seq < to {
            self.gaps.push((seq + 1, to));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Misplaced::{Duplicate, Gap, Late};
    use super::*;

    fn judge(mut order: Order, seqs: &[u64]) -> Vec<Option<Misplaced>> {
        seqs.iter().map(|seq| order.next(*seq)).collect()
    }

    #[test]
    fn tells_twice_from_late_from_missing() {
        assert_eq!(judge(Order::whole(), &[0, 1, 1, 2]), [None, None, Some(Duplicate), None]);
        assert_eq!(judge(Order::whole(), &[2]), [Some(Gap(0, 1))]);
        assert_eq!(
            judge(Order::whole(), &[0, 4, 2, 2, 1, 5]),
            [None, Some(Gap(1, 3)), Some(Late(4)), Some(Duplicate), Some(Late(4)), None]
        );
        assert_eq!(judge(Order::part(), &[7, 8, 5]), [None, None, Some(Late(8))]);
        assert_eq!(judge(Order::selection(), &[3, 9, 9]), [None, None, Some(Duplicate)]);
    }
}
