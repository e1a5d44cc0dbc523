"""Deterministic workspaces, and deterministic edits of them.

src    10 000 files, about 80 MB: log-normal sizes of 0.2 to 60 KiB, text, at most 6 directories deep
big    50 000 files of the same shape
media  40 files of 20 MiB that nothing compresses, and 160 small ones
N      any other number is that many files of the shape of src (2k, 200k)

A tree depends only on its name. All files get one old time, so that no tool has to doubt its stat cache.
"""

import math
import os
import random

OLD_NS = 1_790_000_000 * 10**9
DEPTH_MAX = 6
FILES_PER_DIR = 12
LETTERS = "etaoinshrdlcumwfgypbvkjxqz"
SUFFIXES = "rs rs ts ts tsx py go c h md json toml yaml css html txt sh sql".split()
JOINTS = [" ", " ", " ", "(", ")", " = ", ";\n", "\n", "\n    ", ".", ", ", " {\n", "}\n", "::"]


def file_count(name):
    """How many files of the shape of src a tree has; None for media."""
    known = {"src": 10_000, "big": 50_000, "media": None}
    if name in known:
        return known[name]
    return int(name[:-1]) * 1000 if name.endswith("k") else int(name)


def make(name, root):
    """Makes the tree below `root` and returns its files, sorted, relative to it."""
    chance = random.Random(f"tree {name}")
    words = ["".join(chance.choices(LETTERS, range(26, 0, -1), k=chance.randint(2, 10))) for _ in range(5000)]
    count = file_count(name)
    text = _text(chance, words, 24 << 20 if count else 2 << 20)
    os.makedirs(root)
    if count is None:
        dirs = _dirs(chance, words, root, 25)
        files = [_write(chance, words, root, dirs, text, chance.randint(300, 30_000)) for _ in range(160)]
        for number in range(40):
            path = os.path.join(chance.choice(dirs), f"clip{number:02}.mp4")
            with open(os.path.join(root, path), "wb") as out:
                for _ in range(20):
                    out.write(chance.randbytes(1 << 20))
            files.append(path)
    else:
        dirs = _dirs(chance, words, root, max(1, count // FILES_PER_DIR))
        sizes = (min(60 << 10, max(205, int(math.exp(chance.gauss(math.log(5000), 1))))) for _ in range(count))
        files = [_write(chance, words, root, dirs, text, size) for size in sizes]
    for path in files:
        os.utime(os.path.join(root, path), ns=(OLD_NS, OLD_NS))
    return sorted(files)


def edit(root, files, count, seed):
    """Appends a line to `count` of the files: another choice and another line for every seed."""
    chance = random.Random(f"edit {seed}")
    for path in chance.sample(files, min(count, len(files))):
        with open(os.path.join(root, path), "ab") as out:
            out.write(b"// edited %016x\n" % chance.getrandbits(64))


def _text(chance, words, size):
    parts, length = [], 0
    while length < size:
        part = "".join(a + b for a, b in zip(chance.choices(words, k=20_000), chance.choices(JOINTS, k=20_000)))
        parts.append(part)
        length += len(part)
    return "".join(parts).encode()[:size]


def _dirs(chance, words, root, count):
    dirs = [("", 0)]
    while len(dirs) < count:
        # The older a directory is, the more it gets below it.
        above, depth = dirs[int(chance.random() ** 1.5 * len(dirs))]
        path = os.path.join(above, chance.choice(words) + str(chance.randrange(100)) * (chance.random() < 0.3))
        if depth < DEPTH_MAX and not os.path.exists(os.path.join(root, path)):
            os.mkdir(os.path.join(root, path))
            dirs.append((path, depth + 1))
    return [path for path, _ in dirs]


def _write(chance, words, root, dirs, text, size):
    while True:
        name = f"{chance.choice(words)}_{chance.choice(words)}.{chance.choice(SUFFIXES)}"
        path = os.path.join(chance.choice(dirs), name)
        if not os.path.exists(os.path.join(root, path)):
            break
    head = b"// %016x\n" % chance.getrandbits(64)
    start = chance.randrange(len(text) - size)
    with open(os.path.join(root, path), "wb") as out:
        out.write(head + text[start : start + size - len(head)])
    return path
