"""Branches on what is not known: what a way may do, and what is known behind both of them."""

from __future__ import annotations

from random import Random
from typing import Final

import pytest

from rdma_robust.errors import ProgramError
from rdma_robust.limits import Limits
from rdma_robust.messages.engines.engine_table import answered
from rdma_robust.messages.language.load_messages import load_messages
from rdma_robust.messages.message_answers import MessageQuestions

PROGRAM: Final = """#include <assert.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
static int errors, table[4];
static int looked(double t) { if (t > 1) { errors++; return 1; } return 0; }
int main(int argc, char **argv)
{
	int rank, k = 7, m = 0;
	double t, d = 0.0;
	char *heap = 0;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	t = TIME;
	BODY
	MPI_Allreduce(MPI_IN_PLACE, &k, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	free(heap);
	MPI_Finalize();
	return 0;
}
/* rdma-robust: options -n 2 */
"""


def verdict(body: str, time: str = "MPI_Wtime()") -> str:
    """Return whether a body violates an assertion, or the code of why it is refused."""
    try:
        program = load_messages(PROGRAM.replace("BODY", body).replace("TIME", time), "main.c")
    except ProgramError as error:
        return error.diagnostics[0].code
    return answered(program, "any", MessageQuestions(pairs=False), Limits.of(20), "states").violated


@pytest.mark.parametrize(
    "body",
    [
        "if (t > 3) k++; else printf(\"%d\\n\", k); k = 7; assert(k == 7);",
        "if (t > 3) k = 1; else k = 1; assert(k == 1);",
        "if (t > 3) { for (m = 0; m < 3; m++) table[m]++; } m = 1; assert(table[3] == 0 && m == 1);",
        "m = looked(t) + looked(t); assert(k == 7);",
        "if (t > 3 || t < 1) { if (t == 2) k++; errors++; } errors = 4; assert(errors == 4);",
        "if (t > 2) errors++; if (errors > 1) table[0] = 3; assert(table[1] == 0);",
    ],
)  # fmt: skip
def test_what_both_ways_have_in_common_is_known(body: str) -> None:
    assert verdict(body) == "no"


@pytest.mark.parametrize(
    "body",
    [
        "if (t > 3) k = 1; assert(k == 7);",
        "if (t > 3) errors++; if (errors) MPI_Barrier(MPI_COMM_WORLD);",
        "if (t > 3) MPI_Barrier(MPI_COMM_WORLD);",
        "if (t > 3) exit(0);",
        "if (t > 3) abort();",
        "if (t > 3) assert(k == 8);",
        "if (t > 3) return 0;",
        "heap = malloc(4); if (t > 3) { free(heap); heap = 0; }",
        "if (t > 3) heap = malloc(4);",
        "if (t > 3) table[k] = 1;",
        "while (t > 3) k++;",
        "if (t > 3) d = -0.0; assert(d == 0);",
        "if (k == 7) { int unset; if (unset) errors++; }",
        "MPI_Request q; MPI_Irecv(&m, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, &q); if (t > 3) m = 1;",
    ],
)
def test_ways_that_others_may_see_are_refused(body: str) -> None:
    assert verdict(body) == "RR819"


def _statement(random: Random, depth: int) -> str:
    names = ("k", "m", "errors", *(f"table[{at}]" for at in range(4)))
    if depth and random.random() < 0.4:
        ways = [" ".join(_statement(random, depth - 1) for _ in range(random.randrange(1, 3))) for _ in range(2)]
        condition = random.choice((f"t > {random.randrange(3)}", f"{random.choice(names)} > {random.randrange(4)}"))
        return f"if ({condition}) {{ {ways[0]} }} else {{ {ways[1]} }}"
    if depth and random.random() < 0.2:
        return f"for (int i = 0; i < {random.randrange(4)}; i++) {{ {_statement(random, depth - 1)} }}"
    return f"{random.choice(names)} {random.choice(('=', '+=', '-='))} {random.choice((*names, '1', '2', '3'))};"


def differing(seeds: range) -> tuple[list[int], int]:
    """Return the random bodies whose answer is not that for each number that is not known, and how many are answered."""
    wrong, known = [], 0
    for seed in seeds:
        random = Random(seed)
        body = " ".join(_statement(random, 3) for _ in range(6))
        body += (
            f" assert({random.choice(('k', 'm', 'errors', 'table[2]'))} {random.choice(('<', '!='))} {random.randrange(9)});"
        )
        found = verdict(body)
        known += found in ("yes", "no")
        if found in ("yes", "no") and any(verdict(body, str(each)) != found for each in (0.5, 1.5, 2.5)):
            wrong.append(seed)
    return wrong, known


def test_answers_are_those_for_each_number_that_is_not_known() -> None:
    wrong, known = differing(range(12))
    assert not wrong
    assert known > 2


@pytest.mark.ci
def test_more_answers_are_those_for_each_number_that_is_not_known() -> None:
    wrong, known = differing(range(100, 220))
    assert not wrong
    assert known > 30
