"""What can go from a robust program: flags of fenced requests too, and nothing that keeps a thread from waiting."""

from __future__ import annotations

from rdma_robust import verify
from rdma_robust.analyses.repair.needless import remove_needless
from rdma_robust.language.load import load_program

HEAD = "node A { a = 1, b = 2, f = 0, g = 0 }\nnode B { x, y }\nthread T on A {\n"
REST = "\n}\nthread U on A { g = 1 }\nthread V on B { reg r; r = x; r = y }\n"


def gone(body: str) -> list[tuple[str, int]]:
    """What goes, and in which line of the body."""
    found = remove_needless(HEAD + body + REST, "a.rdma")
    return [(row.lines[0], row.line - HEAD.count("\n")) for row in found.removed]


def test_the_flag_of_a_fenced_request_goes_and_the_request_stays() -> None:
    text = HEAD + "put B.x = a\nput B.y = b unsignaled fenced" + REST
    found = remove_needless(text, "a.rdma")
    assert [(row.kind, row.lines, row.cost) for row in found.removed] == [("fenced", ("fenced",), 1)]
    assert found.solutions[0].patched == text.replace(" fenced", "")


def test_a_fence_flag_that_orders_a_get_stays() -> None:
    assert gone("get a = B.x unsignaled\nput B.y = a fenced") == []


def test_what_decides_between_branches_stays_where_something_waits_behind_it() -> None:
    assert gone("choose { rfence B\nawait f == 1 } or { await g == 1 }\nput B.x = a") == []
    assert gone("put B.x = a\nchoose { poll B\nawait f == 1 } or { await g == 1 }") == []
    assert gone("choose { rfence B\nf = 1 } or { await g == 1 }\nput B.x = a") == [("rfence B", 1)]
    assert gone("choose { rfence B\nrfence B\nf = 1 } or { skip }") == [("rfence B", 1), ("rfence B", 2)]


def test_without_such_a_fence_a_hang_would_go() -> None:
    text = HEAD + "choose { rfence B\nawait f == 1 } or { await g == 1 }\nput B.x = a" + REST
    with_fence, without = (verify(load_program(each, "a.rdma")) for each in (text, text.replace("rfence B", "skip")))
    assert (with_fence.status.value, without.status.value) == ("violated", "holds")
