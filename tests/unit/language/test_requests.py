"""Requests with flags, messages, polls of several kinds and `hardware` lines: their steps, their texts, and by hand."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import pytest

from rdma_robust.analyses.lints.lint import linted
from rdma_robust.build import ProgramBuilder
from rdma_robust.errors import ProgramError, UsageError
from rdma_robust.expr import VALUE, Binary, Const, Expr, Name, evaluate
from rdma_robust.language.check.meaning import is_wrapped, wrapped
from rdma_robust.language.check.refusals import model_refusals
from rdma_robust.language.flow import cfg
from rdma_robust.language.flow.canonical import canonical_text, same_program
from rdma_robust.language.flow.valid import complaints
from rdma_robust.language.load import load_decidable, load_program
from rdma_robust.language.syntax.formatter import format_source
from rdma_robust.model import Hardware

HEAD = "domain 0..3\nnode A { x = 1, a[2] }\nnode B { y, z }\nnode C { w }\n"
OTHER = "thread U on B {\n  reg r\n  posted y, z from T\n  rpoll T\n  recv z from T\n  r = rpoll T\n  y = r\n}\n"


def program(statements: str) -> cfg.Program:
    return load_decidable(f"{HEAD}thread T on A {{\n  reg r, q\n  {statements}\n}}\n{OTHER}", "test.rdma")


def graph(statements: str) -> list[str]:
    lines = canonical_text(program(statements)).splitlines()
    start = next(k for k, line in enumerate(lines) if line.startswith("thread T"))
    return [line.strip() for line in lines[start + 1 :] if " -> " in line][: len(program(statements).threads[0].edges)]


RANGE = "((0 <= (r + 1)) && ((r + 1) <= 3))"


@pytest.mark.parametrize(
    ("statements", "expected"),
    [
        ("put B.y = x unsignaled", ["0 -> 1: put B y = A x unsignaled"]),
        ("put B.y = x inline", ["0 -> 1: put B y = $value of A x inline"]),
        ("put B.y = 2 inline unsignaled", ["0 -> 1: put B y = 2 inline unsignaled"]),
        ("put B.y = r + 1 inline", [f"0 -> 1: put B y = (r + 1) inline when {RANGE}",
                                    f"0 -> 2: skip when !({RANGE}) fault overflow"]),
        ("put B.y = a[r] inline", ["0 -> 1: put B y = $value of A a[0] inline when (r == 0)",
                                   "0 -> 1: put B y = $value of A a[1] inline when (r == 1)",
                                   "0 -> 2: skip when !(((0 <= r) && (r <= 1))) fault index out of range"]),
        ("put B.y = x fenced", ["0 -> 1: rfence B", "1 -> 2: put B y = A x"]),
        ("get x = B.y unsignaled", ["0 -> 1: get A x = B y unsignaled"]),
        ("get x = B.y fenced", ["0 -> 1: rfence B", "1 -> 2: get A x = B y"]),
        ("get x = cas(B.y, r, q)", ["0 -> 1: get A x = rmw B y = q if ($value == r)"]),
        ("get x = swap(B.y, 2) unsignaled", ["0 -> 1: get A x = rmw B y = 2 if 1 unsignaled"]),
        ("get x = faa(B.y, 1)", ["0 -> 1: get A x = rmw B y = (((($value + 1) % 4) + 4) % 4) if 1 "
                                 "wraps !(((0 <= ($value + 1)) && (($value + 1) <= 3))) fault overflow"]),
        ("swap(B.y, r) fenced", ["0 -> 1: rfence B", "1 -> 2: rmw of B y = r if 1"]),
        ("cas(B.y, 0, 1) unsignaled", ["0 -> 1: rmw of B y = 1 if ($value == 0) unsignaled"]),
        ("get x = fetch(B.y)", ["0 -> 1: get A x = rmw B y = $value if 0"]),
        ("poll B 3", ["0 -> 1: poll B", "1 -> 2: poll B", "2 -> 3: poll B"]),
        ("poll B or C", ["0 -> 1: poll B", "0 -> 1: poll C"]),
        ("r = poll C or B", ["0 -> 1: poll C", "0 -> 2: poll B", "1 -> 3: skip set r := 0", "2 -> 3: skip set r := 1"]),
        ("r = trypoll B", ["0 -> 1: poll B", "0 -> 2: skip set r := 0", "1 -> 2: skip set r := 1"]),
        ("send x to U", ["0 -> 1: send $value of A x to U on B"]),
        ("send 1 to U unsignaled", ['0 -> 1: send $value of A "const 1" to U on B unsignaled']),
        ("send r to U inline", ["0 -> 1: send r inline to U on B"]),
        ("send x to U fenced", ["0 -> 1: rfence B", "1 -> 2: send $value of A x to U on B"]),
        ("put B.y = x imm 3 to U", ["0 -> 1: put B y = $value of A x imm 3 to U"]),
        ("put B.y = r inline imm r to U unsignaled", ["0 -> 1: put B y = r inline imm r to U unsignaled"]),
    ],
)  # fmt: skip
def test_steps_of_statements(statements: str, expected: list[str]) -> None:
    assert graph(statements) == expected
    made = program(statements)
    assert not list(complaints(made))
    formatted = format_source(made.source, "test.rdma")
    assert same_program(load_decidable(formatted, "test.rdma"), made)
    assert format_source(formatted, "test.rdma") == formatted


def test_steps_of_sugar_are_shown_as_it_was_written() -> None:
    for statement in ("put B.y = x fenced", "poll B 2", "r = poll B or C", "r = trypoll B", "get x = faa(B.y, r) fenced"):
        loaded = program(statement)
        assert {step.text for _, _, step in loaded.threads[0].edges} == {statement}
        assert {loaded.source[step.span.start : step.span.end] for _, _, step in loaded.threads[0].edges} == {statement}


def test_receives() -> None:
    thread = program("send x to U").threads[1]
    assert [(sender, str(buffer)) for sender, buffer, _ in thread.posted] == [("T", "B.y"), ("T", "B.z")]
    made = [step.op for _, _, step in cfg.steps(thread)][:3]
    assert made == [cfg.RecvPoll("T"), cfg.Recv(cfg.Cell("B", "z"), "T"), cfg.RecvPoll("T")]


def test_copies_post_and_send_each() -> None:
    text = f"""{HEAD}
macro ask(what, whom) {{ send what to whom inline }}
thread T on A {{ for i in 0..1 {{ ask(a[i], U); put B.y = a[i] imm i to U }} }}
thread U on B {{ reg r; for i in 0..1 {{ posted y, z from T; r = rpoll T; rpoll T }} }}
"""
    loaded = load_decidable(text, "t")
    assert len(loaded.threads[1].posted) == 4
    assert [s.text for _, _, s in cfg.steps(loaded.threads[0])] == [
        "send a[0] to U inline",
        "put B.y = a[0] imm 0 to U",
        "send a[1] to U inline",
        "put B.y = a[1] imm 1 to U",
    ]


def test_what_hardware_is_told() -> None:
    loaded = load_decidable(f"hardware cpu tso, reads ordered\nhardware order relaxed\n{HEAD}thread T on A {{ x = 2 }}", "t")
    assert loaded.hardware == Hardware("tso", None, "relaxed", True)
    assert not list(complaints(loaded))
    assert load_decidable(format_source(loaded.source, "t"), "t").hardware == loaded.hardware


def test_a_remote_faa_counts_on_from_one_end_of_the_domain_to_the_other() -> None:
    for low, high in ((0, 3), (-2, 2), (1, 1), (3, 7), (-5, -3)):
        for value, added in product(range(low - 9, high + 10), range(-9, 10)):
            new = wrapped(Binary("+", VALUE, Name("d")), (low, high))
            found = evaluate(new, {VALUE.name: value, "d": added})
            assert low <= found <= high and (found - value - added) % (high - low + 1) == 0
            assert is_wrapped(new, (low, high)) and not is_wrapped(new, (low, high + 1))
    plain: Expr = Binary("%", VALUE, Const(4))
    assert not is_wrapped(plain, (0, 3))


def test_wrong_programs_that_come_from_no_text() -> None:
    loaded = program("put B.y = 1")
    cells = {str(cell): cell for cell in loaded.cells}
    x, y, w = cells["A.x"], cells["B.y"], cells["C.w"]
    one = next(cell for cell in loaded.cells if cell.hidden)
    data = cfg.Payload(x)

    def wrong(op: cfg.Op, assigns: tuple[tuple[str, Expr], ...] = ()) -> str:
        thread = loaded.threads[0]
        step = cfg.Step(op, assigns=assigns)
        changed = replace(thread, edges=((thread.entry, thread.exit, step),))
        return "; ".join(map(str, complaints(replace(loaded, threads=(changed, loaded.threads[1])))))

    assert not wrong(cfg.Send("U", "B", data))
    assert not wrong(cfg.InlinePut(y, cfg.Payload(x, VALUE, True), False))
    assert not wrong(cfg.RecvPoll("U"), (("r", VALUE),))
    assert "unknown thread `V`" in wrong(cfg.Send("V", "B", data))
    assert "runs on B, not on C" in wrong(cfg.Send("U", "C", data))
    assert "runs on B, not on C" in wrong(cfg.ImmPut(w, data, Const(1), "U"))
    assert "between threads of different nodes" in wrong(cfg.Recv(x, "T"))
    assert "`B.y` is on another node" in wrong(cfg.Recv(y, "U"))
    assert "hidden constant" in wrong(cfg.Recv(one, "U"))
    assert "an immediate is a register or a constant" in wrong(cfg.ImmPut(y, data, Binary("+", Name("r"), Const(1)), "U"))
    assert "what is calculated is inline" in wrong(cfg.InlinePut(y, cfg.Payload(None, Name("r"))))
    assert "what is read is used where nothing is read" in wrong(cfg.InlinePut(y, cfg.Payload(None, VALUE, True)))
    assert "may leave the domain" in wrong(cfg.RemoteRmw(x, y, Binary("+", VALUE, Const(1))))
    bad = replace(loaded.threads[1], posted=(("T", x, ""), ("W", y, "")))
    told = "; ".join(map(str, complaints(replace(loaded, threads=(loaded.threads[0], bad)))))
    assert "posts `A.x`, which is no variable of its node" in told and "unknown thread `W`" in told
    hardware = Hardware(cpu="pso", atomics="all", order="any")  # type: ignore[arg-type]
    told = "; ".join(map(str, complaints(replace(loaded, hardware=hardware))))
    assert "no cpu is called" in told and "no atomics is called" in told and "no order is called" in told


def test_programs_made_in_python() -> None:
    builder = ProgramBuilder("made", domain=(0, 3)).hardware(cpu="tso", reads="ordered")
    builder.node("A", x=1)
    builder.node("B", y=0, z=0)
    builder.node("C", w=0)
    sender = builder.thread("T", on="A", r=0)
    sender.put("B.y", "x", unsignaled=True).put("B.y", "r + 1", inline=True, fenced=True).put("C.w", "x")
    sender.put("B.y", "x", imm="r", to="U").get("x", "faa(B.y, 1)", fenced=True).send(1, "U", unsignaled=True)
    sender.poll("B", times=2).poll("B", "C", into="r").poll("B", "C").trypoll("r", "B")
    receiver = builder.thread("U", on="B", r=0)
    receiver.posted("y", "z", sender="T").recv("y", "T").rpoll("T").rpoll("T", into="r")
    text = f"""program made
domain 0..3
hardware cpu tso, reads ordered
{HEAD.replace(", a[2]", "").partition(chr(10))[2]}thread T on A {{
  reg r
  put B.y = x unsignaled; put B.y = r + 1 inline fenced; put C.w = x; put B.y = x imm r to U
  get x = faa(B.y, 1) fenced; send 1 to U unsignaled; poll B 2; r = poll B or C; poll B or C; r = trypoll B
}}
thread U on B {{ reg r; posted y, z from T; recv y from T; rpoll T; r = rpoll T }}
"""
    assert same_program(builder.program(), load_decidable(text, "made"))
    with pytest.raises(UsageError, match="name both"):
        sender.put("B.y", "x", imm=1)
    with pytest.raises(UsageError, match="says nothing"):
        builder.hardware()


def test_proofs_refuse_what_they_have_no_machine_for() -> None:
    for statement, words in (
        ("send x to U", "a message"),
        ("put B.y = x imm 1 to U", "a message"),
        ("put B.y = x inline", "inline data"),
        ("put B.y = x unsignaled", "without a completion"),
        ("get x = faa(B.y, 1)", "starts again at the other end"),
        ("swap(B.y, 1)", "goes nowhere"),
    ):
        told = model_refusals(program(statement), "sc")
        assert words in told[0].message and told[0].code == "RR408"
    assert not model_refusals(
        load_decidable(f"{HEAD}thread T on A {{ put B.y = x fenced; poll B or C; put C.w = x }}", "t"), "sc"
    )


def warned(text: str) -> list[tuple[str, int]]:
    return [(each.code, each.span.line) for each in load_decidable(text, "t").warnings if each.code in ("RR702", "RR707")]


def test_queue_pairs_on_which_nothing_is_signaled() -> None:
    head = "node A { x = 1 }\nnode B { y }\nnode C { z }\nthread T on A {\n"
    assert warned(f"{head}put B.y = x unsignaled\nput C.z = x }}") == [("RR707", 5)]
    assert warned(f"{head}put B.y = x unsignaled\nget x = B.y }}") == []
    assert warned(f"{head}put B.y = x }}") == []
    assert warned(f"{head}put B.y = x unsignaled\npoll B }}") == [("RR707", 5), ("RR702", 6)]


def test_atomics_and_other_writes_of_one_word() -> None:
    head = "node A { old, one = 1 }\nnode B { lock }\n"
    head += "thread T on A { get old = cas(B.lock, 0, 1); put B.lock = 0; poll B }\n"
    other = "thread U on B { reg r; r = cas(lock, 0, 2) }\nthread V on A { put B.lock = one }\n"
    found = [each for each in linted(f"{head}{other}", "t").found if each.code == "RR728"]
    assert [each.span.line for each in found] == [4, 5]
    assert "does not exclude the CPU's atomic operation: atomics hca" in found[0].message
    assert not [each for each in linted(f"hardware atomics glob\n{head}{other}", "t").found if each.code == "RR728"]
    assert not [each for each in linted(head, "t").found if each.code == "RR728"]


@pytest.mark.parametrize(
    ("statement", "code", "message"),
    [
        ("faa(x, 1) unsignaled", "RR419", "`faa(x, 1)` is a step of the CPU, no request that could be `unsignaled`"),
        ("faa(A.x, 1) fenced", "RR419", "`faa(A.x, 1)` is a step of the CPU"),
        ("r = fetch(B.y)", "RR419", "`fetch` asks the NIC of another node"),
        ("r = fetch(x)", "RR419", "`fetch` asks the NIC of another node"),
        ("get x = fetch(x)", "RR402", "`get` needs a variable of another node"),
        ("faa(B.y, 1) inline", "RR412", "`faa` carries no data that could be `inline`"),
        ("faa(B.y, 1) fenced fenced", "RR413", "`fenced` is said twice"),
        ("fetch(B.y)", "RR219", "there is no macro `fetch`"),
        ("r = 1 + fetch(B.y)", "RR304", "`fetch` cannot be part of an expression"),
    ],
)
def test_atomics_that_are_no_requests_and_requests_that_are_none(statement: str, code: str, message: str) -> None:
    with pytest.raises(ProgramError) as raised:
        program(statement)
    (found,) = raised.value.diagnostics
    assert found.code == code and message in found.message


def test_atomics_of_the_own_node_stay_steps_of_the_cpu() -> None:
    assert graph("faa(A.x, 1)") == graph("faa(x, 1)")
    text = f"{HEAD}macro faa(a, b) {{ x = b }}\nmacro fetch(a) {{ x = 1 }}\nthread T on A {{ faa(2, 1); fetch(2) }}"
    assert [type(step.op) for _, _, step in load_program(text, "t").threads[0].edges] == [cfg.Write, cfg.Write]
