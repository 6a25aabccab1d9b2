"""A robust program with messages: the explanation names the receives that order it, and the cells of its arrays."""

from __future__ import annotations

from rdma_robust.analyses.explain.compose import explanation
from rdma_robust.options import CheckOptions
from rdma_robust.pipeline import check_text

CALLS = """\
program rpc
const CALLS = 2
domain 0..4
node Cl { rbuf[2] }
node Sv { qbuf[2] }
thread Client on Cl {
  reg i, r
  posted rbuf[0], rbuf[1] from Server
  while i < CALLS {
    send i to Server inline
    poll Sv
    rpoll Server
    r = rbuf[i % 2]
    recv rbuf[i % 2] from Server
    i = i + 1
  }
}
thread Server on Sv {
  reg i, q
  posted qbuf[0], qbuf[1] from Client
  while i < CALLS {
    rpoll Client
    q = qbuf[i % 2]
    recv qbuf[i % 2] from Client
    send q + 1 to Client inline unsignaled
    i = i + 1
  }
}
"""


def test_the_receives_that_keep_the_order_are_named() -> None:
    told = explanation(check_text(CALLS, "rpc", CheckOptions()), CheckOptions())
    assert told.verdict == "robust"
    paragraph = next(text for text in told.paragraphs if text.startswith("Messages keep the order of threads: "))
    assert "Client goes on behind `rpoll Server` (line 12) only when a message from Server is in its buffer" in paragraph
    assert "further messages find a buffer by `recv rbuf[i % 2] from Server` (line 14)" in paragraph
    assert "Server goes on behind `rpoll Client` (line 22)" in paragraph


def test_each_cell_of_an_array_is_named() -> None:
    told = explanation(check_text(CALLS, "rpc", CheckOptions()), CheckOptions())
    later = {pair.later.text for pair in told.pairs}
    assert {"`r = rbuf[i % 2]` (line 13, `rbuf[0]`)", "`r = rbuf[i % 2]` (line 13, `rbuf[1]`)"} <= later


def test_a_program_without_messages_says_nothing_of_them() -> None:
    told = explanation(check_text("node A { x }\nthread P on A { x = 1 }", "t", CheckOptions()), CheckOptions())
    assert not any("Messages" in text for text in told.paragraphs)
