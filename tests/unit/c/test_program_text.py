"""The text of evaluated C, and automata without what nobody sees: text and file have one verdict."""

from __future__ import annotations

import re

import pytest

from rdma_robust import check, verify
from rdma_robust.c.automaton import EvaluatedThread, Guard, ThreadEdge
from rdma_robust.c.read_c import rdma_text
from rdma_robust.c.text.simplified import simplified
from rdma_robust.language.flow.cfg import Program
from rdma_robust.language.load import load_program
from tests.support.random_c import random_twin

HEAD = """
#include <infiniband/verbs.h>
#include <rdma_robust.h>
#include <stdint.h>
static volatile long box, here, seen;
static struct ibv_qp *qp; static struct ibv_cq *cq;
static void put(int flags)
{
	struct ibv_sge sge = { .addr = (uintptr_t)&here, .length = 8 };
	struct ibv_send_wr wr = { .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_RDMA_WRITE, .send_flags = flags }, *bad;
	char *there; RR_IMPORT(there, "box"); wr.wr.rdma.remote_addr = (uintptr_t)there;
	ibv_post_send(qp, &wr, &bad);
}
RR_PROCESS(B) void receiver(void)
{
	RR_EXPORT("box", &box); RR_CQ(cq); RR_QP(qp, cq, cq); RR_CONNECT(qp, "c");
	seen = box;
}
RR_PROCESS(A) void sender(void)
{
	struct ibv_wc wc[3]; int n = 0; long r;
	RR_CQ(cq); RR_QP(qp, cq, cq); RR_CONNECT(qp, "c");
"""
BODIES = {
    "two at once": "put(IBV_SEND_SIGNALED); put(IBV_SEND_SIGNALED); while (n < 2) n += ibv_poll_cq(cq, 2, wc); here = 1;",
    "up to three": "put(IBV_SEND_SIGNALED); put(IBV_SEND_SIGNALED); while (n < 2) n += ibv_poll_cq(cq, 3, wc); here = 1;",
    "tries once": "put(IBV_SEND_SIGNALED); if (ibv_poll_cq(cq, 1, wc)) here = 1; else seen = 1;",
    "tries often": "put(IBV_SEND_SIGNALED); for (; n < 3; n++) if (ibv_poll_cq(cq, 1, wc)) break; here = n;",
    "never comes": "put(0); while (!ibv_poll_cq(cq, 1, wc)) ; here = 1;",
    "one too many": "put(IBV_SEND_SIGNALED); while (n < 2) n += ibv_poll_cq(cq, 2, wc); here = 1;",
    "memory meanwhile": "put(IBV_SEND_SIGNALED); do { r = seen; n += ibv_poll_cq(cq, 1, wc); } while (!n && !r); here = 1;",
    "forever": "for (;;) { put(IBV_SEND_SIGNALED); while (!ibv_poll_cq(cq, 1, wc)) ; here = !here; }",
    "leaves inside": "put(0); for (;;) { r = here; if (r == 1) break; here = 2; r = here; if (r == 2) break; here = 1; }",
    "claims": "put(0); r = box; RR_ASSERT(r == 0); seen = 2; r = seen; RR_ASSERT(r != 2);",
    "asks twice": "here = 2; here = 1; put(0); r = here; RR_ASSERT(r == 1 || r == 2);",
    "exits": "put(0); r = box; if (r) __builtin_exit(1); seen = 1;",
}


def answers(program: Program) -> tuple[str, list[tuple[str, str]]]:
    """Return the verdict, and what claims there are, hangs included, with what is known of them."""
    claims = sorted((each.claim.kind, each.status.name) for each in verify(program, timeout=20).checked)
    return check(program, timeout=20).verdict.name, claims


def both(c: str) -> tuple[str, list[tuple[str, str]]]:
    """Return the answers about C, which are those about its text."""
    text = rdma_text(c, "it.c")
    found = answers(load_program(c, "it.c"))
    assert answers(load_program(text, "it.rdma")) == found, text
    return found


SLOW = ("leaves inside",)
"""Programs whose text has a register for the block: what fails only in a spin loop is looked for long there."""


@pytest.mark.parametrize("name", [pytest.param(each, marks=[pytest.mark.ci] * (each in SLOW)) for each in BODIES])
def test_text_and_file_have_one_verdict(name: str) -> None:
    both(f"{HEAD}{BODIES[name]} }}\n")


@pytest.mark.parametrize(
    ("name", "hangs"),
    [("two at once", False), ("up to three", False), ("tries often", False), ("never comes", True), ("one too many", True)],
)
def test_a_polling_loop_hangs_where_nothing_comes(name: str, hangs: bool) -> None:
    _, claims = both(f"{HEAD}{BODIES[name]} }}\n")
    assert (("hang", "VIOLATED") in claims) is hangs


def test_loops_are_polls_and_every_statement_has_its_place() -> None:
    text = rdma_text(f"{HEAD}{BODIES['two at once']} }}\n", "it.c")
    sender = text[text.index("thread sender") :]
    assert [line.split("//")[0].strip() for line in sender.splitlines()][1:-1] == [
        "put B.box = here",
        "put B.box = here",
        "poll B",
        "poll B",
        "here = 1",
    ]
    assert all(re.search(r"// it\.c:\d+:\d+", line) for line in sender.splitlines()[1:-1])
    assert re.search(r"// it\.c:12:\d+ < it\.c:23:\d+", sender)


def test_what_the_language_has_no_block_for_has_a_register_for_the_block() -> None:
    assert "at_block" in rdma_text(f"{HEAD}{BODIES['leaves inside']} }}\n", "it.c")
    assert "which = trypoll B" in rdma_text(f"{HEAD}{BODIES['tries once']} }}\n", "it.c")


def edges(*steps: tuple[int, str, int]) -> dict[int, tuple[ThreadEdge, ...]]:
    places = {place for first, _, last in steps for place in (first, last)}
    return {place: tuple(ThreadEdge(to, said) for first, said, to in steps if first == place) for place in sorted(places)}


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        (edges((0, "", 1), (1, "x = 1", 2)), edges((0, "x = 1", 1))),
        (edges((0, "", 0), (0, "poll B", 1)), edges((0, "poll B", 1))),
        (edges((0, "", 1), (0, "poll B", 2), (1, "", 0), (1, "poll B", 2)), edges((0, "poll B", 1))),
        (edges((0, "", 1), (0, "poll B", 2), (1, "", 3), (2, "x = 1", 3)), None),
        (edges((0, "", 1), (0, "poll B", 2), (0, "poll C", 2), (1, "poll B", 2)), None),
        (edges((0, "poll B", 1), (0, "poll B", 2), (1, "poll B", 3), (2, "x = 1", 3)),
         edges((0, "poll B", 1), (1, "", 2), (1, "poll B", 3), (2, "x = 1", 3))),
        (edges((0, "halt", 1), (1, "x = 1", 2)), {0: ()}),
        (edges((0, "x = 1", 1), (1, "", 1)), edges((0, "x = 1", 1), (1, "", 1))),
    ],
)  # fmt: skip
def test_only_what_nobody_sees_goes(
    given: dict[int, tuple[ThreadEdge, ...]], wanted: dict[int, tuple[ThreadEdge, ...]] | None
) -> None:
    """A way that gives a completion up stays: a thread may wait there for what it would have got otherwise."""
    found = simplified(EvaluatedThread("T", "A", given)).edges
    silent = [each for steps in found.values() for each in steps if not each.statement]
    if wanted is None:
        assert silent
    else:
        assert sorted(map(len, found.values())) == sorted(map(len, wanted.values()))
        assert sorted(e.statement for s in found.values() for e in s) == sorted(
            e.statement for s in wanted.values() for e in s
        )


def test_a_branch_whose_side_fails_is_a_claim() -> None:
    among = frozenset({1, 2, 3})
    given = {
        0: (
            ThreadEdge(1, guard=Guard("r", frozenset({1}), among)),
            ThreadEdge(2, guard=Guard("r", frozenset({2, 3}), among)),
        ),
        1: (ThreadEdge(2, "assert 1 == 0"),),
        2: (),
    }
    assert [each.statement for each in simplified(EvaluatedThread("T", "A", given)).edges[0]] == ["assert r != 1"]


@pytest.mark.parametrize(
    "claim", ["r == 1 || r == 2", "r != 0 && r <= 2", "r == 1 || (r != 0 && r == 2)", "!(r < 1 || r > 2)"]
)
def test_a_claim_that_is_asked_one_by_one_is_one_claim(claim: str) -> None:
    """The second part is asked on no way here: of it alone nothing could be said."""
    c = f"{HEAD}here = 2; here = 1; here = 3; here = 1; put(0); r = here; RR_ASSERT({claim}); }}\n"
    assert "assert r == 1 || r == 2" in rdma_text(c, "it.c")
    assert both(c)[1] == [("assertion", "HOLDS"), ("hang", "HOLDS")]


def test_what_a_branch_before_a_claim_asks_is_no_part_of_it() -> None:
    """A claim behind a branch that is never taken is about nothing, and that is said."""
    _, claims = both(f"{HEAD}here = 2; here = 1; put(0); r = here; if (r != 1) RR_ASSERT(r == 2); }}\n")
    assert claims == [("assertion", "UNREACHABLE"), ("hang", "HOLDS")]


def agree(seeds: range, size: int) -> None:
    for seed in seeds:
        both(random_twin(seed, size).c)


def test_text_and_file_have_one_verdict_on_random_programs() -> None:
    agree(range(4), 5)


@pytest.mark.ci
def test_text_and_file_have_one_verdict_on_more_random_programs() -> None:
    agree(range(100, 130), 7)


@pytest.mark.long
def test_text_and_file_have_one_verdict_on_many_random_programs() -> None:
    agree(range(1000, 2000), 8)
