"""Random functions whose callees get other bodies, by the same contract."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from typing import Final

from tests.support.random_contracts import random_contracts

_FUNCTION: Final = re.compile(r"^fun (near|far|f)\(x, root\) contract collective \{\n(.*?)^\} \{\n(.*?)^\}$", re.M | re.S)

_TO_ALL = "for p in 0..NPROCS - 1 {{ if p != root {{ send x to p{0} }} }}"
_FROM_ALL = "for p in 0..NPROCS - 1 {{ recv v from p{0}; if {1} {{ w = v }} }}"

SOUND: Final = (
    "return x",
    "return PID",
    "barrier()\nreturn x",
    *(f"if PID == root {{ {_TO_ALL.format(tag)} }} else {{ recv x from root{tag} }}\nreturn x" for tag in ("", " tag 4")),
    "reg v\nif PID > 0 { recv v from PID - 1 tag 1 }\nif PID < NPROCS - 1 { send x to PID + 1 tag 1 }\nreturn x",
    *(
        f"reg v, w = x\nfor p in 0..NPROCS - 1 {{ send x to p{tag} }}\n{_FROM_ALL.format(tag, which)}\nreturn w"
        for tag, which in (("", "p == root"), (" tag 2", "v > w"))
    ),
    *(
        f"reg v\nif PID == root {{ for i in 1..NPROCS - 1 {{ recv v from {source}; x = x + v }} }} "
        "else { send x to root }\nreturn x"
        for source in ("any", "(root + i) % NPROCS")
    ),
)
"""Bodies that meet many contracts."""


def with_few_clauses(seed: int) -> str:
    """Return the text of random_contracts in which less is said of `f` and of its callees, so that more of it is true."""
    rng = random.Random(f"few clauses {seed}")

    def fewer(match: re.Match[str]) -> str:
        keeps = [
            line
            for line in match[2].splitlines()
            if re.match(r" *(bounds|requires)", line) or rng.random() < (0.1 if match[1] == "f" else 0.35)
        ]
        return f"fun {match[1]}(x, root) contract collective {{\n" + "\n".join(keeps) + f"\n}} {{\n{match[3]}}}"

    return _FUNCTION.sub(fewer, random_contracts(seed))


def with_other_bodies(text: str, seed: int, number: int) -> Iterator[str]:
    """Yield a text of random functions in which all callees got other bodies."""
    rng = random.Random(f"other bodies {seed}")
    for _ in range(number):
        bodies = (*SOUND, *SOUND, *_random_bodies(rng))

        def other(match: re.Match[str], bodies: tuple[str, ...] = bodies) -> str:
            body = match[3] if match[1] == "f" else f"{rng.choice(bodies)}\n"
            return f"fun {match[1]}(x, root) contract collective {{\n{match[2]}}} {{\n{body}}}"

        yield _FUNCTION.sub(other, text)


def _random_bodies(rng: random.Random) -> Iterator[str]:
    """Yield a few bodies of other random functions that call nothing."""
    for _ in range(2):
        for match in _FUNCTION.finditer(random_contracts(rng.randrange(10**6))):
            if not re.search(r"\b(near|far|small)\(", match[3]):
                yield match[3].rstrip("\n")
