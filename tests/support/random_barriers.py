"""Programs with barriers: random ones and mutations of named ones, of every family of :mod:`random_deployed`, with barriers
put in; and the same program with a thread that coordinates in place of each barrier.

    for program, model in random_barriers("stores", range(100)): ...

Most barriers are met by all of their threads; some are not, stand in a branch, or come in another order.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from random import Random
from typing import Final

from rdma_robust.language.flow.cfg import Program
from rdma_robust.model import Model
from tests.support.random_deployed import FAMILIES, loaded, mutant_text, named_texts, random_text
from tests.support.random_programs import SMALL, random_program

KINDS: Final = (*FAMILIES, "paper", "mutants")

_THREAD: Final = re.compile(r"thread (\w+) on")
_BARRIER: Final = re.compile(r"^(\s*)barrier(?: (.*))?$")


def random_barriers(kind: str, seeds: Iterable[int]) -> Iterator[tuple[Program, Model]]:
    """Yield a program with barriers and its model for each seed that gives one."""
    for seed in seeds:
        text = random_barrier_text(kind, seed)
        if text is not None:
            yield loaded(text, f"barriers {kind} {seed}")


def random_barrier_text(kind: str, seed: int) -> str | None:
    """Return the text of a program with barriers, None if the seed gives none."""
    rng = Random(f"barriers {kind} {seed}")
    if kind == "paper":
        return with_barriers(random_program(rng, SMALL), rng)
    if kind == "mutants":
        text = mutant_text(named_texts()[rng.choice(sorted(named_texts()))], rng)
        return None if text is None else with_barriers(text, rng)
    return with_barriers(random_text(kind, rng), rng)


def threads_of(text: str) -> list[str]:
    """Return the names of the threads, in the order of the text."""
    return _THREAD.findall(text)


def with_barriers(text: str, rng: Random) -> str | None:
    """Return a text with one to three rounds of barriers put in, None if it has fewer than two threads."""
    names = threads_of(text)
    if len(names) < 2:
        return None
    lines = text.splitlines()
    for _ in range(rng.choice([1, 1, 1, 2, 2, 3])):
        members = names if rng.random() < 0.6 else rng.sample(names, rng.randint(min(2, len(names)), len(names)))
        if rng.random() < 0.03:
            members = members[:1]
        missing = rng.choice(members) if rng.random() < 0.06 else ""
        for name in members:
            if name != missing:
                _put_in(lines, name, members if len(members) < len(names) or rng.random() < 0.5 else [], rng)
    return "\n".join(lines) + "\n"


def _put_in(lines: list[str], name: str, members: list[str], rng: Random) -> None:
    start = next(i for i, line in enumerate(lines) if re.match(rf"thread {name} on", line)) + 1
    depth, places = 1, []
    for i in range(start, len(lines)):
        if depth == 1 and not lines[i].lstrip().startswith("reg "):
            places.append(i)
        depth += lines[i].count("{") - lines[i].count("}")
        if depth == 0:
            break
    first = max((i + 1 for i in places if lines[i].lstrip().startswith("posted")), default=start)
    at = rng.choice([i for i in places if i >= first] or [first])
    shown = rng.sample(members, len(members))
    barrier = f"barrier {', '.join(shown)}".rstrip()
    if rng.random() < 0.05:
        barrier = f"choose {{ {barrier} }} or {{ skip }}"
    lines.insert(at, f"  {barrier}")


def coordinated(text: str) -> str | None:
    """Return the program in which a thread on a node of its own takes a message of each thread of a barrier, and answers
    each; None for one with a barrier in a branch, of which it is not known how often it is met."""
    names = threads_of(text)
    lines: list[str] = []
    rounds: dict[tuple[str, ...], dict[str, int]] = {}
    numbers: dict[tuple[str, ...], int] = {}
    thread, where = "", {}
    for line in text.splitlines():
        if found := _THREAD.match(line):
            thread, where = found[1], {**where, found[1]: len(lines)}
        barrier = _BARRIER.match(line)
        if barrier is None:
            if "barrier" in line:
                return None
            lines.append(line)
            continue
        named = [name.strip() for name in (barrier[2] or ", ".join(names)).split(",")]
        members = tuple(name for name in names if name in named)
        number = numbers.setdefault(members, len(numbers))
        counts = rounds.setdefault(members, dict.fromkeys(members, 0))
        counts[thread] += 1
        lines += [f"  send 0 to Bar{number} inline unsignaled", f"  rpoll Bar{number}"]
    return _with_coordinators(lines, rounds, numbers)


def _with_coordinators(
    lines: list[str], rounds: dict[tuple[str, ...], dict[str, int]], numbers: dict[tuple[str, ...], int]
) -> str:
    made: list[str] = []
    cells: dict[str, list[str]] = {}
    for line in lines:
        made.append(line)
        if found := re.match(r"thread (\w+) on (\w+)", line):
            for members, counts in rounds.items():
                for k in range(counts.get(found[1], 0)):
                    cell = f"{found[1].lower()}_{numbers[members]}_{k}"
                    cells.setdefault(found[2], []).append(cell)
                    made.append(f"  posted {cell} from Bar{numbers[members]}")
    text = "\n".join(made) + "\n"
    for node, added in cells.items():
        text = re.sub(rf"node {node} {{([^}}]*)}}", lambda m, a=added, n=node: _node(n, m[1], a), text)  # type: ignore[misc]
    for members, counts in rounds.items():
        number = numbers[members]
        buffers = [(name, f"{name.lower()}_{k}") for name in members for k in range(counts[name])]
        text += f"node Z{number} {{ {', '.join(cell for _, cell in buffers)} }}\nthread Bar{number} on Z{number} {{\n"
        text += "".join(f"  posted {cell} from {name}\n" for name, cell in buffers)
        for _ in range(max(counts.values())):
            text += "".join(f"  rpoll {name}\n" for name in members)
            text += "".join(f"  send 0 to {name} inline unsignaled\n" for name in members)
        text += "}\n"
    return text


def _node(name: str, inside: str, added: list[str]) -> str:
    found = [cell.strip() for cell in re.split(r"[,\n]", inside) if cell.strip()]
    return f"node {name} {{ {', '.join([*found, *added])} }}"
