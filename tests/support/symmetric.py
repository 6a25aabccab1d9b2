"""Programs with symmetry: families of known groups, and random threads copied with renamed nodes or variables."""

from __future__ import annotations

import re
from collections.abc import Mapping
from random import Random

from tests.support.random_programs import Size, random_program

ONE_THREAD = Size(threads=(1, 1), nodes=(2, 3), cells=(3, 4), instructions=(3, 5), total=5)

ROTATION = {"A": "B", "B": "C", "C": "A"}
SWAP = {"A": "B", "B": "A"}


def ring(n: int, constants: Mapping[int, int] | None = None, inits: Mapping[int, int] | None = None) -> str:
    """Everybody mails to the right and looks into the own box; the given members mail or start with something else."""
    lines = [f"node N{i} {{ mail = {(inits or {}).get(i, 0)} }}" for i in range(n)]
    for i in range(n):
        put = f"put N{(i + 1) % n}.mail = {(constants or {}).get(i, 1)}"
        lines.append(f"thread T{i} on N{i} {{\n  reg seen\n  {put}\n  seen = mail\n}}")
    return "\n".join(lines) + "\n"


def clients(n: int, served_in_turn: bool = False) -> str:
    """Equal clients of one server, which looks for their requests; if it does `in turn`, it tells them apart."""
    boxes = ", ".join(f"box{i}" for i in range(n))
    lines = [f"node Server {{ {boxes}, open = 1 }}", *(f"node C{i} {{ got, done }}" for i in range(n))]
    for i in range(n):
        body = f"put Server.box{i} = 1\n  get got = Server.open\n  poll Server\n  poll Server\n  done = 1"
        lines.append(f"thread T{i} on C{i} {{\n  {body}\n}}")
    if served_in_turn:
        looks = "\n".join(f"  await box{i} == 1" for i in range(n))
        lines.append(f"thread S on Server {{\n{looks}\n}}")
    return "\n".join(lines) + "\n"


def random_symmetric(rng: Random) -> str:
    """Return a program in which a random thread is interchanged with copies of itself by renaming."""
    text = random_program(rng, ONE_THREAD, loops=rng.random() < 0.2)
    start = text.index("thread ")
    head, thread = text[:start], text[start:]
    nodes = re.findall(r"^node (\w) ", head, re.MULTILINE)
    cells = re.findall(r"^  (.*)$", head, re.MULTILINE)
    options = "".join(line + "\n" for line in head.splitlines() if line.startswith(("allow", "domain")))
    if rng.random() < 0.25:
        return options + _twins(rng, head.removeprefix(options), thread, cells)
    renaming = ROTATION if len(nodes) == 3 and rng.random() < 0.5 else SWAP
    declared = "".join(f"node {node} {{\n" + "".join(f"  {c}\n" for c in cells) + "}\n" for node in nodes)
    copies, renamed = [thread], _renamed(thread, renaming)
    while renamed != thread and len(copies) < len(renaming):
        copies.append(renamed.replace("thread T1", f"thread T{len(copies) + 1}"))
        renamed = _renamed(renamed, renaming)
    if rng.random() < 0.4:
        copies.reverse()
    return options + declared + "".join(copies)


def _twins(rng: Random, head: str, thread: str, cells: list[str]) -> str:
    """Two threads on the same node; some variables are shared, others have a twin, with the same initial value."""
    twins = {name: f"{name}{name}" for name in (re.split(r"\W", c)[0] for c in cells) if rng.random() < 0.6}
    declared = re.sub(
        r"^  (\w)(\S*.*)$", lambda m: f"{m[0]}\n  {m[1]}{m[1]}{m[2]}" if m[1] in twins else m[0], head, flags=re.M
    )
    return declared + thread + _renamed(thread, twins).replace("thread T1", "thread T2")


def _renamed(text: str, by: Mapping[str, str]) -> str:
    return re.sub(r"\b[A-Za-z]+\b", lambda m: by.get(m[0], m[0]), text)
