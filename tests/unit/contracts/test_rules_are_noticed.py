"""Each rule of the engine that looks at all interleavings is noticed by a small function, if it is switched off.

Where a rule is made to see too much, what it sees is no run that the interpreter confirms.
"""

from __future__ import annotations

from types import ModuleType

import pytest

from rdma_robust.contracts.language import function_instances, spec_worth
from rdma_robust.contracts.rerun.confirming import confirmed
from rdma_robust.errors import InternalError
from rdma_robust.limits import NO_LIMITS
from tests.support.class_programs import class_programs
from tests.support.contracts_oracle import (
    allowed_changes,
    contract_rules,
    local_steps,
    message_channels,
    run_states,
    shown_clauses,
)
from tests.support.contracts_oracle.interleavings import searched
from tests.support.shares import share
from tests.support.switched import switched

Rule = tuple[ModuleType, str, str, str]
"""A module, what stands there, what is put there instead, and the programs that notice it, by `; `."""

JUDGE = shown_clauses
TOO_LITTLE: tuple[Rule, ...] = (
    # RTE
    (local_steps, 'self.broke("RTE", FAULTS[fault.kind], instruction.span)', "pass", "a fault"),
    (local_steps, 'self.broke("RTE", "the assertion is false", instruction.span)', "pass", "an assertion"),
    (
        contract_rules,
        "((after, ()),), (*event.shown, shown))",
        "((after, ()),), event.shown)",
        "a number where a message is stored",
    ),
    (local_steps, "range(len(instruction.targets))", "range(1)", "an assertion in a choice; an assertion behind a loop"),
    (local_steps, "if not 0 <= destination < self.steps.procs:", "if False:", "no process to send to"),
    # CCM
    (
        contract_rules,
        "if len(passed) > at and passed[at] != place:",
        "if False:",
        "different calls; one leaves where another calls",
    ),
    (
        contract_rules,
        'self._passes(event, ("enter", contract.name))',
        'self._passes(event, ("enter", ""))',
        "different calls",
    ),
    # DL
    (JUDGE, 'yield Shown("DL"', 'if False: yield Shown("DL"', "nothing comes"),
    (JUDGE, "(waiting or inside)[0]", "waiting[0] if waiting else None\n        if me is None: return", "a process halts"),
    (message_channels, "if tag in (None, each.tag)", "if True", "another tag"),
    (contract_rules, "offer.source in (None, sender)", "True", "a message into a gathering"),
    # SGV
    (JUDGE, "yield Shown(self.contract.exit_error, sender,", "if False: yield Shown(0, sender,", "a message is left"),
    (JUDGE, 'if clause.kind == "ensures" and not', "if False and not", "ensures"),
    (JUDGE, "if name is not None:\n                span", "if False:\n                span", "a global changes"),
    (allowed_changes, "before == now:", "True:", "a global changes"),
    (allowed_changes, "any(at in each for each in cells)", "True", "an element changes"),
    (
        spec_worth,
        "return self._at(self.number(process)).value(value)",
        "return self.value(value)",
        "ensures for the result of another",
    ),
    # PGV
    (
        JUDGE,
        "if not state.calls[0].entered[other]:\n                        text",
        "if False:\n                        text",
        "does not wait",
    ),
    (JUDGE, "yield self._path(path, me, None", "if False: yield self._path(path, me, None", "a fault in a guarantee"),
    (JUDGE, "if missing:", "if False:", "sends too early; a callee sends too early"),
    (
        spec_worth,
        "range(max(low, 0), min(high, state.procs - 1) + 1)",
        "range(0)",
        "does not wait; sends too early; quiet with the tag",
    ),
    # ITF
    (JUDGE, 'yield Shown("ITF"', 'if False: yield Shown("ITF"', "nothing keeps them away"),
    (
        spec_worth,
        "self.tag is None or self.tag == tag",
        "self.tag is None or tag is None or self.tag == tag",
        "any tag and a clause with a tag",
    ),
    (spec_worth, "(self.tag is None or self.tag == tag)", "True", "quiet with another tag; any tag and a clause with a tag"),
    (spec_worth, "sender in self.who and self.port in (None, port)", "sender in self.who", "quiet on a port"),
    (spec_worth, "return sender in self.who and", "return", "quiet from some"),
    (spec_worth, "if clause.condition is None or is_true(clause.condition, state, process):", "if True:", "quiet elsewhere"),
    # SRV
    (
        JUDGE,
        'if clause.kind == "requires" and not',
        "if False and not",
        "requires of a callee; requires of a callee inside of another",
    ),
    (
        local_steps,
        "self.broke(enter.contract.entry_error, said",
        "(enter.contract.entry_error, said",
        "requires of a local function",
    ),
    (JUDGE, "yield Shown(contract.entry_error, sender, text", 'Shown("SRV", sender, text', "a message across a callee"),
    (contract_rules, "changed_surplus(call.surplus, kind, 1)", "call.surplus", "a message when all have met"),
    (
        contract_rules,
        "changed_surplus(call.surplus, (sender, me, port, tag), -1)",
        "call.surplus",
        "a message back through a callee",
    ),
    (
        contract_rules,
        "(None,) * self.procs, in_flight(state), nothing",
        "(None,) * self.procs, (), nothing",
        "messages before and behind a callee",
    ),
    (
        run_states,
        "found = dict(surplus)\n",
        "found = dict(surplus)\n    kind = (*kind[:3], 0)\n",
        "messages that cross with other tags",
    ),
    (
        run_states,
        "found = dict(surplus)\n",
        "found = dict(surplus)\n    kind = (*kind[:2], 0, kind[3])\n",
        "messages that cross on other ports",
    ),
    # PRV
    (JUDGE, "if kind[1] == me:", "if False:", "a message before the other even calls"),
    (
        JUDGE,
        "yield from self._sent_into(call.quiet[kind[1]], kind, at)",
        "yield from ()",
        "a message while the other is in the call",
    ),
    (
        contract_rules,
        "event.calls[at] = call._replace(early=call.early | {kind})",
        "pass",
        "a message before the other even calls",
    ),
    (JUDGE, "for each in found if each.faulty]", "for each in () if each.faulty]", "a fault in what a callee requires"),
    # inputs
    (function_instances, "return range(first, last + 1)", "return range(first, first + 1)", "the second input"),
)
TOO_MUCH: tuple[Rule, ...] = (
    (local_steps, "if not 0 <= destination < self.steps.procs:", "if True:", "waits for the left one"),
    (
        JUDGE,
        'if any(each.status in ("stopped", "endless", "unfollowed") for each in state.locals):',
        "if False:",
        "a process is stopped",
    ),
    (JUDGE, " or first_with(messages, wanted.tag) is not None", "", "one is left in the channel"),
    (
        JUDGE,
        "each.covers(other, wanted.port, wanted.tag) for",
        "False for",
        "quiet with the tag; quiet with every tag",
    ),
    (JUDGE, "not state.calls[0].exited[other] or", "", "they wait for an answer"),
    (JUDGE, "(each for each in receives if each.source is None)", "receives", "waits through others"),
    (
        JUDGE,
        "if not state.calls[0].entered[other]:\n                        text",
        "if True:\n                        text",
        "waits through others",
    ),
    (JUDGE, "if not state.calls[0].entered[each]]", "]", "sends after it has heard"),
    (
        JUDGE,
        'if path.kind == "quiet to" and path.speaks_of(to, port, tag):',
        'if path.kind == "quiet to":',
        "sends with another tag; sends to somebody else",
    ),
    (
        spec_worth,
        "return other in self.who and self.port in (None, port) and self.tag in (None, tag)",
        "return other in self.who and self.tag in (None, tag)",
        "sends on another port",
    ),
    (
        spec_worth,
        "return other in self.who and self.port in (None, port) and self.tag in (None, tag)",
        "return other in self.who and self.port in (None, port)",
        "sends with another tag; a message with another tag",
    ),
    (spec_worth, "return other in self.who and", "return", "sends to somebody else"),
    (allowed_changes, "and not _same_but(before[name], value, cells):", ":", "the same is stored"),
    (allowed_changes, "if cells is not None and", "if", "a global may change"),
    (
        JUDGE,
        "CollectiveState(self.parameters, self.globals, now, results)",
        "CollectiveState(self.parameters, now, now, results)",
        "the global at entry",
    ),
    (
        function_instances,
        "if all(clause_holds(each, state, at, self.poll) for each in required for at in range(self.procs)):",
        "if True:",
        "requires about another",
    ),
    (JUDGE, "if path.speaks_of(sender, port, tag):", "if True:", "a message with another tag"),
    (
        local_steps,
        'if clause.kind == "requires" and not clause_holds(clause, state, own.me, own.poll):',
        'if clause.kind == "requires":',
        "a local function that is right",
    ),
    (
        JUDGE,
        'if clause.kind == "requires" and not clause_holds(clause, state, me, self.poll):',
        'if clause.kind == "requires":',
        "a callee sends too early",
    ),
)


def _named(rules: tuple[Rule, ...]) -> list[tuple[ModuleType, str, str, str]]:
    return [(module, before, after, name) for module, before, after, names in rules for name in names.split("; ")]


@pytest.mark.parametrize(("module", "before", "after", "name"), share(_named(TOO_LITTLE), 4))
def test_a_rule_that_is_switched_off_is_noticed(module: ModuleType, before: str, after: str, name: str) -> None:
    program = class_programs()[name]
    loaded = program.loaded()
    with switched(module, before, after):
        found = [searched(loaded, "f", procs, NO_LIMITS) for procs in program.shows]
    assert [tuple(sorted(each.counterexamples)) for each in found] != list(program.shows.values())


@pytest.mark.parametrize(("module", "before", "after", "name"), share(_named(TOO_MUCH), 4))
def test_what_no_run_shows_is_not_confirmed(module: ModuleType, before: str, after: str, name: str) -> None:
    program = class_programs()[name]
    loaded = program.loaded()
    with switched(module, before, after):
        found = [searched(loaded, "f", procs, NO_LIMITS) for procs in program.shows]
    wrong = [
        counterexample
        for each, shows in zip(found, program.shows.values(), strict=True)
        for error, counterexample in each.counterexamples.items()
        if error not in shows
    ]
    assert wrong
    for each in wrong:
        with pytest.raises(InternalError):
            confirmed(loaded, "f", each)
