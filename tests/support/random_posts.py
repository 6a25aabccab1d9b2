"""Random functions whose processes post receives, send and wait in any order; and blocking functions rewritten."""

from __future__ import annotations

import random
import re

TAGS = ("", " tag 1", " tag 2")


def random_posts(seed: int, procs: int) -> str:
    """Return the text of a function `f` for so many processes."""
    rng = random.Random(f"posts {seed}")
    quiet = rng.choice(("", "quiet from \\others;", "quiet from \\others tag 1;"))
    sends: list[list[str]] = [[] for _ in range(procs)]
    receives = [_receives(rng, process, sends) for process in range(procs)]
    bodies = []
    for process, (before, waits) in enumerate(receives):
        lines = [*before, *sends[process]]
        rng.shuffle(lines)
        bodies.append(f"if PID == {process} {{\n" + "\n".join([*lines, *waits]) + "\n}")
    return (
        f"fun f() contract collective {{ {quiet} }} {{\nreg v, w, s\nreq g, h, p[2]\n"
        + "\n".join(bodies)
        + "\nreturn v\n}\n"
    )


def _receives(rng: random.Random, me: int, sends: list[list[str]]) -> tuple[list[str], list[str]]:
    """Return what posts receives and waits for them, and add what mostly is sent to them."""
    posts, waits = [], []
    for request in rng.sample(("g", "h", "p[0]", "p[1]"), rng.randint(0, 3)):
        sender, tag = rng.randrange(len(sends)), rng.choice(TAGS)
        source = rng.choice(("any", "any s", str(sender), str(sender)))
        posts.append(f"{request} = irecv {rng.choice('vw')} from {source}{rng.choice(('', tag))}")
        if rng.random() < 0.95:
            sends[sender].append(f"send {10 * me + len(posts)} to {me}{tag}")
        if rng.random() < 0.95:
            waits.append(f"wait {request}")
    rng.shuffle(waits)
    return posts, waits


def with_requests(text: str) -> str:
    """Return a text of random functions in which every receive is posted and waited for at once, and so is every send."""
    text = re.sub(r"\n(reg v, s.*)\n", r"\n\1\nreq h, g\n", text)
    text = re.sub(r"\brecv ([^;}\n]*)", r"h = irecv \1; wait h ", text)
    return re.sub(r"\bsend ([^;}\n]*)", r"g = isend \1; wait g ", text)
