"""Random crowds with what RDMA as deployed has beside the paper's operations: operands of atomics in memory, memory behind a
card, lanes, relaxed regions, flushes, atomics without an answer, other orders.

    for text, order in crowds_of_words(range(100)): ...

They are the same for the same seeds. `order` is a random order table for a program that names none, and mostly None.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from random import Random
from typing import Final

from rdma_robust.errors import ProgramError
from tests.support.crowd_agreement import loaded
from tests.support.memory_programs import memory_text
from tests.support.random_crowds import SHAPES, random_crowd
from tests.support.random_orders import random_order
from tests.support.region_programs import relaxed_text

_THREAD: Final = re.compile(r"(?ms)^thread \w+(?:\[\*\])? on (\w+)(?:\[\*\])? \{.*?^\}")
_CAS: Final = re.compile(r"(get \w+ = |)cas\(([A-Z]\w*\.\w+), (\d), (\d)\)")
_FAA: Final = re.compile(r"(get \w+ = )faa\(([A-Z]\w*\.\w+), \d\)")
_PUT: Final = re.compile(r"(?m)^( *)put (\w+\.\w+) = \w+$")
_REQUEST: Final = re.compile(r"(?m)^( *(?:put|get) .*?\b([ST])\..*)$")
_WAIT: Final = re.compile(r"(?m)^( *)(poll|flush|order|rfence) ([ST])$")


def crowds_of_words(seeds: Iterable[int]) -> Iterator[tuple[str, str | None]]:
    """Yield a program with templates, and an order for some that name none, for each seed that gives one with such words."""
    for seed in seeds:
        rng = Random(f"crowd of words {seed}")
        plain = text = random_crowd(rng, SHAPES[rng.choice(list(SHAPES))])
        for change, odds in _CHANGES:
            if rng.random() < odds:
                text = _changed(text, change, rng)
        order = random_order(rng) if rng.random() < 0.3 and "order " not in text.partition("node")[0] else None
        if text != plain or order is not None:
            yield text, order


def _changed(text: str, change: Callable[[str, Random], str], rng: Random) -> str:
    """The text as it is changed, or as it is where that gives no program."""
    try:
        made = change(text, rng)
        loaded(made)
    except (ProgramError, IndexError):
        return text
    return made


def with_operands(text: str, rng: Random) -> str:
    """Atomics take operands from words of the own node, and puts are exchanges with such an operand."""

    def thread(found: re.Match[str]) -> str:
        words = _words_of(text, found[1])

        def taken(value: str) -> str:
            return rng.choice(words) if rng.random() < 0.6 else value

        def put(line: re.Match[str]) -> str:
            exchanged = f"{line[1]}get {rng.choice(words)} = swap({line[2]}, {rng.choice(words)})"
            return exchanged if rng.random() < 0.3 else line[0]

        body = _CAS.sub(lambda m: f"{m[1]}cas({m[2]}, {taken(m[3])}, {taken(m[4])})", found[0])
        body = _FAA.sub(lambda m: f"{m[1]}faa({m[2]}, {rng.choice(words)})", body)
        return _PUT.sub(put, body)

    return _THREAD.sub(thread, text)


def _words_of(text: str, node: str) -> list[str]:
    found = re.search(rf"(?m)^node {node}(?:\[\*\])? \{{ ([^}}]*)\}}", text)
    return re.findall(r"(?:^|, )(?:relaxed )?(\w+)", found[1]) if found else []


def with_lanes(text: str, rng: Random) -> str:
    """Some requests, polls, flushes and fences are on a lane of their own."""

    def thread(found: re.Match[str]) -> str:
        def lane(m: re.Match[str]) -> str:
            return f"{m[1]} on lane{m[2]}" if rng.random() < 0.5 else m[0]

        def wait(m: re.Match[str]) -> str:
            return f"{m[1]}{m[2]} lane{m[3]}" if rng.random() < 0.5 else m[0]

        body = _WAIT.sub(wait, _REQUEST.sub(lane, found[0]))
        used = sorted(set(re.findall(r"\blane([ST])\b", body)))
        declared = "".join(f"  qp lane{node} to {node}\n" for node in used)
        return body.replace("{\n", f"{{\n{declared}", 1)

    return _THREAD.sub(thread, text)


def with_flushes(text: str, rng: Random) -> str:
    """Polls are flushes or orders, atomics have no answer, gets are fetches, operations have no completion."""
    text = _WAIT.sub(lambda m: f"{m[1]}{rng.choice(['flush', 'order', m[2], m[2]])} {m[3]}", text)
    text = re.sub(r"get \w+ = (cas|faa)\(", lambda m: f"{m[1]}(" if rng.random() < 0.3 else m[0], text)
    text = re.sub(r"(get \w+ = )([ST]\.\w+)", lambda m: f"{m[1]}fetch({m[2]})" if rng.random() < 0.25 else m[0], text)
    return re.sub(r"(?m)^( *(?:put|get) .*)$", lambda m: f"{m[1]} unsignaled" if rng.random() < 0.12 else m[0], text)


def with_order(text: str, rng: Random) -> str:
    """Another order of the network."""
    said = f"order {rng.choice(['none', 'accumulate', 'multipath'])}"
    if "order " in text.partition("node")[0]:
        return text
    return text.replace("hardware ", f"hardware {said}, ", 1) if "hardware " in text else f"hardware {said}\n{text}"


_CHANGES: Final = (
    *((with_operands, 0.6), (with_flushes, 0.4), (memory_text, 0.5), (with_lanes, 0.3), (relaxed_text, 0.25)),
    (with_order, 0.15),
)
"""What becomes of a random crowd, and how often."""
