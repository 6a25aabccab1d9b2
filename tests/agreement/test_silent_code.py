"""What nobody sees, executed by functions that are made once: the same program as instruction by instruction."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Final

import pytest

from rdma_robust.c.automaton import CProgram
from rdma_robust.c.evaluate import silent_code, thread_machine
from rdma_robust.c.evaluate.evaluated_c import evaluate_units
from rdma_robust.c.front.c_options import COptions
from rdma_robust.c.front.c_units import read_units
from rdma_robust.errors import ProgramError
from tests.support.c_automata import evaluated
from tests.support.patches import Patch, mutated
from tests.support.random_c_values import RandomC

_DATA: Final = Path(__file__).parent.parent / "data" / "c"
ONE_BY_ONE: Final[tuple[Patch, ...]] = ((thread_machine, "silent_run", lambda *_arguments: 0),)


LOCAL_OF_TWO: Final = """
#include <infiniband/verbs.h>
#include <pthread.h>
#include <rdma_robust.h>
static struct ibv_qp *qp;
static struct ibv_cq *cq;
static void *other(void *at)
{
	long *box = at;
	box[1] = 2;
	return 0;
}
RR_PROCESS(A) void a(void)
{
	long box[2] = { 0, 0 };
	pthread_t id;
	RR_CQ(cq); RR_QP(qp, cq, cq); RR_CONNECT(qp, "c");
	pthread_create(&id, 0, other, box);
	box[0] = 1;
	if (box[1] == 2)
		box[0] = 5;
	RR_ASSERT(box[0] != 5);
}
RR_PROCESS(B) void b(void) { RR_CQ(cq); RR_QP(qp, cq, cq); RR_CONNECT(qp, "c"); }
"""


def of_file(file: Path) -> CProgram | str:
    """Return the program that a file is evaluated to, or why it is refused."""
    try:
        return evaluate_units(read_units(str(file), COptions()))
    except ProgramError as error:
        return str(error)


def differing(seeds: Iterable[int], size: int) -> list[int]:
    """Return the random programs that are not evaluated alike."""
    found = []
    for seed in seeds:
        text = RandomC(seed, size).text
        with mutated(ONE_BY_ONE):
            wanted = evaluated(text)
        if evaluated(text) != wanted:
            found.append(seed)
    return found


def test_random_programs_are_evaluated_alike() -> None:
    assert not differing(range(1), 3)


@pytest.mark.ci
def test_more_random_programs_are_evaluated_alike() -> None:
    assert not differing(range(100, 120), 10)


@pytest.mark.long
def test_many_random_programs_are_evaluated_alike() -> None:
    assert not differing(range(1000, 3000), 20)


@pytest.mark.ci
@pytest.mark.parametrize("file", sorted(_DATA.glob("*/*.c")), ids=lambda file: file.stem)
def test_programs_with_threads_and_cards_are_evaluated_alike(file: Path) -> None:
    with mutated(ONE_BY_ONE):
        wanted = of_file(file)
    assert of_file(file) == wanted


def test_a_local_whose_address_another_thread_has_is_shared() -> None:
    with mutated(ONE_BY_ONE):
        wanted = evaluated(LOCAL_OF_TWO)
    assert evaluated(LOCAL_OF_TWO) == wanted
    with mutated(((silent_code.PrivateMemory, "_is_unreachable", lambda *_given: True),)):
        assert evaluated(LOCAL_OF_TWO) != wanted
