//! The seam under all file-system effects: lets a test make the n-th one fail or die, or act at a named moment.
//!
//! Every effect of [`super::fsio`] passes [`point`]; moments at which somebody else could interfere are [`hook`]s. In
//! release builds nothing can be armed and both cost nothing. What was done is on the [`tape`].

pub(super) mod tape;

use std::io;
use std::path::Path;

#[cfg(debug_assertions)]
use std::sync::{
    OnceLock,
    atomic::{AtomicU64, Ordering},
};

/// What a test asked for. The programs read it from the environment (`cli`), never this library.
#[derive(Debug, Default)]
pub struct Plan {
    /// The number of the effect to disturb, counted from 1, and what happens there.
    pub fault: Option<(u64, Fault)>,
    /// A file that gets one byte when the fault fired.
    pub fired: Option<std::path::PathBuf>,
    /// A file to which every effect's name and path is appended.
    pub trace: Option<std::path::PathBuf>,
    /// A file that gets every effect that was done, with its content, see [`tape`].
    pub tape: Option<std::path::PathBuf>,
    /// What every attempt to take a lock fails with, as on a network disk without a lock daemon.
    pub locks: Option<rustix::io::Errno>,
    /// Shell commands by the name of the moment at which they run: once each, or every time where the name ends in `*`.
    pub hooks: Vec<(String, String)>,
    /// The magic number of the file system on which everything is said to lie.
    pub file_system: Option<u32>,
    /// No file and no directory can be made, as on a disk without an inode.
    pub no_inode: bool,
}

/// What happens at the disturbed effect.
#[derive(Debug, Clone, Copy)]
pub enum Fault {
    /// The process dies before the effect, as by `kill -9`.
    Kill,
    /// The effect is not done and reports this error.
    Fail(rustix::io::Errno),
}

#[cfg(debug_assertions)]
static PLAN: OnceLock<Plan> = OnceLock::new();
#[cfg(debug_assertions)]
static COUNT: AtomicU64 = AtomicU64::new(0);

/// Arms the seam for this process. The first call wins; release builds ignore it.
pub fn arm(plan: Plan) {
    #[cfg(debug_assertions)]
    let _ = PLAN.set(plan);
    #[cfg(not(debug_assertions))]
    drop(plan);
}

/// Stands before every effect; fails where a test asked for it.
#[inline]
pub(super) fn point(effect: &str, path: &Path) -> io::Result<()> {
    #[cfg(debug_assertions)]
    if let Some(plan) = PLAN.get() {
        return disturb(plan, effect, path);
    }
    let _ = (effect, path);
    Ok(())
}

/// Stands before every attempt to take a lock.
#[inline]
pub(super) fn lock_point() -> rustix::io::Result<()> {
    #[cfg(debug_assertions)]
    if let Some(errno) = PLAN.get().and_then(|plan| plan.locks) {
        return Err(errno);
    }
    Ok(())
}

#[cfg(debug_assertions)]
fn disturb(plan: &Plan, effect: &str, path: &Path) -> io::Result<()> {
    let number = COUNT.fetch_add(1, Ordering::Relaxed) + 1;
    if let Some(trace) = &plan.trace {
        append(trace, format!("{effect} {}\n", path.display()).as_bytes());
    }
    match plan.fault {
        Some((nth, fault)) if nth == number => {
            if let Some(fired) = &plan.fired {
                append(fired, b"x");
            }
            match fault {
                Fault::Fail(errno) => Err(errno.into()),
                Fault::Kill => {
                    let _ = rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL);
                    // The signal is delivered before the call returns to us; nothing may go on without it.
                    loop {
                        std::thread::park();
                    }
                }
            }
        }
        _ if plan.no_inode && matches!(effect, "create" | "mkdir") => Err(rustix::io::Errno::NOSPC.into()),
        _ => Ok(()),
    }
}

#[cfg(debug_assertions)]
fn append(path: &Path, bytes: &[u8]) {
    use std::io::Write;
    // The test's own side file: a failure here shows as a failed test, not as an error of the program.
    if let Ok(mut file) = std::fs::OpenOptions::new().append(true).create(true).open(path) {
        let _ = file.write_all(bytes);
    }
}

/// The file system that a test wants everything to lie on, by its magic number.
pub(super) fn file_system() -> Option<u32> {
    #[cfg(debug_assertions)]
    return PLAN.get().and_then(|plan| plan.file_system);
    #[cfg(not(debug_assertions))]
    None
}

/// A moment at which another process could act; runs the test's shell command for it, once.
#[inline]
pub(crate) fn hook(name: &str) {
    #[cfg(debug_assertions)]
    if let Some(plan) = PLAN.get() {
        run_hook(plan, name);
    }
    let _ = name;
}

#[cfg(debug_assertions)]
fn run_hook(plan: &Plan, name: &str) {
    static DONE: std::sync::Mutex<Vec<String>> = std::sync::Mutex::new(Vec::new());
    let wanted = |hook: &str| hook.strip_suffix('*').unwrap_or(hook) == name;
    let Some((hook, command)) = plan.hooks.iter().find(|(hook, _)| wanted(hook)) else { return };
    let Ok(mut done) = DONE.lock() else { return };
    if done.contains(hook) {
        return;
    }
    if !hook.ends_with('*') {
        done.push(hook.clone());
    }
    drop(done);
    let _ = std::process::Command::new("sh").arg("-c").arg(command).status();
}
