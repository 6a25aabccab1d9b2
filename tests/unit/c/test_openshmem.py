"""OpenSHMEM in C: what each call becomes, what is refused where, where set-up ends, and which accesses race."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from rdma_robust.analyses.safety.goals import faults
from rdma_robust.c.evaluate.evaluated_c import evaluate_units
from rdma_robust.c.front.c_options import COptions
from rdma_robust.c.front.c_units import read_units
from rdma_robust.c.libraries import openshmem
from rdma_robust.c.read_c import read_c
from rdma_robust.errors import ProgramError
from tests.conftest import ROOT
from tests.support.c_automata import evaluated, statements
from tests.support.c_races import documented_rows, races_of_c

HEAD = """#include <shmem.h>
static long x, y, flag, lock, list[4], sync[4];
static uint64_t sig;
"""


def program(zero: str, one: str = "", both: str = "", before: str = "") -> str:
    """Return C in which process 0 does something, then process 1, then both, behind a barrier; `before` it is set-up."""
    return (
        f"{HEAD}int main(void) {{ long v = 5, w[4] = {{ 1, 2, 3, 4 }}; shmem_init(); {before} shmem_barrier_all();\n"
        f"if (shmem_my_pe() == 0) {{ {zero} }}\nif (shmem_my_pe() == 1) {{ {one} }}\n{both} return 0; }}\n"
    )


ROWS = documented_rows("c-openshmem.md")


@pytest.mark.parametrize("name", ROWS)
def test_what_calls_become(name: str) -> None:
    body, wanted = ROWS[name]
    found = statements(evaluated(program(body, "shmem_p(&x, 9, 1); shmem_p(&flag, 0, 0); shmem_p(&sig, 0, 0);")), "main_P0")
    assert found[: len(wanted)] == wanted


def test_no_context_has_nothing_under_way() -> None:
    none = "shmem_ctx_quiet(SHMEM_CTX_INVALID); shmem_ctx_fence(SHMEM_CTX_INVALID); shmem_ctx_destroy(SHMEM_CTX_INVALID);"
    found = statements(evaluated(program(f"shmem_p(&x, 1, 1); {none} shmem_quiet();")), "main_P0")
    assert found == ["put P1.x = 1 inline unsignaled", "flush P1"]


def test_barriers() -> None:
    found = evaluated(program("shmem_p(&x, 1, 1);", both="shmem_sync_all(); shmem_barrier_all(); shmem_finalize();"))
    assert statements(found, "main_P0")[1:] == ["barrier", "flush P1", "barrier", "barrier"]
    assert statements(found, "main_P1") == ["barrier", "barrier", "barrier"]


def test_an_atomic_that_may_leave_the_domain_is_told_of_in_the_c() -> None:
    found, _ = read_c(program("", both="shmem_atomic_inc(&x, 1);"), "test.c")
    assert {(each.kind, each.span.line) for each in faults(found)} == {("overflow", 7)}


def test_a_team_meets_alone() -> None:
    text = program("", both="if (shmem_my_pe() < 2) shmem_team_sync(t);", before=TEAM)
    found = evaluate_units(read_units("test.c", COptions(processes=3), text))
    assert statements(found, "main_P0") == ["barrier main_P0, main_P1"]
    assert statements(found, "main_P2") == []


TEAM = "shmem_team_t t; shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, 2, 0, 0, &t);"


def test_a_reduction_gives_what_all_have() -> None:
    body = "list[0] = shmem_my_pe() + 1; shmem_long_sum_reduce(SHMEM_TEAM_WORLD, &x, list, 1); shmem_p(&y, x, 0);"
    found = statements(evaluated(program("", both=body)), "main_P1")
    assert found[0] == "barrier"
    assert "put P0.y = 3 inline unsignaled" in found


# collective functions, lists, and what a program asks outside


def test_a_root_goes_on_before_the_others_come() -> None:
    text = program("", both="shmem_broadcast(SHMEM_TEAM_WORLD, &x, &y, 1, 0); if (shmem_my_pe() == 0) shmem_p(&flag, 1, 1);")
    assert races_of_c(text) == set()
    late = program(
        "", "flag = 1;", both="shmem_broadcast(SHMEM_TEAM_WORLD, &x, &y, 1, 0); if (!shmem_my_pe()) shmem_p(&flag, 1, 1);"
    )
    assert races_of_c(late) == {("flag = 1", "put P1.flag = 1 inline unsignaled")}


def test_a_target_is_written_when_the_others_come_to_the_call() -> None:
    call = "shmem_fcollect(SHMEM_TEAM_WORLD, list, &y, 1);"
    assert races_of_c(program("", "list[0] = 7;", both=call)) != set()
    assert races_of_c(program("", "list[0] = 7;", both=f"shmem_sync_all(); {call} v = list[0];")) == set()


@pytest.mark.parametrize(
    ("operation", "kind", "parts", "result"),
    [
        ("sum", "long", "5, -7", -2),
        ("max", "ulong", "1, -1", -1),
        ("xor", "uint", "5, 3", 6),
        ("prod", "double", "0.5, 6", 3),
    ],
)
def test_reductions_of_both_forms(operation: str, kind: str, parts: str, result: int) -> None:
    types = {"ulong": "unsigned long", "uint": "unsigned int"}
    c = types.get(kind, kind)
    body = f"static {c} a, b; static const {c} from[2] = {{ {parts} }}; a = from[shmem_my_pe()];"
    found = [f"shmem_{kind}_{operation}_reduce(SHMEM_TEAM_WORLD, &b, &a, 1);"]
    if kind in ("long", "double"):
        found.append(f"shmem_{kind}_{operation}_to_all(&b, &a, 1, 0, 0, 2, (void *)w, sync);")
    for call in found:
        text = program("", both=f"{body} {call} shmem_long_p(&y, (long)b, 0);")
        assert f"put P0.y = {result} inline unsignaled" in statements(evaluated(text), "main_P1")


def test_fractions_that_depend_on_the_order_are_not_followed() -> None:
    body = "static double a, b; a = 0.1; shmem_double_sum_reduce(SHMEM_TEAM_WORLD, &b, &a, 1); shmem_double_p(&b, b, 0);"
    found = evaluate_units(read_units("test.c", COptions(processes=3), program("", both=body)))
    assert any("what `shmem_double_sum_reduce` gives" in each.message for each in found.remarks)
    with pytest.raises(ProgramError) as refused:
        evaluate_units(read_units("test.c", COptions(processes=3), program("", both=f"{body} if (b > 0.2) x = 1;")))
    assert {each.code for each in refused.value.diagnostics} == {"RR819"}


@pytest.mark.parametrize(
    ("call", "found"),
    [
        ("shmem_wait_until_some(list, 2, at, 0, SHMEM_CMP_EQ, 1)", {"1 0", "1 1", "2 0"}),
        ("shmem_test_some(list, 2, at, 0, SHMEM_CMP_EQ, 1)", {"0 9", "1 0", "1 1", "2 0"}),
        ("shmem_wait_until_some_vector(list, 2, at, skip, SHMEM_CMP_EQ, one)", {"1 1"}),
        ("shmem_test_any_vector(list, 2, 0, SHMEM_CMP_EQ, one)", {"-1 9", "0 9", "1 9"}),
        ("shmem_test_all(list, 2, skip, SHMEM_CMP_EQ, 1)", {"0 9", "1 9"}),
    ],
)
def test_lists_of_words(call: str, found: set[str]) -> None:
    lists = "size_t at[2] = { 9, 9 }; int skip[2] = { 1, 0 }; long one[2] = { 1, 1 };"
    zero = f"{lists} v = shmem_long_{call.removeprefix('shmem_')}; shmem_p(&x, v, 1); shmem_p(&y, (long)at[0], 1);"
    text = program(zero, "shmem_p(list, 1, 0); shmem_p(list + 1, 1, 0);")
    edges = next(each for each in evaluated(text).threads if each.name == "main_P0").edges
    ends = [edge for each in edges.values() for edge in each if edge.statement.startswith("put P1.x")]
    told = {f"{edge.statement.split()[3]} {behind.statement.split()[3]}" for edge in ends for behind in edges[edge.to]}
    assert told == found


def test_memory_is_read_word_by_word_where_it_is_compared() -> None:
    text = "#include <string.h>\n" + program("if (memcmp(list, &y, 8) == 0) shmem_p(&x, 1, 1);", "shmem_p(list, 1, 0);")
    assert statements(evaluated(text), "main_P0") == ["list = list_0", "put P1.x = 1 inline unsignaled"]


def test_what_is_compared_has_a_length_of_its_own_each_time() -> None:
    body = "if (memcmp(list, sync, 16)) shmem_p(&x, 1, 1); if (memcmp(list, sync, 8)) shmem_p(&x, 2, 1);"
    text = "#include <string.h>\n" + program(body, "shmem_p(list, 1, 0); shmem_p(list + 1, 1, 0);")
    assert not any("assert" in each for each in statements(evaluated(text), "main_P0"))


def test_a_program_has_no_arguments_and_no_options() -> None:
    text = (
        "#include <shmem.h>\n#include <getopt.h>\n#include <stdlib.h>\n#include <string.h>\nstatic long x;\n"
        "int main(int argc, char **argv) { shmem_init(); shmem_barrier_all(); char *name = strrchr(argv[0], '/');\n"
        'while (getopt(argc, argv, "v") != -1) shmem_p(&x, 2, 1);\n'
        'if (!name && !getenv("DEBUG") && optind == argc && !argv[1]) shmem_p(&x, 1, 1);\nreturn 0; }\n'
    )
    found = evaluated(text)
    assert statements(found, "main_P0") == ["put P1.x = 1 inline unsignaled"]
    assert {each.message for each in found.remarks} >= {
        "`main` is run without arguments: `argc` is 1",
        "the environment is taken to have no `DEBUG`",
    }


def test_teams_of_two_axes() -> None:
    body = (
        "shmem_team_t a, b; shmem_team_split_2d(SHMEM_TEAM_WORLD, 2, 0, 0, &a, 0, 0, &b);\n"
        "shmem_p(&x, 10 * shmem_team_n_pes(a) + shmem_team_my_pe(b), 0);"
    )
    found = evaluate_units(read_units("test.c", COptions(processes=3), program("", both=body)))
    told = {number: statements(found, f"main_P{number}")[-1] for number in range(3)}
    assert [told[number].split()[3] for number in range(3)] == ["20", "20", "11"]


# set-up


def test_what_is_written_before_the_first_barrier_is_there_at_the_start() -> None:
    found = evaluated(program("shmem_p(&x, 1, 1);", "v = x;", before="x = 4;"))
    assert [word.initial for word in found.nodes["P1"]] == [4]
    assert statements(found, "main_P1") == ["v = x"]


def test_set_up_ends_at_initialisation_if_somebody_puts_before_the_barrier() -> None:
    found = evaluated(program("", "v = x;", before="if (shmem_my_pe() == 0) shmem_p(&x, 1, 1); x = 4;"))
    assert [word.initial for word in found.nodes["P1"]] == [0]
    assert statements(found, "main_P1") == ["x = 4", "barrier", "v = x"]


def test_set_up_ends_at_initialisation_if_somebody_does_not_come_to_the_barrier() -> None:
    found = evaluated(program("shmem_p(&x, 1, 1);", before="if (shmem_my_pe() == 1) return 0;"))
    assert statements(found, "main_P0") == ["barrier", "put P1.x = 1 inline unsignaled"]


def test_symmetric_memory_is_the_same_everywhere() -> None:
    found = evaluated(program("shmem_p(p, 1, 1);", "v = *p;", before="long *p = shmem_malloc(8);"))
    assert statements(found, "main_P0") == ["put P1.p = 1 inline unsignaled"]
    assert statements(found, "main_P1") == ["v = p"]


# refusals


@pytest.mark.parametrize(
    ("body", "code", "says"),
    [
        ("shmem_put(&v, &x, 1, 1);", "RR813", "`v` is on the stack"),
        ("v = *(long *)0;", "RR813", "a null pointer, "),
        ("v = ((struct { long a, b; } *)0)->b;", "RR813", "a null pointer and 8 bytes, "),
        ("shmem_put(&x, &v, 2, 1);", "RR813", "bytes 8 to 16 are outside of `v`"),
        ("shmem_p(&x, 1, 2);", "RR818", "there is no process 2 here"),
        ("long *p = shmem_ptr(&x, 1); *p = 1;", "RR842", "`shmem_ptr`"),
        ("shmem_long_broadcast(SHMEM_TEAM_WORLD, &x, &y, 1, 2);", "RR818", "there is no process 2 here"),
        ("shmem_broadcast64(&x, &y, 1, 0, 1, 0, 1, sync);", "RR818", "P0 is none of the processes that call"),
        ("shmem_long_broadcast(SHMEM_TEAM_WORLD, &x, w, 1, 0);", "RR813", "`w` is on the stack"),
        ("shmem_uint64_atomic_or(&sig, 1, 0); if (sig == 1) x = 1;", "RR819", "`sig`, whose values are not followed"),
        (
            "shmem_uint64_atomic_or(&sig, 1, 0); shmem_uint64_wait_until(&sig, SHMEM_CMP_EQ, 1);",
            "RR819",
            "this wait depends",
        ),
        ("shmem_uint64_atomic_or(&sig, 1, 0); shmem_atomic_compare_swap(&sig, 1, 2, 0);", "RR819", "compare-and-swap"),
        ("shmem_int_atomic_add((int *)&x, 1, 1); shmem_long_atomic_add(&x, 1, 1);", "RR815", "covers 2 words of `x`"),
        ("shmem_team_sync(SHMEM_TEAM_INVALID);", "RR818", "is none of this team"),
        ("int n; shmem_p(&x, n, 1);", "RR819", "what is put depends on"),
        ("for (;;) shmem_atomic_inc(&x, 1);", "RR820", "the values of `x`"),
    ],
)
def test_what_is_refused(body: str, code: str, says: str) -> None:
    with pytest.raises(ProgramError) as refused:
        evaluated(program(body, "v = x;"))
    assert (code, True, 5) in {(each.code, says in each.message, each.span.line) for each in refused.value.diagnostics}


# races


TOLD = {
    "a quiet, and a signal": "shmem_p(&x, 1, 1); shmem_quiet(); shmem_p(&flag, 1, 1);",
    "a fence": "shmem_p(&x, 1, 1); shmem_fence(); shmem_p(&flag, 1, 1);",
    "an atomic behind a fence": "shmem_p(&x, 1, 1); shmem_fence(); shmem_atomic_set(&flag, 1, 1);",
}


@pytest.mark.parametrize("name", TOLD)
def test_who_is_told_may_read(name: str) -> None:
    assert races_of_c(program(TOLD[name], "shmem_wait_until(&flag, SHMEM_CMP_EQ, 1); v = x;")) == set()


def test_two_puts_have_no_order() -> None:
    told = "shmem_wait_until(&flag, SHMEM_CMP_EQ, 1); v = x;"
    found = races_of_c(program("shmem_p(&x, 1, 1); shmem_p(&flag, 1, 1);", told))
    assert found == {("put P1.x = 1 inline unsignaled", "v = x")}


SIGNAL = "shmem_put_signal(&x, w, 1, &sig, 1, SHMEM_SIGNAL_SET, 1);"


def test_a_signal_tells_of_its_data_and_of_nothing_else() -> None:
    waits = "shmem_signal_wait_until(&sig, SHMEM_CMP_EQ, 1);"
    assert races_of_c(program(SIGNAL, f"{waits} v = x;")) == set()
    found = races_of_c(program(f"shmem_p(&y, 1, 1); {SIGNAL}", f"{waits} v = y;"))
    assert found == {("put P1.y = 1 inline unsignaled", "v = y")}


def test_a_source_is_free_when_a_put_returns_and_not_before_that_of_nbi() -> None:
    assert races_of_c(program("x = 1; shmem_put(&y, &x, 1, 1); x = 2;")) == set()
    assert races_of_c(program("x = 1; shmem_put_nbi(&y, &x, 1, 1); x = 2;")) == {("put P1.y = x unsignaled", "x = 2")}
    assert races_of_c(program("x = 1; shmem_put_nbi(&y, &x, 1, 1); shmem_quiet(); x = 2;")) == set()


def test_atomics_race_with_what_is_none_and_with_those_of_another_kind() -> None:
    add = "shmem_atomic_add(&x, 1, 1);"
    assert races_of_c(program(add, add)) == set()
    assert races_of_c(program(add, "v = x;")) == {("faa(P1.x, 1) unsignaled", "v = x")}
    float_set = "shmem_double_atomic_set((double *)&x, 1, 1);"
    assert len(races_of_c(program("shmem_atomic_set(&x, 1, 1);", float_set))) == 1


def test_atomics_on_own_words_have_no_answer_that_races() -> None:
    assert races_of_c(program("shmem_atomic_add(&x, 1, 0); shmem_atomic_add(&y, 1, 0);")) == set()


@pytest.mark.ci
def test_an_atomic_of_several_words_races_with_those_of_another_size() -> None:
    whole, part = "shmem_atomic_add(&x, 1, 1);", "shmem_int_atomic_add((int *)&x, 1, 1);"
    assert races_of_c(program(whole, part)) != set()
    assert races_of_c(program(f"{whole} shmem_quiet(); {part}")) == set()
    assert races_of_c(program(f"{part} shmem_quiet(); {whole}", whole)) != set()
    assert races_of_c(program(f"v = shmem_atomic_fetch_add(&x, 1, 1); shmem_quiet(); {part}")) == set()
    assert races_of_c(program("shmem_int_atomic_add((int *)&x + 1, 1, 1);", part)) == set()
    with pytest.raises(ProgramError, match="2 words"):
        races_of_c(program(f"v = shmem_atomic_compare_swap(&x, 1, 2, 1); {part}"))


@pytest.mark.ci
def test_an_answer_of_several_words_is_there_behind_a_quiet() -> None:
    half = "((int *)&v)[1] = 3;"
    for call in ("shmem_atomic_fetch_add_nbi(&v, &x, 1, 1);", "shmem_atomic_fetch_nbi(&v, &x, 1);"):
        assert len(races_of_c(program(f"{call} {half}"))) == 1
        assert races_of_c(program(f"{call} shmem_quiet(); {half}")) == set()
    with pytest.raises(ProgramError, match="covers 2 words"):
        races_of_c(program(f"shmem_atomic_compare_swap_nbi(&v, &x, 1, 2, 1); {half}"))
    with pytest.raises(ProgramError, match="2 words"):
        evaluated(program(f"shmem_atomic_fetch_nbi(&v, &x, 1); {half}"))


DOWN = "static void down(long n, long end) {{ shmem_p(&list[n], n, 1); if (n < end) {0} }}\n"
ODD = "static void odd(long n);\nstatic void even(long n) { shmem_p(&list[n], n, 1); if (n < 3) odd(n + 1); }\n"


def test_a_function_that_calls_itself_is_what_its_loop_is() -> None:
    looped = program("for (long n = 0; n <= 3; n++) shmem_p(&list[n], n, 1);", "v = list[3];")
    both = f"{ODD}static void odd(long n) {{ shmem_p(&list[n], n, 1); if (n < 3) even(n + 1); }}\n"
    for made, call in ((DOWN.format("down(n + 1, end);"), "down(0, 3);"), (both, "even(0);")):
        called = program(call, "v = list[3];").replace("int main", f"{made}int main")
        assert statements(evaluated(called), "main_P0") == statements(evaluated(looped), "main_P0")
        assert len(races_of_c(called)) == len(races_of_c(looped)) == 1


def test_calls_without_end_are_refused() -> None:
    text = program("down(0, 3);", "v = list[0];").replace("int main", f"{DOWN.format('down(n, end);')}int main")
    with pytest.raises(ProgramError, match="calls inside of one another"):
        evaluated(text)
    read = program("down(0, x ? 2 : 1);", "shmem_p(&x, 1, 0);").replace(
        "int main", f"{DOWN.format('down(n + 1, end);')}int main"
    )
    assert "put P1.list_2 = 2 inline unsignaled" in statements(evaluated(read), "main_P0")


def test_a_barrier_completes_the_default_context_alone() -> None:
    put = "shmem_ctx_t c; shmem_ctx_create(0, &c); shmem_ctx_long_p(c, &x, 1, 1);"
    assert races_of_c(program(put, both="shmem_barrier_all(); if (shmem_my_pe()) v = x;")) != set()
    assert races_of_c(program(f"{put} shmem_ctx_quiet(c);", both="shmem_barrier_all(); if (shmem_my_pe()) v = x;")) == set()


def test_locks_order_what_they_enclose() -> None:
    body = "shmem_set_lock(&lock); shmem_p(&x, 1, 1); shmem_clear_lock(&lock);"
    assert races_of_c(program(body, body)) == set()
    assert races_of_c(program(body, "shmem_p(&x, 1, 1);")) != set()


def test_a_team_orders_its_members_alone() -> None:
    text = program("shmem_p(&x, 1, shmem_n_pes() - 1); shmem_quiet();", both="if (shmem_my_pe() < 2) shmem_team_sync(t);"
                   " if (shmem_my_pe() == shmem_n_pes() - 1) v = x;", before=TEAM)  # fmt: skip
    assert races_of_c(text, 2) == set()
    assert races_of_c(text, 3) != set()


_DRAFT = re.compile(r"\| ([^|]+) \| `([^`]+)` beside `([^`]+)` \| (race|no race) \| (race|no race) \|")
DIFFERENCES = {name: rest for name, *rest in _DRAFT.findall((ROOT / "docs/c-openshmem.md").read_text(encoding="utf-8"))}


@pytest.mark.parametrize("name", DIFFERENCES)
def test_where_the_draft_of_a_memory_model_differs(name: str) -> None:
    zero, one, ours, draft = DIFFERENCES[name]
    assert ("race" if races_of_c(program(zero, one)) else "no race") == ours != draft
    assert len(DIFFERENCES) == 4


# the header


@pytest.mark.skipif(shutil.which("gcc") is None, reason="there is no gcc to compare with")
def test_the_header_and_the_tests_are_c(tmp_path: Path) -> None:
    (tmp_path / "shmem.h").write_text(openshmem.shmem_header())
    texts = [program(body) for body, _ in ROWS.values()] + [program(body) for body in TOLD.values()]
    for number, text in enumerate(texts):
        (tmp_path / f"{number}.c").write_text(text)
    files = [str(tmp_path / f"{number}.c") for number in range(len(texts))]
    found = subprocess.run(["gcc", "-fsyntax-only", f"-I{tmp_path}", *files], capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stderr


def test_there_is_a_function_for_each_name() -> None:
    assert len(openshmem.FUNCTIONS) > 1500
    for name in ("shmem_ctx_size_put_nbi", "shmem_uint64_atomic_fetch_xor_nbi", "shmem_putmem_signal", "shmem_iget128"):
        assert f"{name}(" in openshmem.FUNCTIONS[name].declaration
