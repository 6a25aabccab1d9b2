"""`node G via H`: where the word is a keyword, what names mean beside a card, what is wrong, how it is printed."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rdma_robust.build import ProgramBuilder
from rdma_robust.editing.hovers import hover
from rdma_robust.errors import ProgramError, UsageError
from rdma_robust.language.check.refusals import model_refusals
from rdma_robust.language.flow.canonical import canonical_text
from rdma_robust.language.flow.cfg import Get, ImmPut, Poll, Put, Read, Send, peer_of
from rdma_robust.language.flow.copies import without_memories
from rdma_robust.language.flow.valid import complaints
from rdma_robust.language.load import load_program
from rdma_robust.language.syntax.formatter import format_source
from rdma_robust.model import RDMA
from rdma_robust.options import CheckOptions
from rdma_robust.outcome import Verdict
from rdma_robust.robustness.decide import decide
from rdma_robust.robustness.frame import InstrumentationFrame
from rdma_robust.robustness.paper import beyond_paper, instrument_frame
from tests.support.rebuilt import rebuilt

TEXT = """allow loopback
node A { one = 1 }
node H { flag, go }
node G via H { data[2], relaxed tail }
thread T on A {
  qp bulk to H
  put G.data[1] = one on bulk
  put H.flag = one imm 1 to P
  send 1 to K
  poll bulk
}
thread P on H { reg r
  posted G.tail from T
  rpoll T
  r = G.data[0]
  G.data[0] = r
  get flag = G.tail
  poll H
}
thread K on G { reg r
  posted data[0] from T
  r = H.flag
  r = cas(H.go, 0, 1)
  get data[1] = A.one
}
"""


def operations(text: str) -> list[object]:
    return [step.op for thread in load_program(text, "t").threads for _, _, step in thread.edges]


def test_queue_pairs_are_with_the_card() -> None:
    program = load_program(TEXT, "t")
    assert program.behind == (("G", "H"),) and program.memories == ("G",)
    assert {cell.name: cell.card for cell in program.cells if cell.node == "G"} == {
        "data[0]": "H",
        "data[1]": "H",
        "tail": "H",
    }
    pairs = {type(op): peer_of(op) for op in operations(TEXT) if isinstance(op, Put | Send | ImmPut)}
    assert pairs == {Put: "bulk", Send: "H", ImmPut: "H"}
    assert [peer_of(op) for op in operations(TEXT) if isinstance(op, Get | Poll)] == ["bulk", "H", "H", "A"]


def test_processors_reach_the_words_of_both() -> None:
    reads = [str(op.cell) for op in operations(TEXT) if isinstance(op, Read)]
    assert reads == ["G.data[0]", "H.flag"]


def test_a_constant_lies_beside_the_card() -> None:
    text = "node B { x }\nnode H { }\nnode G via H { y }\nthread K on G { put B.x = 3 }"
    (hidden,) = (cell for cell in load_program(text, "t").cells if cell.hidden)
    assert (hidden.node, hidden.plain) == ("H", True)


def test_it_is_a_name_everywhere_else() -> None:
    text = """node via { via }
node G via via { x }
node P[via in 0..1] { y }
node Q[i in 0..1] via P[i] { z }
thread T on via { reg r
  r = via
  G.x = r
}
"""
    assert load_program(text, "t").behind == (("G", "via"), ("Q[0]", "P[0]"), ("Q[1]", "P[1]"))


def test_members_of_families_have_cards() -> None:
    nodes = "node H[i in 0..1] { f }\nnode G[i in 0..1] via H[1 - i] { d }\n"
    text = f"{nodes}thread T[i in 0..1] on G[i] {{ reg r; r = H[1 - i].f }}"
    assert load_program(text, "t").behind == (("G[0]", "H[1]"), ("G[1]", "H[0]"))


NODES = "node A { one = 1 }\nnode H { f }\nnode G via H { d }\n"


@pytest.mark.parametrize(
    ("text", "code", "said"),
    [
        ("node H { f }\nnode G via H { d }\nnode K via G { e }", "RR450", "`G` has no NIC"),
        ("node G via G { d }", "RR450", "behind its own NIC"),
        ("node G via X { d }", "RR202", "unknown node `X`"),
        ("node G via H { d }\nnode H { f }", "RR202", "unknown node `H`"),
        ("node H { f }\nnode G[*] via H { d }\nthread T[*] on G[*] { d = 1 }", "RR450", "any number of nodes `G`"),
        (f"{NODES}thread T on A {{ poll G }}", "RR451", "behind that of H, and so do its queue pairs"),
        (f"{NODES}thread T on A {{ flush G }}", "RR451", "`G` has no NIC"),
        (f"{NODES}thread T on A {{ rfence G }}", "RR451", "`G` has no NIC"),
        (f"{NODES}thread T on A {{ order G }}", "RR451", "`G` has no NIC"),
        (f"{NODES}thread T on A {{ qp bulk to G }}", "RR451", "`G` has no NIC"),
        (f"{NODES}thread T on A {{ reg r; r = trypoll G }}", "RR451", "`G` has no NIC"),
        (f"{NODES}thread P on H {{ reg r; r = d }}", "RR308", "`d` is a variable of node G, beside H"),
        (f"{NODES}thread P on H {{ put G.d = f }}", "RR401", "`G.d` is behind the same NIC"),
        (f"{NODES}thread K on G {{ poll H }}", "RR401", "the node whose NIC thread K itself uses"),
        (f"{NODES}thread T on A {{ G.d = 1 }}", "RR308", "`G.d` is on another node"),
        (f"{NODES}thread P on H {{ send f to K }}\nthread K on G {{ rpoll P }}", "RR410", "runs on G"),
        (
            f"{NODES}node C {{ }}\nthread T on A {{ put G.d = one imm 1 to U }}\nthread U on C {{ rpoll T }}",
            "RR411",
            "writes to G",
        ),
        ("node H { f }\nnode G via { d }", "RR101", ""),
        ("node G via H via H { d }", "RR101", ""),
    ],
)
def test_what_is_wrong(text: str, code: str, said: str) -> None:
    with pytest.raises(ProgramError) as caught:
        load_program(text, "t")
    assert any(each.code == code and said in each.message for each in caught.value.diagnostics), caught.value.diagnostics


def test_a_lane_to_a_node_without_a_card_is_said_once() -> None:
    with pytest.raises(ProgramError) as caught:
        load_program(f"{NODES}thread T on A {{\n  qp bulk to G\n  put G.d = one on bulk\n}}", "t")
    assert [each.code for each in caught.value.diagnostics] == ["RR451"]


def test_it_is_printed_and_built_again() -> None:
    formatted = format_source(TEXT, "t")
    assert "node G via H { data[2], relaxed tail }" in formatted and format_source(formatted, "t") == formatted
    assert canonical_text(load_program(formatted, "t")) == canonical_text(load_program(TEXT, "t"))
    simple = f"{NODES}thread T on A {{ put G.d = one }}\nthread K on G {{ reg r; r = H.f }}"
    assert canonical_text(rebuilt(simple)) == canonical_text(load_program(simple, "p"))
    assert "node G via H" in canonical_text(load_program(TEXT, "t"))
    builder = ProgramBuilder("t")
    builder.node("H", ["f"])
    builder.node("G", ["d"], via="H")
    assert "node G via H { d = 0 }" in builder.text


def test_programs_without_a_text_are_checked() -> None:
    program = load_program(TEXT, "t")
    assert not list(complaints(program))
    wrong = (
        (replace(program, behind=()), "lies behind another NIC than its node says"),
        (replace(program, behind=(("G", "G"),)), "which has none"),
        (replace(program, allow_loopback=False), "is its own node"),
        (replace(program, many_nodes=("G",)), "memory behind a NIC is that of nodes with names"),
    )
    for changed, said in wrong:
        assert any(said in each.message for each in complaints(changed)), said


def test_what_does_not_have_it_says_so() -> None:
    program = load_program(f"{NODES}thread T on A {{ put G.d = one }}", "t")
    (refusal,) = model_refusals(program, "rdma")
    assert refusal.code == "RR408" and "G.d lies behind the NIC of H" in refusal.message
    assert not model_refusals(program, "rma")
    assert beyond_paper(program) == "memory behind a NIC"
    with pytest.raises(UsageError, match="memory behind a NIC"):
        instrument_frame(InstrumentationFrame.to_instrument(program, RDMA))


LOOP = """node A { one = 1 }
node H { f }
node G via H { d }
thread T%s on A {
  %s
  put H.f = one
}
thread K on G { reg r
  await H.f == 1
  r = d
}
"""


def test_any_number_of_copies_is_decided() -> None:
    outcome = decide(load_program(LOOP % ("[*]", "put G.d = one"), "t"), CheckOptions())
    assert outcome.verdict is Verdict.NOT_ROBUST and outcome.copies is not None and outcome.copies.least


def test_loops_are_decided() -> None:
    outcome = decide(load_program(LOOP % ("", "loop { put G.d = one }"), "t"), CheckOptions())
    assert outcome.verdict is Verdict.NOT_ROBUST


def test_all_memory_beside_its_card() -> None:
    program = load_program(LOOP % ("", "loop { put G.d = one }"), "t")
    plain = without_memories(program)
    assert plain.plain and plain.nodes == ("A", "H") and {str(cell) for cell in plain.cells} >= {"H.f", "H.G.d"}
    assert decide(plain, CheckOptions()).verdict is Verdict.ROBUST


def test_hovers() -> None:
    found = hover(TEXT, TEXT.index("get data[1]"))
    assert found is not None and "behind the NIC of H: a poll tells that it was issued" in found.text
    node = hover(TEXT, TEXT.index("G via"))
    assert node is not None and "node G via H" in node.text
    card = hover(TEXT, TEXT.index("H { data[2]"))
    assert card is not None and "node H" in card.text


def test_more_memories_than_are_followed() -> None:
    """What is issued to a third one is not followed, and the axioms refuse what the search finds for that."""
    nodes = "".join(f"node G{i} via H {{ d{i} }}\n" for i in range(3))
    puts = "".join(f"  put G{i}.d{i} = one\n" for i in range(3))
    text = f"""allow loopback
node A {{ one = 1 }}
node H {{ f, s, go }}
{nodes}thread T on A {{
{puts}  put H.f = one
}}
thread P on H {{
  await f == 1
  get s = G2.d2
  poll H
  go = 1
}}
thread K on %s {{ reg r
  await H.go == 1
  r = %s
}}
"""
    assert decide(load_program(text % ("G2", "d2"), "t"), CheckOptions()).verdict is Verdict.ROBUST
    assert decide(load_program(text % ("G1", "d1"), "t"), CheckOptions()).verdict is Verdict.NOT_ROBUST
