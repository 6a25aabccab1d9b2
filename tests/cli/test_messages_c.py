"""C with MPI messages as `messages check` and its like read it: verdicts, what is wrong by itself, places, refusals."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rdma_robust.c.lock_step import lock_step, rank_machine
from rdma_robust.errors import ProgramError
from rdma_robust.limits import Limits
from rdma_robust.messages.engines.engine_table import answered
from rdma_robust.messages.language.load_messages import load_messages
from rdma_robust.messages.language.message_program import BUFFERS
from rdma_robust.messages.message_answers import MessageQuestions
from tests.conftest import ROOT, Cli

FARM_FILE = str(ROOT / "tests/data/farm.c")
FARM = Path(FARM_FILE).read_text(encoding="utf-8")
TASKS = (ROOT / "tests/data/task_farm.c").read_text(encoding="utf-8")
START = """#include <mpi.h>
static int calls;
static void minus(void *in, void *inout, int *n, MPI_Datatype *t)
{
	calls++;
	for (int at = 0; at < *n; at++)
		((int *)inout)[at] = ((int *)in)[at] - ((int *)inout)[at];
}
#include <assert.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
	int rank, size, x = 0, y = 0;
	MPI_Request q = MPI_REQUEST_NULL, p = MPI_REQUEST_NULL;
	MPI_Comm w = MPI_COMM_WORLD;
	MPI_Status s;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(w, &rank);
	MPI_Comm_size(w, &size);
"""
END = """
	MPI_Finalize();
	return 0;
}
"""
LINE = START.count("\n") + 1
SEND = "MPI_Send(&x, 1, MPI_INT, 1, 3, w);"
RECV = "MPI_Recv(&y, 1, MPI_INT, 0, 3, w, &s);"


def checked(cli: Cli, folder: Path, body: str, n: str = "2", *more: str) -> tuple[int, list[dict[str, object]], str]:
    """Return exit code, results and standard error of `messages check` of a body."""
    file = folder / "main.c"
    file.write_text(START + body + END, encoding="utf-8")
    result = cli("messages", "check", str(file), "-n", n, "--format", "json", *more)
    return result.returncode, json.loads(result.stdout)["results"], result.stderr


def kinds(body: str, processes: int = 2) -> set[str]:
    """Return what goes wrong in a body under some buffers: the classes that JSON has, `deadlock`, `leak`."""
    program = load_messages(f"{START}{body}{END}/* rdma-robust: options -n {processes} */\n", "main.c")
    found = set()
    for buffer in BUFFERS:
        answer = answered(program, buffer, MessageQuestions(pairs=False), Limits.of(60), "states")
        assert "unknown" not in (answer.violated, answer.deadlocked, answer.leaking), answer.reason
        for each in answer.violations:
            local = program.found_at(each.span) if each.kind in ("assert", "abort") else ()
            found |= {one.kind for one in local} or {each.kind}
        found |= {"deadlock"} if answer.deadlocked == "yes" else set()
        found |= {"leak"} if answer.leaking == "yes" else set()
    return found


@pytest.mark.ci
def test_a_range_of_processes_is_one_row_for_each(cli: Cli) -> None:
    result = cli("messages", "check", "--expect", FARM_FILE, "-n", "3..4")
    assert result.returncode == 0
    assert "farm.c (n=3)  yes" in result.stdout
    assert "farm.c (n=4)  yes" in result.stdout


@pytest.mark.ci
def test_places_are_those_of_the_call_with_the_calls_around_it(cli: Cli) -> None:
    result = cli("messages", "explain", FARM_FILE, "-n", "3")
    line = FARM[: FARM.index("MPI_Send(result")].count("\n") + 1
    assert f"P0 takes 2 from P1 (line {line})" in result.stdout


def test_without_a_number_of_processes_it_is_asked_for(cli: Cli) -> None:
    result = cli("messages", "check", FARM_FILE)
    assert result.returncode == 2
    assert "how many processes run it? -n 4" in result.stderr


def test_c_without_mpi_is_told_its_command(cli: Cli) -> None:
    result = cli("messages", "check", str(ROOT / "tests/data/mailbox.c"), "-n", "2")
    assert result.returncode == 2
    assert "does not include mpi.h; `rdma-robust check` decides C with one-sided operations" in result.stderr


HEAD_TO_HEAD = "int o = 1 - rank; MPI_Send(&x, 1, MPI_INT, o, 3, w); MPI_Recv(&y, 1, MPI_INT, o, 3, w, &s);"
RING = "int o = 1 - rank; MPI_Sendrecv(&x, 1, MPI_INT, o, 3, &y, 1, MPI_INT, o, 3, w, &s);"
ONE_WAY = f"if (rank == 0) {{ {SEND} }} else {{ {RECV} }}"
WAIT = "MPI_Wait(&q, &s);"
IRECV = "MPI_Irecv(&y, 1, MPI_INT, 0, 3, w, &q);"
ISEND = "MPI_Isend(&x, 1, MPI_INT, 1, 3, w, &q);"


def sides(first: str, second: str) -> str:
    """Return what two processes do."""
    return f"if (rank == 0) {{ {first} }} else {{ {second} }}"


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (ONE_WAY, set()),
        (RING, set()),
        (HEAD_TO_HEAD, {"deadlock"}),
        (sides(SEND, ""), {"deadlock", "leak"}),
        (sides("", RECV), {"deadlock"}),
        (sides(f"x = 4; {SEND}", f"{RECV} assert(y == 4);"), set()),
        (sides(f"x = 4; {SEND}", f"{RECV} assert(y == 5);"), {"violation"}),
        (sides(f"x = 4; {ISEND} {WAIT}", f"{IRECV} {WAIT} assert(y == 4 && s.MPI_SOURCE == 0 && s.MPI_TAG == 3);"), set()),
        (sides(f"{ISEND} x = 4; {WAIT}", RECV), {"buffer-race"}),
        (sides(SEND, f"{IRECV} x = y; {WAIT}"), {"buffer-race"}),
        (sides(SEND, IRECV), {"request-leak"}),
        (sides("MPI_Ssend(&x, 1, MPI_INT, 1, 3, w);", f"{IRECV} {WAIT}"), set()),
        (sides("MPI_Send(&x, 1, MPI_INT, 2, 3, w);", RECV), {"invalid-rank"}),
        (sides("MPI_Send(&x, 1, MPI_INT, 1, -3, w);", RECV), {"invalid-tag"}),
        (sides("MPI_Send(&x, -1, MPI_INT, 1, 3, w);", RECV), {"invalid-count"}),
        (sides("MPI_Send(&x, 2, MPI_INT, 1, 3, w);", RECV), {"buffer-overflow", "room"}),
        (sides("MPI_Send(0, 1, MPI_INT, 1, 3, w);", RECV), {"invalid-buffer"}),
        (sides("MPI_Send(&x, 1, MPI_DATATYPE_NULL, 1, 3, w);", RECV), {"invalid-datatype"}),
        (sides("MPI_Send(&x, 1, MPI_INT, 1, 3, MPI_COMM_NULL);", RECV), {"invalid-communicator"}),
        (sides("MPI_Send(&x, 1, MPI_FLOAT, 1, 3, w);", RECV), {"type"}),
        (sides("int v[2] = {1, 2}; MPI_Send(v, 2, MPI_INT, 1, 3, w);", RECV), {"room"}),
        ("MPI_Bcast(&x, 1, MPI_INT, 2, w);", {"invalid-root"}),
        ("MPI_Bcast(&x, 1, MPI_INT, rank, w);", {"root-mismatch"}),
        (sides("MPI_Bcast(&x, 1, MPI_INT, 0, w);", "MPI_Barrier(w);"), {"collective-mismatch"}),
        (sides("MPI_Reduce(&x, &y, 1, MPI_INT, MPI_SUM, 0, w);", "MPI_Reduce(&x, &y, 1, MPI_INT, MPI_MAX, 0, w);"),
         {"operation-mismatch"}),
        (sides("MPI_Barrier(w);", ""), {"deadlock"}),
        ("int o = 1 - rank; MPI_Sendrecv(&x, 1, MPI_INT, o, 3, &x, 1, MPI_INT, o, 3, w, &s);", {"buffer-alias"}),
        (sides(f"{ISEND} MPI_Request_free(&q);", RECV), {"request-lost"}),
        (sides("MPI_Send(&x, 1, MPI_INT, 1, 3, w); MPI_Ibsend(&x, 1, MPI_INT, 1, 4, w, &q); MPI_Request_free(&q);",
               f"{RECV} MPI_Recv(&y, 1, MPI_INT, 0, 4, w, &s);"), set()),
        ("int d[2] = {2, 2}, z[2] = {0, 0}; MPI_Comm g; MPI_Cart_create(w, 2, d, z, 0, &g);", {"invalid-argument"}),
        ("int d[1] = {1}, z[1] = {0}; MPI_Comm g; MPI_Cart_create(w, 1, d, z, 0, &g);"
         " if (rank == 0) MPI_Comm_free(&g); else assert(g == MPI_COMM_NULL);", set()),
        ("MPI_Cart_rank(w, &x, &y);", {"invalid-communicator"}),
        (sides("MPI_Isend(&x, 1, MPI_INT, 1, 3, w, 0);", RECV), {"invalid-argument"}),
        (sides(SEND, "MPI_Recv(&y, 1, MPI_INT, 0, 3, w, 0);"), {"invalid-argument"}),
        (sides(SEND, "MPI_Recv(&y, 1, MPI_INT, 0, -1, w, &s);"), {"invalid-tag"}),
        (sides(SEND, "MPI_Recv(&y, 1, MPI_INT, -1, 3, w, &s);"), {"invalid-rank"}),
        (sides("MPI_Send(&x, 1, MPI_INT, 1, MPI_TAG_UB, w);", RECV), {"invalid-tag"}),
        (sides(SEND, f"{IRECV} MPI_Test(&q, 0, &s); {WAIT}"), {"invalid-argument"}),
        ("MPI_Datatype t; MPI_Type_vector(2, -1, 1, MPI_INT, &t);", {"invalid-argument"}),
        ("MPI_Datatype t; MPI_Type_contiguous(2, MPI_DATATYPE_NULL, &t);", {"invalid-datatype"}),
        ("MPI_Type_contiguous(2, MPI_INT, 0);", {"invalid-argument"}),
        ("int n[1] = { 1 }, d[1] = { 0 }; MPI_Datatype t; MPI_Type_indexed(2, n, d, MPI_INT, &t);", {"invalid-argument"}),
        ("char m[8]; MPI_Datatype t; MPI_Type_create_hvector(2, 1, 3, MPI_INT, &t); MPI_Type_commit(&t);"
         + sides("MPI_Send(m, 1, t, 1, 3, w);", "MPI_Recv(m, 1, t, 0, 3, w, &s);") + "MPI_Type_free(&t);", {"buffer-alias"}),
        ("x = rank + 1; MPI_Allreduce(&x, &y, 1, MPI_INT, MPI_SUM, w); assert(y == 3);", set()),
        ("x = rank + 5; MPI_Bcast(&x, 1, MPI_INT, 1, w); assert(x == 6);", set()),
        ("int v[2]; x = rank + 5; MPI_Allgather(&x, 1, MPI_INT, v, 1, MPI_INT, w); assert(v[0] == 5 && v[1] == 6);", set()),
        ("x = rank + 1; MPI_Scan(&x, &y, 1, MPI_INT, MPI_PROD, w); assert(y == rank + 1);", set()),
        ("MPI_Ibarrier(w, &q); MPI_Wait(&q, &s);", set()),
        ("MPI_Ibarrier(w, &q);", {"request-leak"}),
        ("MPI_Comm c; MPI_Comm_dup(w, &c);", {"resource-leak"}),
        ("MPI_Comm c; MPI_Comm_split(w, 0, -rank, &c); MPI_Comm_rank(c, &x); MPI_Comm_free(&c); assert(x == 1 - rank);",
         set()),
        ("MPI_Datatype t; MPI_Type_contiguous(2, MPI_INT, &t); MPI_Type_commit(&t);", {"resource-leak"}),
        ("MPI_Init(&argc, &argv);", {"double-init"}),
        ("if (rank) exit(0);", {"missing-finalize"}),
        (f"MPI_Send_init(&x, 1, MPI_INT, 1, 3, w, &q); {sides('MPI_Start(&q); MPI_Wait(&q, &s);', RECV)}"
         " MPI_Request_free(&q);", set()),
        (sides(f"{ISEND} MPI_Wait(&q, &s); MPI_Isend(&x, 1, MPI_INT, 1, 4, w, &p); MPI_Wait(&p, &s);",
               "int z; MPI_Irecv(&y, 1, MPI_INT, 0, 4, w, &q); MPI_Irecv(&z, 1, MPI_INT, 0, 3, w, &p);"
               " MPI_Request v[2] = {q, p}; MPI_Waitany(2, v, &x, &s); MPI_Waitany(2, v, &x, &s);"), set()),
        (sides(SEND, "MPI_Probe(0, MPI_ANY_TAG, w, &s); MPI_Get_count(&s, MPI_INT, &x); assert(x == 1);"
               "MPI_Recv(&y, 1, MPI_INT, 0, s.MPI_TAG, w, &s);"), set()),
        (sides(SEND, f"{IRECV} int f = 0, n = 0; while (!f) {{ MPI_Test(&q, &f, &s); n++; }} assert(y == 0 && f);"), set()),
        (sides(SEND, "int f = 0; do MPI_Iprobe(0, 3, w, &f, &s); while (!f); assert(s.MPI_TAG == 3);" + RECV), set()),
        (sides("", f"{IRECV} int f = 0; while (!f) MPI_Test(&q, &f, &s);"), {"deadlock"}),
        (sides(SEND, f"{IRECV} int f = 0; while (!f) {{ MPI_Test(&q, &f, &s); x = y; }}"), {"buffer-race"}),
    ],
)  # fmt: skip
@pytest.mark.ci
def test_what_is_wrong(body: str, expected: set[str]) -> None:
    assert kinds(body) == expected


WINDOW = "MPI_Win v; MPI_Win_create(&x, 4, 4, MPI_INFO_NULL, w, &v); "
FREE = " MPI_Win_free(&v);"
PUT = "MPI_Put(&y, 1, MPI_INT, 1, 0, 1, MPI_INT, v);"
GET = "MPI_Get(&y, 1, MPI_INT, 1, 0, 1, MPI_INT, v);"
FENCE = "MPI_Win_fence(0, v);"
LOCK, UNLOCK = "MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, v);", "MPI_Win_unlock(1, v);"
ALONE = LOCK.replace("SHARED", "EXCLUSIVE")
ADD = "MPI_Accumulate(&y, 1, MPI_INT, 1, 0, 1, MPI_INT, MPI_SUM, v);"
NEXT = "MPI_Send(&y, 0, MPI_INT, 1, 3, w);"
HEARD = "MPI_Recv(&y, 0, MPI_INT, 0, 3, w, &s);"


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (f"{FENCE} {sides(PUT, '')} {FENCE}", set()),
        (f"y = 4; {FENCE} {sides(PUT, '')} {FENCE} assert(!rank || x == 4);", set()),
        (f"x = 5; {FENCE} {sides(GET, '')} {FENCE} assert(rank || y == 5);", set()),
        (f"{FENCE} {PUT} {FENCE}", {"window-race"}),
        (f"{FENCE} {sides(PUT, 'x = 1;')} {FENCE}", {"window-race"}),
        (f"{FENCE} {sides(GET, 'y = x;')} {FENCE}", set()),
        (f"{FENCE} {sides(GET, 'x = 1;')} {FENCE}", {"window-race"}),
        (f"{FENCE} {sides(PUT + ' y = 1;', '')} {FENCE}", {"buffer-race"}),
        (f"{FENCE} {sides(GET + ' x = y;', '')} {FENCE}", {"buffer-race"}),
        (f"y = 3; {FENCE} {ADD} {FENCE} assert(!rank || x == 6);", set()),
        (f"{FENCE} {sides(ADD, ADD.replace('SUM', 'MAX'))} {FENCE}", {"window-race"}),
        ("int a[2], b[2] = { 0 }; MPI_Win u; MPI_Win_create(a, 8, 4, MPI_INFO_NULL, w, &u); MPI_Win_fence(0, u);"
         + sides(ADD.replace("SUM, v", "REPLACE, u"), "MPI_Accumulate(b, 1, MPI_2INT, 1, 0, 1, MPI_2INT, MPI_REPLACE, u);")
         + "MPI_Win_fence(0, u); MPI_Win_free(&u);", {"window-race"}),
        (f"{LOCK} {PUT} {UNLOCK}", {"window-race"}),
        (f"{ALONE} {PUT} {UNLOCK}", set()),
        (f"{sides(f'{ALONE} {PUT} {UNLOCK}', f'{ALONE} x = 1; {UNLOCK}')}", set()),
        (f"{sides(f'{ALONE} {PUT} {UNLOCK}', 'x = 1;')}", {"window-race"}),
        (f"{sides(f'{LOCK} {PUT} {UNLOCK} {NEXT}', f'{HEARD} x = 1;')}", set()),
        (f"{sides(f'{LOCK} {PUT} {NEXT} {UNLOCK}', f'{HEARD} x = 1;')}", {"window-race"}),
        (f"{sides(f'{LOCK} {PUT} MPI_Win_flush(1, v); {NEXT} {UNLOCK}', f'{HEARD} x = 1;')}", set()),
        (f"{sides(f'{LOCK} {PUT} MPI_Win_flush_local(1, v); {NEXT} {UNLOCK}', f'{HEARD} x = 1;')}", {"window-race"}),
        (f"{sides(f'{LOCK} {PUT} MPI_Win_flush_local(1, v); y = 1; {UNLOCK}', '')}", set()),
        (sides(PUT, ""), {"epoch"}),
        (sides(f"{LOCK} {PUT}", ""), {"epoch"}),
        (sides(UNLOCK, ""), {"epoch"}),
        (sides(f"{LOCK} {LOCK} {UNLOCK}", ""), {"epoch"}),
        (f"{FENCE} {sides(f'{LOCK} {PUT} {UNLOCK}', '')} {FENCE}", {"epoch"}),
        (f"MPI_Win_fence(MPI_MODE_NOSUCCEED, v); {sides(f'{LOCK} {PUT} {UNLOCK}', '')} {FENCE}", set()),
        (sides(FENCE, ""), {"collective-mismatch"}),
        (f"{FENCE} {PUT.replace(' 1, 0, 1', ' 2, 0, 1')} {FENCE}", {"invalid-rank"}),
        (f"{FENCE} {PUT.replace(' 1, 0, 1', ' 1, 1, 1')} {FENCE}", {"buffer-overflow"}),
        (f"{FENCE} {PUT.replace('1, MPI_INT, v', '1, MPI_FLOAT, v')} {FENCE}", {"type-mismatch"}),
        (f"{FENCE} {PUT.replace(' v)', ' MPI_WIN_NULL)')} {FENCE}", {"invalid-window"}),
        (f"{FENCE} {sides(PUT, '')} MPI_Win_fence(MPI_MODE_NOPRECEDE, v);", {"epoch"}),
        ("int *m = malloc(4); MPI_Win u; MPI_Win_create(m, 4, 4, MPI_INFO_NULL, w, &u); free(m); MPI_Win_free(&u);",
         {"invalid-buffer"}),
        (sides("MPI_Win_complete(v);", ""), {"epoch"}),
    ],
)  # fmt: skip
@pytest.mark.ci
def test_what_is_wrong_with_windows(body: str, expected: set[str]) -> None:
    assert kinds(WINDOW + body + FREE) == expected


@pytest.mark.ci
def test_a_store_that_messages_from_any_may_order_is_refused(cli: Cli, tmp_path: Path) -> None:
    any_source = HEARD.replace(" 0, 3, w", " MPI_ANY_SOURCE, 3, w")
    body = sides(f"{LOCK} {PUT} {UNLOCK} {NEXT}", f"{any_source} x = 1;")
    code, results, told = checked(cli, tmp_path, WINDOW + body + FREE)
    assert (code, bool(results[0]["errors"])) == (2, True)
    assert "whether this is ordered with MPI_Put of line" in " ".join(told.split())


def test_a_wrong_call_is_told_at_its_place_with_its_processes(cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "main.c"
    file.write_text(f"{START}\tMPI_Send(&x, 1, MPI_INT, size, 3, w);{END}", encoding="utf-8")
    result = cli("messages", "explain", str(file), "-n", "2")
    assert result.returncode == 1
    assert f"line {LINE}: MPI_Send: destination 2 of 2 processes (P0 and P1)" in " ".join(result.stdout.split())


def verdict(text: str, processes: int) -> tuple[str, str, str, int]:
    """Return what is found of a C program with unbounded buffers, and how many matchings it has."""
    program = load_messages(f"{text}/* rdma-robust: options -n {processes} */\n", "main.c")
    answer = answered(program, "infinite", MessageQuestions(count=True), Limits.of(60), "states")
    assert answer.matchings is not None and answer.matchings.exact
    return answer.violated, answer.deadlocked, answer.leaking, answer.matchings.count


@pytest.mark.parametrize(("processes", "matchings"), [(2, 1), (3, 8), (4, 18)])
def test_a_dynamic_task_farm_is_followed_in_every_way(processes: int, matchings: int) -> None:
    assert verdict(TASKS, processes) == ("no", "no", "no", matchings)


def test_a_farm_that_counts_its_last_result_twice_is_violated() -> None:
    wrong = TASKS.replace("sum += result;", "sum += result + (sent == TASKS && active == 1 ? result : 0);")
    assert verdict(wrong, 3)[0] == "yes"


def test_more_ways_than_are_followed_are_refused_with_their_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lock_step, "RUNS", 3)
    with pytest.raises(ProgramError, match=r"depends on what MPI_Recv of line \d+ takes, .*more than 3 ways to follow"):
        verdict(TASKS, 3)


TWO = """MPI_Request v[2]; int z, n = 0, k, at[2], f = 0; MPI_Status ss[2];
MPI_Irecv(&y, 1, MPI_INT, 1, 4, w, v); MPI_Irecv(&z, 1, MPI_INT, 2, 5, w, v + 1); """
SOME = """for (; n < 2; n += k) { MPI_Waitsome(2, v, &k, at, ss);
 for (int i = 0; i < k; i++) assert(ss[i].MPI_SOURCE == at[i] + 1 && ss[i].MPI_TAG == at[i] + 4); }
assert(y == 1 && z == 2);"""


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (SOME, set()),
        ("MPI_Waitsome(2, v, &n, at, ss); assert(n == 2);", {"violation"}),
        ("MPI_Waitany(2, v, &n, &s); if (n) assert(z == 2); else assert(y == 1); MPI_Waitall(2, v, ss);", set()),
        ("MPI_Testany(2, v, &n, &f, &s); assert(f ? s.MPI_SOURCE == n + 1 : n < 0); MPI_Waitall(2, v, ss);", set()),
        ("do MPI_Testany(2, v, &n, &f, &s); while (!f); assert(n >= 0); MPI_Waitall(2, v, ss);", set()),
        ("MPI_Testsome(2, v, &n, at, ss); assert(n == 0); MPI_Waitall(2, v, ss);", {"violation"}),
        ("do MPI_Testsome(2, v, &n, at, ss); while (!n); MPI_Waitall(2, v, ss);", set()),
        ("n = MPI_Testall(0, 0, &f, ss); assert(f && !n); MPI_Waitall(2, v, ss);", set()),
        ("MPI_Testall(2, v, &f, ss); if (f) assert(y == 1 && z == 2);", {"request-leak"}),
        ("MPI_Test(v, &f, &s); if (f) assert(y == 1); MPI_Waitall(2, v, ss);", set()),
        ("while (!f) { MPI_Test(v, &f, &s); if (++n > 2) break; } MPI_Waitall(2, v, ss);", set()),
        ("MPI_Message m; MPI_Mprobe(MPI_ANY_SOURCE, 9, w, &m, &s); MPI_Mrecv(&x, 1, MPI_INT, &m, ss);"
         "assert(x == s.MPI_SOURCE && ss[0].MPI_SOURCE == x && m == MPI_MESSAGE_NULL); MPI_Waitall(2, v, ss);"
         "MPI_Improbe(MPI_ANY_SOURCE, 9, w, &f, &m, &s); if (!f) MPI_Mprobe(3 - x, 9, w, &m, &s);"
         "MPI_Imrecv(&n, 1, MPI_INT, &m, &q); MPI_Wait(&q, &s); assert(n == 3 - x && s.MPI_SOURCE == n);", set()),
        ("MPI_Message m; MPI_Mprobe(1, 9, w, &m, &s); MPI_Mrecv(&x, 1, MPI_INT, &m, &s); MPI_Mrecv(&x, 1, MPI_INT, &m, &s);",
         {"invalid-argument"}),
        ("MPI_Message m; MPI_Mprobe(1, 9, w, &m, &s); MPI_Waitall(2, v, ss);", {"deadlock", "leak"}),
        ("MPI_Iprobe(MPI_ANY_SOURCE, 5, w, &f, &s); assert(!f || s.MPI_SOURCE == 2); MPI_Waitall(2, v, ss);", set()),
    ],
)  # fmt: skip
@pytest.mark.ci
def test_what_completes_and_what_a_test_says_is_followed(body: str, expected: set[str]) -> None:
    send = "x = rank; MPI_Send(&x, 1, MPI_INT, 0, 3 + rank, w);"
    assert kinds(sides(TWO + body, send + (send.replace("3 + rank", "9") if "Mprobe" in body else "")), 3) == expected


def test_a_test_that_fails_without_end_is_refused_with_its_limit() -> None:
    loop = "while (!f) { MPI_Test(&q, &f, &s); MPI_Send(&x, 1, MPI_INT, 0, 9, w); }"
    with pytest.raises(ProgramError, match="`MPI_Test` fails more than 8 times"):
        kinds(sides(SEND, f"{IRECV} int f = 0; {loop}"))


@pytest.mark.parametrize("steps", range(400, 2800, 800))
def test_a_limit_of_steps_is_named_wherever_it_is_met(monkeypatch: pytest.MonkeyPatch, steps: int) -> None:
    monkeypatch.setattr(rank_machine, "STEPS", steps)
    with pytest.raises(ProgramError, match=f"take more than {steps:,} steps"):
        verdict(TASKS, 3)


def test_what_stands_before_a_refusal_is_told_and_the_rest_is_unknown(cli: Cli, tmp_path: Path) -> None:
    body = sides(f"{ISEND} x = 1; MPI_Win v; MPI_Win_create_dynamic(MPI_INFO_NULL, w, &v);", RECV)
    code, results, told = checked(cli, tmp_path, body)
    assert code in (1, 3)
    assert {each["asserts"] for each in results} == {"violated"}
    assert {each["deadlock"]["answer"] for each in results} == {"unknown"}  # type: ignore[index]
    assert "`MPI_Win_create_dynamic` is not modelled in programs of messages" in told


def test_findings_have_a_class_and_a_place(cli: Cli, tmp_path: Path) -> None:
    code, results, _ = checked(
        cli, tmp_path, f"\t{ISEND} x = 1;\n\tMPI_Send(&x, 1, MPI_FLOAT, 1, 3, w);", "2", "--buffer", "infinite"
    )
    assert code == 1
    found = {(each["class"], each["severity"], each["line"], tuple(each["processes"])) for each in results[0]["findings"]}  # type: ignore[attr-defined]
    assert ("buffer-race", "error", LINE, ("P0", "P1")) in found
    assert ("request-leak", "error", LINE, ("P0", "P1")) in found
    assert ("unmatched-send", "error", LINE + 1, ("P0",)) in found
    assert results[0]["language"] == "c"


def test_arguments_of_the_program_are_rows(cli: Cli, tmp_path: Path) -> None:
    code, results, _ = checked(cli, tmp_path, "if (rank || atoi(argv[1]) % 2) MPI_Barrier(w);", "2", "--arg", "1..2")
    assert code == 1
    found = {(each["file"], each["deadlock"]["answer"]) for each in results}  # type: ignore[index]
    assert found == {(f"{tmp_path}/main.c (arg=1)", "no"), (f"{tmp_path}/main.c (arg=2)", "yes")}


def test_what_is_not_modelled_is_refused_by_name(cli: Cli, tmp_path: Path) -> None:
    code, _, told = checked(cli, tmp_path, "MPI_Win v; MPI_Win_create_dynamic(MPI_INFO_NULL, w, &v);")
    assert code == 2
    assert "`MPI_Win_create_dynamic` is not modelled in programs of messages [RR814]" in told


@pytest.mark.ci
def test_import_writes_the_program_that_is_decided(cli: Cli, tmp_path: Path) -> None:
    made = cli("import", FARM_FILE, "-n", "3", "-o", str(tmp_path / "farm.mp"))
    assert (made.returncode, made.stderr) == (0, "")
    rows = []
    for asked in ((FARM_FILE, "-n", "3"), (str(tmp_path / "farm.mp"),)):
        report = json.loads(cli("messages", "check", *asked, "--format", "json").stdout)
        rows.append(
            [(each["buffer"], each["asserts"], each["deadlock"]["answer"], len(each["races"])) for each in report["results"]]
        )
    assert rows[0] == rows[1] and len(rows[0]) == 3


def test_import_refuses_what_is_not_understood(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "main.c").write_text(
        f"{START}MPI_Irecv(&y, 1, MPI_INT, 0, 3, w, &q); MPI_Cancel(&q);{END}", encoding="utf-8"
    )
    refused = cli("import", str(tmp_path / "main.c"), "-n", "2")
    assert refused.returncode == 2 and "MPI_Cancel" in refused.stderr and "Traceback" not in refused.stderr
    assert cli("import", FARM_FILE, "-n", "2", "--skeleton").returncode == 2
