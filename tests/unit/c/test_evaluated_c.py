"""Evaluation of C: what calls become, and what is refused where."""

from __future__ import annotations

import pytest

from rdma_robust.errors import ProgramError
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
    assert "RR845" in {each.code for each in evaluated(two("m.x = 1;")).remarks}
