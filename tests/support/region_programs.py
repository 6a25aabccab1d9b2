"""Loop-free programs with relaxed regions: random ones of every family and mutations of named ones, some words relaxed.

    for program, model in with_regions(range(100)): ...
    strict = strict_text(program.source)

They are the same for the same seeds, and at least one word of each is relaxed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from random import Random
from typing import Final

from rdma_robust.language.flow.cfg import Program
from rdma_robust.model import Model
from tests.support.random_deployed import loaded, some_text

_NODE: Final = re.compile(r"(?m)^(node \w+ \{)([^}]*)\}")
_RELAXED: Final = re.compile(r"\brelaxed (?=[A-Za-z_])")
_VARIABLE: Final = re.compile(r"(\w+(?:\[\d+\])?(?: *= *-?\w+)?)")


def with_regions(seeds: Iterable[int]) -> Iterator[tuple[Program, Model]]:
    """Yield a program with relaxed words, and its model, for each seed that gives one."""
    for seed in seeds:
        rng = Random(f"regions {seed}")
        text = some_text(rng)
        if text is not None:
            yield loaded(relaxed_text(text, rng), f"regions {seed}")


def relaxed_text(text: str, rng: Random, odds: float = 0.5) -> str:
    """Return the text with some words in relaxed regions, of each with these odds, and always one."""
    places = [m.start(1) + n.start(2) for n in _NODE.finditer(text) for m in _VARIABLE.finditer(n[2])]
    chosen = {place for place in places if rng.random() < odds} or {rng.choice(places)}
    for place in sorted(chosen, reverse=True):
        text = f"{text[:place]}relaxed {text[place:]}"
    return text


def all_relaxed(text: str) -> str:
    """Return the text with all words in relaxed regions."""
    return relaxed_text(strict_text(text), Random(0), 2.0)


def strict_text(text: str) -> str:
    """Return the text without relaxed regions."""
    return _NODE.sub(lambda node: f"{node[1]}{_RELAXED.sub('', node[2])}}}", text)
