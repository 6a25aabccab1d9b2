"""Counters that decide nothing are not remembered, and what decides something is: programs with few places for a thread."""

from __future__ import annotations

import pytest

from rdma_robust.c.automaton import CProgram
from rdma_robust.c.evaluate.evaluated_c import evaluate_units
from rdma_robust.c.evaluate.round_facts import EvaluationOptions
from rdma_robust.c.front.c_options import COptions
from rdma_robust.c.front.c_units import read_units
from rdma_robust.errors import ProgramError
from tests.support.c_automata import evaluated, statements

WORDS = 12


def program(check: str, end: str, declared: str = "int errs = 0;") -> str:
    """Return C in which process 1 looks at each of many words that process 0 has put, and `end` is behind that."""
    return (
        f"#include <shmem.h>\n#include <stdio.h>\n#include <stdlib.h>\nstatic long list[{WORDS}], x;\n"
        f"int main(void) {{ {declared} long w[{WORDS}]; int i; shmem_init();\n"
        f"for (i = 0; i < {WORDS}; i++) w[i] = i + 1;\nshmem_barrier_all();\n"
        f"if (shmem_my_pe() == 0) shmem_put(list, w, {WORDS}, 1);\nshmem_barrier_all();\n"
        f"if (shmem_my_pe() == 1) for (i = 0; i < {WORDS}; i++) {{ {check} }}\n{end} }}\n"
    )


def few_places(text: str) -> CProgram:
    """Evaluate C with a few places for each word: they are too few where each number of errors is told apart."""
    return evaluate_units(read_units("test.c", COptions(), text), EvaluationOptions(places=3 * WORDS))


COUNT = "if (list[i] != i + 1) errs++;"


@pytest.mark.parametrize(
    ("check", "end"),
    [
        (COUNT, "return errs;"),
        (COUNT, 'if (errs) printf("%d errors\\n", errs); return errs ? EXIT_FAILURE : EXIT_SUCCESS;'),
        (COUNT, 'if (errs > 3) fprintf(stderr, "%d errors\\n", errs); else puts("good"); return errs != 0;'),
        ("errs += list[i] != i + 1;", "shmem_global_exit(errs); return 0;"),
        ('if (list[i] != i + 1) { if (errs < 10) printf("%d: %d\\n", i, errs); errs = errs + 1; }', "exit(errs);"),
    ],
)
def test_a_counter_of_errors_decides_nothing(check: str, end: str) -> None:
    found = few_places(program(check, end))
    assert len([each for each in statements(found, "main_P1") if each != "halt"]) == WORDS + 1


@pytest.mark.parametrize(
    ("check", "end", "declared"),
    [
        (COUNT, "if (errs) shmem_p(&x, 1, 0); return 0;", "int errs = 0;"),
        (COUNT, "shmem_p(&x, errs, 0); return 0;", "int errs = 0;"),
        (COUNT, "if (errs) exit(1); shmem_barrier_all(); return 0;", "int errs = 0;"),
        (COUNT, "int more = 1; if (errs) more = 2; shmem_p(&x, more, 0); return 0;", "int errs = 0;"),
        (COUNT, "for (i = 0; i < errs; i++) shmem_p(&x, i, 0); return 0;", "int errs = 0;"),
        (COUNT, "int *at = &errs; shmem_p(&x, *at, 0); return 0;", "int errs = 0;"),
        (COUNT, "shmem_p(&x, errs > 2 ? 1 : 2, 0); return 0;", "int errs = 0;"),
        (COUNT, "again: if (errs > 0) { errs--; goto again; } shmem_p(&x, errs, 0); return 0;", "int errs = 0;"),
    ],
)
def test_what_decides_something_is_remembered(check: str, end: str, declared: str) -> None:
    with pytest.raises(ProgramError, match="too many different states"):
        few_places(program(check, end, declared))


@pytest.mark.parametrize(
    ("body", "seen"),
    [
        ('long v = x; if (v) printf("%ld\\n", list[0]); return 0;', ["v = x", "r = list_0"]),
        ("long v = x; if (v == 1) v = 2; shmem_p(list, v, 1); return 0;", ["v = x", "put P1.list_0 = 2 inline unsignaled"]),
        ("long v = x; if (v) exit(0); shmem_p(list, 3, 1); return 0;", ["v = x", "halt"]),
    ],
)
def test_a_branch_that_does_something_is_taken(body: str, seen: list[str]) -> None:
    """Each way of the branch is there: what process 0 does where it has read 1."""
    text = "#include <shmem.h>\n#include <stdio.h>\n#include <stdlib.h>\nstatic long list[4], x;\nint main(void) {\n"
    text += "shmem_init(); shmem_barrier_all(); if (shmem_my_pe() == 1) { shmem_p(&x, 1, 0); shmem_p(list, 1, 0); }\n"
    found = statements(evaluated(f"{text} if (shmem_my_pe() == 0) {{ {body} }} return 0; }}\n"), "main_P0")
    assert {each.split("=")[-1] for each in seen} <= {each.split("=")[-1] for each in found}
