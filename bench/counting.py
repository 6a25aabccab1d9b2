"""Counting systems by size, and what each reduction of the forward search is worth: `python -m bench counting`.

Ratios are taken in one run, so that they mean the same on any machine.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from rich.console import Console
from rich.table import Table

from rdma_robust.counting.omega_search import ALL, OmegaOptions, OmegaResult, omega_search
from rdma_robust.counting.smallest import smallest
from rdma_robust.language.load import load_decidable
from rdma_robust.limits import Limits
from rdma_robust.options import ALL_REDUCTIONS, CheckOptions
from rdma_robust.robustness.crowds.hero_at_start import HeroAtStart
from rdma_robust.robustness.crowds.instance import Local, TwoCopyInstance
from rdma_robust.robustness.crowds.steps import Control, CrowdLabel, InstanceSteps

SECONDS = 20.0
STATES = 20_000

WITHOUT = {
    "copycats": replace(ALL, copycats=False),
    "milestones": replace(ALL, milestones=False),
    "idle": replace(ALL, drop_idle=False),
    "cycles": replace(ALL, cycles=False),
}
"""The forward search without one of its reductions."""


def with_values(again: int) -> str:
    """Needs one copy more than that: each writes x = 1 and x = 2 once."""
    waits = "assume x == 1; assume x == 2; " * again
    return f"node A {{ x, y, a }}\nnode N {{ g }}\nthread C[*] on A {{ x = 1; x = 2; {waits}put N.g = a; a = 1 }}\n"


def doubling(levels: int) -> str:
    """Needs twice as many copies for each level."""
    count = "\n".join(
        f"  choose {{ r = cas(g, 0, {i}); assume r == 0; halt }} or {{ r = cas(g, {i}, 0); assume r == {i} }}"
        for i in range(1, levels + 1)
    )
    domain = f"domain 0..{max(1, levels)}\n"
    return f"{domain}node A {{ a, g }}\nnode N {{ h }}\nthread C[*] on A {{ reg r\n{count}\n  put N.h = a; a = 1\n}}\n"


def lock(numbers: int, flush: str = "get was = D.data; poll D; poll D") -> str:
    """A lock taken by compare-and-swap, around a word with so many values; robust if flushed before the release."""
    return f"""domain 0..{numbers - 1}
node S {{ lock }}
node D {{ data }}
node CN[*] {{ mine, got, was }}
thread C[*] on CN[*] {{ reg r
  get got = cas(S.lock, 0, 1)
  poll S
  r = got
  assume r == 0
  get was = D.data
  poll D
  r = was
  mine = (r + 1) % {numbers}
  put D.data = mine
  {flush}
  put S.lock = 0
}}
"""


def ticket(numbers: int) -> str:
    """A ticket lock whose numbers wrap around: every copy behind fetch-and-add is counted."""
    return f"""domain 0..{numbers - 1}
node S {{ next, owner, data }}
node CN[*] {{ t, o, d = 1, z }}
thread C[*] on CN[*] {{ reg m, w
  get t = faa(S.next, 1)
  poll S
  m = t
  w = (m + 1) % {numbers}
  while w != m {{ get o = S.owner; poll S; w = o }}
  put S.data = d
  get z = S.data
  poll S
  poll S
  o = (m + 1) % {numbers}
  put S.owner = o
}}
"""


FAMILIES: dict[str, tuple[Callable[[int], str], Sequence[int]]] = {
    "x = 1; x = 2, k times": (with_values, range(6)),
    "2 ** k by cas": (doubling, range(1, 4)),
    "cas lock of n values": (lock, (2, 3)),
    "cas lock of n values, not flushed": (lambda n: lock(n, "skip"), (2, 3)),
    "ticket lock of n numbers": (ticket, (2, 3)),
}


def systems() -> Iterator[tuple[str, TwoCopyInstance, HeroAtStart]]:
    """Yield the members of the families that have a class of pivots."""
    for name, (text, sizes) in FAMILIES.items():
        for size in sizes:
            program = load_decidable(text(size), f"{name} {size}", crowds=True)
            instance = TwoCopyInstance.of(program, CheckOptions().on(program.hardware).model, ALL_REDUCTIONS)
            if instance.classes:
                yield f"{name}: {size}", instance, HeroAtStart(InstanceSteps(instance))


def timed(system: HeroAtStart, options: OmegaOptions) -> tuple[OmegaResult[Control, Local, CrowdLabel], float]:
    started = time.process_time()
    found = omega_search(system, Limits.of(SECONDS, STATES), options=options)
    return found, time.process_time() - started


def report(console: Console) -> None:
    """Print for each system its answer and size, the smallest number, and the factors of each reduction left out."""
    answers = Table("system", "target", "markings", "counted", "s", "least", "s")
    factors = Table("system", *(f"no {name}" for name in WITHOUT), title="markings, and time, by the factor without it")
    for name, instance, system in systems():
        timed(HeroAtStart(InstanceSteps(instance)), ALL)  # what the instance remembers is there from now on
        found, seconds = timed(system, ALL)
        started = time.process_time()
        least = smallest(system, Limits.of(SECONDS, STATES), bound=found.run) if found.target >= 0 else None
        spent = time.process_time() - started
        said = found.cut or ("covered" if found.target >= 0 else "none")
        number = "-" if least is None else f"{least.least}{'+' if least.cut else ''}"
        answers.add_row(name, said, f"{found.states:,}", f"{found.counted:,}", f"{seconds:.2f}", number, f"{spent:.2f}")
        row = []
        for options in WITHOUT.values():
            other, longer = timed(HeroAtStart(InstanceSteps(instance)), options)
            more = ">" if other.cut else ""
            row.append(f"{more}{other.states / found.states:.1f}, {more}{longer / max(seconds, 1e-3):.1f}")
        factors.add_row(name, *row)
    console.print(answers)
    console.print(factors)
