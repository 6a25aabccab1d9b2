"""The strongest guarantees and the weakest requirements about the order of events, each tried on all runs.

A candidate is refuted by a run that another one was refuted by, where it speaks of the same; else the engine tries it. What
is printed was verified for every number of processes that is asked for, all of it together.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from typing import Final

from rdma_robust.contracts.contract_answers import Counterexample, ProcsAnswer
from rdma_robust.contracts.language.contract_program import Contract, ContractProgram, PathClause, PathKind, ProcessSet
from rdma_robust.contracts.language.function_instances import UnboundedInputsError, inputs_of, instance
from rdma_robust.contracts.language.spec_terms import Apply, Global, Parameter, Spec, SpecCount, SpecNumber, SpecPid
from rdma_robust.contracts.language.spec_worth import CollectiveState, LocalPathClause, paths_of
from rdma_robust.contracts.runs.runs_engine import runs
from rdma_robust.expr import Const
from rdma_robust.limits import Limits
from rdma_robust.messages.language.message_program import Block, IssueReceive, inner_blocks
from rdma_robust.messages.language.message_terms import Value

MOST_INPUTS: Final = 50
"""Inputs of a number of processes on which candidates are compared with one another."""

MOST_TRIES: Final = 50
"""Refutations of requirements."""

Inputs = Sequence[dict[str, Value]]


@dataclass(frozen=True, slots=True)
class Inference:
    """The clauses of a function, as text; `reason` says why there are none. `tried` counts questions to the engine."""

    function: str
    procs: tuple[int, ...]
    waitsfor: tuple[str, ...] = ()
    quiet_to: tuple[str, ...] = ()
    quiet_from: tuple[str, ...] = ()
    reason: str = ""
    tried: int = 0


class _StopError(Exception):
    """Nothing can be inferred; says why."""


def inferred(program: ContractProgram, function: str, procs: Sequence[int], limits: Limits) -> Inference:
    """Return what `function` can promise, and must require, of the order of events.

    Raises KeyError if it has no contract, and LimitReached.
    """
    contract = program.contract(function)
    if contract is None:
        raise KeyError(function)
    if contract.kind == "local":
        return Inference(function, tuple(procs), reason="a local function says nothing of the order of events")
    work = _Inferring(program, contract, tuple(procs), limits)
    try:
        needed = work.requirements()
        waits = work.guarantees("waitsfor", needed)
        quiet = work.guarantees("quiet to", needed)
        work.together([*needed, *waits, *quiet])
    except _StopError as why:
        return Inference(function, tuple(procs), reason=str(why), tried=work.tried)
    return Inference(function, tuple(procs), _texts(waits), _texts(quiet), _texts(needed), tried=work.tried)


def _texts(found: Sequence[CandidateClause]) -> tuple[str, ...]:
    return tuple(each.text for each in found)


@dataclass(frozen=True, slots=True)
class _Refutation:
    """A run of so many processes after which a clause of this process would be false: who has entered, who is sent to."""

    inputs: Inputs
    process: int
    other: int | None
    entered: frozenset[int]
    sent: tuple[int, int, int] | None
    """Receiver, port and tag of the message that is sent too early."""


class _Inferring:
    def __init__(self, program: ContractProgram, contract: Contract, procs: tuple[int, ...], limits: Limits) -> None:
        self.program, self.contract, self.procs, self.limits = program, contract, procs, limits
        self.tried = 0
        self.inputs = [each for n in procs for each in self._inputs(n)]
        named = (*contract.parameters, *program.globals)
        self.names = tuple(name for name in named if all(map(partial(_may_be_processes, name), self.inputs)))
        required = tuple(each for each in contract.clauses if each.kind == "requires")
        self.bare = replace(contract, clauses=required, frames=None, paths=())

    def _inputs(self, procs: int) -> Iterator[Inputs]:
        """Yield some inputs, on which candidates are compared; none where these cannot be listed."""
        try:
            yield from islice(inputs_of(self.contract, self.program.globals, frozenset(), procs), MOST_INPUTS)
        except UnboundedInputsError:
            return

    def requirements(self) -> list[CandidateClause]:
        """Return the weakest `quiet from` without which a receive from any could take a message from outside."""
        filters = sorted(self._wildcards(), key=lambda each: (each.tag is None, each.text))
        found = clauses_to_try("quiet from", self.bare, self.names, filters)
        weakest = sorted(found, key=lambda each: (len(self._covered(each)), each.wideness, len(each.text)))
        required: list[tuple[Inputs, int, int]] = []
        chosen: list[CandidateClause] = []
        for _ in range(MOST_TRIES):
            example = self._violation([each.clause for each in chosen], "ITF")
            if example is None:
                return chosen
            assert example.other is not None, "a message from outside has a sender"
            required.append((self._all_of(example), example.process, example.other))
            weakest = [each for each in weakest if each not in chosen]
            enough = next((each for each in weakest if self._asks(each, required)), None)
            alone = next((each for each in weakest if self._asks(each, required[-1:])), None)
            if enough is None and alone is None:
                raise _StopError(f"no `quiet from` that was tried is enough: {example.text}")
            chosen = [enough] if enough is not None else [*chosen, alone] if alone is not None else chosen
        raise _StopError(f"more than {MOST_TRIES} requirements were tried")

    def guarantees(self, kind: PathKind, needed: Sequence[CandidateClause]) -> list[CandidateClause]:
        """Return the strongest clauses of a kind that hold, without those that others imply."""
        found = clauses_to_try(kind, self.bare, self.names, [Filter()])
        accepted: list[CandidateClause] = []
        covered: set[object] = set()
        refuted: list[_Refutation] = []
        for each in sorted(found, key=lambda one: (-len(self._covered(one)), len(one.text))):
            cells = self._covered(each)
            if cells <= covered or any(self._is_refuted(each, by) for by in refuted):
                continue
            example = self._violation([*(one.clause for one in needed), each.clause], "PGV")
            if example is None:
                accepted.append(each)
                covered |= cells
            else:
                refuted.append(self._refutation(example))
        return self._without_implied(accepted)

    def _without_implied(self, accepted: Sequence[CandidateClause]) -> list[CandidateClause]:
        """Return clauses that together say as much, those first that say most of what is left."""
        left = set[object]().union(*map(self._covered, accepted))
        kept: list[CandidateClause] = []
        while left:
            best = max(accepted, key=lambda each: (len(self._covered(each) & left), -len(each.text)))
            kept.append(best)
            left -= self._covered(best)
        return kept

    def together(self, found: Sequence[CandidateClause]) -> None:
        """Check all that was found. Raises _StopError if it does not hold together, which would be a defect."""
        if self._violation([each.clause for each in found], "PGV") is not None:
            raise _StopError("the clauses that were found do not hold together: a defect")

    def _violation(self, clauses: Sequence[PathClause], error: str) -> Counterexample | None:
        """Return a counterexample of a class for the function with these path clauses; None if all is verified."""
        trial = replace(self.bare, paths=tuple(clauses))
        own = tuple(trial if each.name == trial.name else each for each in self.program.contracts)
        program = replace(self.program, contracts=own)
        for procs in self.procs:
            self.tried += 1
            answer: ProcsAnswer = runs(program, self.contract.name, procs, self.limits)
            example = answer.counterexample
            if answer.verdict == "UNKNOWN":
                raise _StopError(f"n = {procs}: {answer.reason}")
            if example is not None and example.error != error:
                raise _StopError(f"n = {procs}: {example.error}, {example.text}")
            if example is not None:
                return example
        return None

    def _all_of(self, example: Counterexample) -> Inputs:
        return [dict(each) for each in example.inputs]

    def _refutation(self, example: Counterexample) -> _Refutation:
        entered = {each.process for each in example.events if each.event == "enter" and each.function == self.contract.name}
        last = example.events[-1]
        sent = (last.peer, last.port, last.tag or 0) if last.event == "send" and last.peer is not None else None
        return _Refutation(self._all_of(example), example.process, example.other, frozenset(entered), sent)

    def _paths(self, candidate: CandidateClause, inputs: Inputs, process: int) -> tuple[LocalPathClause, ...]:
        parameters = [{name: each[name] for name in self.contract.parameters if name in each} for each in inputs]
        globals_ = [{name: each[name] for name in self.program.globals if name in each} for each in inputs]
        state = CollectiveState.at_entry(tuple(parameters), tuple(globals_))
        return paths_of(replace(self.bare, paths=(candidate.clause,)), state, process)

    def _is_refuted(self, candidate: CandidateClause, by: _Refutation) -> bool:
        for path in self._paths(candidate, by.inputs, by.process):
            if path.faulty:
                return True
            if path.kind == "waitsfor" and by.sent is None and path.who - by.entered:
                return True
            if path.kind == "quiet to" and by.sent is not None and path.speaks_of(*by.sent) and path.until - by.entered:
                return True
        return False

    def _asks(self, candidate: CandidateClause, required: Iterable[tuple[Inputs, int, int]]) -> bool:
        return all(
            any(not path.faulty and other in path.who for path in self._paths(candidate, inputs, process))
            for inputs, process, other in required
        )

    def _covered(self, candidate: CandidateClause) -> frozenset[object]:
        """Return of which processes a clause speaks, and until whom, by the inputs and the process that promises it.

        That a process has entered itself says nothing, and is left out.
        """
        found: set[object] = set()
        for at, inputs in enumerate(self.inputs):
            for process in range(len(inputs)):
                for path in self._paths(candidate, inputs, process):
                    others = path.who - {process} if path.kind == "waitsfor" else path.who
                    groups = path.until - {process} if path.kind == "quiet to" else (None,)
                    found |= {(at, process, who, until, path.tag, path.port) for who in others for until in groups}
        return frozenset(found)

    def _wildcards(self) -> set[Filter]:
        """Return tags and ports of the receives from any, as far as they are constants."""
        ports = self.program.port_names
        found: set[Filter] = {Filter()}
        for procs in self.procs:
            for process in instance(self.program, self.contract.name, procs).program.processes:
                for receive in _receives(process.body):
                    if receive.source is None:
                        tag = receive.tag.value if isinstance(receive.tag, Const) else None
                        found |= {Filter(tag), Filter(tag, receive.port, ports[receive.port] or "\\nameless")}
        return {each for each in found if each.port != 0 or self.program.ports}


def _may_be_processes(name: str, inputs: Inputs) -> bool:
    """Whether what has a name is the number of a process in all processes, or -1 for none."""
    return all(isinstance(value := each.get(name), int) and -1 <= value < len(inputs) for each in inputs)


def _receives(block: Block) -> Iterator[IssueReceive]:
    for statement in block:
        if isinstance(statement, IssueReceive):
            yield statement
        for each in inner_blocks(statement):
            yield from _receives(each)


# Path clauses that a function could have: sets of processes that people write, and the conditions under which they hold.

ZERO: Final = SpecNumber(0)
ONE: Final = SpecNumber(1)
LAST: Final = Apply("-", (SpecCount(), ONE))
MOST_NAMES: Final = 6
"""Parameters and globals of which the number of a process could be the value, at most."""


@dataclass(frozen=True, slots=True)
class CandidateClause:
    """A path clause and its text."""

    clause: PathClause
    text: str

    @property
    def wideness(self) -> int:
        """Whether it is about any tag, any port, or both."""
        return (self.clause.tag is None) + (self.clause.port is None)


@dataclass(frozen=True, slots=True)
class Filter:
    """A tag and a port of receives from any, as their number and their name; None is any."""

    tag: int | None = None
    port: int | None = None
    port_name: str = ""

    @property
    def text(self) -> str:
        port = "" if self.port is None else f" on {self.port_name}"
        return port + ("" if self.tag is None else f" tag {self.tag}")


def clauses_to_try(
    kind: PathKind, contract: Contract, names: Sequence[str], filters: Sequence[Filter]
) -> list[CandidateClause]:
    """Return the clauses of a kind that are looked at; those of `quiet` have the `filters`.

    `names` are parameters and globals whose values are numbers of processes.
    """
    who = list(_sets(contract, names))
    if kind == "quiet from":
        who = [each for each in who if each[1] != "\\all"]
    elif kind == "quiet to":
        who = [each for each in who if each[1] in ("\\all", *names)]
    found = []
    for condition, when in _conditions(contract, names):
        for group, text in who:
            if kind == "waitsfor":
                found.append(CandidateClause(PathClause(kind, group, condition=condition), f"waitsfor {text}{when}"))
                continue
            word = kind
            for only in filters:
                tag = None if only.tag is None else SpecNumber(only.tag)
                said = f"{word} {text}{only.text}"
                if kind == "quiet from":
                    clause = PathClause(kind, group, tag, only.port, None, condition)
                    found.append(CandidateClause(clause, f"{said}{when}"))
                    continue
                for until, last in _sets(contract, names):
                    clause = PathClause(kind, group, tag, only.port, until, condition)
                    found.append(CandidateClause(clause, f"{said} until {last}{when}"))
    return found


def _names(contract: Contract, names: Sequence[str]) -> list[tuple[Spec, str]]:
    """Return the parameters and globals that are looked at."""
    return [(Parameter(each) if each in contract.parameters else Global(each), each) for each in names[:MOST_NAMES]]


def _processes(contract: Contract, names: Sequence[str]) -> Iterator[tuple[Spec, str]]:
    """Yield what could be the number of a process."""
    yield from _names(contract, names)
    yield ZERO, "0"
    yield LAST, "NPROCS-1"
    yield Apply("-", (SpecPid(), ONE)), "PID-1"
    yield Apply("+", (SpecPid(), ONE)), "PID+1"
    yield Apply("%", (Apply("+", (SpecPid(), ONE)), SpecCount())), "(PID+1) % NPROCS"
    yield Apply("%", (Apply("-", (Apply("+", (SpecPid(), SpecCount())), ONE)), SpecCount())), "(PID+NPROCS-1) % NPROCS"


def _sets(contract: Contract, names: Sequence[str]) -> Iterator[tuple[ProcessSet, str]]:
    yield ProcessSet(ZERO, LAST), "\\all"
    yield ProcessSet(ZERO, LAST, others=True), "\\others"
    for spec, text in _processes(contract, names):
        yield ProcessSet(spec, spec), text


def _conditions(contract: Contract, names: Sequence[str]) -> Iterator[tuple[Spec | None, str]]:
    """Yield conditions with the text behind the clause: none, that the own number is or is not something, even or odd."""
    yield None, ""
    for spec, text in (*_names(contract, names), (ZERO, "0"), (LAST, "NPROCS-1")):
        for op in ("==", "!="):
            yield Apply(op, (SpecPid(), spec)), f" if PID {op} {text}"
    for spec, text in _names(contract, contract.parameters):
        parity = Apply("%", (Apply("+", (SpecPid(), spec)), SpecNumber(2)))
        for value in (0, 1):
            yield Apply("==", (parity, SpecNumber(value))), f" if (PID+{text}) % 2 == {value}"
