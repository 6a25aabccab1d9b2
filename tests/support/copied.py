"""Random programs with copies of threads: on nodes of their own or on one, with own words or numbers, and others beside."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from random import Random

from tests.conftest import ROOT
from tests.support.random_deployed import FAMILIES, random_text
from tests.support.random_programs import Size, random_program

_SIZE = Size(threads=(1, 2), nodes=(2, 3), cells=(3, 4), instructions=(2, 4), total=6)


def random_copied(rng: Random, most: int = 4) -> str:
    """Return a program in which one or two threads, together, are there two or more times, up to names and numbers."""
    if rng.random() < 0.35:
        text = random_text(rng.choice(FAMILIES), rng)
    else:
        text = random_program(rng, _SIZE, loops=rng.random() < 0.3)
    return copied(text, rng, rng.randint(2, most))


def named_copied(rng: Random) -> str:
    """Return a small program of litmus/ in which some threads are there two or three times; without what it claims."""
    text = rng.choice(_small()).read_text(encoding="utf-8")
    kept = [line for line in text.splitlines(keepends=True) if not re.match(r"expect|outcome|//|invariant|program", line)]
    return copied("".join(kept), rng, rng.choice((2, 2, 3)))


@cache
def _small() -> list[Path]:
    """Programs of at most 30 lines, of all kinds but those for proofs."""
    every = (path for folder in ("", "deployed", "trencher") for path in sorted((ROOT / "litmus" / folder).glob("*.rdma")))
    return [path for path in every if path.read_text(encoding="utf-8").count("\n") <= 30]


def copied(text: str, rng: Random, copies: int) -> str:
    """Return the program with some of its threads `copies` times, each with own names for some nodes and words."""
    head, *threads = re.split(r"^(?=thread )", text, flags=re.MULTILINE)
    block = threads[: rng.choice((1, 1, 2))]
    if rng.random() < 0.3:
        block = threads[-1:]
    rest = [t for t in threads if t not in block]
    nodes = dict(re.findall(r"^node (\w+) \{(.*?)\}", head, re.MULTILINE | re.DOTALL))
    own_nodes = [n for n in nodes if rng.random() < 0.4]
    words = [w for n in nodes if n not in own_nodes for w in re.findall(r"\b([a-z]\w*)\b(?: *=|\[|,|\s|$)", nodes[n])]
    own_words = [w for w in dict.fromkeys(words) if rng.random() < 0.4]
    names = [re.match(r"thread (\w+)", t)[1] for t in block]  # type: ignore[index]
    number = rng.choice("12") if "domain" not in head and rng.random() < 0.3 else None
    made = []
    for i in range(copies):
        by = {name: f"{name}{i}" for name in (*own_nodes, *own_words, *names)}
        for thread in block:
            copy = re.sub(r"\b[A-Za-z]\w*\b", lambda m, by=by: by.get(m[0], m[0]), thread)  # type: ignore[misc]
            if number is not None:
                copy = re.sub(rf"(?<![\w.]){number}\b(?! *\{{)", str(i + 1), copy)
            made.append(copy)
    if rng.random() < 0.3:
        made.reverse()
    return _declared(head, nodes, own_nodes, own_words, copies) + "".join(made) + "".join(rest)


def _declared(head: str, nodes: dict[str, str], own_nodes: list[str], own_words: list[str], copies: int) -> str:
    """The lines before the threads, with the nodes and words of all copies beside the old ones."""
    for node, body in nodes.items():
        old = f"node {node} {{{body}}}"
        if node in own_nodes:
            new = old + "".join(f"\nnode {node}{i} {{{body}}}" for i in range(copies))
        else:
            lines = body.rstrip()
            for word in own_words:
                for declared in re.findall(rf"\b{word}\b[^\n,]*", body):
                    lines += "".join("\n  " + declared.replace(word, f"{word}{i}", 1) for i in range(copies))
            new = f"node {node} {{{lines}\n}}"
        head = head.replace(old, new)
    return head


def automata_copied(rng: Random) -> str:
    """Return an automata program of litmus/trencher in which one thread is there two or three times, or with own numbers."""
    path = rng.choice(sorted((ROOT / "litmus" / "trencher").glob("*.trencher")))
    text = "".join(line for line in path.read_text(encoding="utf-8").splitlines(keepends=True) if line[0] != "#")
    threads = re.findall(r"^thread .*?^end\n", text, re.MULTILINE | re.DOTALL)
    copied_thread = rng.choice(threads)
    number = rng.choice("12") if rng.random() < 0.3 else None
    made = []
    for i in range(rng.choice((2, 2, 3))):
        copy = re.sub(r"^thread (\w+)", rf"thread \1x{i}", copied_thread)
        if number is not None:
            copy = re.sub(rf"(write \d+ ){number}\b", rf"\g<1>{i + 1}", copy)
        made.append(copy)
    rest = [t for t in threads if t != copied_thread]
    return "\n".join((*made, *rng.sample(rest, min(len(rest), 1))))
