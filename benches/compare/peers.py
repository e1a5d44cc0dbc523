"""The tools: how each one does each operation. A method returns the command, or None where the tool has no such thing.

Every tool has a workspace and a store of its own, so that none disturbs what another one remembers of the files.
Snapshots have names: whatever the tool has for that (a label, a ref, a tag, an archive, a directory).
"""

import os
import shlex
import shutil
import subprocess


class Tool:
    """What all tools share."""

    name = "?"
    needs = []
    # What the others are compared with.
    is_ours = False
    # The tool flushes as ours does by default.
    is_durable = False

    def __init__(self, ws, store, options):
        self.ws, self.store, self.options = ws, store, options
        self.env = {"PATH": os.environ["PATH"], "LC_ALL": "C", "TZ": "UTC"}

    @classmethod
    def is_there(cls):
        return all(shutil.which(command) for command in cls.needs)

    def setup(self):
        """Makes an empty store."""
        shutil.rmtree(self.store, ignore_errors=True)
        os.makedirs(self.store)

    def quietly(self, *argv, text=None):
        """Runs a command that is not measured and returns what it prints."""
        done = subprocess.run(argv, env=self.env, cwd=self.ws, input=text, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise RuntimeError(f"{' '.join(argv)[:200]}: exit {done.returncode}: {done.stderr[-500:]}")
        return done.stdout

    def capture(self, _name):
        return None

    def restore(self, _name):
        return None

    def dry(self, _name):
        return None

    def label(self, _new, _name):
        return None

    def log(self):
        return None

    def diff(self, _name):
        return None

    def du(self):
        return None

    def fsck(self):
        return None

    def prune(self):
        return None

    def drop(self, _names, _kept):
        """Removes snapshots by name; what only they held is removed by prune."""

    def before_log(self, _names):
        """Makes what log shows, where snapshots are no chain."""


class Ours(Tool):
    name = "ours"
    is_ours = True

    def __init__(self, ws, store, options):
        super().__init__(ws, store, options)
        self.bin = self.programs(options)
        self.porcelain = self.scripts(options)
        self.env["PATH"] = f"{self.porcelain}:{self.bin}:{self.env['PATH']}"
        self.env.update(WT_STORE=store, WT_RUN="bench", WT_WORKSPACE=ws)
        if not self.is_durable:
            self.env["WT_FSYNC"] = "off"

    @staticmethod
    def programs(options):
        return options.bin

    @staticmethod
    def scripts(options):
        return options.porcelain

    def setup(self):
        super().setup()
        os.makedirs(os.path.join(self.store, "runs"))

    def capture(self, name):
        if self.options.files > 50_000:
            walk = f"wt-ls-files -z --records --dir-cache --max-files {self.options.files + 1}"
            return ["wt-lock", "-s", "--", "sh", "-c", f"{walk} | wt-hash-object -w -z --stdin-records |"
                    f" wt-write-manifest -z --label {name}"]
        return [f"{self.porcelain}/wt-capture", "-q", name]

    def restore(self, name):
        return [f"{self.bin}/wt-restore", "-q", name]

    def dry(self, name):
        return [f"{self.bin}/wt-restore", "-q", "-n", name]

    def label(self, new, name):
        return [f"{self.bin}/wt-label", new, name]

    def log(self):
        return [f"{self.bin}/wt-log"]

    def diff(self, name):
        return [f"{self.bin}/wt-diff", name]

    def du(self):
        return [f"{self.bin}/wt-du", "--by", "run"]

    def fsck(self):
        return [f"{self.bin}/wt-fsck", "-q"]

    def prune(self):
        return [f"{self.bin}/wt-prune", "-q", "--grace", "0s"]

    def drop(self, _names, kept):
        self.quietly("wt-forget", "-q", "--keep-last", str(len(kept)), "--drop-labels", "*")


class OursDurable(Ours):
    name = "ours, durable"
    is_durable = True


class Before(Ours):
    """Another build of the same programs."""

    name = "before"
    is_ours = False

    @staticmethod
    def programs(options):
        return options.before

    @staticmethod
    def scripts(options):
        """Those of that build, if they were kept beside its programs: an option may be newer than they are."""
        own = f"{options.before}/porcelain"
        return own if os.path.isdir(own) else options.porcelain


class Git(Tool):
    """A shadow repository, as agents ship it: its own directory, no user configuration, gc off."""

    name = "git"
    needs = ["git"]
    settings = []

    def __init__(self, ws, store, options):
        super().__init__(ws, store, options)
        self.env.update(GIT_DIR=store, GIT_WORK_TREE=ws, GIT_CONFIG_NOSYSTEM="1", GIT_CONFIG_GLOBAL="/dev/null",
                        GIT_AUTHOR_NAME="b", GIT_AUTHOR_EMAIL="b@localhost",
                        GIT_COMMITTER_NAME="b", GIT_COMMITTER_EMAIL="b@localhost")

    def setup(self):
        super().setup()
        self.quietly("git", "init", "-q")
        for setting in ["gc.auto=0", "maintenance.auto=false", "core.autocrlf=false", *self.settings]:
            self.quietly("git", "config", *setting.split("=", 1))

    def capture(self, name):
        return ["sh", "-c", 'git add -A && tree=$(git write-tree) && commit=$(git commit-tree -m "$1" "$tree") &&'
                ' git update-ref "refs/snapshots/$1" "$commit"', "sh", name]

    def restore(self, name):
        return ["sh", "-c", 'git reset -q --hard "refs/snapshots/$1" && git clean -fdq', "sh", name]

    def dry(self, name):
        return ["sh", "-c", 'git diff --name-status "refs/snapshots/$1" && git clean -ndq', "sh", name]

    def label(self, new, name):
        return ["git", "update-ref", f"refs/snapshots/{new}", f"refs/snapshots/{name}"]

    def before_log(self, names):
        parent = []
        for name in names:
            commit = self.quietly("git", "commit-tree", "-m", name, *parent, f"refs/snapshots/{name}^{{tree}}").strip()
            parent = ["-p", commit]
        if parent:
            self.quietly("git", "update-ref", "refs/chain", parent[1])

    def log(self):
        return ["git", "log", "--stat", "refs/chain"]

    def diff(self, name):
        return ["sh", "-c", 'git diff --name-status "refs/snapshots/$1" && git ls-files -o --exclude-standard', "sh", name]

    def du(self):
        return ["git", "rev-list", "--disk-usage", "--objects", "--all"]

    def fsck(self):
        return ["git", "fsck", "--full", "--no-progress"]

    def prune(self):
        return ["git", "prune", "--expire=now"]

    def drop(self, names, _kept):
        steps = "".join(f"delete refs/snapshots/{name}\n" for name in names)
        self.quietly("git", "update-ref", "--stdin", text=steps)
        self.quietly("git", "update-ref", "-d", "refs/chain")
        # reset --hard leaves a ref and perhaps a reflog that would keep what is to go.
        for ref in ["ORIG_HEAD", "HEAD"]:
            subprocess.run(["git", "update-ref", "-d", ref], env=self.env, cwd=self.ws, capture_output=True, check=False)
        self.quietly("git", "reflog", "expire", "--expire=now", "--all")


class GitDurable(Git):
    name = "git, durable batch"
    settings = ["core.fsync=all", "core.fsyncMethod=batch"]
    is_durable = True


class GitGc(Git):
    """The same repository, swept by a repack."""

    name = "git gc"

    def prune(self):
        return ["git", "gc", "-q", "--prune=now"]


class Restic(Tool):
    name = "restic"
    needs = ["restic"]
    is_durable = True

    def __init__(self, ws, store, options):
        super().__init__(ws, store, options)
        self.env.update(RESTIC_PASSWORD="bench", RESTIC_REPOSITORY=store, RESTIC_CACHE_DIR=store + ".cache",
                        RESTIC_PROGRESS_FPS="0.01")

    def setup(self):
        super().setup()
        shutil.rmtree(self.store + ".cache", ignore_errors=True)
        self.quietly("restic", "init", "-q")

    def capture(self, name):
        return ["restic", "backup", "-q", "--tag", name, "."]

    def restore(self, name):
        return ["restic", "restore", "-q", "--target", ".", "--tag", name, "latest"]

    def log(self):
        return ["restic", "snapshots", "-q"]

    def du(self):
        return ["restic", "stats", "-q", "--mode", "raw-data"]

    def fsck(self):
        return ["restic", "check", "-q", "--read-data"]

    def prune(self):
        return ["restic", "prune", "-q", "--max-unused", "0"]

    def drop(self, _names, kept):
        self.quietly("restic", "forget", "-q", "--group-by", "", "--keep-last", str(len(kept)))


class Borg(Tool):
    name = "borg"
    needs = ["borg"]
    is_durable = True

    def __init__(self, ws, store, options):
        super().__init__(ws, store, options)
        self.env.update(BORG_REPO=store, BORG_BASE_DIR=store + ".base", BORG_RELOCATED_REPO_ACCESS_IS_OK="yes",
                        BORG_UNKNOWN_UNENCRYPTED_REPO_ACCESS_IS_OK="yes")

    def setup(self):
        super().setup()
        shutil.rmtree(self.store + ".base", ignore_errors=True)
        os.makedirs(self.store + ".base")
        self.quietly("borg", "init", "--encryption", "none")

    def capture(self, name):
        return ["borg", "create", f"::{name}", "."]

    def restore(self, name):
        # It removes nothing by itself.
        return ["sh", "-c", 'find . -mindepth 1 -delete && borg extract "::$1"', "sh", name]

    def log(self):
        return ["borg", "list"]

    def du(self):
        return ["borg", "info"]

    def fsck(self):
        return ["borg", "check", "--verify-data"]

    def prune(self):
        return ["borg", "compact", "--threshold", "0"]

    def drop(self, names, _kept):
        for first in range(0, len(names), 100):
            self.quietly("borg", "delete", *(f"::{name}" if i == 0 else name
                                             for i, name in enumerate(names[first : first + 100])))


class Rsync(Tool):
    """A directory for each snapshot, with hard links to what did not change."""

    name = "rsync --link-dest"
    needs = ["rsync"]

    def setup(self):
        super().setup()
        self.last = None
        self.gone = []

    def capture(self, name):
        link = ["--link-dest", f"{self.store}/{self.last}"] if self.last and self.last != name else []
        self.last = name
        return ["rsync", "-a", "--delete", *link, "./", f"{self.store}/{name}/"]

    def restore(self, name):
        return ["rsync", "-a", "--delete", f"{self.store}/{name}/", "./"]

    def dry(self, name):
        return ["rsync", "-an", "--delete", "-i", f"{self.store}/{name}/", "./"]

    def diff(self, name):
        return self.dry(name)

    def du(self):
        return ["du", "-s", self.store]

    def prune(self):
        gone, self.gone = self.gone, []
        return ["sh", "-c", "rm -rf " + " ".join(shlex.quote(f"{self.store}/{name}") for name in gone)]

    def drop(self, names, _kept):
        self.gone = list(names)


PEERS = {"git": Git, "git-durable": GitDurable, "git-gc": GitGc, "restic": Restic, "borg": Borg, "rsync": Rsync}
