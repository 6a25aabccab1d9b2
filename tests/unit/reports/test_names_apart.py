"""Tests of one class have names of their own, copies of a statement say which they are, and code shows no escapes."""

from __future__ import annotations

import xml.etree.ElementTree as ET

from rdma_robust.analyses.safety.verify import claims
from rdma_robust.frame.formats.junit import Case, junit_document
from rdma_robust.language.load import load_program
from rdma_robust.reports.analyses.safety_report import claim_text
from rdma_robust.reports.batch.batch_markdown import code, markdown_prose

COPIES = """
const N = 2
node S { x = 0 }
node A[i in 1..N] { seen = 0 }

macro zero(v) {
  reg q
  q = v
  assert q == 0
}

thread T[i in 1..N] on A[i] {
  reg r
  put S.x = i
  r = seen
  assert r == i
  for k in 0..1 {
    assert r == k
  }
  zero(seen)
  zero(seen)
}
"""


def test_copies_of_a_claim_say_which_they_are() -> None:
    found = [claim_text(each) for each in claims(load_program(COPIES, "copies.rdma")) if each.kind == "assertion"]
    assert len(set(found)) == len(found) == 6
    assert {"assert r == i, in T[1]", "assert r == i, in T[2]", "assert q == 0, from line 20"} <= set(found)
    assert {"assert r == k, `r == 0`", "assert r == k, `r == 1`"} <= set(found)


def test_no_two_tests_of_a_class_have_one_name() -> None:
    cases = [Case("same", "c", 0.0), Case("same", "c", 0.0), Case("same [2]", "c", 0.0), Case("same", "other", 0.0)]
    document = ET.fromstring(junit_document({"one": cases, "two": cases[:1]}))
    names = [(case.get("classname"), case.get("name")) for case in document.iter("testcase")]
    assert len(set(names)) == len(names) == 5


def test_code_in_markdown_has_no_escapes_but_bars_in_tables() -> None:
    assert markdown_prose("the NIC reads `x` of `a.b || c` (line 1)") == r"the NIC reads `x` of `a.b || c` \(line 1\)"
    assert markdown_prose("`a | b`", cell=True) == r"`a \| b`"
    assert code("a || b", cell=False) == "`a || b`"
    assert markdown_prose("one ` alone, and * more") == r"one \` alone, and \* more"
