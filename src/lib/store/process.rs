//! [`Process`]: which process is meant, so that a number that was given out again is not taken for it (facts 10.15).
//!
//! ```text
//! 4242                                       the number; all that the original writes and reads
//! start 8812345                              when it began, in ticks since the boot
//! boot 7e0b6f0c-6f3f-4c3b-9a51-3f5d0f5f9c52  of which boot the number and the ticks are
//! namespace 4026531836                       where the number is valid
//! host build-7                               for people
//! ```
//!
//! The text stands in `.pid`, and in a run's lock file for whoever finds it held. Words that are not known are passed over.

use std::fmt::Write;
use std::fs;

use rustix::process::Pid;

/// How many threads work that can be shared is worth: one for each processor, and no more than `max`.
#[must_use]
pub fn threads(max: usize) -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get).min(max)
}

/// A process, told from all others as far as its text goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Process {
    /// Its number.
    pub pid: u32,
    /// When it began, in ticks since the boot.
    pub start: Option<u64>,
    /// The boot.
    pub boot: Option<String>,
    /// The pid namespace.
    pub namespace: Option<u64>,
    /// The name of its machine.
    pub host: Option<String>,
}

/// What can be said of a process from here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Presence {
    /// It is there, or another one has its number and nothing tells them apart.
    Alive,
    /// It has ended.
    Gone,
    /// It is one of another machine or another pid namespace: nobody here can see it.
    Unseen,
}

impl Process {
    /// This process.
    #[must_use]
    pub fn own() -> Self {
        let pid = std::process::id();
        Self {
            pid,
            start: status(pid).and_then(|status| status.start),
            boot: boot(),
            namespace: namespace(),
            host: host(),
        }
    }

    /// The text, with a newline at the end of each line.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = format!("{}\n", self.pid);
        let numbers = [("start", self.start), ("namespace", self.namespace)];
        let numbers = numbers.map(|(word, number)| (word, number.map(|number| number.to_string())));
        let [start, namespace] = numbers;
        for (word, value) in [start, ("boot", self.boot.clone()), namespace, ("host", self.host.clone())] {
            if let Some(value) = value {
                // Writing to a String cannot fail.
                let _ = writeln!(text, "{word} {value}");
            }
        }
        text
    }

    /// Reads the text: a decimal number above 0 on the first line with blanks about it, then lines of a word and a value.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn parse(text: &[u8]) -> Result<Self, &'static str> {
        let text = std::str::from_utf8(text).map_err(|_| "is not UTF-8")?.trim();
        let mut lines = text.lines();
        let number = lines.next().ok_or("is empty")?.trim();
        if number.is_empty() || !number.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err("does not begin with the number of a process");
        }
        let pid = number.parse::<u32>().ok().filter(|pid| *pid > 0 && i32::try_from(*pid).is_ok());
        let pid = pid.ok_or("names no process that there can be")?;
        let mut process = Self { pid, start: None, boot: None, namespace: None, host: None };
        for line in lines {
            let (word, value) = line.trim().split_once(' ').ok_or("has a line that is not a word and a value")?;
            match word {
                "start" => process.start = value.parse().ok(),
                "boot" => process.boot = Some(value.to_owned()),
                "namespace" => process.namespace = value.parse().ok(),
                "host" => process.host = Some(value.to_owned()),
                _ => {}
            }
        }
        Ok(process)
    }

    /// Whether it is there. One that has ended and waits to be noticed by its parent is not.
    #[must_use]
    pub fn presence(&self) -> Presence {
        if self.boot.is_some() && self.boot != boot() {
            // Another boot of this machine is over; of another machine nothing is known.
            return if self.host.is_some() && self.host == host() { Presence::Gone } else { Presence::Unseen };
        }
        if self.namespace.is_some() && self.namespace != namespace() {
            return Presence::Unseen;
        }
        match status(self.pid) {
            Some(status) if status.is_zombie => Presence::Gone,
            Some(status) => match (self.start, status.start) {
                (Some(meant), Some(found)) if meant != found => Presence::Gone,
                _ => Presence::Alive,
            },
            // A /proc that hides the processes of others still lets them be asked after.
            None if exists(self.pid) => Presence::Alive,
            None => Presence::Gone,
        }
    }
}

fn exists(pid: u32) -> bool {
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
    // Not allowed to signal it means that it is there.
    pid.is_some_and(|pid| rustix::process::test_kill_process(pid) != Err(rustix::io::Errno::SRCH))
}

struct Status {
    is_zombie: bool,
    start: Option<u64>,
}

fn status(pid: u32) -> Option<Status> {
    let stat = fs::read(format!("/proc/{pid}/stat")).ok()?;
    status_in_stat(&String::from_utf8_lossy(&stat))
}

/// State and start in `/proc/<pid>/stat`: `12 (name) S 7 ...`, where the name may hold blanks and parentheses.
fn status_in_stat(stat: &str) -> Option<Status> {
    let (_, rest) = stat.rsplit_once(')')?;
    let mut fields = rest.split_ascii_whitespace();
    let state = fields.next()?;
    // The start is field 22 of the line; the state was field 3.
    Some(Status { is_zombie: matches!(state, "Z" | "X"), start: fields.nth(18).and_then(|text| text.parse().ok()) })
}

fn boot() -> Option<String> {
    line_of("/proc/sys/kernel/random/boot_id")
}

fn host() -> Option<String> {
    line_of("/proc/sys/kernel/hostname")
}

fn line_of(path: &str) -> Option<String> {
    let text = String::from_utf8(fs::read(path).ok()?).ok()?;
    Some(text.trim().to_owned()).filter(|text| !text.is_empty() && !text.contains(char::is_whitespace))
}

fn namespace() -> Option<u64> {
    let link = fs::read_link("/proc/self/ns/pid").ok()?;
    link.to_str()?.strip_prefix("pid:[")?.strip_suffix(']')?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_is_there_and_its_text_survives() {
        let own = Process::own();
        assert!(own.start.is_some() && own.boot.is_some(), "{own:?}");
        assert_eq!(Process::parse(own.text().as_bytes()), Ok(own.clone()));
        assert_eq!(own.presence(), Presence::Alive);
    }

    #[test]
    fn a_number_that_was_given_out_again_is_another_process() {
        let own = Process::own();
        let again = Process { start: own.start.map(|start| start + 1), ..own.clone() };
        assert_eq!(again.presence(), Presence::Gone);
        let rebooted = Process { boot: Some("another".into()), ..own.clone() };
        assert_eq!(rebooted.presence(), Presence::Gone);
        assert_eq!(Process { host: Some("elsewhere".into()), ..rebooted }.presence(), Presence::Unseen);
        assert_eq!(Process { namespace: Some(1), ..own.clone() }.presence(), Presence::Unseen);
        let bare = Process { start: None, boot: None, namespace: None, host: None, ..own };
        assert_eq!(bare.presence(), Presence::Alive);
    }

    /// Case 133.
    #[test]
    fn reads_a_number_and_nothing_else_as_a_number() {
        assert_eq!(Process::parse(b"  101  ").map(|process| process.pid), Ok(101));
        assert_eq!(Process::parse(b"101\n").map(|process| process.pid), Ok(101));
        for bad in ["", "  ", "not-a-number", "0", "-5", "+5", "4294967296", "101 102", "101\nstart", "\u{ff11}"] {
            assert!(Process::parse(bad.as_bytes()).is_err(), "{bad}");
        }
        assert!(Process::parse(b"101\n\xff").is_err());
        let future = Process::parse(b"101\ncolour blue\nstart 7\n").unwrap();
        assert_eq!((future.pid, future.start), (101, Some(7)));
    }

    #[test]
    fn a_process_name_cannot_hide_the_state() {
        let rest = "S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 4711 20";
        let status = status_in_stat(&format!("12 (a) Z 1) {rest}")).unwrap();
        assert_eq!((status.is_zombie, status.start), (false, Some(4711)));
        assert!(status_in_stat("12 (a) Z 1 2").unwrap().is_zombie);
    }
}
