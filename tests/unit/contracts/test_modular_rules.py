"""Conditions of proofs by contracts, each switched off: a program whose callee breaks it is proved wrongly then."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from rdma_robust.contracts.language.load_contracts import load_contracts
from rdma_robust.contracts.modular.barrier_check import BarrierCheck
from rdma_robust.contracts.modular.barrier_machine import BarrierMachine
from rdma_robust.contracts.modular.callee_effects import Effects
from rdma_robust.contracts.modular.later_messages import LaterMessages
from rdma_robust.contracts.modular.widened_checks import Trust, WidenedChecks
from rdma_robust.contracts.runs.run_state import joined_clock
from rdma_robust.contracts.runs.runs_engine import runs
from rdma_robust.limits import NO_LIMITS

GATHERS = """
fun gather_w(val) contract collective {
  bounds val in 0..1; assigns \\nothing;
  waitsfor \\all if PID == 0; quiet from \\others if PID == 0;
} {
  reg v
  if PID == 0 { for i in 1..NPROCS - 1 { recv v from any } } else { send val to 0 }
}
"""
SENDS = """
fun talk(val) contract collective {
  bounds val in 0..1; assigns \\nothing; waitsfor 1 if PID == 0;
} {
  if PID == 1 { send val to 0 } else { if PID == 0 { recv val from 1 } }
}
"""
AFTER = (
    GATHERS
    + SENDS
    + """
fun f(val) contract collective { bounds val in 0..1; assigns \\nothing; quiet from \\others if PID == 0; } {
  gather_w(val); talk(val)
}
"""
)
OWN = (
    SENDS
    + """
fun f(val) contract collective { bounds val in 0..1; assigns \\nothing; quiet from \\others if PID == 0; } {
  reg v
  if PID == 0 { for i in 1..NPROCS - 1 { recv v from any } } else { send val to 0 }
  talk(val)
}
"""
)
TOLD = (
    SENDS
    + """
fun f(val) contract collective { bounds val in 0..1; assigns \\nothing; quiet to 0 until 0; } { talk(val) }
"""
)
LEAVES = (
    GATHERS
    + """
fun f(val) contract collective { bounds val in 0..1; assigns \\nothing; } { gather_w(val) }
"""
)
OTHER = """
fun same(x) contract collective { bounds x in 0..1; assigns \\nothing; ensures \\result == 1; } {
  if x > 1 { return 2 }
  return 1
}
fun f() contract collective { assigns \\nothing; ensures \\result == 1; } { reg v = same(5); return v }
"""
WAITS = """
fun meet() contract collective { assigns \\nothing; } { skip }
fun f() contract collective { assigns \\nothing; waitsfor \\all; } { meet() }
"""
CHANGES = """
reg u
fun count() contract collective { bounds u in 0..1; } { u = u + 1 }
fun f() contract collective { bounds u in 0..1; assigns \\nothing; } { count() }
"""


def nothing(*_: Any) -> tuple[()]:
    return ()


def after_all(_machine: BarrierMachine, run: Any, process: int, _after: Any) -> Any:
    clock = run.actors[process].clock
    for each in run.actors:
        clock = joined_clock(clock, each.calls[-1].clock)
    return clock


RULES: dict[str, tuple[Any, str, Callable[..., Any], str, int]] = {
    "M5": (LaterMessages, "_quiet_to", nothing, TOLD, 2),
    "M6, later callees": (LaterMessages, "_quiet_from", nothing, AFTER, 3),
    "M6, own contract": (LaterMessages, "_unguarded", lambda *_: False, LEAVES, 3),
    "M7": (LaterMessages, "_wildcards", nothing, OWN, 3),
    "callees are quiet": (LaterMessages, "_in_callee", lambda *_: False, AFTER, 3),
    "inputs of callees": (Trust, "holds_for", lambda *_: "", OTHER, 1),
    "no order of a barrier": (BarrierMachine, "_after", after_all, WAITS, 2),
    "what callees change": (Effects, "_havoc", lambda _self, _process, entry: entry, CHANGES, 1),
}


def proved(text: str, procs: int) -> bool:
    program = load_contracts(text, "a.mp")
    return BarrierCheck(program, "f", procs, widened=WidenedChecks(program, NO_LIMITS)).proved()


@pytest.mark.parametrize("rule", RULES)
def test_each_condition_is_needed(rule: str, monkeypatch: pytest.MonkeyPatch) -> None:
    where, name, other, text, procs = RULES[rule]
    program = load_contracts(text, "a.mp")
    assert runs(program, "f", procs).verdict == "VIOLATED"
    assert all(runs(program, each.name, procs).verdict == "VERIFIED" for each in program.contracts if each.name != "f")
    assert not proved(text, procs)
    monkeypatch.setattr(where, name, other)
    assert proved(text, procs)
