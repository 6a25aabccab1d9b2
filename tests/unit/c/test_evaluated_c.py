"""Evaluation of C: what calls become, and what is refused where."""

from __future__ import annotations

import pytest

from rdma_robust import check
from rdma_robust.errors import LimitReached, ProgramError
from tests.support.c_automata import evaluated, statements
from tests.support.random_c import HEAD

SET_UP = HEAD.format(hardware="") + "static struct memory *there;\n"


def two(body: str, other: str = "") -> str:
    """Return a program whose process A does something, and B is there for it; `body` begins in a line of its own."""
    return (
        f'{SET_UP}RR_PROCESS(B) void BT(void)\n{{\n\tset_up("B", "A", &there);\n\tRR_CONNECT(qp, "c");\n{other}\n}}\n'
        f'RR_PROCESS(A) void AT(void)\n{{\n\tset_up("A", "B", &there);\n\tRR_CONNECT(qp, "c");\n{body}\n}}\n'
    )


@pytest.mark.parametrize(
    ("body", "wanted"),
    [
        ("m.x = 1;", ["m_x = 1"]),
        ("__atomic_store_n(&m.x, 1, 5);", ["m_x = 1", "mfence"]),
        ("post(IBV_WR_RDMA_WRITE, 0, &m.x, &there->y, 8, 0, 0, 0);", ["put B.m_y = m_x unsignaled"]),
        (
            "post(IBV_WR_RDMA_WRITE, IBV_SEND_SIGNALED | IBV_SEND_FENCE, &m.x, &there->y, 8, 0, 0, 0);",
            ["put B.m_y = m_x fenced"],
        ),
        (
            "long v = 4; post(IBV_WR_RDMA_WRITE, IBV_SEND_INLINE, &v, &there->y, 8, 0, 0, 0);",
            ["put B.m_y = 4 inline unsignaled"],
        ),
        (
            "m.x = 3; m.y = 4; post(IBV_WR_RDMA_WRITE, IBV_SEND_SIGNALED, &m.x, &there->x, 16, 0, 0, 0);",
            ["m_x = 3", "m_y = 4", "put B.m_x = m_x unsignaled", "put B.m_y = m_y"],
        ),
        ("post(IBV_WR_RDMA_READ, 2, &m.x, &there->y, 8, 0, 0, 0);", ["get m_x = B.m_y"]),
        ("post(IBV_WR_ATOMIC_CMP_AND_SWP, 2, &m.x, &there->y, 8, 0, 1, 0);", ["get m_x = cas(B.m_y, 0, 1)"]),
        ("post(IBV_WR_ATOMIC_FETCH_AND_ADD, 2, &m.x, &there->y, 8, 2, 0, 0);", ["get m_x = faa(B.m_y, 2)"]),
        ("for (int i = 0; i < 3; i++) ((long *)&m)[i] = i + 1;", ["m_x = 1", "m_y = 2", "m_z = 3"]),
        ("RR_ASSUME(0);", ["assume 1 == 0"]),
    ],
)
def test_what_statements_become(body: str, wanted: list[str]) -> None:
    other = "post(IBV_WR_RDMA_READ, 0, &m.x, there, 24, 0, 0, 0);"
    assert statements(evaluated(two(body, other)), "AT") == wanted


def test_a_place_by_a_number_that_was_drawn_is_inside_of_its_object() -> None:
    draw = "post(IBV_WR_ATOMIC_FETCH_AND_ADD, 2, &m.x, &there->x, 8, 1, 0, 0);"
    put = "post(IBV_WR_RDMA_WRITE, 0, &m.z, &there->y + m.x, 8, 0, 0, 0);"
    found = statements(evaluated(two(f"{draw}\n{put}")), "AT")
    assert {"put B.m_y = m_z unsignaled", "put B.m_z = m_z unsignaled"} <= set(found)


@pytest.mark.parametrize(
    ("body", "code", "says"),
    [
        ("long *lookup(int); *lookup(1) = 1;", "RR811", "what `lookup` returns"),
        ("struct ibv_send_wr wr, *bad; static struct ibv_qp *no; ibv_post_send(no, &wr, &bad);", "RR812", "queue pair"),
        ("post(IBV_WR_RDMA_WRITE, 0, &m.x, there + 1, 8, 0, 0, 0);", "RR813", "outside of `m`"),
        ("post(IBV_WR_RDMA_WRITE, 0, &m.x, &m.y, 8, 0, 0, 0);", "RR813", "`remote_addr` is in `m` of A"),
        ("post(IBV_WR_LOCAL_INV, 0, &m.x, there, 8, 0, 0, 0);", "RR814", "LOCAL_INV"),
        (
            "*(volatile int *)&m.x = 1; post(IBV_WR_RDMA_READ, 0, &m.x, there, 8, 0, 0, 0); m.x = 1;",
            "RR815",
            "covers 2 words",
        ),
        ("void hidden(void *); hidden(qp);", "RR816", "`hidden` is not known here"),
        ("for (int i = 0; i < 30; i++) post(IBV_WR_RDMA_WRITE, 2, &m.x, there, 8, 0, 0, 0);", "RR817", "24 completions"),
        (
            "int configured(void); if (configured()) m.x = 1;",
            "RR819",
            "which way to go depends on what `configured` returns",
        ),
        ("for (;;) m.x = m.x + 1;", "RR820", "do not stay finite"),
    ],
)
def test_what_is_refused(body: str, code: str, says: str) -> None:
    with pytest.raises(ProgramError) as refused:
        evaluated(two(body, "post(IBV_WR_RDMA_READ, 0, &m.z, there, 8, 0, 0, 0);"))
    assert (code, True) in {(each.code, says in each.message) for each in refused.value.diagnostics}


def test_all_refusals_are_told_at_once() -> None:
    with pytest.raises(ProgramError) as refused:
        evaluated(two("void f(void *); f(qp);", "void g(void *); g(qp);"))
    assert [each.code for each in refused.value.diagnostics] == ["RR816", "RR816"]


def test_a_process_that_does_nothing_is_warned_of() -> None:
    text = two("", "post(IBV_WR_RDMA_READ, 0, &m.x, there, 24, 0, 0, 0);")
    assert "RR845" in {each.code for each in evaluated(text).remarks}


ROOM = """
	struct ibv_qp_init_attr attr = { .send_cq = sent, .recv_cq = received, .qp_type = IBV_QPT_RC, .cap = { 2, 1, 1, 1 } };
	RR_CQ(sent); RR_CQ(received);
	attr.send_cq = sent; attr.recv_cq = received;
	qp = ibv_create_qp(0, &attr);
"""


def with_room(body: str) -> str:
    """Return a program whose A has a queue pair with room for two requests and one receive."""
    text = two(body, "post(IBV_WR_RDMA_READ, 0, &m.x, there, 24, 0, 0, 0);")
    at = text.rindex('\tRR_CONNECT(qp, "c");')
    return text[:at] + ROOM + text[at:]


PUT = "post(IBV_WR_RDMA_WRITE, {}, &m.x, there, 8, 0, 0, 0);"
SIGNALED, SILENT = PUT.format("IBV_SEND_SIGNALED"), PUT.format("0")


@pytest.mark.parametrize(
    ("body", "is_full"),
    [
        (SIGNALED * 2, False),
        (SIGNALED * 3, True),
        (SILENT * 3, True),
        (SIGNALED * 2 + "take(sent);" + SIGNALED, False),
        (SILENT + SIGNALED + "take(sent);" + SIGNALED * 2, False),
        (SIGNALED + SILENT + "take(sent);" + SIGNALED * 2, True),
        ("post_receive(&m.y, 8);", False),
        ("post_receive(&m.y, 8); post_receive(&m.z, 8);", True),
    ],
)
def test_a_post_to_a_full_queue_ends_its_way(body: str, *, is_full: bool) -> None:
    found = evaluated(with_room(body))
    assert ("RR849" in {each.code for each in found.remarks}) is is_full
    assert ("assert 1 == 0" in statements(found, "AT")) is is_full


def test_a_way_ends_where_a_word_would_leave_its_values() -> None:
    both = "post(IBV_WR_RDMA_READ, 0, &m.y, there, 8, 0, 0, 0);"
    found = evaluated(two("RR_VALUES(0, 2); for (;;) m.x = m.x + 1;", both))
    assert [each for each in statements(found, "AT") if " = " in each or "assume" in each].count("assume 1 == 0") == 1
    assert {"m_x = 1", "m_x = 2"} < set(statements(found, "AT"))
    assert "m_x = 3" not in statements(found, "AT")


def test_additions_and_numbers_outside_of_the_values_are_refused() -> None:
    text = two("RR_VALUES(0, 2); post(IBV_WR_ATOMIC_FETCH_AND_ADD, 2, &m.x, &there->y, 8, 1, 0, 0);", "RR_INPUT(m.z, 7, 8);")
    with pytest.raises(ProgramError) as refused:
        evaluated(text)
    assert [each.code for each in refused.value.diagnostics] == ["RR820"]


def test_additions_have_the_values_as_their_domain() -> None:
    text = two("RR_VALUES(0, 2); post(IBV_WR_ATOMIC_FETCH_AND_ADD, 2, &m.x, &there->y, 8, 1, 0, 0);")
    assert evaluated(text).head == ("domain 0..2",)


@pytest.mark.parametrize(
    ("text", "base", "wanted", "rest"),
    [
        ("42x", 10, 42, "x"),
        (" -7", 0, -7, ""),
        ("0x1f,", 0, 31, ","),
        ("017", 0, 15, ""),
        ("0xg", 0, 0, "xg"),
        ("z", 10, 0, "z"),
    ],
)
def test_numbers_of_known_texts_are_known(text: str, base: int, wanted: int, rest: str) -> None:
    body = (
        f'char *end; long got = strtol("{text}", &end, {base}); m.x = got == {wanted} && !strcmp(end, "{rest}") ? 1 : 2;'
        f'm.y = atoi("{text}") + 100;'
    )
    found = statements(evaluated(two(body, "post(IBV_WR_RDMA_READ, 0, &m.x, there, 16, 0, 0, 0);")), "AT")
    assert found[0] == "m_x = 1"


def test_numbers_that_are_too_long_have_short_names() -> None:
    found = evaluated(two("m.x = 0x7b7b7b7b7b7b7b7b;", "post(IBV_WR_RDMA_READ, 0, &m.x, there, 8, 0, 0, 0);"))
    assert found.meaning == {1: "8897841259083430779"}
    assert statements(found, "AT") == ["m_x = 1"]


def test_a_function_of_pthread_once_runs_once_and_the_others_wait() -> None:
    text = two(
        "pthread_t t; pthread_create(&t, 0, other, 0); pthread_once(&once, make); m.y = m.x;",
        "post(IBV_WR_RDMA_READ, 0, &m.x, there, 16, 0, 0, 0);",
    ).replace(
        "static struct memory *there;",
        "#include <pthread.h>\nstatic struct memory *there;\nstatic pthread_once_t once = PTHREAD_ONCE_INIT;\n"
        "static void make(void) { m.x = 5; }\n"
        "static void *other(void *p) { pthread_once(&once, make); m.z = m.x; return 0; }\n",
    )
    found = evaluated(text)
    done = statements(found, "AT")
    assert done.count("m_x = 5") == 1
    assert done.index("m_x = 5") < done.index("once = 2")
    assert any(each.endswith("cas(once, 0, 1)") for each in done)
    assert any(each.endswith("= once") for each in done)


def test_one_poll_takes_many_completions_without_choosing_before_it_sees_them() -> None:
    body = SIGNALED * 9 + "struct ibv_wc wc[16]; int n = 0; do n += ibv_poll_cq(sent, 16, wc + n); while (n < 9); m.y = n;"
    found = evaluated(two(body, "post(IBV_WR_RDMA_READ, 0, &m.y, &there->y, 8, 0, 0, 0);"))
    at = next(each for each in found.threads if each.name == "AT")
    for edges in at.edges.values():
        said = [edge.statement for edge in edges if edge.statement]
        assert len(said) == len(set(said))
    assert "m_y = 9" in statements(found, "AT")


def test_hardware_is_said_outside_of_functions_or_in_one() -> None:
    text = two('RR_HARDWARE("cpu tso");' + SIGNALED)
    assert evaluated(text).head == ("hardware cpu tso",)
    outside = two(SIGNALED) + 'RR_HARDWARE("cpu pso");\n'
    assert evaluated(outside).head == ("hardware cpu pso",)
    with pytest.raises(ProgramError) as refused:
        evaluated(text + 'RR_HARDWARE("cpu pso");\n')
    assert [each.message for each in refused.value.diagnostics] == ["RR_HARDWARE is said twice, with different settings"]


@pytest.mark.ci
def test_reading_ends_in_time() -> None:
    slow = "for (long k = 0; k < 5000; k++) { long s = 0; for (long i = 0; i < 3000; i++) s += i; m.x = s & 1; }"
    with pytest.raises(LimitReached, match="while reading C"):
        check(two(slow, "post(IBV_WR_RDMA_READ, 0, &m.x, there, 8, 0, 0, 0);"), timeout=0.5)


# The flag is MLX5DV_QP_CREATE_OOO_DP, which older headers of rdma-core do not have.
@pytest.mark.parametrize(("flags", "head"), [("1 << 7", ("hardware order ooo-dp",)), ("0", ())])
def test_data_out_of_order_is_another_order(flags: str, head: tuple[str, ...]) -> None:
    made = f"""
	struct ibv_qp_init_attr_ex attr = {{ .send_cq = sent, .recv_cq = received, .qp_type = IBV_QPT_RC }};
	struct mlx5dv_qp_init_attr more = {{ .comp_mask = MLX5DV_QP_INIT_ATTR_MASK_QP_CREATE_FLAGS, .create_flags = {flags} }};
	qp = mlx5dv_create_qp(0, &attr, &more);
"""
    text = two(SIGNALED, SIGNALED).replace("RR_QP(qp, sent, received);", made)
    text = text.replace("RR_QP(second, sent_too, received);", "second = mlx5dv_create_qp(0, &attr, &more);")
    assert evaluated(text.replace("<infiniband/verbs.h>", "<infiniband/mlx5dv.h>")).head == head


@pytest.mark.parametrize(
    "wanted",
    [
        r'strlen("\xff\xc3") == 2',
        r'strcmp("\xff", "\xfe") > 0',
        r'!strcmp(text("%u %x %hhu", -1, -1, 300), "4294967295 ffffffff 44")',
        r'!strcmp(text("%hd %lx %c", 70000, -1L, 200), "4464 ffffffffffffffff \xc8")',
    ],
)
def test_characters_are_bytes_and_numbers_have_the_size_that_is_printed(wanted: str) -> None:
    made = "static char made[64];\n#define text(...) (snprintf(made, sizeof made, __VA_ARGS__), made)\n"
    body = f"m.x = {wanted} ? 1 : 2; post(IBV_WR_RDMA_WRITE, 0, &m.x, &there->y, 8, 0, 0, 0);"
    program = f"#include <stdio.h>\n#include <string.h>\n{made}{two(body)}"
    assert statements(evaluated(program), "AT")[0] == "m_x = 1"


@pytest.mark.parametrize(
    ("end", "seen"),
    [
        ("abort();", ["v = x", "assert 0 == 1", "halt"]),
        ("__builtin_trap();", ["v = x", "assert 0 == 1", "halt"]),
        ("shmem_global_exit(3);", ["v = x", "assert 0 == 1", "halt"]),
        ("shmem_global_exit(0);", ["v = x", "halt"]),
        ("exit(1);", ["v = x", "halt"]),
    ],
)
def test_to_abort_is_to_fail(end: str, seen: list[str]) -> None:
    head = "#include <shmem.h>\n#include <stdlib.h>\nstatic long x;\nint main(void) { shmem_init(); "
    text = f"{head}if (shmem_my_pe() == 0) shmem_long_p(&x, 1, 1); else {{ long v = x; if (v == 1) {{ {end} }} }} }}"
    assert statements(evaluated(text), "main_P1") == seen


def test_what_is_not_known_at_the_start_is_refused() -> None:
    head = "#include <shmem.h>\n#include <stdlib.h>\nstatic long x;\nint main(void) { shmem_init(); x = rand() < 7; "
    with pytest.raises(ProgramError, match="what `x` holds at the start depends on what `rand` returns"):
        evaluated(f"{head}shmem_barrier_all(); shmem_long_p(&x, 5, 1); }}")
