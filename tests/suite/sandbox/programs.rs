//! Where the built programs are, and as whom they run.

use std::ffi::OsString;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use super::USER;

/// Whether the suite runs as root.
pub(crate) fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// The words that turn a command into one of the unprivileged user.
pub(crate) fn as_user() -> Vec<OsString> {
    let user = USER.to_string();
    let words = ["setpriv", "--reuid", &user, "--regid", &user, "--clear-groups", "--inh-caps=-all", "--"];
    words.into_iter().map(OsString::from).collect()
}

/// `PATH` of every call: the programs, the porcelain, and the system's own tools.
pub(crate) fn search_path() -> &'static OsString {
    static PATH: OnceLock<OsString> = OnceLock::new();
    PATH.get_or_init(|| {
        let (programs, porcelain) = reachable();
        std::env::join_paths(
            [programs, porcelain].into_iter().chain(["/usr/local/bin", "/usr/bin", "/bin"].map(PathBuf::from)),
        )
        .unwrap()
    })
}

/// The directories of programs and porcelain, copied once to where the user can reach them if it cannot.
fn reachable() -> (PathBuf, PathBuf) {
    let programs = Path::new(env!("CARGO_BIN_EXE_wt-ls-files")).parent().unwrap().to_owned();
    let porcelain = Path::new(env!("CARGO_MANIFEST_DIR")).join("porcelain");
    if !is_root() || (can_run(&programs) && (!porcelain.exists() || can_run(&porcelain))) {
        return (programs, porcelain);
    }
    let mut name = OsString::from("wt-suite-programs");
    name.push(programs.to_string_lossy().replace('/', "-"));
    let copy = std::env::temp_dir().join(name);
    for (from, to) in [(&programs, copy.join("bin")), (&porcelain, copy.join("porcelain"))] {
        copy_programs(from, &to);
    }
    (copy.join("bin"), copy.join("porcelain"))
}

fn can_run(dir: &Path) -> bool {
    let mut words = as_user();
    words.extend(["ls".into(), "--".into(), dir.into()]);
    let (first, rest) = words.split_first().unwrap();
    let status = Command::new(first).args(rest).stdout(Stdio::null()).stderr(Stdio::null()).status();
    status.is_ok_and(|status| status.success())
}

fn copy_programs(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    assert!(std::fs::metadata(to).unwrap().uid() == 0, "{} is somebody else's", to.display());
    for dir in [to, to.parent().unwrap()] {
        std::fs::set_permissions(dir, PermissionsExt::from_mode(0o755)).unwrap();
    }
    let Ok(entries) = std::fs::read_dir(from) else { return };
    for entry in entries {
        let entry = entry.unwrap();
        let meta = entry.metadata().unwrap();
        // Beside the programs lie files of the build; what scripts source can be read, not run.
        let is_of_the_build =
            entry.path().extension().is_some() || entry.file_name().to_string_lossy().starts_with('.');
        if !meta.is_file() || is_of_the_build {
            continue;
        }
        let target = to.join(entry.file_name());
        // A copy from an earlier build would be run instead of this one, so it is made anew; a link costs nothing.
        let temp = to.join(format!(".copy-{}", std::process::id()));
        if std::fs::hard_link(entry.path(), &temp).is_err() {
            std::fs::copy(entry.path(), &temp).unwrap();
            std::fs::set_permissions(&temp, PermissionsExt::from_mode(0o755)).unwrap();
        }
        std::fs::rename(&temp, &target).unwrap();
    }
}
