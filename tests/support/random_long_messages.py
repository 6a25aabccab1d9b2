"""Random programs with messages of several words: those of RDMA as deployed, one connection of which has longer messages.

for program, model in random_long_messages(range(100)): ...
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from random import Random

from rdma_robust.language.flow.cfg import Program
from rdma_robust.model import Model
from tests.support.random_deployed import loaded, random_text


def random_long_messages(seeds: Iterable[int]) -> Iterator[tuple[Program, Model]]:
    """Yield a program and its model for each seed whose program sends something."""
    for seed in seeds:
        rng = Random(f"long messages {seed}")
        text = with_long_messages(random_text(rng.choice(["messages", "messages", "mixed", "weaker"]), rng), rng)
        if text is not None:
            yield loaded(text, f"long messages {seed}")


def with_long_messages(text: str, rng: Random) -> str | None:
    """Return a text of random programs where a connection has messages of several words of an array that every node has, in
    some texts all of one length, and some reads and writes are about these; None without a message."""
    thread, found = "", list[tuple[str, str]]()
    for line in text.splitlines():
        thread = line.split()[1] if line.startswith("thread ") else thread
        found += ((thread, to) for to in re.findall(r"^  send .* to (\w+)", line))
    if not found:
        return None
    sender, receiver = rng.choice(found)
    equal = rng.random() < 0.3
    lines, thread = [], ""
    for line in text.splitlines():
        thread = line.split()[1] if line.startswith("thread ") else thread
        line = re.sub(r"^(node \w+ \{) ", r"\1 w[3], ", line)
        if thread == sender and (equal or rng.random() < 0.6):
            first = rng.randint(0, 1)
            last = first + 1 if equal else rng.randint(first, 2)
            line = re.sub(rf"^  send \w+ to {receiver}\b", f"  send w[{first}..{last}] to {receiver}", line)
            line = re.sub(rf" imm \d to {receiver}\b", "", line) if equal else line
        elif thread == receiver and (equal or rng.random() < 0.8):
            first = rng.randint(0, 1)
            several = f"w[{first}..{rng.randint(first + equal, 2)}]"
            line = re.sub(rf"^  (posted|recv) \w+ from {sender}\b", rf"  \1 {several} from {sender}", line)
        if thread in (sender, receiver) and rng.random() < 0.5:
            line = re.sub(r"^  ([rs]) = [abc]\d$", rf"  \1 = w[{rng.randint(0, 2)}]", line)
            line = re.sub(r"^  [abc]\d = ", f"  w[{rng.randint(0, 2)}] = ", line)
        lines.append(line)
    return "\n".join(lines) + "\n"
