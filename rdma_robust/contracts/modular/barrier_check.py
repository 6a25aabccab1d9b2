"""One function against the contracts of what it calls: conditions M1 to M7 on all its barrier runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from rdma_robust.contracts.language.contract_program import CollectiveLoop, Contract
from rdma_robust.contracts.language.loop_rounds import in_state, loop_of, whole_contract
from rdma_robust.contracts.modular.callee_effects import Effects
from rdma_robust.contracts.modular.later_messages import Early, LaterMessages
from rdma_robust.contracts.modular.widened_checks import WidenedChecks
from rdma_robust.contracts.runs.path_facts import Path
from rdma_robust.contracts.runs.run_code import run_code
from rdma_robust.contracts.runs.run_inputs import PossibleViolation
from rdma_robust.contracts.runs.run_judge import Judge
from rdma_robust.contracts.runs.run_machine import PrunedError, RunMachine
from rdma_robust.contracts.runs.run_promises import Promises
from rdma_robust.contracts.runs.run_state import Actor, Clock, Promise, SymbolicRun, joined_clock
from rdma_robust.contracts.runs.run_terms import Condition, TooManyError
from rdma_robust.contracts.runs.runs_engine import FoundError, RunsCheck
from rdma_robust.contracts.runs.spec_reading import Snapshot
from rdma_robust.contracts.runs.symbolic_data import Decisions, WeakError
from rdma_robust.contracts.runs.term_code import CalleePoint, EntryPoint, NonBlockingError, RunCode
from rdma_robust.messages.language.message_program import Process


def known_heads(on: Decisions, procs: int, loop: CollectiveLoop, process: int, state: Snapshot) -> tuple[Promise, ...]:
    """Return the `waitsfor` of a loop as they are at a head at which a process has this state."""
    return Promises(on, procs).evaluated(in_state(loop.waits, frozenset(loop.locals)), process, state)


class Rounds:
    """Looks at the runs of one round of a loop, for `procs` processes."""

    def __init__(self, on: Decisions, procs: int, loop: CollectiveLoop) -> None:
        self._on, self._procs, self._loop = on, procs, loop
        self._promises = Promises(on, procs)

    def _knows(self, process: int, state: Snapshot, other: int) -> Condition:
        """Return where a process at a head knows that another has come to the first one."""
        terms = self._on.terms
        return terms.disjunction(
            terms.conjunction((each.active, self._promises.member(each.low, each.high, each.others, other, process)))
            for each in known_heads(self._on, self._procs, self._loop, process, state)
        )

    def known_at_first(self, snapshots: list[Snapshot]) -> Iterator[tuple[Condition, str]]:
        """Yield what is wrong if at the first head a process is said to know of more than itself, and where that is so."""
        for process, state in enumerate(snapshots):
            for other in range(self._procs):
                if other != process:
                    text = f"at the first head nothing makes process {process} wait for process {other}"
                    yield self._knows(process, state, other), text

    def unknown_after(self, run: SymbolicRun) -> Iterator[tuple[Condition, str]]:
        """Yield what is wrong if behind a round a process is said to know of one that it need not have heard of."""
        terms = self._on.terms
        if any(each.status != "left" for each in run.actors):
            return
        entries = [each.calls[0].snapshot for each in run.actors]
        for process, actor in enumerate(run.actors):
            last = actor.calls[-1]
            heard = [other for other in range(self._procs) if other == process or last.clock[other]]
            for other in range(self._procs):
                if other in heard:
                    continue
                told = terms.disjunction(self._knows(each, entries[each], other) for each in heard)
                wrong = terms.conjunction((self._knows(process, last.snapshot, other), terms.negation(told)))
                yield wrong, f"behind a round process {process} need not have heard of process {other}"

    def disturbed_later(self, run: SymbolicRun) -> Iterator[tuple[Condition, str]]:
        """Yield what is wrong if a round requires somebody to be quiet who may send in the next round."""
        terms = self._on.terms
        for receiver, actor in enumerate(run.actors):
            for asked in actor.calls[0].promises:
                if asked.clause.kind != "quiet from":
                    continue
                for sender in range(self._procs):
                    member = self._promises.member(asked.low, asked.high, asked.others, sender, receiver)
                    quiet = terms.disjunction(
                        self._keeps_quiet(each, asked, receiver) for each in run.actors[sender].calls[0].promises
                    )
                    wrong = terms.conjunction((asked.active, member, terms.negation(quiet)))
                    text = f"in the next round process {sender} may send to process {receiver}, which has not left the round"
                    yield wrong, text

    def _keeps_quiet(self, promise: Promise, asked: Promise, receiver: int) -> Condition:
        """Return where a `quiet to` keeps back what a `quiet from` speaks of until its process is in the round, too."""
        if promise.clause.kind != "quiet to" or promise.until is None:
            return False
        if promise.clause.port is not None and promise.clause.port != asked.clause.port:
            return False
        terms = self._on.terms
        same = self._promises.covers_tag(promise, asked.tag)
        member = self._promises.member(promise.low, promise.high, promise.others, receiver, promise.process)
        until = self._promises.member(*promise.until, receiver, promise.process)
        return terms.conjunction((promise.active, member, same, until))


@dataclass(frozen=True, slots=True)
class Problem:
    """Why the contracts of callees are not enough: `callee` is the one that says too little, '' if it may be any.

    Or, as the `limit`, why barrier runs were not all looked at, which is no contract's fault.
    """

    text: str
    callee: str = ""
    limit: bool = False


def _unknown_rounds(name: str) -> str:
    return f"the rounds of {name} were not looked at"


@dataclass(slots=True)
class BarrierCheck(RunsCheck):
    """A check with callees by their contracts alone. `problem` is the first that was found."""

    widened: WidenedChecks | None = None
    problem: Problem | None = None
    rounds: Callable[[str], str] = _unknown_rounds
    """Returns for a loop why it is not known that its rounds keep its invariants, or nothing."""

    def proved(self) -> bool:
        """Return whether the function meets its contract if its callees do, as `widened` finds that they do."""
        self.in_order = True
        try:
            answer = self.answer()
        except WeakError as weak:
            self.problem = Problem(f"what is unknown is looked at: {weak}", _callee_in(str(weak)))
            return False
        if self.problem is None and answer.verdict != "VERIFIED":
            self.problem = Problem(answer.reason, limit=True)
        return self.problem is None

    def contracts(self) -> dict[str, Contract]:
        """Return the contracts of all calls: of a loop that of all its rounds."""
        found = RunsCheck.contracts(self)
        wholes = (whole_contract(each) for each in found.values() if each.loop is not None and not each.loop.is_round)
        return {**found, **{each.name: each for each in wholes}}

    def code(self, process: Process, contracts: Mapping[str, Contract]) -> RunCode:
        """Return the code of a process without the bodies of callees that have contracts."""
        callees = contracts.keys() - {self.function}
        return run_code(process, contracts, callees, rendezvous=self.program.buffer == "zero")

    def machine(self, codes: Sequence[RunCode], collective: frozenset[str], judge: Judge) -> RunMachine:
        """Return a machine for barrier runs."""
        made = BarrierMachine(codes, self.program.globals, collective, self.on, judge)
        made.rules, made.judge = CalleeRules(judge.contracts, self._outside), judge
        return made

    def _outside(self, run: SymbolicRun, function: str, snapshots: list[Snapshot]) -> None:
        """Look whether a callee is known to meet its contract for what it is given. Raises FoundError if not."""
        contract = self.contracts()[function]
        if contract.loop is not None:
            self._loop(run, contract, contract.loop, snapshots)
        else:
            self._callee(function, snapshots)
        if self.problem is not None:
            raise FoundError

    def _loop(self, run: SymbolicRun, contract: Contract, loop: CollectiveLoop, snapshots: list[Snapshot]) -> None:
        """Look whether the rounds of a loop are known to keep its invariants, and what holds at its first head."""
        name = loop_of(contract)
        why = self.rounds(name)
        if why:
            self.problem = Problem(why, name)
        for condition, text in Rounds(self.on, self.procs, loop).known_at_first(snapshots):
            if self.is_possible(run.path, condition):
                self.problem = self.problem or Problem(text, name)

    def _callee(self, function: str, snapshots: list[Snapshot]) -> None:
        assert self.widened is not None
        trust = self.widened.trust(function, self.procs)
        if trust is None:
            self.problem = Problem(f"{function} does not meet its contract, or that is not known", function)
        else:
            name = trust.holds_for(snapshots, self.on)
            if name:
                text = f"{function} is called with other values of {name} than its own check looks at"
                self.problem = Problem(text, function)

    def ended(self, run: SymbolicRun) -> None:
        """Look at M5 to M7."""
        for early in LaterMessages(Promises(self.on, self.procs), self.procs).found(run):
            self._early(run, early)

    def _early(self, run: SymbolicRun, early: Early) -> None:
        if not self.is_possible(run.path, early.condition):
            return
        whose = f"in {early.callee}" if early.callee else "later"
        why = {
            "quiet to": "which the function promises not to do yet",
            "quiet from": "which a callee that was left forbids",
            "wildcard": "which a receive from any may take too early",
        }[early.rule]
        self.problem = Problem(f"process {early.sender} may send to process {early.receiver} {whose}, {why}", early.callee)
        raise FoundError

    def told(self, _run: SymbolicRun, path: Path, finding: PossibleViolation) -> None:
        """Take what may be a violation: it is a problem if it is not surely none."""
        if self.is_possible(path, finding.condition):
            self.problem = Problem(f"{finding.error}: {finding.text}")
            raise FoundError


def _callee_in(text: str) -> str:
    """Return the function after whose call a value is unknown, as names of unknown values have it."""
    _, _, behind = text.rpartition(" after ")
    return behind.partition(" ")[0]


# Barrier runs: at a callee all processes arrive, its contract says what they have afterwards, and all leave.
#
# The barrier adds nothing to the order of events: what the callee's `waitsfor` says is all that its exits come after.


@dataclass(slots=True)
class CalleeRules:
    """The rules for callees: their contracts, and `outside`, which is told of each call before anything comes of it."""

    contracts: Mapping[str, Contract]
    outside: Callable[[SymbolicRun, str, list[Snapshot]], None]

    def locals_of(self, function: str) -> tuple[str, ...]:
        """Return which parameters of a call are registers of the caller: those of a loop are."""
        loop = self.contracts[function].loop
        return () if loop is None else loop.locals


class BarrierMachine(RunMachine):
    """A machine for code in which calls are :class:`CalleePoint`."""

    rules: CalleeRules
    judge: Judge

    def go_on(self, run: SymbolicRun) -> None:
        """Let every process go on, and all together through calls."""
        while True:
            RunMachine.go_on(self, run)
            if not all(each.status == "calls" for each in run.actors):
                return
            self._call(run)

    def _point(self, run: SymbolicRun, process: int, actor: Actor) -> None:
        instruction = self.codes[process].code[actor.at]
        if isinstance(instruction, CalleePoint) and instruction.function not in self.collective:
            self._local_call(run, process, actor, instruction)
        else:
            RunMachine._point(self, run, process, actor)

    def _local_call(self, run: SymbolicRun, process: int, actor: Actor, point: CalleePoint) -> None:
        """Let one process through a call of a local function."""
        entering = self.codes[process].code[actor.at - 1]
        assert isinstance(entering, EntryPoint)
        parameters = {name: code(actor.registers, self.on) for name, code in entering.parameters}
        globals_ = {name: actor.registers[name] for name in self.global_names}
        own = self._with_locals(point.function, Snapshot(parameters, globals_))
        entries = [own if each == process else Snapshot() for each in range(self.count)]
        self.rules.outside(run, point.function, entries)
        after = self._effects(run, point.function, entries, f"{point.function} #{process}.{actor.steps}", (process,))
        self._give(actor, point, after[process])

    def _effects(
        self, run: SymbolicRun, function: str, entries: list[Snapshot], name: str, processes: Sequence[int]
    ) -> list[Snapshot]:
        """Return what a call leaves behind; what is known of it becomes facts. Raises PrunedError if there is nothing."""
        exits, known = Effects(self.on, self.rules.contracts[function], entries, name, processes).made()
        try:
            for each in known:
                if not run.path.assume(each, self.on.terms):
                    raise PrunedError
        except TooManyError:
            if self.on.solver.possible(run.path.facts, run.path.model)[0] is not False:
                raise
        if self.on.solver.possible(run.path.facts, run.path.model)[0] is False:
            raise PrunedError
        return exits

    def _give(self, actor: Actor, point: CalleePoint, after: Snapshot) -> None:
        loop = self.rules.contracts[point.function].loop
        actor.registers |= {name: value for name, value in after.globals.items() if name in self.global_names}
        if loop is not None:
            places = dict(point.given)
            for name in loop.changes:
                if name != loop.counter:
                    actor.registers[places[name]] = after.globals[name]
        if point.result and after.result is not None:
            actor.registers[point.result] = after.result
        actor.status, actor.at = "runs", actor.at + 1

    def _call(self, run: SymbolicRun) -> None:
        """Let all processes through a call; everything is computed before anything changes."""
        points = [self.codes[me].code[actor.at] for me, actor in enumerate(run.actors)]
        first = points[0]
        assert isinstance(first, CalleePoint)
        if any(not post.over for each in run.actors for post in each.asked.posts):
            raise NonBlockingError("a receive is posted across a call")
        entries = [each.calls[-1] for each in run.actors]
        place = len(run.actors[0].calls) - 1
        snapshots = [self._with_locals(first.function, each.snapshot) for each in entries]
        self.rules.outside(run, first.function, snapshots)
        name = f"{first.function} #{place}"
        exits = self._effects(run, first.function, snapshots, name, range(self.count))
        clocks = [self._after(run, process, exits[process]) for process in range(self.count)]
        for actor, point, clock, after in zip(run.actors, points, clocks, exits, strict=True):
            assert isinstance(point, CalleePoint)
            actor.clock = clock
            self._give(actor, point, after)

    def _with_locals(self, function: str, entry: Snapshot) -> Snapshot:
        """Return what a process has as it enters a call, with what is a register only there."""
        own = {name: entry.parameters[name] for name in self.rules.locals_of(function)}
        return Snapshot(entry.parameters, {**entry.globals, **own}) if own else entry

    def _after(self, run: SymbolicRun, process: int, after: Snapshot) -> Clock:
        """Return the clock of a process that leaves a call: it comes after the entries that it waits for.

        For whom it waits that has gone through a loop depends on what it has `after` that.
        """
        actor = run.actors[process]
        clock, entry = actor.clock, actor.calls[-1]
        loop = self.rules.contracts[entry.function].loop
        promises = entry.promises if loop is None else known_heads(self.on, self.count, loop, process, after)
        for promise in promises:
            if promise.clause.kind != "waitsfor":
                continue
            for other, waited in enumerate(run.actors):
                if self.on.decide(self.judge.waits_for(promise, other)):
                    clock = joined_clock(clock, waited.calls[-1].clock)
        return clock
