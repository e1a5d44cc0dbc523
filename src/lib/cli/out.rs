//! Standard output: buffered, and never silently lost.
//!
//! A program that only reads stops when nobody listens any more; one that changes things finishes its work and says at
//! the end that its output went nowhere (design section 5).

use std::io::Write;
use std::os::fd::AsFd;

use rustix::io::Errno;

use super::page::{Effect, Page};
use crate::error::Error;

/// Flushed when this much has gathered.
const BUFFER_BYTES: usize = 128 * 1024;
/// What a pipe between two stages holds: four times what it holds by itself.
const PIPE_BYTES: usize = 256 * 1024;
/// So much at once is not gathered first.
const DIRECT_BYTES: usize = 32 * 1024;

/// Buffered standard output.
pub struct Out {
    buffer: Vec<u8>,
    failed: Option<Errno>,
    effect: Effect,
    program: &'static str,
    if_lost: Option<String>,
}

/// What became of the output.
#[derive(Debug)]
pub enum Finished {
    /// All of it was written.
    Written,
    /// The reader closed its end, and what has to be said of that, if anything.
    ReaderGone(Option<Error>),
    /// It could not be written.
    Failed(Error),
}

impl Out {
    pub(super) fn new(page: &Page) -> Self {
        Self { buffer: Vec::new(), failed: None, effect: page.effect, program: page.name, if_lost: None }
    }

    /// Lets a pipe take more at once, for a stage whose follower works at the same time: they then wait for each other less
    /// often. Where that is not allowed, or standard output is no pipe, nothing is lost.
    pub fn widen(&mut self) {
        let _ = rustix::pipe::fcntl_setpipe_size(rustix::stdio::stdout(), PIPE_BYTES);
    }

    /// Writes bytes.
    pub fn write(&mut self, bytes: &[u8]) {
        if self.buffer.is_empty() && bytes.len() >= DIRECT_BYTES {
            return self.send(bytes);
        }
        self.buffer.extend_from_slice(bytes);
        if self.buffer.len() >= BUFFER_BYTES {
            self.flush();
        }
    }

    /// Writes a line and its newline.
    pub fn line(&mut self, line: &[u8]) {
        self.buffer.extend_from_slice(line);
        self.write(b"\n");
    }

    /// Writes an item and its end: a newline, or NUL.
    pub fn item(&mut self, item: &[u8], end: u8) {
        self.buffer.extend_from_slice(item);
        self.write(&[end]);
    }

    /// Hands everything to the operating system now, so that a reader sees it.
    pub fn flush(&mut self) {
        let mut buffer = std::mem::take(&mut self.buffer);
        self.send(&buffer);
        buffer.clear();
        self.buffer = buffer;
    }

    fn send(&mut self, bytes: &[u8]) {
        let mut rest = bytes;
        if !rest.is_empty() && crate::sys::stdout_was_closed() {
            self.failed = Some(Errno::BADF);
        }
        while self.failed.is_none() && !rest.is_empty() {
            match rustix::io::write(rustix::stdio::stdout(), rest) {
                Ok(count) => rest = rest.get(count..).unwrap_or_default(),
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => self.failed = wait_until_writable().err(),
                Err(errno) => self.failed = Some(errno),
            }
        }
        if self.effect == Effect::Reads
            && let Some(errno) = self.failed
        {
            stop(self.program, errno);
        }
    }

    /// Whether a person sees it at once.
    #[must_use]
    pub fn is_terminal(&self) -> bool {
        std::io::IsTerminal::is_terminal(&std::io::stdout())
    }

    /// Says that nobody reads any more, which a program that waits can learn without writing.
    pub fn reader_is_gone(&mut self) {
        self.failed.get_or_insert(Errno::PIPE);
    }

    /// Says that what is being done changes nothing, although the program can: it then stops when nobody listens.
    pub fn only_reads(&mut self) {
        self.effect = Effect::Reads;
    }

    /// Says what a person has to know where the output is lost, also where its reader has closed it.
    pub fn if_lost(&mut self, what: String) {
        self.if_lost = Some(what);
    }

    /// Hands everything over and lets the reader see the end, before the program ends: nothing may be written any more.
    pub fn close(&mut self) {
        self.flush();
        let flags = rustix::fs::OFlags::RDONLY | rustix::fs::OFlags::CLOEXEC;
        // Where it cannot be done, the reader sees the end a little later.
        if let Ok(nothing) = rustix::fs::open("/dev/null", flags, rustix::fs::Mode::empty()) {
            let _ = rustix::stdio::dup2_stdout(nothing);
        }
    }

    pub(super) fn finish(&mut self) -> Finished {
        if !self.buffer.is_empty() {
            self.flush();
        }
        match self.failed {
            // Nothing was to be written, or all of it was.
            None => Finished::Written,
            Some(Errno::PIPE) => {
                Finished::ReaderGone(self.if_lost.take().map(|what| write_error(Errno::PIPE).hint(what)))
            }
            Some(errno) => Finished::Failed(match self.if_lost.take() {
                Some(what) => write_error(errno).hint(what),
                None => write_error(errno),
            }),
        }
    }
}

impl Write for Out {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        Out::write(self, bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Out::flush(self);
        Ok(())
    }
}

/// A pipe that somebody made non-blocking is full: nothing to do until its reader has read.
fn wait_until_writable() -> Result<(), Errno> {
    let stdout = rustix::stdio::stdout();
    let mut wait = [rustix::event::PollFd::from_borrowed_fd(stdout.as_fd(), rustix::event::PollFlags::OUT)];
    match rustix::event::poll(&mut wait, None) {
        Ok(_) | Err(Errno::INTR) => Ok(()),
        Err(errno) => Err(errno),
    }
}

fn write_error(errno: Errno) -> Error {
    let cause = std::io::Error::from(errno);
    let mut text = crate::error::describe(&cause);
    if errno == Errno::BADF {
        text = "it is closed".into();
    }
    Error::new(crate::error::Kind::Io, format!("cannot write to standard output: {text}"))
}

/// Ends a program that only reads: what it has left to do is of no use to anybody.
fn stop(program: &str, errno: Errno) -> ! {
    if errno == Errno::PIPE {
        std::process::exit(i32::from(super::EXIT_STDOUT_CLOSED));
    }
    super::say(&format!("{program}: error: {}", write_error(errno)));
    std::process::exit(8);
}
