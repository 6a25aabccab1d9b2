"""Random programs with messages of several words: those of RDMA as deployed, one connection of which has longer messages.
Some are on lanes, and in some the words are in a relaxed region.

for program, model in random_long_messages(range(100)): ...
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from random import Random

from rdma_robust.language.flow.cfg import Program
from rdma_robust.model import Model
from tests.support.random_deployed import loaded, random_text
from tests.support.random_lanes import on_lanes


def random_long_messages(seeds: Iterable[int]) -> Iterator[tuple[Program, Model]]:
    """Yield a program and its model for each seed whose program sends something."""
    for seed in seeds:
        rng = Random(f"long messages {seed}")
        text = with_long_messages(random_text(rng.choice(["messages", "weaker", "weaker", "mixed"]), rng), rng)
        if text is None:
            continue
        if rng.random() < 0.2:
            text = re.sub(r"\{ w\[3\]", "{ relaxed w[3]", text)
        plain = loaded(text, f"long messages {seed}")
        yield from on_lanes([plain]) if rng.random() < 0.25 else [plain]


def random_waiting_words(seeds: Iterable[int]) -> Iterator[tuple[Program, Model]]:
    """Yield a program and its model for each seed that gives one whose messages of several words have room in every buffer;
    many buffers are posted late."""
    for seed in seeds:
        rng = Random(f"waiting words {seed}")
        text = with_long_messages(random_text(rng.choice(["messages", "messages", "mixed", "weaker"]), rng), rng)
        if text is None:
            continue
        text = re.sub(r"(recv|posted) (\w+|w\[\d\.\.\d\]) from", r"\1 w[0..2] from", text)
        if rng.random() < 0.7:
            text = re.sub(r"posted (w\[0\.\.2\] from)", r"recv \1", text)
        case = loaded(text, f"waiting words {seed}")
        if case[0].words:
            yield from on_lanes([case]) if rng.random() < 0.25 else [case]


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
    equal, several = rng.random() < 0.3, False
    lines, thread = [], ""
    for line in text.splitlines():
        thread = line.split()[1] if line.startswith("thread ") else thread
        line = re.sub(r"^(node \w+ \{) ", r"\1 w[3], ", line)
        if (
            thread == sender
            and re.match(rf"  send \w+ to {receiver}\b", line)
            and (equal or not several or rng.random() < 0.6)
        ):
            first = rng.randint(0, 1)
            last = first + 1 if equal or not several else rng.randint(first, 2)
            several = True
            line = re.sub(rf"^  send \w+ to {receiver}\b", f"  send w[{first}..{last}] to {receiver}", line)
        elif thread == sender and equal:
            line = re.sub(rf" imm \d to {receiver}\b", "", line)
        elif thread == receiver and (equal or rng.random() < 0.8):
            first = rng.randint(0, 1)
            room = 2 if rng.random() < 0.6 else rng.randint(first + equal, 2)
            buffer = f"w[{0 if room == 2 and rng.random() < 0.7 else first}..{room}]"
            kind = "posted" if rng.random() < 0.4 else r"\1"
            line = re.sub(rf"^  (posted|recv) \w+ from {sender}\b", rf"  {kind} {buffer} from {sender}", line)
        if thread in (sender, receiver) and rng.random() < 0.5:
            line = re.sub(r"^  ([rs]) = [abc]\d$", rf"  \1 = w[{rng.randint(0, 2)}]", line)
            line = re.sub(r"^  [abc]\d = ", f"  w[{rng.randint(0, 2)}] = ", line)
        lines += [line, *_more(line, sender, receiver, equal, rng)] if thread in (sender, receiver) else [line]
    return "\n".join(lines) + "\n"


def _more(line: str, sender: str, receiver: str, equal: bool, rng: Random) -> list[str]:
    """Lines that may come behind one: another message of one word or two, another buffer, another poll."""
    first = rng.randint(0, 1)
    if re.match(rf"  send .* to {receiver}\b", line) and rng.random() < 0.4:
        return [f"  send {'w[0..1]' if equal else f'w[{first}]'} to {receiver}"]
    if re.match(rf"  (posted|recv) .* from {sender}\b", line) and rng.random() < 0.5:
        return [
            f"  recv w[{first}..{first + 1}] from {sender}"
            if "recv" in line
            else f"  posted w[0..{first + 1}] from {sender}"
        ]
    return [line] if re.match(rf"  (\w+ = )?rpoll {sender}\b", line) and rng.random() < 0.3 else []
