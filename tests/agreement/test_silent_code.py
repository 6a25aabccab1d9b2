"""What nobody sees, executed by functions that are made once: the same program as instruction by instruction."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Final

import pytest

from rdma_robust.c.automaton import CProgram
from rdma_robust.c.code import Function
from rdma_robust.c.evaluate import silent_code, thread_machine
from rdma_robust.c.evaluate.evaluated_c import evaluate_units
from rdma_robust.c.evaluate.loop_code import LoopFunction, translated_loop
from rdma_robust.c.front.c_options import COptions
from rdma_robust.c.front.c_units import read_units
from rdma_robust.c.lock_step import rank_machine
from rdma_robust.errors import ProgramError
from rdma_robust.messages.language.load_messages import load_messages
from rdma_robust.messages.language.message_program import MessageProgram
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


LOOPS: Final = """
#include <mpi.h>
#include <stdlib.h>
struct node { int value; struct node *next; };
static int table[64], sums[8];
static unsigned char bytes[300];
static void tell(int value) { MPI_Send(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD); }
static void floats(void)
{
	double *many = malloc(50 * sizeof(double)), total = 0;
	float small = 0;
	for (int at = 0; at < 50; at++)
		many[at] = 0.5 * at - 3;
	for (int at = 0; at < 50; at++) {
		total += many[at] > 2.25 ? many[at] / 3 : -many[at];
		small += 0.1f;
	}
	tell((int)(total * 1000));
	tell((int)(small * 100000));
	free(many);
}
static void integers(void)
{
	unsigned u = 1;
	int i = 1, quotients = 0;
	long wide = 1;
	short s = 0;
	for (int at = 0; at < 100; at++) {
		u = u * 1664525u + 1013904223u;
		i = (int)(u >> 3) ^ ~at;
		wide = wide * 31 + (i % 97) - (at << 2);
		s += 700;
		bytes[at] = (unsigned char)(i | at);
		quotients += i / 1000 - !(at & 3);
	}
	tell((int)u); tell(i); tell((int)wide); tell((int)(wide >> 32)); tell(s); tell(quotients); tell(bytes[99]);
}
static void addresses(void)
{
	struct node *list = 0, *each;
	struct node kept[20];
	int *at, found = 0;
	for (int n = 0; n < 20; n++) {
		int before = n * n;
		kept[n].value = before;
		kept[n].next = list;
		list = kept + n;
	}
	for (each = list; each; each = each->next)
		found = found * 3 + each->value;
	for (at = table; at < table + 64; at++)
		*at = (int)(at - table) + found;
	for (int row = 0; row < 8; row++)
		for (int column = 0; column < 8; column++)
			if (column != row && table[row * 8 + column] % 5 != 2)
				sums[row] += table[row * 8 + column];
	for (int row = 0; row < 8; row++)
		tell(sums[row]);
}
static void open_ends(void)
{
	int hole[40], count = 0;
	for (int n = 0; n < 40; n++)
		if (n != 35)
			hole[n] = n;
	for (int n = 0; n < 35; n++)
		count += hole[n];
	for (int n = -20; n < 20; n++)
		count += n / 3 + n % 4;
	WRONG;
	tell(count);
}
int main(int argc, char **argv)
{
	int rank, got;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	if (rank == 0) {
		floats(); integers(); addresses(); open_ends();
	} else {
		for (int n = 0; n < 18; n++)
			MPI_Recv(&got, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	}
	MPI_Finalize();
	return 0;
}
"""
WRONG_LOOPS: Final = (
    "",
    "for (int n = 0; n < 41; n++) hole[n] = n",
    "for (int n = 0; n < 50; n++) count += table[n * 2]",
    "for (int n = 0; n < 40; n++) if (hole[n] > 3) count++",
    "for (int n = 0; n < 40; n++) count += 10 / (30 - n)",
    "for (;;) count++",
)


def of_loops(wrong: str) -> MessageProgram | str:
    """Return the program of messages that is decided, or why it is refused."""
    try:
        return load_messages(LOOPS.replace("WRONG", wrong) + "/* rdma-robust: options -n 2 */\n", "loops.c")
    except ProgramError as error:
        return str(error)


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


def test_random_loops_are_evaluated_alike_from_their_first_round_on() -> None:
    with mutated(((silent_code, "HOT", 0),)):
        assert not differing(range(3), 6)


@pytest.mark.long
def test_many_random_loops_are_evaluated_alike_from_their_first_round_on() -> None:
    with mutated(((silent_code, "HOT", 0),)):
        assert not differing(range(5000, 6000), 12)


@pytest.mark.parametrize("wrong", WRONG_LOOPS)
@pytest.mark.parametrize("hot", [0, 3])
def test_loops_are_evaluated_alike(wrong: str, hot: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rounds: list[int] = []

    def counted(function: Function, head: int) -> LoopFunction:
        made = translated_loop(function, head)

        def loop(registers: dict[int, object], memory: object, most: int) -> tuple[int, int]:
            at, steps = made(registers, memory, most)
            rounds.append(steps)
            return at, steps

        return loop

    monkeypatch.setattr(rank_machine, "STEPS", 60_000)
    with mutated(((silent_code, "HOT", 10**9),)):
        wanted = of_loops(wrong)
    with mutated(((silent_code, "HOT", hot), (silent_code, "translated_loop", counted))):
        assert of_loops(wrong) == wanted
    assert sum(rounds) > 5_000


def test_a_local_whose_address_another_thread_has_is_shared() -> None:
    with mutated(ONE_BY_ONE):
        wanted = evaluated(LOCAL_OF_TWO)
    assert evaluated(LOCAL_OF_TWO) == wanted
    with mutated(((silent_code.PrivateMemory, "_is_unreachable", lambda *_given: True),)):
        assert evaluated(LOCAL_OF_TWO) != wanted
