"""Programs written as C of verbs: reading that gives the same verdict and the same final states."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from random import Random

import pytest

from rdma_robust.errors import ProgramError
from rdma_robust.language.load import load_decidable
from tests.conftest import ROOT
from tests.support.exported import round_trips
from tests.support.random_c import random_twin
from tests.support.random_deployed import FAMILIES, random_text
from tests.support.random_programs import random_program

QUICK = (
    "sb-put-plain",
    "register-replicas-plain",
    "order-nlw-nrw-fenced",
    "mailbox-loop-polled",
    "ring-loop-two-slots-credit",
)
FOLDERS = ("", "deployed", "words", "lanes", "regions", "races", "rnr", "guarantees", "hardware", "lifetimes")


LANES_OF_A_FAMILY = """
node A { x = 1 }
node B { data[2], flag }
thread T on A {
  qp q[i in 0..1] to B
  for i in 0..1 { put B.data[i] = x on q[i] }
  rfence q[1]
  put B.flag = x on q[1]
  for i in 0..1 { poll q[i] }
}
thread U on B {
  reg r, s
  r = flag
  s = data[1]
}
"""


LEAVING = {
    "a value that leaves the domain": """
domain 0..3
node A { x, z }
node B { y = 1 }
thread T on A { reg r = 2
  r = r * r
  r = x
  put B.y = z
}
""",
    "an index behind the array": """
node A { x[2], z }
node B { y = 2 }
thread T on A { reg r
  r = x[0]
  get x[r] = B.y
  poll B
}
thread U on A { x[0] = 2 }
""",
}
"""Programs with runs that end where C would go on."""


def litmus(folder: str) -> Iterator[tuple[str, str]]:
    """Yield the programs of a folder of the suite that others than proofs decide, for any number of processes none."""
    for path in sorted((ROOT / "litmus" / folder).glob("*.rdma")):
        text = path.read_text()
        try:
            load_decidable(text, str(path))
        except ProgramError:
            continue
        yield str(path), text


def random_texts(seeds: range) -> Iterator[tuple[str, str]]:
    """Yield random programs of every kind."""
    for seed in seeds:
        rng = Random(f"exported {seed}")
        kinds = [*FAMILIES, "plain", "twin"]
        kind = kinds[seed % len(kinds)]
        if kind == "plain":
            yield f"seed {seed}", random_program(rng, loops=rng.random() < 0.3)
        elif kind == "twin":
            yield f"seed {seed}", random_twin(seed, 7).rdma
        else:
            yield f"seed {seed}", random_text(kind, rng)


def test_runs_that_end_at_a_fault_end_in_c_too() -> None:
    seen = round_trips(LEAVING.items())
    assert seen["final states"] == 2


def test_a_program_is_the_same_as_c() -> None:
    chosen = [(name, (ROOT / "litmus" / f"{name}.rdma").read_text()) for name in QUICK]
    seen = round_trips([*chosen, ("lanes", LANES_OF_A_FAMILY)])
    assert seen["NOT_ROBUST"] + seen["ROBUST"] == len(QUICK) + 1
    assert seen["final states"] == 5


@pytest.mark.ci
def test_random_programs_are_the_same_as_c() -> None:
    seen = round_trips(random_texts(range(80)))
    assert min(seen["NOT_ROBUST"], seen["ROBUST"], seen["final states"]) > 15


@pytest.mark.ci
@pytest.mark.parametrize(("folder", "one_in"), [("words", 1), ("deployed", 8), ("lifetimes", 1)])
def test_litmus_programs_are_the_same_as_c(folder: str, one_in: int) -> None:
    seen = round_trips(islice(litmus(folder), 0, None, one_in), states=False, timeout=10)
    assert seen["NOT_ROBUST"] + seen["ROBUST"] > 5


@pytest.mark.long
@pytest.mark.parametrize("folder", FOLDERS)
def test_all_litmus_programs_are_the_same_as_c(folder: str) -> None:
    seen = round_trips(litmus(folder))
    assert seen["NOT_ROBUST"] + seen["ROBUST"] > 0


@pytest.mark.long
@pytest.mark.parametrize("chunk", range(10))
def test_many_random_programs_are_the_same_as_c(chunk: int) -> None:
    seen = round_trips(random_texts(range(1000 + 500 * chunk, 1500 + 500 * chunk)))
    assert min(seen["NOT_ROBUST"], seen["ROBUST"], seen["final states"]) > 100
