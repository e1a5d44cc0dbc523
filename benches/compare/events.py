"""run-events append, a process an event, against a shell that appends under a lock."""

import os

import measure

PAIRS = 60


def compare(found, scratch):
    store = os.path.join(scratch, "events")
    os.makedirs(os.path.join(store, "runs"))
    draft = os.path.join(store, "draft")
    text = "what the agent said and why, " * 8
    with open(draft, "w", encoding="utf-8") as out:
        out.write('{"type":"node_finished","run_id":"bench","node_id":"n","data":{"text":"%s"}}\n' % text)
    env = {"PATH": os.environ["PATH"], "WT_STORE": store, "WT_RUN": "bench"}
    ours = [f"{found.bin}/run-events", "append", "--stdin", "--fsync", "off"]
    theirs = ["flock", "lock", "sh", "-c", "cat >>plain.jsonl"]
    mine, others = [], []
    for number in range(PAIRS + 1):
        pair = [(ours, mine), (theirs, others)]
        for argv, costs in pair if number % 2 else reversed(pair):
            costs.append(measure.run(argv, env, store, draft))
    spread = measure.ratios(mine[1:], others[1:], lambda cost: cost.wall)
    measure.print_table("run-events append, a process an event: time divided by that of", ["", "flock sh -c 'cat >>'"],
                        [["append", str(spread)]])
