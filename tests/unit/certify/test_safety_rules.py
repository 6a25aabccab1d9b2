"""Every rule of the checker's reduction matters: without it, a program that is unsafe would pass."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from rdma_robust.analyses.prove.prove import decide_safety
from rdma_robust.analyses.prove.safety_outcome import Safety
from rdma_robust.certify.safety import lead_ups, safety_states, thread_steps
from rdma_robust.certify.safety.cpu_memories import PartialStoreOrder, TotalStoreOrder
from rdma_robust.certify.safety.lead_ups import AgentMove
from rdma_robust.certify.safety.models import reduced_program
from rdma_robust.certify.safety.pending_sets import PendingSets
from rdma_robust.certify.safety.reduced_program import ReducedProgram
from rdma_robust.certify.safety.thread_steps import Instruction, Variables
from rdma_robust.evidence.of_safety import evidence_of
from rdma_robust.language.flow.cfg import Flush
from rdma_robust.language.flow.claims import AnyModelName
from rdma_robust.language.load import load_program
from tests.support.safety_certificates import all_but_bad, refusal

NODES = "node A { x = 0 }\nnode B { y = 0, z = 9 }\n"

depends, touches, left = lead_ups.depends, PendingSets.touches, PendingSets._left


def unrelated(_later: AgentMove, _earlier: AgentMove, _in_order: bool) -> bool:
    return False


def reads_pass_writes(later: AgentMove, earlier: AgentMove, in_order: bool) -> bool:
    return depends(later, earlier._replace(reads=-1), in_order)


def nothing_before(_: object, state: object, _told: object) -> Iterator[tuple[tuple[()], object]]:
    yield (), state


def seen_as_it_is(_: object, state: object, _claim: object) -> Iterator[tuple[tuple[()], object]]:
    yield (), state


def flushes_see_nothing(system: PendingSets, agent: AgentMove, t: int, instruction: Instruction) -> bool:
    return not isinstance(instruction.step.op, Flush) and touches(system, agent, t, instruction)


def stores_see_no_reads(system: PendingSets, agent: AgentMove, t: int, instruction: Instruction) -> bool:
    return touches(system, agent._replace(reads=-1), t, instruction)


RULES: dict[str, tuple[object, str, object, AnyModelName, int, str]] = {
    "a NIC reads before it writes": (
        *(lead_ups, "depends", unrelated, "rma", 1),
        "node A { x = 0 }\nnode B { y = 1 }\nthread T on A { get x = B.y }\ninvariant A.x == 0",
    ),
    "a NIC reads before others write": (
        *(lead_ups, "depends", reads_pass_writes, "rma", 1),
        f"{NODES}thread T on A {{ reg r; put B.z = x; r = x }}\nthread U on B {{ put A.x = 5 }}\n"
        "outcome T.r == 5 && B.z == 0 : forbidden under rma",
    ),
    "NICs move before what depends on them": (
        *(lead_ups.LeadUps, "to", nothing_before, "rma", 1),
        f"{NODES}thread T on A {{ put B.y = 1 }}\nthread U on B {{ await y == 1; assert 1 == 0 }}",
    ),
    "claims see what NICs have done": (
        *(safety_states, "_seen_by", seen_as_it_is, "rma", 1),
        f"{NODES}thread T on A {{ put B.y = 1 }}\ninvariant B.y == 0",
    ),
    "a flush waits for NICs": (
        *(PendingSets, "touches", flushes_see_nothing, "rma", 1),
        f"{NODES}thread T on A {{ put B.y = 1; flush B; assert 1 == 0 }}",
    ),
    "a store sees reads of its word": (
        *(PendingSets, "touches", stores_see_no_reads, "rma", 1),
        f"{NODES}thread T on A {{ put B.z = x; x = 1 }}\noutcome B.z == 0 : forbidden under rma",
    ),
    "of many some are left": (
        *(PendingSets, "_left", lambda system, own, element: list(left(system, own, element))[:1], "rma", 0),
        f"{NODES}thread T on A {{ put B.y = 1; put B.y = 1 }}\n"
        "thread U on B { await y == 1; y = 0; await y == 1; assert 1 == 0 }",
    ),
    "a thread sees its own stores (tso)": (
        *(TotalStoreOrder, "load", lambda system, state, _t, word: system.in_memory(state, word), "tso", 2),
        "node A { x = 0 }\nthread T on A { reg r; x = 1; r = x; assert r == 0 }",
    ),
    "a thread sees its own stores (pso)": (
        *(PartialStoreOrder, "load", lambda system, state, _t, word: system.in_memory(state, word), "pso", 2),
        "node A { x = 0 }\nthread T on A { reg r; x = 1; r = x; assert r == 0 }",
    ),
    "a load sees stores of others": (
        *(TotalStoreOrder, "touches", lambda _system, agent, t, _instruction: agent.thread == t, "tso", 2),
        "node A { x = 0 }\nthread T on A { x = 1 }\nthread U on A { reg r; r = x; assert r == 0 }",
    ),
    "only what nobody sees goes alone": (
        *(ReducedProgram, "_unseen", lambda *_: True, "sc", 1),
        "node A { x = 0 }\nthread T on A { x = 1 }\nthread U on A { reg r; r = x; assert r == 1 }",
    ),
    "registers are kept while they are asked for": (
        *(thread_steps, "_asked_for", lambda _program, thread: dict.fromkeys(thread.points, frozenset()), "sc", 1),
        "node A { x = 0 }\nthread T on A { reg r; r = 1; x = 0; assert r == 0 }",
    ),
}


def forged(text: str, model: AnyModelName, bound: int) -> dict[str, Any]:
    """Evidence that the program is safe, as the checker sees it now: all states but those that violate a claim."""
    system = reduced_program(Variables(load_program(text, "rule.rdma"), frozenset(), {}), model, bound)
    made: dict[str, Any] = json.loads(json.dumps(evidence_of(system, all_but_bad(system))))
    return made


@pytest.mark.parametrize("rule", RULES)
def test_without_a_rule_an_unsafe_program_would_pass(rule: str, monkeypatch: pytest.MonkeyPatch) -> None:
    where, name, instead, model, bound, text = RULES[rule]
    program = load_program(text, "rule.rdma")
    assert decide_safety(program, model).safety is Safety.UNSAFE
    assert refusal(program, model, forged(text, model, bound)) != ""
    monkeypatch.setattr(where, name, instead)
    evidence = forged(text, model, bound)
    assert refusal(program, model, evidence) == "", "the rule makes no difference here"
    monkeypatch.undo()
    assert refusal(program, model, evidence) != ""
