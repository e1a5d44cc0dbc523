//! [`Rules`]: from a path to a verdict.
//!
//! Rules are numbered in file order. The verdict on a path is the highest-numbered rule among those that match the
//! path or any directory above it, so what a directory inherits is one number: its own verdict. Below it only rules
//! with a higher number can change anything, and a directory may be skipped whole when none of those is a negation
//! that could match beneath it.

use std::fmt;

use super::parse::{self, Rule};
use super::pattern::Subject;
use super::{DEFAULT_NAMES, EntryKind, RuleSource, RulesFile, Warning};
use crate::store::relpath::RelPath;

/// The rules of one workspace: the default names, then the lines of its file.
#[derive(Debug, Clone)]
pub struct Rules {
    source: RuleSource,
    list: Vec<Rule>,
    /// The numbers of the negated rules that can lift something, ascending.
    negations: Vec<usize>,
}

/// Why a path is out whatever the rules say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HardReason {
    /// It is, or lies in, a `.git`.
    Git,
    /// It is, or lies in, an `.iterion`.
    Iterion,
    /// It is, or lies in, one of our temporary files or directories.
    TempName,
}

/// What our temporary names in a workspace begin with.
const TEMP_NAME_PREFIX: &[u8] = b".iterion-tmp-";

impl HardReason {
    /// The reason in the name itself, whatever lies above.
    pub fn of_name(name: &[u8]) -> Option<Self> {
        match name {
            b".git" => Some(Self::Git),
            b".iterion" => Some(Self::Iterion),
            _ if name.starts_with(TEMP_NAME_PREFIX) => Some(Self::TempName),
            _ => None,
        }
    }

    /// The name as a pattern, for `wt-check-ignore -v`.
    #[must_use]
    pub fn pattern(self) -> &'static str {
        match self {
            Self::Git => ".git",
            Self::Iterion => ".iterion",
            Self::TempName => ".iterion-tmp-*",
        }
    }
}

impl fmt::Display for HardReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.pattern())
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Decision {
    Unmatched,
    Rule(usize),
    Hard(HardReason),
}

/// What a directory passes down to everything in it: the verdict on itself. Small and freely copied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Inherited(Verdict);

impl Inherited {
    /// It as a number, for a file that is read only together with the same rules.
    pub(in crate::tree) fn to_bits(self) -> u32 {
        let decision = match self.0.decision {
            Decision::Unmatched => 0,
            Decision::Hard(HardReason::Git) => 1,
            Decision::Hard(HardReason::Iterion) => 2,
            Decision::Hard(HardReason::TempName) => 3,
            Decision::Rule(number) => u32::try_from(number).unwrap_or(u32::MAX >> 1).saturating_add(4),
        };
        decision << 1 | u32::from(self.0.included)
    }

    /// Whether the directory that passes it down is versioned itself.
    pub(in crate::tree) fn is_included(self) -> bool {
        self.0.included
    }
}

/// Whether a path is versioned, and by what that was decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Verdict {
    included: bool,
    decision: Decision,
}

impl Verdict {
    const UNMATCHED: Self = Self { included: true, decision: Decision::Unmatched };

    /// Whether the path is versioned.
    #[must_use]
    pub fn is_included(&self) -> bool {
        self.included
    }

    /// The hard exclusion that decided, if one did.
    #[must_use]
    pub fn hard_reason(&self) -> Option<HardReason> {
        if let Decision::Hard(reason) = self.decision { Some(reason) } else { None }
    }

    /// What the path, being a directory, passes down to its entries.
    #[must_use]
    pub fn below(&self) -> Inherited {
        Inherited(*self)
    }
}

/// The rule that decided, as `wt-check-ignore -v` shows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RuleRef<'r> {
    /// Where it is from: the name of the file, or `default`.
    pub source_name: &'static str,
    /// Its line, counted from 1; `None` for a default name.
    pub line: Option<u32>,
    /// The rule as written, `!` included, without blanks at the end.
    pub pattern: &'r [u8],
}

impl Rules {
    /// Reads the rules of a file, after the default names. A bad line is skipped and named in a warning.
    #[must_use]
    pub fn parse(file: &RulesFile) -> (Self, Vec<Warning>) {
        let mut list = parse::defaults(&DEFAULT_NAMES);
        let (own, warnings) = parse::file(file.source, &file.text);
        list.extend(own);
        let negations = (0..).zip(&list).filter(|(_, rule)| can_lift(rule)).map(|(number, _)| number).collect();
        (Self { source: file.source, list, negations }, warnings)
    }

    /// Decides on a path by itself, looking at every directory above it.
    #[must_use]
    pub fn verdict(&self, path: &RelPath, kind: EntryKind) -> Verdict {
        let bytes = path.as_bytes();
        let slashes = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'/');
        let inherited = slashes.fold(self.at_root(), |inherited, (slash, _)| {
            let dir = bytes.get(..slash).unwrap_or(bytes);
            self.verdict_below(inherited, dir, EntryKind::Dir).below()
        });
        self.verdict_below(inherited, bytes, kind)
    }

    /// What the entries of the workspace root inherit.
    #[must_use]
    pub fn at_root(&self) -> Inherited {
        Inherited(Verdict::UNMATCHED)
    }

    /// Reads what [`Inherited::to_bits`] made under the same rules; `None` for a number that no rule has.
    pub(in crate::tree) fn inherited_of_bits(&self, bits: u32) -> Option<Inherited> {
        let decision = match bits >> 1 {
            0 => Decision::Unmatched,
            1 => Decision::Hard(HardReason::Git),
            2 => Decision::Hard(HardReason::Iterion),
            3 => Decision::Hard(HardReason::TempName),
            number => {
                let number = usize::try_from(number - 4).ok()?;
                (number < self.list.len()).then_some(Decision::Rule(number))?
            }
        };
        Some(Inherited(Verdict { included: bits & 1 == 1, decision }))
    }

    /// Decides on an entry of a directory whose verdict is known. `path` is the whole path from the root, in the bytes
    /// of a [`RelPath`]; `inherited` must come from the directory it lies in.
    #[must_use]
    pub fn verdict_below(&self, inherited: Inherited, path: &[u8], kind: EntryKind) -> Verdict {
        let Inherited(above) = inherited;
        let first_number = match above.decision {
            Decision::Hard(_) => return above,
            Decision::Rule(number) => number + 1,
            Decision::Unmatched => 0,
        };
        let subject = Subject::new(path);
        if let Some(reason) = HardReason::of_name(subject.name()) {
            return Verdict { included: false, decision: Decision::Hard(reason) };
        }
        let matches = |rule: &Rule| (!rule.dir_only || kind == EntryKind::Dir) && rule.pattern.matches(&subject);
        for (number, rule) in self.list.iter().enumerate().skip(first_number).rev() {
            if matches(rule) {
                return Verdict { included: rule.negated, decision: Decision::Rule(number) };
            }
        }
        above
    }

    /// Whether the directory `dir` with this verdict can be skipped whole: it is excluded and no rule could re-include
    /// anything beneath it.
    #[must_use]
    pub fn may_prune(&self, dir: &[u8], verdict: &Verdict) -> bool {
        let decided_by = match verdict.decision {
            _ if verdict.included => return false,
            Decision::Hard(_) => return true,
            Decision::Rule(number) => number,
            Decision::Unmatched => return false,
        };
        // A negation before the excluding rule cannot win below it.
        let later = self.negations.iter().rev().take_while(|number| **number > decided_by);
        !later.filter_map(|number| self.list.get(*number)).any(|rule| rule.pattern.could_match_below(dir))
    }

    /// The rule behind a verdict of these rules; `None` where none matched or a hard exclusion decided.
    #[must_use]
    pub fn decided_by(&self, verdict: &Verdict) -> Option<RuleRef<'_>> {
        let Decision::Rule(number) = verdict.decision else { return None };
        let rule = self.list.get(number)?;
        Some(match rule.line {
            0 => RuleRef { source_name: "default", line: None, pattern: &rule.text },
            line => RuleRef { source_name: self.source.name(), line: Some(line), pattern: &rule.text },
        })
    }

    /// Where the project's own rules came from.
    #[must_use]
    pub fn source(&self) -> RuleSource {
        self.source
    }
}

/// Whether a rule is a negation that could ever re-include something; `!.git` could not.
fn can_lift(rule: &Rule) -> bool {
    rule.negated && !rule.pattern.literal_names().any(|name| HardReason::of_name(name).is_some())
}

#[cfg(test)]
mod tests;
