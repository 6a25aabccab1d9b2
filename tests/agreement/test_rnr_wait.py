"""Messages that wait (`hardware rnr wait`): machines, axioms and `check` agree; each rule is noticed."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from rdma_robust.errors import SizeLimitError
from rdma_robust.language.flow.cfg import Program
from rdma_robust.language.load import load_program
from rdma_robust.limits import Limits
from rdma_robust.model import RDMA, Model
from rdma_robust.options import CheckOptions
from rdma_robust.outcome import Verdict
from rdma_robust.robustness import by_axioms
from rdma_robust.robustness.decide import decide
from rdma_robust.semantics import waiting_runs
from rdma_robust.semantics.machines.chosen import machine_of, sc_machine_of
from rdma_robust.semantics.machines.outcomes import explore
from rdma_robust.semantics.machines.waiting_sc import WaitingScMachine
from rdma_robust.semantics.oracle import brute_force, thread_paths
from rdma_robust.semantics.oracle.brute_force import FOR_EVER, OracleLimits, axiomatic_outcomes, oracle_robust
from tests.agreement.test_messages import random_cases, with_messages
from tests.conftest import ROOT, Cli
from tests.support.random_long_messages import random_waiting_words

LIMITS = OracleLimits(timeout=None, decisions=100_000)


def waiting_programs(seeds: range, *, words: bool = False) -> Iterator[tuple[Program, Program, Model]]:
    found = random_waiting_words(seeds) if words else with_messages(random_cases(seeds.start, len(seeds)))
    for program, model in found:
        yield replace(program, hardware=replace(program.hardware, rnr="wait")), program, model


def agreeing(seeds: range, *, words: bool = False) -> tuple[int, int]:
    """Compare; return how many programs meet a message without a buffer, and for how many waiting makes a difference."""
    unready = differ = 0
    for program, faulting, model in waiting_programs(seeds, words=words):
        try:
            axioms, before = axiomatic_outcomes(program, model, LIMITS), axiomatic_outcomes(faulting, model, LIMITS)
            trace, strict = oracle_robust(program, model, LIMITS), oracle_robust(faulting, model, LIMITS)
        except SizeLimitError:
            continue
        told = f"{program.file}, {model}\n{program.source}"
        sc, rdma = (
            explore(machine, Limits(states=30_000))
            for machine in (sc_machine_of(program, recv_depth=16), machine_of(program, model, recv_depth=16))
        )
        if sc.cut or rdma.cut:
            continue
        assert (sc.finals, rdma.finals) == (axioms.sc, axioms.rdma), told
        assert before.sc <= axioms.sc and before.rdma == axioms.rdma, told
        outcome = decide(program, CheckOptions(hardware=model, max_states=50_000))
        assert not any(fault.kind == "rnr" for fault in (*sc.faults, *rdma.faults, *outcome.faults)), told
        if outcome.verdict is not Verdict.UNKNOWN:
            assert (trace is None) == (outcome.verdict is Verdict.ROBUST), told
        assert trace is None or strict is not None, told
        met = decide(faulting, CheckOptions(hardware=model, max_states=50_000)).faults
        unready += any(fault.kind == "rnr" for fault in met)
        differ += axioms.sc != before.sc or (trace is None) != (strict is None)
    return unready, differ


def ends(machine: Any, most: int = 20_000) -> tuple[set[Any], bool] | None:
    """The memory and registers of all states in which nothing moves, and whether some thread or message waits there
    forever; None if there are too many states."""
    left = [move.state for move in machine.initial()]
    seen, found, waiting = set(left), set(), False
    while left:
        state = left.pop()
        after = {move.state for move in machine.successors(state)} - seen
        if not machine.successors(state):
            found.add((tuple(state.memory), tuple(thread.registers for thread in state.threads)))
            waiting |= not machine.is_final(state)
        seen |= after
        left += after
        if len(seen) > most:
            return None
    return found, waiting


def robust_ends(seeds: range, *, words: bool = False) -> Counter[str]:
    """Where the axioms say ROBUST the hardware stands still only where the SC machine does."""
    counts: Counter[str] = Counter()
    for program, _, model in waiting_programs(seeds, words=words):
        try:
            robust = oracle_robust(program, model, LIMITS) is None
        except SizeLimitError as error:
            counts["behind a message" if FOR_EVER in str(error) else "limit"] += 1
            continue
        hardware = ends(machine_of(program, model, recv_depth=16)) if robust else None
        sequential = ends(sc_machine_of(program, recv_depth=16)) if robust else None
        if hardware is None or sequential is None:
            continue
        assert hardware[0] <= sequential[0], f"{program.file}, {model}\n{program.source}"
        counts["robust"] += 1
        counts["waits forever"] += hardware[1]
    return counts


@pytest.mark.ci
def test_no_violation_is_behind_a_message_that_waits_for_ever() -> None:
    counts = robust_ends(range(12))
    assert counts["waits forever"] >= 5


@pytest.mark.long
@pytest.mark.parametrize("chunk", range(1, 41))
def test_long_no_violation_is_behind_a_message_that_waits_for_ever(chunk: int) -> None:
    counts = robust_ends(range(10_000 * chunk, 10_000 * chunk + 200))
    assert counts["waits forever"] > 50 and counts["behind a message"]


@pytest.mark.ci
def test_machines_axioms_and_check_agree() -> None:
    unready, differ = agreeing(range(30))
    assert unready >= 20 and differ >= 3


@pytest.mark.long
@pytest.mark.parametrize("chunk", range(1, 41))
def test_long_machines_axioms_and_check_agree(chunk: int) -> None:
    assert agreeing(range(10_000 * chunk, 10_000 * chunk + 200))[0] > 100


@pytest.mark.ci
def test_messages_of_several_words_wait_as_a_whole() -> None:
    unready, _ = agreeing(range(40), words=True)
    assert unready >= 10 and robust_ends(range(20), words=True)["waits forever"] >= 1


@pytest.mark.long
@pytest.mark.parametrize("chunk", range(1, 41))
def test_long_messages_of_several_words_wait_as_a_whole(chunk: int) -> None:
    seeds = range(10_000 * chunk, 10_000 * chunk + 300)
    assert agreeing(seeds, words=True)[0] > 50 and robust_ends(seeds, words=True)["waits forever"]


def load(name: str) -> Program:
    return load_program((ROOT / f"litmus/rnr/{name}.rdma").read_text(encoding="utf-8"), name)


def verdict(name: str) -> str:
    return decide(load(name), CheckOptions()).verdict.value


def _of_each_word(runs: Any) -> dict[int, int]:
    return {message: 1 << receive for receive, message in runs.trace.sm or ()}


def _held_by_any(self: Any, e: Any, waited: Any) -> bool:
    return any(self._pair(each) == self._pair(e) for each in waited)


NEVER = lambda *_: False  # noqa: E731
RULES: dict[str, tuple[Any, str, Any, str]] = {
    "a message may wait": (waiting_runs._Runs, "_must_wait", NEVER, "exchange"),
    "what is behind it waits too": (waiting_runs._Runs, "_held", NEVER, "source-behind-a-message"),
    "what is on another lane does not": (waiting_runs._Runs, "_pair", lambda *_: None, "source-on-another-lane"),
    "what has a buffer goes first": (waiting_runs._Runs, "_ready", lambda *_: [], "exchange"),
    "a message waits as a whole": (waiting_runs._Runs, "receive", property(_of_each_word), "words-halfway"),
    "a violation is no trace in which messages wait": (by_axioms, "_stays", lambda _: True, "receive-behind-a-flag"),
}


@pytest.mark.parametrize("rule", RULES)
def test_a_rule_of_the_axioms_switched_off_is_noticed(rule: str) -> None:
    place, attribute, instead, name = RULES[rule]
    before = verdict(name)
    with patch.object(place, attribute, instead):
        assert verdict(name) != before


def _for_its_word(self: Any, state: Any, t: int, request: Any) -> bool:
    part, connection = self._next_part(t, request), self.request(t, request.command).connection
    return part.message and not state.inboxes[connection].has(0, part.unfit)


MACHINE: dict[str, tuple[str, Any, str]] = {
    "a message may wait": ("_must_wait", NEVER, "source-behind-a-message"),
    "a request behind it waits too": (
        "_pair",
        lambda _self, _t, request: (None, str(request.command)),
        "source-behind-a-message",
    ),
    "on another lane it does not": ("_pair", lambda _self, _t, _request: (None, ""), "source-on-another-lane"),
    "what has a buffer goes first": ("_ready", lambda *_: (), "source-polled"),
    "a message waits as a whole": ("_must_wait", _for_its_word, "words-halfway"),
    "all words of a message that waits are read": (
        "_is_behind",
        lambda self, t, request, waited: any(self._pair(t, each) == self._pair(t, request) for each in waited),
        "words-taken-along",
    ),
}


def test_the_axioms_know_that_all_words_of_a_message_that_waits_are_read() -> None:
    program = load("words-taken-along")
    before = axiomatic_outcomes(program, RDMA, LIMITS).sc
    with patch.object(waiting_runs._Runs, "_is_behind", _held_by_any):
        assert axiomatic_outcomes(program, RDMA, LIMITS).sc != before


@pytest.mark.parametrize("rule", MACHINE)
def test_a_rule_of_the_machine_switched_off_is_noticed(rule: str) -> None:
    attribute, instead, name = MACHINE[rule]
    program = load(name)
    before = explore(sc_machine_of(program), Limits()).finals
    with patch.object(WaitingScMachine, attribute, instead):
        try:
            after = explore(sc_machine_of(program), Limits(states=5_000)).finals
        except IndexError:
            return
    assert after != before


def test_loops_are_unknown_with_the_reason() -> None:
    text = """hardware rnr wait
node A { x }
node B { b }
thread T on A { reg i
  while i < 2 { send 1 to U
    i = i + 1 }
}
thread U on B { reg i
  while i < 2 { recv b from T
    rpoll T
    i = i + 1 }
}
"""
    outcome = decide(load_program(text, "loop"), CheckOptions(hardware=RDMA))
    assert outcome.verdict is Verdict.UNKNOWN and "rnr wait" in outcome.reason and not outcome.faults


def test_only_what_the_search_calls_robust_is_certified(cli: Cli, tmp_path: Path) -> None:
    """And a trace that is evidence where a message without a buffer is a fault is rejected where it waits."""
    text = (ROOT / "litmus/rnr/receive-behind-a-flag.rdma").read_text(encoding="utf-8")
    faulting = text.replace("rnr wait", "rnr fault").replace("expect robust", "expect not robust")
    (tmp_path / "p.rdma").write_text(faulting)
    cli("check", "p.rdma", "--certificate", "proofs")
    (proof,) = (path for path in (tmp_path / "proofs").rglob("*.json*") if path.is_file())
    assert cli("verify-certificate", str(proof)).returncode == 0
    (tmp_path / "p.rdma").write_text(waiting_text := faulting.replace("rnr fault", "rnr wait"))
    digests = [hashlib.sha256(each.encode()).hexdigest() for each in (faulting, waiting_text)]
    proof.write_text(proof.read_text().replace(*digests))
    done = cli("verify-certificate", str(proof))
    assert done.returncode == 1 and "rnr wait" in " ".join(done.stdout.split())
    (tmp_path / "q.rdma").write_text(text)
    assert "messages that wait" in " ".join(cli("check", "q.rdma", "--certificate", "more").stderr.split())


FOR_EVER_PROGRAMS: dict[str, tuple[str, Verdict]] = {
    "put x": ("send 1 to U; put C.y = x; x = 1", Verdict.UNKNOWN),
    "polled": ("send 1 to U; put C.y = x; poll C; x = 1", Verdict.ROBUST),
    "poll behind the message": ("send 1 to U; put B.z = 1; poll B; put C.y = x; x = 1", Verdict.ROBUST),
    "flush behind the message": ("send 1 to U; flush B; put C.y = x; x = 1", Verdict.ROBUST),
    "source behind the message": ("send 1 to U; put B.z = x; x = 1", Verdict.UNKNOWN),
    "fence behind the message": ("send 1 to U; put B.z = x fenced; x = 1", Verdict.ROBUST),
    "polled before the message": ("put B.z = 1; send 1 to U; poll B; put C.y = x; x = 1", Verdict.UNKNOWN),
    "another lane": ("qp q to B; send 1 to U; put B.z = x on q; x = 1", Verdict.UNKNOWN),
    "put behind the message": ("send 1 to U; put B.z = 1", Verdict.ROBUST),
}
"""What a thread does at a message that waits forever, and behind it, and whether there can be a violation."""


PASSING = "send 1 to U; put B.z = 1"


def verdict_for_ever(body: str, order: str = "default") -> Verdict:
    """Return what is decided if that is what a thread does, and the other one never posts a buffer."""
    text = f"""hardware rnr wait, order {order}
node A {{ x }}
node B {{ b, z }}
node C {{ y }}
thread T on A {{ {body} }}
thread U on B {{ reg r; r = b; if r == 1 {{ recv b from T }} }}
"""
    outcome = decide(load_program(text, "for-ever"), CheckOptions())
    assert ("forever" in outcome.reason) is (outcome.verdict is Verdict.UNKNOWN)
    return outcome.verdict


@pytest.mark.parametrize("what", FOR_EVER_PROGRAMS)
def test_what_is_behind_a_message_that_waits_for_ever_is_looked_at(what: str) -> None:
    body, verdict = FOR_EVER_PROGRAMS[what]
    assert verdict_for_ever(body) is verdict


def test_a_put_that_may_pass_a_message_that_waits_for_ever_is_no_proof() -> None:
    assert verdict_for_ever(PASSING, "multipath") is Verdict.UNKNOWN


def without_waiting(*arguments: Any, **options: Any) -> Any:
    return thread_paths.thread_paths(*arguments, **{**options, "waiting": False})


PAST: dict[str, tuple[Any, str, Any, str, str]] = {
    "its thread goes on": (brute_force, "thread_paths", without_waiting, FOR_EVER_PROGRAMS["put x"][0], "default"),
    "what is behind it waits": (
        *(thread_paths._Walker, "behind", lambda _self, node, _known, ways: (node, ways)),
        *(FOR_EVER_PROGRAMS["flush behind the message"][0], "default"),
    ),
    "some orders let it pass": (thread_paths._Walker, "waits_behind", lambda *_: True, PASSING, "multipath"),
}


@pytest.mark.parametrize("rule", PAST)
def test_a_rule_of_traces_past_messages_switched_off_is_noticed(rule: str) -> None:
    place, attribute, instead, body, order = PAST[rule]
    before = verdict_for_ever(body, order)
    with patch.object(place, attribute, instead):
        assert verdict_for_ever(body, order) is not before
