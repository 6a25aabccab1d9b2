"""The answers about a function with a contract: the same records from every engine."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

from rdma_robust.contracts.language.contract_program import ContractProgram, ErrorClass
from rdma_robust.errors import NO_SPAN, Span
from rdma_robust.limits import Limits
from rdma_robust.messages.language.message_terms import Value

Verdict = Literal["VERIFIED", "VIOLATED", "UNKNOWN"]
Mode = Literal["auto", "modular", "inlined"]

NOTHING: Final = "no input within the bounds meets `requires`"
SET_ASIDE: Final = "every run is set aside by an `assume` that is false"
"""Why there is nothing that a contract could be compared with."""

Inputs = tuple[Mapping[str, Value], ...]
"""For each process its parameters and globals at the collective entry, by the names of the language."""


@dataclass(frozen=True, slots=True)
class VisibleEvent:
    """One visible event of a run: a process does everything up to it, then it.

    `enter` and `exit` name a function with a contract; `send` and `recv` have the other process, tag, port and value.
    So has `complete`, with which a process goes on behind a send that somebody's receive has got; only where sends wait.
    `choices` are those that the process makes at `choose` and `loop` since its event before, up to this one.
    """

    process: int
    event: Literal["enter", "exit", "send", "recv", "complete"]
    function: str = ""
    peer: int | None = None
    tag: int | None = None
    port: int = 0
    value: Value = 0
    choices: tuple[int, ...] = ()
    span: Span = field(default=NO_SPAN, compare=False)


@dataclass(frozen=True, slots=True)
class Counterexample:
    """A run that shows a violation: from `inputs`, event by event, and what is wrong after it.

    `error` is the class. `process` is for whom the clause is false, or who faults, waits or sends; `other` the one it waits
    for or sends to, or whose message could interfere. `clause` says what is violated: `ensures`, `requires`, `assigns`,
    `channels` (not empty), `requests` (active), `waitsfor`, `quiet to`, `quiet from`, `assert`, the kind of a fault, or '';
    `span` is where that stands, or the statement at fault or at which `process` waits. `text` says it for people, with the
    values. `collate` counts the collective calls before the violated one (0: the function itself). `ending` has for each
    process the choices that it makes after its last event. The replay adds `call`, where a callee is called that asks for
    what it does not get, and `ends`, where the processes that run are.
    """

    error: ErrorClass
    inputs: Inputs
    events: tuple[VisibleEvent, ...]
    process: int
    other: int | None = None
    clause: str = ""
    span: Span = NO_SPAN
    collate: int = 0
    text: str = ""
    ending: tuple[tuple[int, ...], ...] = ()
    call: Span = field(default=NO_SPAN, compare=False)
    ends: tuple[Standing, ...] = ()


@dataclass(frozen=True, slots=True)
class Collate:
    """The calls that belong together: the `number`-th contracted call of each process, all of `function`, from 0.

    `entries` and `exits` have for each process what it has when it passes, None if it does not in this run: parameters (at
    entry) and globals by their names, and in `exits` the result as `\\result`.
    """

    function: str
    number: int
    entries: tuple[Mapping[str, Value] | None, ...]
    exits: tuple[Mapping[str, Value] | None, ...]


@dataclass(frozen=True, slots=True)
class WeakCallee:
    """A callee whose contract is too weak for the proof; `proposal` is a clause that is enough, which was tried."""

    function: str
    needed: str
    proposal: str | None = None


@dataclass(frozen=True, slots=True)
class ProcsAnswer:
    """The answer for one function, `procs` processes and all inputs within its bounds.

    VERIFIED only after an exhausted search; VIOLATED only with a counterexample that was replayed; UNKNOWN has its `reason`.
    VERIFIED has one if it is about nothing: no input meets `requires`, or no run comes to its end.
    `runs` are the matchings (or complete interleavings), `states` the branch states (or all states), `solver_calls` z3's.
    """

    procs: int
    verdict: Verdict
    mode: Literal["modular", "inlined"]
    engine: str
    counterexample: Counterexample | None = None
    weak: tuple[WeakCallee, ...] = ()
    reason: str = ""
    runs: int = 0
    states: int = 0
    solver_calls: int = 0
    seconds: float = 0.0
    collates: tuple[Collate, ...] = ()
    """Those of the counterexample, as the replay had them."""


ProvedInputs = Literal["all", "kinds", "bounds"]
"""Inputs of a proof: all that meet `requires`; of these all of the kinds that `bounds` say; those within the bounds."""


@dataclass(frozen=True, slots=True)
class EveryProcsAnswer:
    """The answer for one function and every number of processes, proved by z3 alone.

    UNKNOWN has its `reason`. VERIFIED is about `inputs`, and about n up to `most` if that is not None.
    """

    verdict: Literal["VERIFIED", "UNKNOWN"]
    inputs: ProvedInputs | None = None
    most: int | None = None
    reason: str = ""
    solver_calls: int = 0
    seconds: float = 0.0


AnswerKind = Literal["collective", "local", "loop"]
"""Of a loop with a contract what holds of each of its rounds."""


@dataclass(frozen=True, slots=True)
class FunctionAnswer:
    """The answers for one function: one for each number of processes that was asked for, `every` for all there are."""

    name: str
    kind: AnswerKind
    answers: tuple[ProcsAnswer, ...]
    warnings: tuple[str, ...] = ()
    every: EveryProcsAnswer | None = None

    @property
    def verdict(self) -> Verdict:
        """Return the worst: VIOLATED, UNKNOWN, VERIFIED."""
        found: set[Verdict] = {each.verdict for each in self.answers}
        if self.every is not None:
            found.add(self.every.verdict)
        worst: tuple[Verdict, ...] = ("VIOLATED", "UNKNOWN")
        return next((each for each in worst if each in found), "VERIFIED")


ContractEngine = Callable[[ContractProgram, str, int, Limits], ProcsAnswer]
"""An engine: a program, a function of it and a number of processes, real bodies (`inlined`) or contracts of callees."""


# Where processes are at the end of a run that violates a contract, and why they stay there.


@dataclass(frozen=True, slots=True)
class Standing:
    """Where a process is at the end of a run: what comes next for it, at which statement, with whom.

    `complete` is the wait for a send that somebody has to get; `stopped` is by a fault or a false assumption.
    """

    process: int
    next: Literal["enter", "exit", "send", "recv", "complete", "left", "halted", "stopped"]
    span: Span = field(default=NO_SPAN, compare=False)
    peer: int | None = None
    port: int = 0
    tag: int | None = None


def why_it_stays(standing: Standing, ports: tuple[str, ...], names: str = "", at: str = "", *, several: bool = False) -> str:
    """Return why a process, or all of `names` (`several`), never leave; `at` says where, and `ports` are names of ports."""
    names = names or f"process {standing.process}"
    waits = f"{names} {'wait' if several else 'waits'}{at}"
    asked = standing.tag if standing.next == "recv" else standing.tag or None
    message = f"a message{message_words(standing.port, asked, ports)}"
    match standing.next:
        case "recv":
            source = "any" if standing.peer is None else f"process {standing.peer}"
            return f"{waits} for {message} from {source}"
        case "complete":
            return f"{waits} for process {standing.peer} to take {message}"
        case "halted":
            return f"{names} {'halt' if several else 'halts'}{at}"
        case _:
            return f"{names} {'do' if several else 'does'} not leave"


def message_words(port: int, tag: int | None, ports: tuple[str, ...]) -> str:
    """Return the tag and the port of a message, as far as it has them."""
    tagged = "" if tag is None else f" with tag {tag}"
    return f"{tagged} on {ports[port]}" if port else tagged
