"""Open runs: processes that have left the function really send, anything to anybody, at any time.

A variant of the engine that looks at all interleavings. The states have at most one foreign message: whoever takes it, the
search goes no further.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

from rdma_robust.contracts.contract_answers import VisibleEvent
from rdma_robust.contracts.language.contract_program import ContractProgram
from rdma_robust.contracts.language.function_instances import inputs_of, instance, unread_inputs
from rdma_robust.contracts.language.spec_worth import LocalPathClause
from rdma_robust.messages.language.message_terms import Value
from tests.support.contracts_oracle.contract_rules import Bodies, Next, Rules
from tests.support.contracts_oracle.local_steps import Incoming
from tests.support.contracts_oracle.message_channels import Message, with_channel
from tests.support.contracts_oracle.pending import Posted
from tests.support.contracts_oracle.run_states import State

FOREIGN = cast(Value, ("foreign",))
"""The value of a foreign message, which no program has."""

TAGS = (0, 1, 2, 3, 4, 7, 99)
"""Those that programs here name, and one that none does."""


class TooManyStates(Exception):
    pass


def interferes(program: ContractProgram, function: str, procs: int, most: int) -> tuple[bool, bool]:
    """Return whether a closed run shows ITF, and whether in an open run a receive from any takes a foreign message.

    Raises TooManyStates.
    """
    contract = program.contract(function)
    assert contract is not None
    written = instance(program, function, procs)
    bodies = Bodies(program, contract, written)
    shown = taken = False
    for inputs in inputs_of(contract, program.globals, unread_inputs(program, contract, written), procs):
        rules = Rules(bodies, inputs)
        shown = shown or any(
            each.error == "ITF" for state in _states(rules, most, open_=False) for each in rules.judge.interference(state)
        )
        taken = taken or any(_takes(rules, state) for state in _states(rules, most, open_=True))
    return shown, taken


def _states(rules: Rules, most: int, *, open_: bool) -> Iterator[State]:
    """Yield all states of closed runs, or of open ones until a foreign message is taken."""
    todo = [rules.start()]
    seen = set(todo)
    while todo:
        state = todo.pop()
        yield state
        if len(seen) > most:
            raise TooManyStates
        following = [each for found in rules.events(state) if not _is_foreign(found) for each, _ in found.branches]
        following += [after for after in rules.matches(state) if not _matched(after)]
        for after in [*following, *(_sent(rules, state) if open_ else ())]:
            if after not in seen:
                seen.add(after)
                todo.append(after)


def _is_foreign(found: Next) -> bool:
    return found.event.event == "recv" and found.event.value == FOREIGN


def _takes(rules: Rules, state: State) -> bool:
    """Whether a process inside takes a foreign message with a receive from any."""
    if not any(message[1] == FOREIGN for _, messages in state.channels for message in messages):
        return False
    posted = [each for after in rules.matches(state) for each in _matched(after)]
    return any(each.source is None for each in posted) or any(
        _is_foreign(each) and _is_from_any(state, each.event) for each in rules.events(state)
    )


def _matched(state: State) -> list[Posted]:
    """Return the posted receives that have got a foreign message."""
    posted = [each for local in state.locals for each in local.pending.posted]
    return [each for each in posted if each.got is not None and each.got[0] == FOREIGN]


def _is_from_any(state: State, event: VisibleEvent) -> bool:
    offer = state.locals[event.process].offer
    return isinstance(offer, Incoming) and offer.source is None


def _sent(rules: Rules, state: State) -> Iterator[State]:
    """Yield the states after each message that one who has left may send, which no requirement forbids."""
    if any(message[1] == FOREIGN for _, messages in state.channels for message in messages):
        return
    own = state.calls[0]
    for sender in rules.active:
        for to in rules.active:
            if not own.exited[sender] or own.exited[to]:
                continue
            for port in range(1 + len(rules.bodies.program.ports)):
                for tag in TAGS:
                    if not any(_forbids(each, sender, port, tag) for each in rules.judge.paths[to]):
                        channel = (sender, to, port)
                        messages = (*dict(state.channels).get(channel, ()), Message(tag, FOREIGN))
                        yield state._replace(channels=with_channel(state.channels, channel, messages))


def _forbids(path: LocalPathClause, sender: int, port: int, tag: int) -> bool:
    return path.kind == "quiet from" and path.speaks_of(sender, port, tag)
