"""Functions of C with contracts: what is expected of them, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from rdma_robust.contracts.checks.function_checks import Checking, checked
from rdma_robust.contracts.language.contract_program import ContractProgram
from rdma_robust.contracts.language.load_contracts import load_contracts
from rdma_robust.errors import ProgramError
from rdma_robust.limits import NO_LIMITS
from tests.conftest import ROOT

FOLDER = ROOT / "tests/data/c/contracts"


def loaded(text: str) -> ContractProgram:
    return load_contracts(f"#include <mpi.h>\n{text}", "example.c")


def verdicts(program: ContractProgram, *procs: int) -> dict[tuple[str, int], str]:
    """Return verdict and class by function and number of processes."""
    return {
        (each.name, one.procs): one.verdict if one.counterexample is None else f"{one.verdict} {one.counterexample.error}"
        for each in checked(program, Checking(procs), NO_LIMITS)
        for one in each.answers
    }


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.c")), ids=lambda path: path.stem)
def test_what_is_expected(path: Path) -> None:
    program = load_contracts(path.read_text(encoding="utf-8"), path.name)
    assert {each.name for each in program.claims} == {each.name for each in program.contracts}
    most = max([2, *(each.since for each in program.claims)])
    found = verdicts(program, 1, most)
    for claim in program.claims:
        for procs in (1, most):
            violated = not claim.verified and procs >= claim.since
            assert found[claim.name, procs] == (f"VIOLATED {claim.error}" if violated else "VERIFIED")


@pytest.mark.parametrize(
    ("stem", "right", "wrong", "procs", "found"),
    [
        ("gatherv", "all + displs[t], counts", "all, counts", 2, "gatherv VIOLATED SGV"),
        ("gatherv", "rank, size;\n", "rank, size;\n\tcount++;\n", 1, "gatherv VIOLATED RTE"),
        ("alltoall2", "scatter(s, i, comm)", "scatter(s, size - 1 - i, comm)", 2, "alltoall2 VIOLATED SGV"),
        ("alltoall2", "scatter(s, i, comm)", "scatter(s, i + 1, comm)", 1, "alltoall2 VIOLATED SRV"),
        ("allgather_w", "\tgather_w(", "\tint rank;\n\tMPI_Comm_rank(comm, &rank);\n\tif (rank != 1) gather_w(", 2,
         "allgather_w VIOLATED CCM"),
        ("allgather_w", "bcast(all, size, 0, comm)", "bcast(all, size, size - 1, comm)", 3, "allgather_w VIOLATED PRV"),
        ("diff1dIter", "\tdiff1dExchange();\n", "", 2, "diff1dIter VIOLATED PGV"),
        ("diff1dIter", "+ u[i - 1]);", "+ w[i - 1]);", 1, "diff1dIter VIOLATED RTE"),
        ("diff2dIter", "MPI_Send(&u[5], 1", "MPI_Send(&u[6], 1", 2,
         "diff2dExchange VIOLATED SGV, diff2dIter VIOLATED SGV"),
        ("diff2dIter", "rank + px < size) {", "1) {", 1,
         "diff2dExchange VIOLATED RTE, diff2dIter VIOLATED RTE"),
        ("diff2dIter", " + u[3 + j]", "", 1, "diff2dIter VIOLATED SGV"),
        ("regions", "i != root", "i > root", 2, "broadcast VIOLATED DL"),
        ("regions", "MPI_MAX, comm", "MPI_MIN, comm", 2, "most VIOLATED SGV"),
        ("regions", "\\mpi_reduce(s, count, MPI_INT, MPI_MAX)", "\\mpi_region(s, count, MPI_INT)", 2, "most VIOLATED SGV"),
        ("regions", "\\old(\\mpi_region(buf, count, MPI_INT))", "\\old(\\mpi_region(buf, count - 1, MPI_INT))", 1,
         "broadcast VIOLATED SGV"),
        ("regions", "\\mpi_valid(buf, count,", "\\mpi_valid(buf + 1, count - 1,", 1,
         "broadcast VIOLATED SGV"),
        ("regions", "i = 1; i <= n", "i = 0; i <= n", 1, "clear VIOLATED SGV"),
        ("regions", "a[i] = 0", "a[i + 1] = 0", 1, "clear VIOLATED RTE"),
        ("search", "\t\tbreak;\n\t}\n\treturn place", "\t}\n\treturn place", 2, "find VIOLATED SGV"),
        ("search", "continue;\n\t\tplace", "break;\n\t\tplace", 2, "find VIOLATED SGV"),
        ("search", "\t\tw = v;\n\t\tbreak;\n", "", 2, "pass VIOLATED SGV"),
        ("search", "STATUS_IGNORE);\n\t\tbreak;", "STATUS_IGNORE);", 2, "pass VIOLATED SGV"),
        ("sort", "i < size;", "i < size - 1;", 3, "sort VIOLATED PGV"),
    ],
)  # fmt: skip
def test_a_wrong_variant(stem: str, right: str, wrong: str, procs: int, found: str) -> None:
    text = (FOLDER / f"{stem}.c").read_text(encoding="utf-8")
    assert right in text
    program = load_contracts(text.replace(right, wrong), f"{stem}.c")
    answers = [f"{name} {verdict}" for (name, _), verdict in verdicts(program, procs).items() if verdict != "VERIFIED"]
    assert ", ".join(answers) == found


def test_a_value_that_was_never_stored() -> None:
    program = loaded(
        "/*@ assigns \\nothing; ensures \\result == 0; */\nint f(int x) { int a[2]; a[0] = x; return a[1] * 0; }\n"
    )
    (answer,) = checked(program, Checking((1,)), NO_LIMITS)
    example = answer.answers[0].counterexample
    assert example is not None
    assert (example.error, example.text, example.span.line) == ("RTE", "a value is used that was never stored", 3)


def test_a_message_across_a_collective_operation_is_unknown() -> None:
    body = """
	int rank, v = x;
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	if (rank == 1) MPI_Send(&x, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == 0) MPI_Recv(&v, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	return v;
"""
    program = loaded(f"/*@ \\mpi_collective(MPI_COMM_WORLD, P2P): assigns \\nothing; */\nint f(int x) {{{body}}}\n")
    assert verdicts(program, 2) == {("f", 2): "UNKNOWN"}


def test_an_array_that_is_passed_from_an_element_on() -> None:
    program = loaded(
        """
/*@ requires \\valid(p + (0 .. 1)); assigns p[1]; ensures p[1] == \\old(p[0]) + 1 && \\result == p[1]; */
int next(int *p) { p[1] = p[0] + 1; return p[1]; }
/*@ assigns \\nothing; ensures \\result == x + 1; */
int f(int x) { int a[3] = {0, x}, r; r = next(a + 1); return a[2] == r ? r : 0; }
/*@ requires \\valid(p + (0 .. 1)); assigns p[1]; ensures \\true; */
void g(int *p) { p[0] = 1; }
""".replace("\\true", "1")
    )
    assert verdicts(program, 1) == {("next", 1): "VERIFIED", ("f", 1): "VERIFIED", ("g", 1): "VIOLATED SGV"}


@pytest.mark.parametrize(("source", "verdict"), [("rank - 1", "VIOLATED RTE"), ("MPI_ANY_SOURCE", "VIOLATED DL")])
def test_a_rank_below_all_is_not_any_source(source: str, verdict: str) -> None:
    body = f"""
	int rank, v;
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	if (rank == 0) MPI_Recv(&v, 1, MPI_INT, {source}, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	else MPI_Recv(&v, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
"""
    program = loaded(f"/*@ \\mpi_collective(MPI_COMM_WORLD, P2P): assigns \\nothing; */\nvoid f(void) {{{body}}}\n")
    assert verdicts(program, 1) == {("f", 1): verdict}


@pytest.mark.parametrize(
    ("text", "code", "line"),
    [
        ("/*@ assigns \\nothing; */\nint f(int x) { return x << 1; }", "RR964", 3),
        ("/*@ assigns \\nothing; */\ndouble f(int x) { return x; }", "RR964", 3),
        ("/*@ assigns \\nothing; */\nint f(int x) { here: if (x) goto here; return x; }", "RR964", 3),
        ("/*@ assigns \\nothing; */\nint f(long x) { int y = x; return y; }", "RR964", 3),
        ("/*@ assigns \\nothing; */\nint f(unsigned x) { return 0; }", "RR964", 3),
        ("int f(int x)\n{\n/*@ loop invariant x > 0; */ x--; return x; }", "RR963", 4),
        ("/*@ ensures \\forall integer i; i == i; */\nint f(int x) { return x; }", "RR963", 2),
        ("/*@ \\mpi_collective(MPI_COMM_WORLD, ALL): assigns \\nothing; */\nint f(int x) { return x; }", "RR963", 2),
        ("/*@ assigns \\nothing; */\nint f(int x) { /*@ loop invariant 1; */ do x--; while (x); return x; }", "RR964", 3),
        ("/*@ assigns \\nothing; */\nint f(int x) { (void)(x = 2 << x); return x; }", "RR964", 3),
        ("/*@ assigns p; */\nint f(int *p) { return 0; }", "RR963", 2),
        ("/*@ assigns \\nothing; */\nint f(MPI_Comm a, MPI_Comm b) { return 0; }", "RR964", 3),
        ("int u[2];\nvoid g(int *p) { p[0] = u[0]; }\n/*@ assigns u; */\nint f(int x) { g(u); return x; }", "RR964", 5),
        ("/*@ requires \\mpi_valid(p, 8, MPI_CHAR); */\nint f(int *p) { return 0; }", "RR963", 2),
        ("/*@ requires \\mpi_valid(p, 1, MPI_LONG); */\nint f(int *p) { return 0; }", "RR963", 2),
        ("/*@ assigns \\mpi_region(\\mpi_offset(p, 1, MPI_LONG), 1, MPI_INT); */\nint f(int *p) { return 0; }", "RR963", 2),
        ("/*@ requires \\mpi_region(p, 1, MPI_INT) == 0; */\nint f(int *p) { return 0; }", "RR963", 2),
        ("/*@ requires \\mpi_equals(p, p); */\nint f(int *p) { return 0; }", "RR963", 2),
        ("/*@ requires \\mpi_equals(\\mpi_region(x, 1, MPI_INT), \\mpi_region(x, 1, MPI_INT)); */\n"
         "int f(int x) { return 0; }", "RR963", 2),
        ("/*@ ensures \\mpi_equals(\\mpi_reduce(p, 1, MPI_INT, MPI_PROD), \\mpi_region(p, 1, MPI_INT)); */\n"
         "int f(int *p) { return 0; }", "RR963", 2),
        ("/*@ ensures \\mpi_extent(MPI_FOO) == 4; */\nint f(int x) { return x; }", "RR963", 2),
        ("/*@ requires \\valid(p + (-1 .. 0)); */\nint f(int *p) { return 0; }", "RR963", 2),
        ("/*@ ensures \\result == y; */\nint f(int x) { return x; }", "RR901", 2),
        ("/*@ ensures \\result = x; */\nint f(int x) { return x; }", "RR101", 2),
        ("/*@ ensures \\result == 0; */\nvoid f(int x) { }", "RR951", 2),
        ("/*@ \\mpi_collective(MPI_COMM_WORLD, P2P): ensures \\absenceof \\enter \\after \\exit \\until \\exit; */\n"
         "int f(int x) { return x; }", "RR955", 2),
    ],
)  # fmt: skip
def test_what_is_refused(text: str, code: str, line: int) -> None:
    with pytest.raises(ProgramError) as error:
        loaded(f"{text}\n")
    assert (error.value.diagnostics[0].code, error.value.diagnostics[0].span.line) == (code, line)
