"""How costs grow with the number of files, of snapshots and of bytes of a file, and the sweep of a long history."""

import os
import shutil
import statistics

import cycle
import measure
import peers

TREES = ["1k", "10k", "50k", "200k"]
SNAPSHOTS = [1, 100, 1000]
BY_FILES = ["first", "nochange", "touch10", "pct1", "label", "dry", "diff", "restore1", "wiped"]
# What is asked of a history: the first lot may not grow with it, the second one has to.
BY_SNAPSHOTS = ["nochange", "touch10", "label", "dry", "diff", "restore1", "log", "du", "fsck"]


def compare(found, scratch, lanes, say):
    """Prints the cost of each operation relative to the smallest tree, and to a history of one snapshot."""
    classes = [peers.Ours, peers.Git]
    wanted = [operation for operation in BY_FILES if operation in found.operations]
    medians, peaks, counts = {}, {}, []
    for tree in found.trees or TREES:
        say(f"tree {tree}")
        here = os.path.join(scratch, tree)
        ran = lanes(found, tree, here, classes)
        counts.append(len(ran[0].files))
        results = cycle.run(ran, set(wanted), found.repetitions, say)
        for tool in classes:
            for operation in wanted:
                cost = statistics.median(cost.wall for cost in results.costs[tool.name][operation])
                medians.setdefault((tool.name, operation), []).append(cost)
                peaks.setdefault((tool.name, operation), []).append(results.peaks[tool.name][operation] or 0)
        shutil.rmtree(here)
    columns = ["", *(f"{count} files" for count in counts)]
    for tool in classes:
        rows = [[name, *(measure.digits(value / medians[tool.name, name][0]) for value in medians[tool.name, name])]
                for name in wanted]
        measure.print_table(f"{tool.name}: time relative to the smallest tree", columns, rows)
        rows = [[name, *(measure.digits(value) for value in peaks[tool.name, name])] for name in wanted]
        measure.print_table(f"{tool.name}: memory of the largest process, MiB", columns, rows)
    _by_snapshots(found, scratch, lanes, say)
    _large_file(found, scratch, say)


def _large_file(found, scratch, say):
    """Memory does not grow with the size of a file: captured, put back where it is missing, and over another one."""
    say("one file of 4 GiB")
    here = os.path.join(scratch, "large")
    workspace, store = os.path.join(here, "ws"), os.path.join(here, "store")
    os.makedirs(workspace)
    found.files = 1
    tool = peers.Ours(workspace, store, found)
    tool.env["ITERION_WORKSPACE_MAX_FILE_MB"] = "8192"
    tool.setup()
    large = os.path.join(workspace, "large")

    def write(byte):
        with open(large, "wb") as file:
            file.write(byte * 4096)
            file.truncate(4 << 30)

    def peak(argv):
        return measure.digits(measure.peak_mib(argv, tool.env, workspace) or 0)

    write(b"a")
    rows = [["capture", peak(tool.capture("a"))]]
    write(b"b")
    measure.run(tool.capture("b"), tool.env, workspace)
    rows.append(["restore over another one", peak(tool.restore("a"))])
    os.unlink(large)
    rows.append(["restore where it is missing", peak(tool.restore("a"))])
    rows.append(["fsck", peak(tool.fsck())])
    measure.print_table("ours: memory of the largest process with one file of 4 GiB, MiB", ["", "MiB"], rows)
    shutil.rmtree(here)


def _by_snapshots(found, scratch, lanes, say):
    classes = [peers.Ours, peers.Git]
    ran = lanes(found, "10k", os.path.join(scratch, "history"), classes)
    medians, names = {}, {lane: ["h0"] for lane in ran}
    for lane in ran:
        lane.tool.setup()
        lane.history(0, 1, 1)
    steps = [count for count in SNAPSHOTS if count <= found.snapshots]
    for count in steps:
        say(f"history of {count}")
        for lane in ran:
            names[lane] += lane.history(len(names[lane]), count, 100)
            lane.tool.before_log(names[lane])
        results = cycle.Results([lane.tool for lane in ran])
        for number in range(1, found.repetitions + 1):
            probes = [(lane, _probes(lane, number, count)) for lane in ran]
            while taken := [(lane, step) for lane, probe in probes if (step := next(probe, None))]:
                results.step(taken, number)
        for lane in ran:
            for operation, costs in results.costs[lane.tool.name].items():
                key = (lane.tool.name, operation)
                medians.setdefault(key, []).append(statistics.median(cost.wall for cost in costs))
    for tool in classes:
        rows = [[name, *(measure.digits(value / medians[tool.name, name][0]) for value in medians[tool.name, name])]
                for name in BY_SNAPSHOTS]
        columns = ["", *(f"{count} snapshots" for count in steps)]
        measure.print_table(f"{tool.name}: time relative to a history of one snapshot, 10 000 files", columns, rows)


def _probes(lane, number, count):
    """The operations that a history might slow down, without making it much longer."""
    tool, seed = lane.tool, f"probe {count} {number}"
    lane.settle("probe-base")
    yield "nochange", tool.capture("probe-same")
    lane.edit(10, seed)
    yield "touch10", tool.capture("probe-ten")
    lane.settle("probe-ten")
    yield "label", tool.label("probe-again", "probe-ten")
    yield "dry", tool.dry("probe-base")
    yield "diff", tool.diff("probe-base")
    yield "restore1", tool.restore("probe-base")
    yield "log", tool.log()
    yield "du", tool.du()
    yield "fsck", tool.fsck()


def prune(found, scratch, lanes, say):
    """A history of many snapshots with 1 % change each: its log, then the sweep after the older half was dropped."""
    classes = [peers.Ours, peers.Git, peers.GitGc]
    if "restic" in found.peers and peers.Restic.is_there():
        classes.append(peers.Restic)
    ran = lanes(found, (found.trees or ["10k"])[0], os.path.join(scratch, "history"), classes)
    names, made = [], {}
    for lane in ran:
        if isinstance(lane.tool, peers.GitGc):
            # The same history, swept in another way.
            shutil.copytree(made["git"].tool.store, lane.tool.store, symlinks=True)
            continue
        made[lane.tool.name] = lane
        say(f"making {found.snapshots} snapshots with {lane.tool.name}")
        lane.tool.setup()
        names = lane.history(0, found.snapshots, max(1, len(lane.files) // 100))
        lane.tool.before_log(names)
    results = cycle.Results(classes)
    for number in range(found.repetitions + 1):
        say(f"log {number} of {found.repetitions}")
        for operation in ["log", "du"]:
            results.step([(lane, (operation, getattr(lane.tool, operation)())) for lane in ran], number)
    half = found.snapshots // 2
    for lane in ran:
        lane.tool.drop(names[:-half], names[-half:])
        os.rename(lane.tool.store, lane.tool.store + ".kept")
    for number in range(found.repetitions + 1):
        say(f"prune {number} of {found.repetitions}")
        for lane in ran:
            shutil.rmtree(lane.tool.store, ignore_errors=True)
            shutil.copytree(lane.tool.store + ".kept", lane.tool.store, symlinks=True)
        results.step([(lane, ("prune", lane.tool.prune())) for lane in ran], number)
    others = classes[1:]
    rows = []
    for operation in ["log", "du", "prune"]:
        mine = results.costs["ours"][operation]
        row = [operation]
        for tool in others:
            spread = measure.ratios(mine, results.costs[tool.name][operation], lambda cost: cost.wall)
            row.append(str(spread) if spread else "-")
        rows.append(row)
    measure.print_table(f"{found.snapshots} snapshots, 1 % change each, half of them forgotten: time of ours divided by"
                        " that of", ["", *(tool.name for tool in others)], rows)
    rows = [[operation, *(measure.digits(results.peaks[tool.name].get(operation) or 0) for tool in classes)]
            for operation in ["log", "du", "prune"]]
    measure.print_table("memory of the largest process, MiB", ["", *(tool.name for tool in classes)], rows)
