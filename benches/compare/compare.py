"""The command line of the comparison; benches/README.md says how to read what it prints."""

import argparse
import os
import shutil
import signal
import sys
import tempfile

import cycle
import events
import growth
import measure
import peers
import trees


def say(text):
    print(f"compare: {text}", file=sys.stderr, flush=True)


def options():
    parser = argparse.ArgumentParser(prog="benches/compare/run", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mode", nargs="?", default="table", choices=["table", "growth", "prune-1000"],
                        help="a table of ratios; how costs grow with files and snapshots; a long history swept")
    words = lambda text: text.split(",")  # noqa: E731
    parser.add_argument("--trees", type=words, help="src, big, media, or a number of files such as 2k")
    parser.add_argument("--operations", type=words, default=[*cycle.OPERATIONS, "append"])
    parser.add_argument("--peers", type=words, default=["git", "git-durable", "restic", "borg", "rsync"],
                        help="of " + ", ".join(peers.PEERS))
    parser.add_argument("--repetitions", type=int, default=7)
    parser.add_argument("--snapshots", type=int, default=1000, help="of the long history")
    parser.add_argument("--durability", choices=["off", "on", "both"], default="both",
                        help="off: WT_FSYNC=off against peers that flush nothing; on: the default against all that flush")
    parser.add_argument("--scratch", help="where the trees are made [default: below TMPDIR]")
    parser.add_argument("--before", metavar="DIR", help="programs of another build, to be a peer without flushing")
    parser.add_argument("--bin", required=True, help=argparse.SUPPRESS)
    parser.add_argument("--porcelain", required=True, help=argparse.SUPPRESS)
    found = parser.parse_args()
    known = [*cycle.OPERATIONS, "append"]
    for word in [word for word in found.operations if word not in known]:
        parser.error(f"unknown operation '{word}': it is one of {', '.join(known)}")
    for word in [word for word in found.peers if word not in peers.PEERS]:
        parser.error(f"unknown peer '{word}': it is one of {', '.join(peers.PEERS)}")
    return found


def tools(found):
    """The classes of tools that take part."""
    chosen = [peers.PEERS[name] for name in found.peers]
    for tool in [tool for tool in chosen if not tool.is_there()]:
        say(f"skipped: {tool.name} is not there")
        chosen.remove(tool)
    ours = {"off": [peers.Ours], "on": [peers.OursDurable], "both": [peers.Ours, peers.OursDurable]}[found.durability]
    classes = {tool.is_durable for tool in ours}
    if found.before:
        chosen.insert(0, peers.Before)
    # rsync flushes nothing either.
    return [*ours, *(tool for tool in chosen if tool.is_durable in classes)]


def lanes(found, tree, scratch, classes):
    """A copy of the tree and an empty store for each tool."""
    master = os.path.join(scratch, "tree")
    files = trees.make(tree, master)
    found.files = len(files)
    made = []
    for number, tool in enumerate(classes):
        ws = os.path.join(scratch, f"ws{number}")
        shutil.copytree(master, ws)
        made.append(cycle.Lane(tool(ws, os.path.join(scratch, f"store{number}"), found), files))
    shutil.rmtree(master)
    return made


def table(found, scratch):
    for tree in found.trees or ["src"]:
        here = os.path.join(scratch, tree)
        say(f"tree {tree}")
        ran = lanes(found, tree, here, tools(found))
        results = cycle.run(ran, set(found.operations), found.repetitions, say)
        report(f"tree {tree}, {len(ran[0].files)} files", ran, results)
        shutil.rmtree(here)
    if "append" in found.operations:
        events.compare(found, scratch)


def report(title, ran, results):
    """The ratios of each of ours to all peers of its class, then memory."""
    tools_ran = [lane.tool for lane in ran]
    for ours in [tool for tool in tools_ran if tool.is_ours]:
        others = [tool for tool in tools_ran if not tool.is_ours and tool.is_durable == ours.is_durable]
        if not others:
            continue
        for what, of in [("time", lambda cost: cost.wall), ("processor time", lambda cost: cost.cpu)]:
            rows = []
            for operation in cycle.OPERATIONS:
                mine = results.costs[ours.name].get(operation)
                if mine:
                    found = [measure.ratios(mine, results.costs[tool.name].get(operation, []), of) for tool in others]
                    rows.append([operation, *(str(one) if one else "-" for one in found)])
            measure.print_table(f"{title}: {what} of {ours.name} divided by that of", ["", *(t.name for t in others)], rows)
    rows = []
    for operation in cycle.OPERATIONS:
        peaks = [results.peaks[tool.name].get(operation) for tool in tools_ran]
        if any(peaks):
            rows.append([operation, *(measure.digits(peak) if peak else "-" for peak in peaks)])
    measure.print_table(f"{title}: memory of the largest process, MiB", ["", *(t.name for t in tools_ran)], rows)


def main():
    found = options()
    # Also whoever is told to stop removes what was made.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    parent = found.scratch or tempfile.gettempdir()
    os.makedirs(parent, exist_ok=True)
    scratch = os.path.realpath(tempfile.mkdtemp(prefix="wt-compare.", dir=parent))
    try:
        say(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors, in {scratch}")
        if found.mode == "growth":
            growth.compare(found, scratch, lanes, say)
        elif found.mode == "prune-1000":
            growth.prune(found, scratch, lanes, say)
        else:
            table(found, scratch)
    except measure.Failed as error:
        say(f"error: {error}")
        return 1
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
