"""Running a command and what it took, and ratios of pairs.

Times are never printed: they say more about the machine than about the tool. Pairs that ran right after each other are
divided, and of these ratios the median and the quartiles are shown.
"""

import os
import shutil
import statistics
import subprocess
import tempfile
import time

GNU_TIME = "/usr/bin/time"


class Failed(Exception):
    """A command of a tool ended with an error."""


class Cost:
    """Wall clock and processor time of a command and all it started, in seconds."""

    def __init__(self, wall, cpu):
        self.wall, self.cpu = wall, cpu


def run(argv, env, cwd, stdin=None):
    """Runs a command and returns its Cost."""
    with tempfile.TemporaryFile() as errors, open(stdin or os.devnull, "rb") as source:
        begun = time.perf_counter()
        child = subprocess.Popen(argv, env=env, cwd=cwd, stdin=source, stdout=subprocess.DEVNULL, stderr=errors)
        _, status, usage = os.wait4(child.pid, 0)
        wall = time.perf_counter() - begun
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode != 0:
            errors.seek(0)
            tail = errors.read().decode(errors="replace").strip().splitlines()[-3:]
            raise Failed(f"{' '.join(argv)[:200]}: exit {child.returncode}: {' / '.join(tail)}")
    return Cost(wall, usage.ru_utime + usage.ru_stime)


def peak_mib(argv, env, cwd, stdin=None):
    """Runs a command and returns the memory of its largest process in MiB; None where GNU time is missing.

    The kernel counts the memory of whoever starts a process, before the process is another program, as its own. So
    what starts it has to be small, which Python is not.
    """
    if not shutil.which(GNU_TIME):
        run(argv, env, cwd, stdin)
        return None
    with tempfile.NamedTemporaryFile("r") as report:
        run([GNU_TIME, "-f", "%M", "-o", report.name, *argv], env, cwd, stdin)
        return int(report.read().split()[-1]) / 1024


class Spread:
    """Median and quartiles of some ratios."""

    def __init__(self, values):
        self.median = statistics.median(values)
        quartiles = statistics.quantiles(values, n=4, method="inclusive") if len(values) > 1 else [self.median] * 3
        self.low, self.high = quartiles[0], quartiles[2]

    def __str__(self):
        return f"{digits(self.median)} ({digits(self.low)}-{digits(self.high)})"


def digits(value):
    """Two digits that matter, or whole numbers."""
    if value >= 10:
        return f"{value:.0f}"
    return f"{value:.2f}" if value < 1 else f"{value:.1f}"


def ratios(ours, theirs, of):
    """The Spread of ours divided by theirs, pair by pair; None if there are no pairs. `of` takes a value from a Cost."""
    values = [of(a) / of(b) for a, b in zip(ours, theirs) if a and b and of(b) > 0]
    return Spread(values) if values else None


def print_table(title, columns, rows):
    """Prints rows of texts as a Markdown table."""
    print(f"\n{title}\n")
    widths = [max(len(row[i]) for row in [columns, *rows]) for i in range(len(columns))]
    for row in [columns, ["-" * width for width in widths], *rows]:
        print("| " + " | ".join(text.ljust(width) for text, width in zip(row, widths)) + " |", flush=True)
