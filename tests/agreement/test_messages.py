"""Programs with messages: the search against brute force and machines, and each of its rules switched off."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import nullcontext
from itertools import islice
from random import Random
from unittest.mock import patch

import pytest

from rdma_robust.errors import InternalError, ProgramError, SizeLimitError
from rdma_robust.language.flow.cfg import Fault, ImmPut, Program, Send, steps
from rdma_robust.language.load import load_program
from rdma_robust.model import Model
from rdma_robust.options import ALL_REDUCTIONS, LARGE, REDUCTIONS, CheckOptions
from rdma_robust.orders.known_orders import order_of_file
from rdma_robust.outcome import Outcome, Verdict
from rdma_robust.robustness.decide import decide
from rdma_robust.robustness.reasons import WAITING
from rdma_robust.robustness.rules import ForcingRules
from rdma_robust.semantics.machines.chosen import sc_machine_of
from rdma_robust.semantics.oracle.brute_force import oracle_robust
from rdma_robust.semantics.values import is_loop_free
from tests.support.message_mutations import FOLDER, MUTATIONS, REDUNDANT
from tests.support.random_deployed import loaded, model_of, mutants, named_texts, random_deployed
from tests.support.unroll import unrolled

Case = tuple[Program, Model]

WITH_MESSAGES = [name for name, text in named_texts().items() if " send " in text or " imm " in text or "recv " in text]


def with_messages(cases: Iterable[Case]) -> Iterator[Case]:
    """Those with a message."""
    for program, model in cases:
        if any(isinstance(step.op, Send | ImmPut) for thread in program.threads for _, _, step in steps(thread)):
            yield program, model


def decided(program: Program, model: Model, **options: object) -> Outcome:
    return decide(program, CheckOptions(hardware=model, max_states=50_000, **options))  # type: ignore[arg-type]


def answer(program: Program, model: Model, **options: object) -> str:
    try:
        return decided(program, model, **options).verdict.value
    except InternalError as error:
        return str(error)


def brute_force(program: Program, model: Model) -> str:
    return "robust" if oracle_robust(program, model) is None else "not-robust"


def waiting(outcome: Outcome) -> set[Fault]:
    return {fault for fault in outcome.faults if fault.kind in WAITING}


def test_what_is_issued_behind_a_message_but_observed_before_it_waits_for_its_buffer() -> None:
    """S5 where the table keeps the issue of a read behind a write, and not its effect: else the search finds a trace that is
    none of this hardware. A message that can find no buffer leaves the program UNKNOWN."""
    table = 'name = "issued"\nbased-on = "default"\n[cells]\n"nrW nrR" = "i"\n[rules]\nreads-push-writes = "none"\n'
    model = Model(order=order_of_file(table, "issued.toml"))
    program = load_program((FOLDER / "s5-get.rdma").read_text(encoding="utf-8"), "s5-get")
    assert brute_force(program, model) == "robust"
    assert answer(program, model) == "unknown"
    with patch.object(ForcingRules, "receive_flagged", frozenset()):
        assert "not RDMA-consistent" in answer(program, model)


def compare(cases: Iterable[Case], wanted: int) -> None:
    """Compare the search with brute force on so many programs; those in which a message has to wait may be UNKNOWN."""
    compared = 0
    for number, (program, model) in enumerate(with_messages(cases)):
        outcome = decided(program, model, large=0 if number % 2 else LARGE)
        try:
            expected = brute_force(program, model)
        except SizeLimitError:
            continue
        found = outcome.verdict.value
        assert found == expected or (found == "unknown" and waiting(outcome)), f"{program.file}, {model}\n{program.source}"
        compared += 1
        if compared == wanted:
            return
    raise AssertionError(f"only {compared} programs")


def random_cases(start: int, count: int) -> Iterator[Case]:
    """Random programs with messages of three families and mutations of the named ones, in turn."""
    for seed in range(start, start + count):
        for family in ("messages", "weaker", "mixed"):
            yield from random_deployed(family, [seed])
        yield from mutants(range(3 * seed, 3 * seed + 3), WITH_MESSAGES)


def test_search_is_brute_force() -> None:
    compare(random_cases(0, 60), 15)


@pytest.mark.long
@pytest.mark.parametrize("chunk", range(1, 26))
def test_long_search_is_brute_force(chunk: int) -> None:
    """200 programs a chunk, 5,000 in all."""
    compare(random_cases(10_000 * chunk, 600), 200)


@pytest.mark.parametrize("name", sorted(path.stem for path in FOLDER.glob("*.rdma")))
def test_kept_programs(name: str) -> None:
    program, model = loaded((FOLDER / f"{name}.rdma").read_text(), name)
    outcome = decided(program, model)
    assert outcome.verdict.value == brute_force(program, model) or waiting(outcome)


@pytest.mark.parametrize("name", MUTATIONS)
def test_a_rule_switched_off_is_noticed(name: str) -> None:
    place, attribute, instead, kept = MUTATIONS[name]
    also, without, it, _ = MUTATIONS["pivots that are receives"]
    with patch.object(also, without, it) if name in REDUNDANT else nullcontext():
        for each in kept:
            program, model = loaded((FOLDER / f"{each}.rdma").read_text(), each)
            before = answer(program, model, large=0)
            with patch.object(place, attribute, instead):
                assert answer(program, model, large=0) != before, each


def reductions_agree(cases: Iterable[Case], wanted: int) -> None:
    """Without each reduction, and without all of them, verdicts and waiting messages are the same."""
    for program, model in islice(with_messages(cases), wanted):
        whole = decided(program, model, large=0)
        for reductions in (frozenset[str](), *(ALL_REDUCTIONS - {one} for one in REDUCTIONS)):
            other = decided(program, model, large=0, reductions=reductions)
            assert other.verdict is whole.verdict, f"{program.file}, {model}, {sorted(reductions)}\n{program.source}"
            if whole.verdict is not Verdict.NOT_ROBUST:
                assert waiting(other) == waiting(whole), f"{program.file}, {sorted(reductions)}\n{program.source}"


def test_reductions_change_nothing() -> None:
    reductions_agree(random_cases(500, 20), 2)


@pytest.mark.long
@pytest.mark.parametrize("chunk", range(10))
def test_long_reductions_change_nothing(chunk: int) -> None:
    """600 programs."""
    reductions_agree(random_cases(1_000_000 + 1000 * chunk, 100), 60)


def met_by_machine(program: Program, depth: int) -> set[Fault]:
    """The faults of messages in all runs of the SC machine."""
    machine = sc_machine_of(program, recv_depth=depth)
    moves = list(machine.initial())
    seen = {move.state for move in moves}
    found: set[Fault] = set()
    while moves:
        move = moves.pop()
        found.update(fault for fault in move.faults if fault.kind in WAITING)
        for after in machine.successors(move.state):
            found.update(fault for fault in after.faults if fault.kind in WAITING)
            if after.state not in seen:
                seen.add(after.state)
                moves.append(after)
    return found


def faults_are_those_of_the_machine(cases: Iterable[Case], wanted: int) -> None:
    """Where nothing else ends the search, it reports exactly the messages and receives that wait in some SC run."""
    compared = 0
    for number, (program, model) in enumerate(with_messages(cases)):
        depth = 1 + number % 3
        outcome = decided(program, model, recv_depth=depth, large=0 if number % 2 else LARGE)
        if outcome.verdict is Verdict.NOT_ROBUST:
            continue
        expected = met_by_machine(program, depth)
        assert waiting(outcome) == expected, f"{program.file}, depth {depth}\n{program.source}"
        assert (outcome.verdict is Verdict.UNKNOWN) == bool(expected)
        compared += 1
        if compared == wanted:
            return
    raise AssertionError(f"only {compared} programs")


def test_faults_are_those_of_the_machine() -> None:
    faults_are_those_of_the_machine(random_cases(2_000, 60), 8)


@pytest.mark.long
@pytest.mark.parametrize("chunk", range(10))
def test_long_faults_are_those_of_the_machine(chunk: int) -> None:
    """1,500 programs."""
    faults_are_those_of_the_machine(random_cases(3_000_000 + 1000 * chunk, 400), 150)


SERVER = """
node A { ans, req = 1 }
node B { b, res = 2 }
thread T on A { reg r
  posted ans from U
  loop {
    send req to U
    rpoll U
    r = ans
    %s
    recv ans from U
    %s
  }
}
thread U on B { reg s
  posted b from T
  loop {
    rpoll T
    s = b
    %s
    recv b from T
    %s
    send res to T
    %s
  }
}
"""


@pytest.mark.parametrize(
    ("written", "verdict"),
    [
        (("", "", "", "", ""), Verdict.ROBUST),
        (("req = 2", "", "", "", ""), Verdict.ROBUST),
        (("", "", "", "res = s", ""), Verdict.ROBUST),
        (("", "", "", "", "res = 1"), Verdict.NOT_ROBUST),
        (("", "", "", "", "poll A\n res = 1"), Verdict.ROBUST),
    ],
)
def test_servers(written: tuple[str, ...], verdict: Verdict) -> None:
    """Requests and answers by send, forever: the next request tells that the answer was read."""
    program, model = loaded(SERVER % written, "server.rdma")
    assert decided(program, model).verdict is verdict
    assert decided(program, model, reductions=frozenset()).verdict is verdict


def looped(text: str, rng: Random) -> str | None:
    """The text with some statements of a thread, or of two, in a loop; None if that does not load."""
    lines = text.splitlines()
    for _ in range(rng.choice([1, 2])):
        starts = [i for i, line in enumerate(lines) if line.startswith("  ") and not line.startswith("  posted")]
        if not starts:
            return None
        first = rng.choice(starts)
        last = first
        while last + 1 in starts and rng.random() < 0.7:
            last += 1
        lines[first : last + 1] = ["  loop {", *lines[first : last + 1], "  }"]
    made = "\n".join(lines) + "\n"
    try:
        program = load_program(made, "looped.rdma")
    except ProgramError:
        return None
    return None if is_loop_free(program) else made


def unrollings_agree(seeds: range, wanted: int) -> None:
    """A robust program has robust unrollings only, another has one that is not."""
    compared = 0
    for seed in seeds:
        rng = Random(f"looped {seed}")
        text = looped(named_texts()[rng.choice(WITH_MESSAGES)], rng)
        if text is None:
            continue
        program = load_program(text, f"looped {seed}")
        model = model_of(program)
        outcome = decided(program, model)
        if outcome.verdict is Verdict.UNKNOWN:
            continue
        compared += 1
        if outcome.verdict is Verdict.ROBUST:
            assert all(decided(unrolled(program, n), model).verdict is not Verdict.NOT_ROBUST for n in (3, 6)), text
        else:
            assert outcome.witness is not None
            most = max(sum(e.thread == t for e in outcome.witness.order) for t in range(len(program.threads)))
            found = (decided(unrolled(program, n), model).verdict for n in (most + 2, 3 * most + 8))
            assert Verdict.NOT_ROBUST in found, text
        if compared == wanted:
            return
    raise AssertionError(f"only {compared} programs")


def test_looping_programs_and_their_unrollings() -> None:
    unrollings_agree(range(200), 3)


@pytest.mark.long
@pytest.mark.parametrize("chunk", range(1, 11))
def test_long_looping_programs_and_their_unrollings(chunk: int) -> None:
    """400 programs."""
    unrollings_agree(range(1000 * chunk, 1000 * chunk + 900), 40)


def test_more_receives_than_there_is_room_for() -> None:
    text = """
node A { m = 1 }
node B { b }
thread T on A { loop { send m to U } }
thread U on B { posted b from T; loop { recv b from T } }
"""
    program, model = loaded(text, "full.rdma")
    outcome = decided(program, model, recv_depth=3)
    assert outcome.verdict is Verdict.UNKNOWN
    assert {(fault.kind, fault.span.line) for fault in outcome.faults} == {("receive queue full", 5), ("rnr", 4)}
    assert "rnr (line 4)" in outcome.reason
