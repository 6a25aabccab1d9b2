"""Each lint on programs that have what it warns of, and on programs that are alike and have not."""

from __future__ import annotations

import pytest

from rdma_robust.analyses.lints.lint import CODES, linted, lints
from rdma_robust.language.load import load_program
from tests.support.left_out import suite_program

HEAD = """domain 0..9
node A { x = 1, y = 0, copy = 0, ack = 0, ring[2] = 0 }
node B { u = 1, v = 0 }
node C { f = 0, m = 0 }
thread T on A {
  reg r, s, i
  posted y from U
"""
LINE = HEAD.count("\n") + 1

REST = """
}
thread U on B { reg r; posted v from T; r = u; r = v; put A.ack = 1; send 1 to T }
thread W on C { reg r; posted m from T; choose { rpoll T; r = m } or { skip }; r = f }
thread N on A { reg r; r = x; r = y; r = copy; r = ring[0]; r = ring[1] }
"""

EXPECTED = {
    # A poll that finds nothing.
    "poll B": [(0, "RR702")],
    "put B.u = x\npoll B": [],
    "put B.u = x\npoll B\npoll B": [(2, "RR702")],
    "put B.u = x\npoll C": [(1, "RR702")],
    "loop { put B.u = x\npoll B }": [],
    "loop { put B.u = 1\npoll B\npoll B }": [(2, "RR702")],
    "choose { put B.u = 1 } or { skip }\npoll B": [(1, "RR702")],
    "choose { put B.u = 1 } or { put B.v = 1 }\npoll B": [],
    "loop { put B.u = 1 }\nloop { poll B }": [],
    "loop { put B.u = 1 }\npoll B": [(1, "RR702")],
    "r = ack\nif r == 1 { put B.u = 1 }\npoll B": [],
    "if i == 0 { put B.u = 1 }\npoll B": [],
    "if i == 1 { put B.u = 1 }\npoll B": [(0, "RR703"), (1, "RR702")],
    "while i < 2 { put B.u = 1\ni = i + 1 }\npoll B\npoll B": [],
    "while i < 2 { put B.u = 1\ni = i + 1 }\npoll B\npoll B\npoll B": [(4, "RR702")],
    # A poll that does not wait, or that another queue pair answers too.
    "put B.u = x\nr = trypoll B\ns = trypoll B": [],
    "r = trypoll B": [(0, "RR731")],
    "loop { poll B }\nput B.u = x": [(0, "RR731")],
    "choose { poll B } or { skip }": [(0, "RR731")],
    "put B.u = x\nput C.f = y\npoll B or C\npoll B or C": [],
    "put B.u = x\npoll B or C": [(1, "RR731")],
    # The result of a get that is read before its poll.
    "get copy = B.u\nr = copy\npoll B": [(1, "RR721")],
    "get copy = B.u\npoll B\nr = copy": [],
    "get copy = B.u\nr = y\npoll B\nr = copy": [],
    "get copy = B.u\nawait copy == 1\nr = copy": [],
    "get copy = B.u\nwhile copy != 1 { }\nr = copy": [],
    "get copy = B.u\nif copy == 1 { y = 2 }\npoll B": [(1, "RR721")],
    "put B.v = x\nget copy = B.u\npoll B\nr = copy\npoll B": [(3, "RR721")],
    "put B.v = x\nget copy = B.u\npoll B\npoll B\nr = copy": [],
    "get copy = B.u\nput C.f = copy\npoll B": [(1, "RR721")],
    "get copy = B.u\nput B.v = copy": [(1, "RR721")],
    "get copy = B.u\nrfence B\nput B.v = copy": [],
    "get copy = B.u\nrfence B\nput C.f = copy": [(1, "RR724"), (2, "RR721")],
    "get copy = B.u\nawait ack == 1\nr = copy": [],
    "get copy = B.u\nchoose { poll B } or { skip }\nr = copy": [],
    "get copy = B.u\nr = cas(copy, 0, 1)\npoll B": [(1, "RR721")],
    "get ring[i] = B.u\nr = ring[0]\npoll B": [],
    "get ring[1] = B.u\nr = ring[1]\npoll B": [(1, "RR721")],
    "get ring[1] = B.u\nr = ring[0]\npoll B": [],
    # The source of a put that is overwritten before its poll.
    "put B.u = x\nx = 2\npoll B": [(1, "RR722")],
    "put B.u = x\npoll B\nx = 2": [],
    "put B.u = x\ny = 2\npoll B": [],
    "put B.u = 1\nx = 2": [],
    "put B.u = x\nget x = B.v\npoll B\npoll B": [],
    "put B.u = x\nget x = C.f\npoll C\npoll B": [(1, "RR722")],
    "put B.u = x\nawait ack == 1\nx = 2": [],
    "put B.u = x\nput B.v = y\npoll B\nx = 2\ny = 2": [(4, "RR722")],
    "loop { x = 2\nput B.u = x }": [(0, "RR722")],
    "loop { x = 2\nput B.u = x\npoll B }": [],
    "put B.u = x\nr = ack\nif r == 1 { x = 2 }": [],
    # A poll of a put that looks as if it waited for the arrival.
    "put B.u = 1\npoll B\nput C.f = 1": [(1, "RR723")],
    "put B.u = 1\nget copy = B.v\npoll B\npoll B\nput C.f = 1": [],
    "put B.u = 1\npoll B\nput B.v = 1": [],
    "put B.u = x\npoll B\nx = 2\nput C.f = 1": [],
    "put B.u = 1\npoll B\ny = 1": [(1, "RR723")],
    "put B.u = 1\npoll B\nawait ack == 1\nput C.f = 1": [],
    "put B.u = 1\npoll B\nget copy = B.v\npoll B\nr = copy\nput C.f = 1": [],
    "put B.u = 1\npoll B\nr = r + 1": [],
    "put B.u = 1\nput C.f = 1\npoll B\npoll C": [],
    # A fence that orders nothing.
    "rfence B\nput B.u = 1": [(0, "RR724")],
    "put B.u = 1\nrfence B": [(1, "RR724")],
    "put B.u = 1\nrfence B\nput B.v = 1": [(1, "RR724")],
    "get copy = B.u\nrfence B\nput B.v = 1\npoll B": [],
    "put B.u = 1\npoll B\nrfence B\nput B.v = 1": [(2, "RR724")],
    "put B.u = 1\nrfence B\nput C.f = 1": [(1, "RR724")],
    "loop { rfence B\nput B.u = 1 }": [(0, "RR724")],
    "loop { rfence B\nget copy = B.u }": [],
    "put B.u = 1\nput B.v = x fenced": [(1, "RR724")],
    "get copy = B.u\nput B.v = x fenced": [],
    "get copy = B.u unsignaled\nrfence B\nput B.v = x\npoll B": [],
    "get copy = B.u\nrfence B\nput B.v = x unsignaled\npoll B": [],
    "get copy = B.u unsignaled\nput B.v = x\npoll B\nrfence B\nput B.u = 2\npoll B": [(3, "RR724")],
    "get copy = faa(B.u, 1)\nrfence B\nput B.v = x": [],
    "send x to U\nrfence B\nput B.v = y": [],
    "send x to U\nrfence B\nput B.v = y inline": [],
    # A fence that decides between branches.
    "choose { rfence B\nawait ack == 1 } or { await y == 1 }": [],
    "choose { rfence B\ny = 2 } or { await y == 1 }": [(0, "RR724")],
    "choose { rfence B\nif ack == 1 { y = 2 } } or { await y == 1 }": [(0, "RR724")],
    "choose { rfence B\nrpoll U } or { await y == 1 }": [],
    # The same with requests that are unsignaled, inline, fenced, messages or remote atomics.
    "get copy = B.u unsignaled\nr = copy": [(0, "RR707"), (1, "RR721")],
    "get copy = B.u unsignaled\nput B.v = x\npoll B\nr = copy": [],
    "put B.v = x\nget copy = B.u unsignaled\npoll B\nr = copy": [(3, "RR721")],
    "get copy = B.u fenced\nr = copy\npoll B": [(0, "RR724"), (1, "RR721")],
    "get copy = faa(B.u, 1)\nr = copy\npoll B": [(1, "RR721")],
    "get copy = B.u\nrpoll U\nr = copy\npoll B": [],
    "put B.u = x unsignaled\nx = 2": [(0, "RR707"), (1, "RR722")],
    "put B.u = x unsignaled\nput B.v = y\npoll B\nx = 2": [],
    "put B.u = x\nput B.v = y unsignaled\npoll B\ny = 2": [(2, "RR723"), (3, "RR722")],
    "put B.u = x inline\nx = 2": [],
    "send x to U\nx = 2": [(1, "RR722")],
    "send x to U\npoll B\nx = 2": [],
    "send x to U\nput C.f = y\npoll B\ny = 2\npoll C": [],
    # What a get writes is written before its poll.
    "get copy = B.u\ncopy = 2\npoll B": [(1, "RR729")],
    "get copy = B.u\npoll B\ncopy = 2": [],
    "get copy = B.u\nget copy = C.f\npoll B\npoll C": [(1, "RR729")],
    "get copy = B.u\nget copy = B.v\npoll B\npoll B": [],
    "get copy = B.u unsignaled\ncopy = 2": [(0, "RR707"), (1, "RR729")],
    "get copy = swap(B.u, 1)\ncopy = 2\npoll B": [(1, "RR729")],
    "get copy = B.u\nrpoll U\ncopy = 2\npoll B": [],
    # A completion that is never polled, where some are unsignaled or there is no end of them.
    "put B.u = x unsignaled\nput B.v = y": [(1, "RR730")],
    "put B.u = x unsignaled\nput B.v = y\npoll B": [],
    "get copy = C.f\npoll C\nloop { put B.u = x }": [(2, "RR730")],
    "put B.u = x\nloop { put B.u = x\npoll B }": [],
    "loop { put B.u = x }\nloop { poll B }": [],
    "put B.u = x": [],
    # A message that is seen before a put has arrived.
    "put B.u = 1\npoll B\nsend y to W": [(1, "RR723")],
    "put B.u = 1 unsignaled\nput B.v = 1\npoll B\nsend y to W": [(2, "RR723")],
    "put B.u = 1\nget copy = B.v unsignaled\nput B.v = 1\npoll B\npoll B\nsend y to W": [],
    "put B.u = 1\npoll B\nsend y to W\nsend y to W": [],
    # What is never reached.
    "r = copy\nif r == 7 { y = 2 }": [(1, "RR703")],
    "r = x\nif r == 1 { y = 2 }": [],
    "if 0 { y = 2 }": [(0, "RR703")],
    "while 1 { y = 2 }\nx = 2": [(1, "RR703")],
    "loop { y = 2 }\nx = 2": [],
    "halt\ny = 2": [(1, "RR703")],
    "choose { halt } or { y = 2 }\ny = 3": [],
}


@pytest.mark.parametrize("statements", EXPECTED)
def test_what_is_warned_of(statements: str) -> None:
    text = HEAD + statements + REST
    found = linted(text, "a.rdma").found
    mine = [(each.span.line - LINE, each.code) for each in found if each.span.line < LINE + statements.count("\n") + 1]
    assert [each for each in mine if each[0] >= 0] == EXPECTED[statements]


RECEIVERS = {
    "recv m from T\nrpoll T\nr = m": ["RR723"],
    "r = f\nrecv m from T\nrpoll T": ["RR723"],
    "await f == 1\nrecv m from T\nrpoll T": [],
    "posted m from T\nrpoll T": ["RR723"],
    "recv m from T\nr = m": [],
}


@pytest.mark.parametrize("receiver", RECEIVERS)
def test_a_message_is_seen_early_if_it_is_sure_to_be_received(receiver: str) -> None:
    text = "node A { x = 1 }\nnode B { u }\nnode C { f, m }\nthread T on A {\nput B.u = x\npoll B\nsend x to W\n}\n"
    text += f"thread W on C {{ reg r\n{receiver}\n}}\nthread U on B {{ reg r; r = u }}\n"
    assert [each.code for each in linted(text, "a.rdma").found if each.code == "RR723"] == RECEIVERS[receiver]


OUTCOMES = {
    "T.r == 0": [],
    "T.r == 1": [],
    "T.r == 7": ["RR725"],
    "T.r == 0 && A.x == 7": ["RR725"],
    "T.r == 7 || A.x == 1": [],
    "T.r > 1": ["RR725"],
    "T.r != A.x": [],
}


@pytest.mark.parametrize("condition", OUTCOMES)
def test_outcomes_that_no_execution_has(condition: str) -> None:
    text = "domain 0..9\nnode A { x = 0 }\nthread T on A { reg r; r = x; x = 1 }\n"
    text += f"outcome {condition} : forbidden under sc\n"
    assert [each.code for each in linted(text, "a.rdma").found] == OUTCOMES[condition]


def test_an_outcome_of_a_thread_that_never_ends() -> None:
    text = "node A { x = 0 }\nthread T on A { while 1 { x = 1 } }\noutcome A.x == 1 : allowed under sc\n"
    found = linted(text, "a.rdma").found
    assert [each.code for each in found] == ["RR725"]
    assert "thread T never ends" in found[0].message


@pytest.mark.parametrize(
    ("body", "variables"),
    [
        ("y = 1", ["A.y"]),
        ("y = 1\nput B.z = x", ["A.y", "B.z"]),
        ("y = 1\nput B.z = y", ["B.z"]),
        ("get y = B.z\npoll B", []),
        ("cas(y, 0, 1)", []),
        ("ring[0] = 1\nr = ring[1]", []),
        ("ring[0] = 1", ["A.ring"]),
    ],
)
def test_variables_that_nobody_reads(body: str, variables: list[str]) -> None:
    text = f"node A {{ x = 0, y = 0, ring[2] = 0 }}\nnode B {{ z = 0 }}\nthread T on A {{ reg r\n{body}\n}}\n"
    found = [each.message for each in lints(load_program(text, "a.rdma")).found if each.code == "RR726"]
    assert found == [f"`{name}` is written and never read" for name in variables]
    names = (f"{name}[0]" if name == "A.ring" else name for name in variables)
    asked = f"{text}outcome {' && '.join(f'{name} == 0' for name in names)} : allowed under sc"
    assert not variables or "RR726" not in {each.code for each in lints(load_program(asked, "a.rdma")).found}


def test_every_lint_is_tested() -> None:
    tested = {code for found in EXPECTED.values() for _, code in found} | {"RR725", "RR726", "RR728"}
    assert tested >= CODES


@pytest.mark.parametrize(("order", "said"), [("default", 1), ("multipath", 1), ("none", 0), ("accumulate", 0)])
def test_a_fence_between_puts_has_an_effect_where_nothing_else_is_promised(order: str, said: int) -> None:
    text = f"""hardware order {order}
node A {{ x }}
node B {{ u, v }}
thread T on A {{ put B.u = x; rfence B; put B.v = 1 }}
"""
    found = lints(load_program(text, "t.rdma")).found
    assert sum(each.code == "RR724" for each in found) == said


@pytest.mark.parametrize(("read", "said"), [("G.data on ctl", 0), ("E.more on ctl", 1), ("H.flag on ctl", 1)])
def test_a_memory_behind_a_card_is_read_on_any_queue_pair(read: str, said: int) -> None:
    text = f"""node A {{ scratch, one = 1 }}
node H {{ flag }}
node G via H {{ data }}
node E via H {{ more }}
thread T on A {{
  qp bulk to H, ctl to H
  put G.data = one on bulk
  poll bulk
  get scratch = {read}
  poll ctl
  put H.flag = one on ctl
}}
thread U on G {{ reg r; await H.flag == 1; r = data }}
"""
    found = lints(load_program(text, "t.rdma")).found
    assert sum(each.code == "RR723" for each in found) == said


def test_a_window_that_messages_open_is_said_to_be_one() -> None:
    found = lints(suite_program("deployed/depth-window-loop")).found
    assert [each.code for each in found] == ["RR732"]
    polled = "deployed/depth-window-polled"
    assert not lints(suite_program(polled)).found


def test_a_fence_of_a_lane_is_said_to_be_one() -> None:
    text = "node A { x }\nnode B { u }\nthread T on A { qp q to B; put B.u = x; rfence q; put B.u = 1 on q }\n"
    messages = [each.message for each in lints(load_program(text, "t.rdma")).found if each.code == "RR724"]
    assert messages == ["`rfence q` orders nothing: nothing towards B on q is outstanding before it"]
