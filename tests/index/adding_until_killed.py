"""A process whose children add to an index until they are killed -9; run by test_kept.py.

It says on its output, line by line, what the children try and what returned, and after every kill what is in
the index. Children are forked, so that torch is imported once.
"""

import os
import random
import signal
import sys
import time

import torch

from samekind.index import open_index


def say(*words):
    os.write(1, (" ".join(str(word) for word in words) + "\n").encode())


def work(folder, start, seed, ready):
    """Add, replace, remove and save, for ever."""
    draw = random.Random(seed)
    index = open_index(folder)
    number = start
    while True:
        number += 1
        what = draw.random()
        if what < 0.1:
            index.save(folder)
        elif what < 0.3 and len(index):
            id = draw.choice(list(index))
            say("trying", id)
            index.remove([id])
            say("removed", id)
        else:
            id, value = f"item-{draw.randrange(40)}", float(number)
            say("trying", id)
            index.add([id], torch.full((1, 4), value), [{"value": value}], replace=True)
            say("added", id, value)
            os.write(ready, b".")


def main(folder, kills, seed):
    draw = random.Random(seed)
    for round in range(kills):
        heard, ready = os.pipe()
        child = os.fork()
        if not child:
            work(folder, 1000 * round, seed + round, ready)
        os.read(heard, 1)  # it has begun
        time.sleep(draw.uniform(0, 0.15))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        os.close(heard)
        os.close(ready)
        index = open_index(folder)
        vectors = index.vectors()[:, 0].tolist()
        say("killed", *(f"{id}={value}" for id, value in zip(index, vectors, strict=True)))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
