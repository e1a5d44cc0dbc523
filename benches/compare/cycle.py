"""What is done with a tool, step by step. A cycle is a generator of (operation, command): what it does between two of
them is preparation and not measured. All tools go through the same cycle in step, so that a measured command of one
runs right after the same one of another.
"""

import os
import shutil
import time

import measure
import trees

OPERATIONS = ["first", "nochange", "touch10", "pct1", "label", "dry", "diff", "restore1", "wiped",
              "log", "du", "fsck", "prune"]
MEANING = {
    "first": "capture into an empty store",
    "nochange": "capture, nothing changed",
    "touch10": "capture after 10 files were appended to",
    "pct1": "capture after 1 % of the files were appended to",
    "label": "one more name for a snapshot",
    "dry": "dry run of restore1",
    "diff": "snapshot against workspace, 1 % changed",
    "restore1": "full restore to a snapshot that differs in 1 %",
    "wiped": "restore into an emptied workspace",
    "log": "log of all snapshots",
    "du": "disk use of the history",
    "fsck": "check of the whole store",
    "prune": "sweep after half of the snapshots were dropped",
    "append": "run-events append, a process an event",
}
# A tool may doubt a file that was changed just before it looked.
SETTLE_SECONDS = 0.05
HISTORY = 8
HISTORY_SHARE = 20


class Lane:
    """A tool with its own copy of a tree."""

    def __init__(self, tool, files):
        self.tool, self.files = tool, files
        self.wanted = set(OPERATIONS)
        self.settled = []

    def run(self, argv):
        """Runs a command that is not measured."""
        measure.run(argv, self.tool.env, self.tool.ws)

    def settle(self, name=None):
        """Lets the tool see the files once more, when they are old enough to be believed."""
        time.sleep(SETTLE_SECONDS)
        # Some tools never take a name twice.
        self.settled.append(name or f"settled{len(self.settled)}")
        self.run(self.tool.capture(self.settled[-1]))

    def edit(self, count, seed):
        trees.edit(self.tool.ws, self.files, count, seed)
        time.sleep(SETTLE_SECONDS)

    def wants(self, *operations):
        return any(operation in self.wanted for operation in operations)

    def history(self, first, last, count):
        """Captures some more snapshots, each after `count` edits, and returns their names."""
        names = [f"h{number}" for number in range(first, last)]
        for number, name in zip(range(first, last), names):
            trees.edit(self.tool.ws, self.files, count, f"history {number}")
            self.run(self.tool.capture(name))
        return names

    def cycle(self, seed):
        """All operations once, in an order that lets each prepare the next."""
        tool, hundredth = self.tool, max(1, len(self.files) // 100)
        tool.setup()
        self.settled.clear()
        names = ["base", "same", "ten", "pct"]
        yield "first", tool.capture("base")
        self.settle()
        yield "nochange", tool.capture("same")
        self.edit(10, f"ten {seed}")
        yield "touch10", tool.capture("ten")
        self.settle()
        self.edit(hundredth, f"pct {seed}")
        yield "pct1", tool.capture("pct")
        if self.wants("label", "dry", "diff", "restore1"):
            self.settle()
            yield "label", tool.label("same", "pct")
            yield "dry", tool.dry("ten")
            yield "diff", tool.diff("ten")
            yield "restore1", tool.restore("ten")
        if self.wants("wiped"):
            for name in os.listdir(tool.ws):
                path = os.path.join(tool.ws, name)
                if os.path.isdir(path):
                    shutil.rmtree(path)
                else:
                    os.unlink(path)
            yield "wiped", tool.restore("ten")
        if self.wants("log", "du", "fsck", "prune"):
            self.settle()
            added = self.history(0, HISTORY, max(1, len(self.files) // HISTORY_SHARE))
            tool.before_log([*names, *added])
            yield "log", tool.log()
            yield "du", tool.du()
            yield "fsck", tool.fsck()
            kept = added[-(len(added) // 2) :]
            tool.drop([*names, *self.settled, *added[: -len(kept)]], kept)
            yield "prune", tool.prune()


class Results:
    """The costs of every operation of every tool, pair by pair, and the memory of the first round."""

    def __init__(self, tools):
        self.costs = {tool.name: {} for tool in tools}
        self.peaks = {tool.name: {} for tool in tools}
        self.failed = set()

    def step(self, steps, number):
        """Runs one operation of all tools, in an order that changes; round 0 looks at memory instead of time."""
        order = list(steps)
        order = order[number % len(order) :] + order[: number % len(order)]
        for lane, (operation, argv) in order:
            name = lane.tool.name
            if argv is None:
                cost = None
            elif number == 0:
                self.peaks[name][operation] = measure.peak_mib(argv, lane.tool.env, lane.tool.ws)
                continue
            else:
                cost = measure.run(argv, lane.tool.env, lane.tool.ws)
            if number > 0:
                self.costs[name].setdefault(operation, []).append(cost)


def run(lanes, wanted, repetitions, say):
    """Takes all lanes through the cycle, once for memory and then once for each repetition."""
    results = Results([lane.tool for lane in lanes])
    for number in range(repetitions + 1):
        say(f"round {number} of {repetitions}")
        cycles = []
        for lane in lanes:
            lane.wanted = wanted
            cycles.append((lane, lane.cycle(number)))
        while steps := [(lane, step) for lane, cycle in cycles if (step := next(cycle, None))]:
            if steps[0][1][0] in wanted:
                results.step(steps, number)
            else:
                for lane, (_, argv) in steps:
                    if argv is not None and steps[0][1][0] in ("first", "nochange", "touch10", "pct1"):
                        lane.run(argv)
    return results
