"""Documents of JSON as somebody who means no good would change them: wrong types, numbers and names that are none, depth."""

from __future__ import annotations

import json
from collections.abc import Iterator
from copy import deepcopy
from random import Random
from typing import Any, Final

VALUES: Final[tuple[Any, ...]] = (
    *(True, False, None, 0, 1, -1, 2, 1.0, 0.5, -0.0, 1e308, float("inf"), float("nan"), 2**31, 2**63, 10**40, -(10**40)),
    *("", "0", "true", "\0", "a\0b", "\ud800", "\U0001d11e", "../..", "/", "x" * 3000, "\n", "[", "`", "$(touch x)"),
    *([], {}, [[]], [True], [None], {"": None}, ["<="], [["<="], 1], {"kind": []}),
)


def places(document: Any) -> Iterator[tuple[Any, Any]]:
    """Yield each object or array of a document with each of its keys or indices."""
    if isinstance(document, dict | list):
        for key in [*document] if isinstance(document, dict) else range(len(document)):
            yield document, key
            yield from places(document[key])


def mutated(document: Any, rng: Random) -> str:
    """Return the text of a document in which one to three things are others, or that is no longer one."""
    changed = json.loads(json.dumps(document))
    for _ in range(rng.randint(1, 3)):
        there = [*places(changed)]
        if not there:
            break
        inside, key = rng.choice(there)
        match rng.randrange(8):
            case 0:
                del inside[key]
            case 1 if isinstance(inside, list):
                inside.insert(key, deepcopy(rng.choice(VALUES)))
            case 1:
                inside[rng.choice(("", "more", "kind", str(key) + "x"))] = deepcopy(rng.choice(VALUES))
            case 2:
                other, at = rng.choice(there)
                inside[key] = deepcopy(other[at]) if at in other or isinstance(other, list) else None
            case _:
                inside[key] = deepcopy(rng.choice(VALUES))
    text = json.dumps(changed)
    match rng.randrange(12):
        case 0:
            depth = rng.choice((100, 2000, 100_000))
            return text.replace("1", "[" * depth + "]" * depth, 1)
        case 1:
            return text.replace("0", rng.choice(("9" * 5000, "1e999", "0x1", "1_0", "-")), 1)
        case 2:
            at = rng.randrange(len(text))
            return (
                text[:at] + rng.choice(("", '"', "}", "]", ",", "\\", "\0", "\ud800", "[")) + text[at + rng.randrange(3) :]
            )
        case _:
            return text
