"""Random programs whose threads start and join each other: those of RDMA as deployed with a few such statements put in.

for program, model in random_lifetimes("stores", range(100)): ...
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from random import Random

from rdma_robust.language.flow.cfg import Program
from rdma_robust.model import Model
from tests.support.random_deployed import FAMILIES, loaded, random_text


def random_lifetimes(seeds: Iterable[int], families: Iterable[str] = FAMILIES) -> Iterator[tuple[Program, Model]]:
    """Yield a program and its model for each seed whose program has two threads, of the families in turn."""
    chosen = list(families)
    for seed in seeds:
        rng = Random(f"lifetimes {seed}")
        text = with_lifetimes(random_text(chosen[seed % len(chosen)], rng), rng)
        if text is not None:
            yield loaded(text, f"lifetimes {seed}")


def with_lifetimes(text: str, rng: Random) -> str | None:
    """Return a text of random programs with at least one `start` or `join`; None for one with a single thread."""
    lines = text.splitlines()
    threads = [line.split()[1] for line in lines if line.startswith("thread ")]
    if len(threads) < 2:
        return None
    for number, thread in enumerate(threads):
        if number and (rng.random() < 0.6 or (number == 1 and len(threads) == 2)):
            _put_in(lines, rng.choice(threads[:number]), f"start {thread}", rng)
        if rng.random() < 0.35:
            _put_in(lines, rng.choice([other for other in threads if other != thread]), f"join {thread}", rng)
    return "\n".join(lines) + "\n" if lines != text.splitlines() else None


def _put_in(lines: list[str], thread: str, statement: str, rng: Random) -> None:
    """Put a statement somewhere into the body of a thread."""
    first = next(k for k, line in enumerate(lines) if line.startswith(f"thread {thread} ")) + 1
    last = lines.index("}", first)
    lines.insert(rng.randint(first, last), f"  {statement}")
