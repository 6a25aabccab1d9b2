"""One-sided MPI in C: what each call becomes, what is refused where, and which accesses race by the standard."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from rdma_robust import check
from rdma_robust.c.evaluate.evaluated_c import evaluate_units
from rdma_robust.c.front.c_options import COptions
from rdma_robust.c.front.c_units import read_units
from rdma_robust.c.libraries import mpi
from rdma_robust.errors import ProgramError
from rdma_robust.language.load import load_program
from tests.support.c_automata import evaluated, statements
from tests.support.c_races import documented_rows, races_of_c

HEAD = """#include <mpi.h>
#include <stdio.h>
"""


def program(zero: str, one: str = "", both: str = "", before: str = "") -> str:
    """Return C in which rank 0 does something, then rank 1, then both, behind a barrier; `before` it is set-up."""
    return (
        f"{HEAD}int main(int argc, char **argv) {{ int rank, size; long *m, v = 5, w = 6, r = 7; MPI_Win win, other;\n"
        "MPI_Request q; MPI_Group all, peer; int list[2] = { 0, 1 }; MPI_Init(&argc, &argv);\n"
        "MPI_Comm_rank(MPI_COMM_WORLD, &rank); MPI_Comm_size(MPI_COMM_WORLD, &size); MPI_Comm_group(MPI_COMM_WORLD, &all);\n"
        "MPI_Win_allocate(16, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &m, &win); m[0] = m[1] = 0;\n"
        f"MPI_Group_incl(all, 1, list + 1 - rank, &peer); {before} MPI_Barrier(MPI_COMM_WORLD);\n"
        f"if (rank == 0) {{ {zero} }}\nif (rank == 1) {{ {one} }}\n{both} return 0; }}\n"
    )


def put(source: str = "v", place: int = 0, rank: int = 1) -> str:
    return f"MPI_Put(&{source}, 1, MPI_LONG, {rank}, {place}, 1, MPI_LONG, win);"


ADD = "MPI_Accumulate(&v, 1, MPI_LONG, 1, 0, 1, MPI_LONG, MPI_SUM, win);"
ROWS = documented_rows("c-mpi-rma.md")


@pytest.mark.parametrize("name", ROWS)
def test_what_calls_become(name: str) -> None:
    body, wanted = ROWS[name]
    assert statements(evaluated(program(body, f"v = m[0]; {put(rank=0, place=1)}")), "main_P0")[: len(wanted)] == wanted


def test_a_message_is_heard() -> None:
    found = statements(evaluated(program(ROWS["Send"][0], RECEIVED)), "main_P1")
    assert found == ["await message == 1", "v = message_data"]


RECEIVED = "MPI_Recv(&v, 1, MPI_LONG, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);"


PROBE = "int f = 1; MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &f, MPI_STATUS_IGNORE); m[1] = f;"


def test_no_message_is_found_where_none_is_sent() -> None:
    assert [each.partition(" = ")[2] for each in statements(evaluated(program(put(place=1), PROBE)), "main_P1")] == ["0"]
    with pytest.raises(ProgramError) as refused:
        evaluated(program(ROWS["Send"][0], PROBE))
    assert "`MPI_Iprobe` is not modelled" in refused.value.diagnostics[0].message


@pytest.mark.parametrize(("second", "answer"), [("all", 0), ("peer", 3)])
def test_groups_are_compared(second: str, answer: int) -> None:
    found = evaluated(program(f"MPI_Group_compare(all, {second}, &size); w = size; {put('w')}", "v = m[0];"))
    assert f"w = {answer}" in statements(found, "main_P0")


def test_a_fence_completes_and_meets() -> None:
    found = statements(evaluated(program(put(), both="MPI_Win_fence(0, win); v = m[0]; MPI_Win_free(&win);")), "main_P0")
    assert [each for each in found if each != "v = 0"] == ["put P1.win_o0 = v unsignaled", "flush P1", "barrier", "barrier"]


def test_epochs_of_two_processes() -> None:
    text = program(
        f"MPI_Win_start(peer, 0, win); {put()} MPI_Win_complete(win);", "MPI_Win_post(peer, 0, win); MPI_Win_wait(win);"
    )
    found = evaluated(text)
    assert statements(found, "main_P0") == [
        "await opened == 1",
        "put P1.win_o0 = v unsignaled",
        "flush P1",
        "put P1.closed = 1 on told_P0_P1 inline unsignaled",
    ]
    assert statements(found, "main_P1") == ["put P0.opened = 1 inline unsignaled", "await closed == 1"]


@pytest.mark.parametrize(
    ("test", "races"), [("while (!size) MPI_Win_test(win, &size);", 0), ("MPI_Win_test(win, &size);", 1)]
)
def test_who_has_seen_an_epoch_complete_is_behind_it(test: str, races: int) -> None:
    looks = f"MPI_Win_post(peer, 0, win); size = 0; {test} r = m[0];"
    text = program(f"MPI_Win_start(peer, 0, win); {put()} MPI_Win_complete(win);", looks)
    assert len(races_of_c(text)) == races
    assert len(races_of_c(text.replace("r = m[0];", "if (size) r = m[0]; MPI_Win_wait(win);"))) == 0


def test_a_second_window_has_queue_pairs_of_its_own() -> None:
    made = "MPI_Win_create(&r, 8, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &other);"
    body = f"{put()} MPI_Put(&w, 1, MPI_LONG, 1, 0, 1, MPI_LONG, other); MPI_Win_flush(1, other);"
    found = statements(evaluated(program(body, before=made)), "main_P0")
    assert found[-2:] == ["put P1.r = w on win1_P0_P1 unsignaled", "flush win1_P0_P1"]


@pytest.mark.parametrize(
    ("body", "code", "says"),
    [
        (put(place=2), "RR813", "bytes 16 to 24 are outside of the window of P1, which has 16"),
        (put(rank=2), "RR818", "there is no process 2 here"),
        ("MPI_Win_allocate_shared(8, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &m, &other);", "RR842", "MPI_Win_allocate_shared"),
        (ADD.replace("SUM", "MAXLOC"), "RR818", "no such operation of this type"),
        (ADD.replace("MPI_LONG", "MPI_2INT"), "RR818", "no such operation of this type"),
        (
            f"{ADD.replace('SUM', 'MAX').replace('1, 0, 1', '0, 0, 1')} if (m[0]) {put()}",
            "RR819",
            "`win`, whose values are not followed",
        ),
        ("MPI_Ssend(&v, 1, MPI_LONG, 1, 0, MPI_COMM_WORLD);", "RR814", "`MPI_Ssend` is not modelled"),
        ("MPI_Win_unlock(1, win);", "RR814", "this unlocks what is not locked"),
        ("MPI_Reduce(&v, &w, 1, MPI_LONG, MPI_LAND, 0, MPI_COMM_WORLD);", "RR814", "this reduction is not modelled"),
        ("MPI_Comm c; MPI_Comm_split(MPI_COMM_WORLD, 0, 0, &c);", "RR814", "the colours and keys of all processes"),
    ],
)
def test_what_is_refused(body: str, code: str, says: str) -> None:
    with pytest.raises(ProgramError) as refused:
        evaluated(program(body, "v = m[0];"))
    assert (code, True, 8) in {(each.code, says in each.message, each.span.line) for each in refused.value.diagnostics}


# collective calls and communicators


@pytest.mark.parametrize(
    ("call", "value"),
    [
        ("w = rank + 1; MPI_Allreduce(&w, &v, 1, MPI_LONG, MPI_PROD, MPI_COMM_WORLD);", 6),
        ("v = 1 << rank; MPI_Allreduce(MPI_IN_PLACE, &v, 1, MPI_LONG, MPI_BOR, MPI_COMM_WORLD);", 7),
        ("w = rank; MPI_Reduce(&w, &v, 1, MPI_LONG, MPI_MAX, 1, MPI_COMM_WORLD);", 2),
        ("MPI_Comm c; MPI_Comm_split(MPI_COMM_WORLD, rank == 0, -rank, &c); MPI_Comm_rank(c, &size); v = 10 + size;", 11),
        ("MPI_Comm c; MPI_Comm_split(MPI_COMM_WORLD, rank ? 3 : MPI_UNDEFINED, 0, &c); if (rank) MPI_Comm_size(c, &size);"
         "v = 10 * size + (c == MPI_COMM_NULL);", 20),
    ],
)  # fmt: skip
def test_what_three_ranks_bring(call: str, value: int) -> None:
    text = program("", both=f"{call} m[0] = v; if (rank == 0) {{ {put('r')} }}").replace("list + 1 - rank", "list")
    units = read_units("test.c", COptions(processes=3), text)
    assert f"win_o0 = {value}" in statements(evaluate_units(units), "main_P1")


def test_a_root_does_not_wait_for_those_that_it_sends_to() -> None:
    call = "MPI_Bcast(&w, 1, MPI_LONG, 0, MPI_COMM_WORLD);"
    after = f"{call} if (rank == 0) {{ {put()} MPI_Win_flush(1, win); }}"
    assert races_of_c(program("", both=after)) == set()
    assert races_of_c(program("", "m[0] = 1;", both=after)) == {("put P1.win_o0 = v unsignaled", "win_o0 = 1")}


def test_the_number_of_arguments_is_said_where_it_is_looked_at() -> None:
    said = "`main` is run without arguments: `argc` is 1"
    assert said in {each.message for each in evaluated(program(f"if (argc > 1) return 1; {put()}")).remarks}
    assert said not in {each.message for each in evaluated(program(put())).remarks}


# races

LOCKED = "MPI_Win_lock(MPI_LOCK_{0}, 1, 0, win); {1} MPI_Win_unlock(1, win);"


def test_local_completion_frees_the_source_and_tells_nobody_of_the_target() -> None:
    local = f"{put()} MPI_Win_flush_local(1, win); v = 9;"
    assert races_of_c(program(local)) == set()
    assert races_of_c(program(f"{put()} v = 9;")) == {("put P1.win_o0 = v unsignaled", "v = 9")}
    told = ROWS["Send"][0].replace("&v", "&r")
    assert len(races_of_c(program(f"{local} {told}", f"{RECEIVED} w = m[0];"))) == 1
    assert races_of_c(program(f"{local} MPI_Win_flush(1, win); {told}", f"{RECEIVED} w = m[0];")) == set()


def test_a_request_tells_of_its_own_transfer() -> None:
    request = "MPI_Rput(&w, 1, MPI_LONG, 1, 1, 1, MPI_LONG, win, &q); MPI_Wait(&q, MPI_STATUS_IGNORE);"
    assert races_of_c(program(f"{request} w = 1;")) == set()
    assert len(races_of_c(program(f"{put()} {request} v = 1;"))) == 1


def test_accumulates_race_with_those_of_other_types_and_with_puts() -> None:
    assert races_of_c(program(ADD, ADD)) == set()
    assert len(races_of_c(program(ADD, put("w")))) == 1
    unsigned = ADD.replace("MPI_LONG", "MPI_UNSIGNED_LONG")
    assert len(races_of_c(program(ADD, unsigned))) == 1


def test_accumulates_of_pairs_race_with_those_of_numbers_and_not_with_each_other() -> None:
    pair = ADD.replace("MPI_LONG", "MPI_2INT").replace("SUM", "REPLACE")
    made = "MPI_Datatype t; MPI_Type_contiguous(1, MPI_2INT, &t); " + pair.replace("MPI_2INT", "t")
    largest = pair.replace("REPLACE", "MAXLOC")
    number = ADD.replace("MPI_LONG", "MPI_INT")
    assert races_of_c(program(pair, made)) == races_of_c(program(largest, largest)) == set()
    assert len(races_of_c(program(pair, number))) == 1
    assert len(races_of_c(program(f"{made} {number}"))) == 1


def test_accumulates_on_own_words_have_no_answer_that_races() -> None:
    assert races_of_c(program("", f"{ADD} {ADD.replace('&v', '&w').replace('1, 0, 1', '1, 1, 1')}")) == set()


def test_accumulates_of_one_origin_are_in_order_if_they_have_one_type() -> None:
    fractions = "double d = 1; " + ADD.replace("MPI_LONG", "MPI_DOUBLE").replace("&v", "&d")
    assert races_of_c(program(f"{fractions} {fractions.removeprefix('double d = 1; ')}")) == set()
    assert len(races_of_c(program(f"{fractions} {ADD}"))) == 1
    assert races_of_c(program(f"{fractions} MPI_Win_flush(1, win); {ADD}")) == set()


def test_requests_tell_of_their_own_transfers_on_one_queue_pair_too() -> None:
    first, second = (
        put(each, place).replace("MPI_Put", "MPI_Rput").replace("win)", "win, &%s)") for place, each in enumerate("vw")
    )
    text = (
        f"MPI_Request p; {first % 'p'} {second % 'q'} MPI_Wait(&p, MPI_STATUS_IGNORE); {{}} MPI_Wait(&q, MPI_STATUS_IGNORE);"
    )
    assert races_of_c(program(text.format("v = 8;"))) == set()
    assert len(races_of_c(program(text.format("w = 8;")))) == 1
    assert "poll P1; w = 8; poll P1" in "; ".join(statements(evaluated(program(text.format("w = 8;"))), "main_P0"))


SET = "MPI_Raccumulate(&{0}, 1, MPI_LONG, 1, {2}, 1, MPI_LONG, MPI_REPLACE, win, &{1});"
GET = "MPI_Get(&{0}, 1, MPI_LONG, 1, 0, 1, MPI_LONG, win);"
SEEN = f"{GET.format('v')} MPI_Win_flush(1, win); {GET.format('w')}"
STANDARD = "/* rdma-robust: options --about standard */"


def test_accumulates_with_requests_are_in_order_with_each_other_and_with_others() -> None:
    first, second = SET.format("v", "p", 0), SET.format("w", "q", 0)
    for before in (first, ADD.replace("SUM", "REPLACE")):
        asked = program(f"MPI_Request p; {before} {second}", SEEN) + STANDARD
        assert check(load_program(asked, "test.c")).verdict.value == "robust"
    another = second.replace("MPI_LONG", "MPI_UNSIGNED_LONG")
    asked = program(f"MPI_Request p; {first} {another}", SEEN) + STANDARD
    assert check(load_program(asked, "test.c")).verdict.value == "not-robust"


@pytest.mark.ci
def test_requests_of_accumulates_are_waited_for_one_by_one() -> None:
    text = f"MPI_Request p; {SET.format('v', 'p', 0)} {SET.format('w', 'q', '{}')} MPI_Wait(&q, MPI_STATUS_IGNORE); {{}}"
    assert races_of_c(program(text.format(1, "w = 0;"))) == set()
    assert len(races_of_c(program(text.format(1, "v = 0;")))) == 1
    assert load_program(program(text.format(1, "")) + STANDARD, "test.c").threads
    with pytest.raises(ProgramError, match="older ones of its type"):
        load_program(program(text.format(0, "")) + STANDARD, "test.c")


@pytest.mark.ci
@pytest.mark.parametrize("first", [SET.format("v", "p", 0), ADD.replace("SUM", "REPLACE")])
def test_an_accumulate_that_is_complete_does_not_tell_that_the_source_of_an_older_one_was_read(first: str) -> None:
    """The order of accumulates made it seem so: the reuse of the older one's source was no race."""
    second, wait = SET.format("w", "q", 0), "MPI_Wait(&q, MPI_STATUS_IGNORE);"
    with pytest.raises(ProgramError, match="older ones of its type"):
        races_of_c(program(f"MPI_Request p; {first} {second} {wait} v = 0;"))
    assert races_of_c(program(f"MPI_Request p; {first} MPI_Win_flush_local(1, win); {second} {wait} v = w = 0;")) == set()
    both = "MPI_Request p[2]; {0} {1} MPI_Waitall(2, p, MPI_STATUSES_IGNORE); v = w = 0;"
    assert races_of_c(program(both.format(SET.format("v", "p[1]", 0), SET.format("w", "p[0]", 0)))) == set()


INT = "MPI_Accumulate(&v, 1, MPI_INT, 1, 0, 1, MPI_INT, MPI_SUM, win);"
SHORT = "MPI_Accumulate(&w, 1, MPI_SHORT, 1, 0, 1, MPI_SHORT, MPI_SUM, win);"
FETCHED = "MPI_Fetch_and_op(&v, &r, MPI_INT, 1, 0, MPI_SUM, win);"


@pytest.mark.ci
@pytest.mark.parametrize(
    ("zero", "one", "is_race"),
    [
        (INT, SHORT, True),
        (INT, f"{INT} ((short *)m)[1] = 3;", True),
        (f"{INT} MPI_Win_flush(1, win); {SHORT}", "", False),
        (f"{INT} {SHORT}", "", True),
        (SHORT, "((short *)m)[1] = 3;", False),
        (f"((short *)m)[1] = 3; *(int *)m = 4; v = *(int *)m; {put()}", "", False),
        (SHORT, "((short *)m)[0] = 3;", True),
        (SHORT, "*(int *)m = 3; ((short *)m)[1] = 3;", True),
        (SHORT, "v = *(int *)m; ((short *)m)[1] = 3;", True),
        (f"((short *)m)[1] = 4; {INT} {INT}", f"((short *)&v)[1] = 4; {INT}", False),
        (f"{SHORT} MPI_Win_flush(1, win); {FETCHED} MPI_Win_flush(1, win); r = 1;", "", False),
        (f"{SHORT} MPI_Win_flush(1, win); {FETCHED} r = 1;", "", True),
        (INT, "MPI_Accumulate((char *)&v + 2, 1, MPI_INT, 1, 0, 1, MPI_INT, MPI_SUM, win); ((short *)&v)[1] = 3;", True),
    ],
)
def test_an_access_of_several_words_races_word_by_word(zero: str, one: str, is_race: bool) -> None:
    assert bool(races_of_c(program(zero, one))) is is_race


def test_what_decides_on_an_access_of_several_words_is_refused() -> None:
    with pytest.raises(ProgramError, match="2 words"):
        races_of_c(program(SHORT, "if (*(int *)m == 3) m[1] = 4;"))
    with pytest.raises(ProgramError, match="2 words"):
        load_program(program(INT, f"{SHORT} v = *(int *)m;") + STANDARD, "test.c")


def test_exclusive_locks_exclude_and_shared_ones_do_not() -> None:
    exclusive, shared = LOCKED.format("EXCLUSIVE", put()), LOCKED.format("SHARED", put("w"))
    assert races_of_c(program(exclusive, exclusive)) == set()
    assert races_of_c(program(shared, shared)) != set()
    assert races_of_c(program(exclusive, shared)) == set()


def test_a_barrier_does_not_complete_what_is_under_way() -> None:
    reads = "MPI_Barrier(MPI_COMM_WORLD); if (rank == 1) w = m[0]; MPI_Win_flush_all(win);"
    assert races_of_c(program(put(), both=reads)) != set()
    assert races_of_c(program(f"{put()} MPI_Win_flush(1, win);", both=reads)) == set()


def test_windows_complete_apart() -> None:
    made = "MPI_Win_create(&r, 8, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &other);"
    body = "MPI_Put(&w, 1, MPI_LONG, 1, 0, 1, MPI_LONG, other); MPI_Win_flush({0});"
    reads = "MPI_Barrier(MPI_COMM_WORLD); if (rank == 1) v = r;"
    assert races_of_c(program(body.format("1, win"), both=reads, before=made)) != set()
    assert races_of_c(program(body.format("1, other"), both=reads, before=made)) == set()


ATTACHED = (
    "MPI_Aint at[2]; MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &other); MPI_Win_attach(other, &r, 8);"
    "MPI_Get_address(&r, &at[rank]);"
    "MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, at, 1, MPI_AINT, MPI_COMM_WORLD);"
)
THERE = "MPI_Put(&v, 1, MPI_LONG, 1, {0}, 1, MPI_LONG, other); MPI_Win_flush(1, other);"


def test_a_dynamic_window_is_one_that_is_created_with_the_memory() -> None:
    created = "MPI_Win_create(&r, 8, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &other);"
    wanted = statements(evaluated(program(put() + THERE.format(0), before=created)), "main_P0")
    assert wanted[-2:] == ["put P1.r = v on win1_P0_P1 unsignaled", "flush win1_P0_P1"]
    for place in ("at[1]", "MPI_Aint_add(MPI_Aint_diff(at[1], 8), 8)"):
        found = statements(evaluated(program(put() + THERE.format(place), before=ATTACHED)), "main_P0")
        assert set(wanted[-2:]) <= set(found)


@pytest.mark.ci
def test_memory_of_a_dynamic_window_races_as_that_of_others_does() -> None:
    asked = program(THERE.format("at[1]") + ROWS["Send"][0], "{0}", before=ATTACHED)
    assert races_of_c(asked.replace("{0}", f"{RECEIVED} w = r;")) == set()
    assert len(races_of_c(asked.replace("{0}", f"w = r; {RECEIVED}"))) == 1


@pytest.mark.parametrize(("place", "says"), [("MPI_Aint_add(at[1], 8)", "not attached"), ("0", "no address of an object")])
def test_what_is_not_attached_is_refused(place: str, says: str) -> None:
    with pytest.raises(ProgramError, match=says):
        evaluated(program(THERE.format(place), before=ATTACHED))


@pytest.mark.parametrize(("key", "kind", "value"), [("SIZE", "MPI_Aint", 16), ("DISP_UNIT", "int", 8), ("MODEL", "int", 2)])
def test_attributes_of_windows(key: str, kind: str, value: int) -> None:
    asked = f"{kind} *a; int f; long *b; MPI_Win_get_attr(win, MPI_WIN_{key}, &a, &f);"
    asked += "MPI_Win_get_attr(win, MPI_WIN_BASE, &b, &f);"
    assert f"v = {value}" in statements(evaluated(program(f"{asked} v = *a + (b != m) + !f; {put()}")), "main_P0")


@pytest.mark.skipif(shutil.which("gcc") is None, reason="there is no gcc to compare with")
def test_the_header_and_the_tests_are_c(tmp_path: Path) -> None:
    (tmp_path / "mpi.h").write_text(mpi.mpi_header())
    texts = [program(body) for body, _ in ROWS.values()]
    for number, text in enumerate(texts):
        (tmp_path / f"{number}.c").write_text(text)
    files = [str(tmp_path / f"{number}.c") for number in range(len(texts))]
    found = subprocess.run(["gcc", "-fsyntax-only", f"-I{tmp_path}", *files], capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stderr
