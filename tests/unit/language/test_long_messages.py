"""Messages of several words, written out: which steps there are, by any way to write the program, and what is refused."""

from __future__ import annotations

import pytest

from rdma_robust.build import Array, ProgramBuilder
from rdma_robust.errors import ProgramError
from rdma_robust.language.flow import cfg
from rdma_robust.language.flow.canonical import same_program
from rdma_robust.language.load import load_program

TEXT = """
node A { a[3] = 1, n = 2 }
node B { b[3], c[2] }
thread T on A {
  send a[0..2] to U unsignaled
  send n to U
  put B.c[0] = n imm 4 to U
}
thread U on B {
  reg r
  posted b[0..2], c[1] from T
  recv c[0..1] from T
  r = rpoll T
}
"""


def sent(program: cfg.Program) -> list[tuple[str, bool, int]]:
    """The words of messages: what each is, whether a poll can take it, and its number."""
    found = []
    for _, _, step in program.threads[0].edges:
        op = step.op
        assert isinstance(op, cfg.Send | cfg.ImmPut)
        source = "-" if op.data is None or op.data.source is None else str(op.data.source)
        found.append((source, op.signaled, op.word))
    return found


def test_each_message_is_as_long_as_the_longest() -> None:
    program = load_program(TEXT, "p")
    assert program.words == ((("T", "U", ""), 3),)
    assert sent(program) == [
        *(("A.a[0]", False, 1), ("A.a[1]", False, 2), ("A.a[2]", False, 3)),
        *(("A.n", False, 1), ("-", False, 2), ("-", True, 3)),
        *(("A.n", False, 1), ("-", False, 2), ("-", True, 3)),
    ]


def test_what_a_buffer_has_not_is_void() -> None:
    receiver = load_program(TEXT, "p").threads[1]
    assert [str(cell) for _, cell, _ in receiver.posted] == ["B.b[0]", "B.b[1]", "B.b[2]", "B.c[1]", *["B.no room"] * 2]
    received = [step.op.cell for _, _, step in receiver.edges if isinstance(step.op, cfg.Recv)]
    assert [(str(cell), cell.void) for cell in received] == [("B.c[0]", False), ("B.c[1]", False), ("B.no room", True)]


def test_the_first_poll_takes_the_number() -> None:
    steps = [step for _, _, step in load_program(TEXT, "p").threads[1].edges if isinstance(step.op, cfg.RecvPoll)]
    assert [bool(step.assigns) for step in steps] == [True, False, False]


def test_a_buffer_without_long_messages_is_one_word() -> None:
    program = load_program(TEXT.replace("a[0..2]", "a[2]"), "p")
    assert not program.words and not any(cell.void for cell in program.cells)
    assert len(program.threads[1].posted) == 2


def test_the_builder_makes_the_same() -> None:
    builder = ProgramBuilder("p")
    builder.node("A", a=Array(3, 1), n=2)
    builder.node("B", b=Array(3), c=Array(2))
    builder.thread("T", "A").send("a[0..2]", "U", unsignaled=True).send("n", "U").put("B.c[0]", "n", imm=4, to="U")
    builder.thread("U", "B", r=0).posted("b[0..2]", "c[1]", sender="T").recv("c[0..1]", "T").rpoll("T", into="r")
    assert same_program(builder.program("p"), load_program(TEXT, "p"))


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [
        ("a[0..2]", "a[0..3]", "RR443"),
        ("a[0..2]", "a[2..1]", "RR443"),
        ("a[0..2]", "n[0..2]", "RR443"),
        ("c[0..1]", "c[r..1]", "RR443"),
        ("\nnode A", "hardware rnr wait\nnode A", "RR445"),
    ],
)
def test_what_is_refused(old: str, new: str, code: str) -> None:
    with pytest.raises(ProgramError) as raised:
        load_program(TEXT.replace(old, new, 1), "p")
    assert code in str(raised.value.diagnostics)


def test_too_many_words_are_refused() -> None:
    text = (
        TEXT.replace("a[3]", "a[4000]")
        .replace("a[0..2]", "a[0..3999]")
        .replace("r = rpoll T", "\n".join(["  rpoll T"] * 20))
    )
    with pytest.raises(ProgramError) as raised:
        load_program(text, "p")
    assert "RR215" in str(raised.value.diagnostics)
