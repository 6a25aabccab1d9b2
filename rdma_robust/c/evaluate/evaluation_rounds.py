"""EvaluationRounds over all threads of a program, until what they have to know of each other does not change any more.

Values: a word has what anyone writes, puts, fetches or swaps into it. By induction over the steps of a run, the first value
that is in no set would have been made from values in the sets, by a step that an automaton has: so there is none. Sums would
grow forever. A run makes no more computed writes than the longest ways of its threads have; so once as many rounds have
passed, in which nothing but values has changed, what comes later is in no run, and is left out.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import replace

from rdma_robust.c.code import Address, Function, Load
from rdma_robust.c.evaluate.byte_ranges import merged_ranges
from rdma_robust.c.evaluate.c_values import Object, Scalar, Value
from rdma_robust.c.evaluate.calls import Handler
from rdma_robust.c.evaluate.computed_writes import most_computed, written_values
from rdma_robust.c.evaluate.memory import ObjectBytes
from rdma_robust.c.evaluate.operations import ThreadStatement, Word
from rdma_robust.c.evaluate.program_arguments import program_arguments
from rdma_robust.c.evaluate.raw_automaton import UNBOUNDED, RawAutomaton, RawEdge, most
from rdma_robust.c.evaluate.refused_code import Refusal, diagnostic
from rdma_robust.c.evaluate.round_facts import End, EvaluationOptions, RoundFacts, World
from rdma_robust.c.evaluate.state import Frame, State
from rdma_robust.c.evaluate.thread_machine import ThreadMachine
from rdma_robust.c.evaluate.units import Units
from rdma_robust.c.evaluate.verbs.sent_words import buffer_words
from rdma_robust.errors import Diagnostic

_GROWING_SENDS = 30
"""EvaluationRounds in which counts of messages may grow before they are taken to have no bound."""
_LIBRARY_VALUES, _LIBRARY_ROUNDS, _LIBRARY_PLACES = 128, 160, 2
"""Values of a word, rounds, and how many times more places of a thread there are for a program that has no harness."""
ThreadName = tuple[str, str]
"""A process, and a thread of it."""


class EvaluationRounds:
    """The evaluation of all threads of a program; afterwards, `automata` are stable and `refused` has all refusals."""

    def __init__(self, units: Units, options: EvaluationOptions, library: Mapping[str, Handler]) -> None:
        if units.libraries:  # where no RR_VALUES stands, and tests count how often they have done something
            values, rounds = max(options.values, _LIBRARY_VALUES), max(options.rounds, _LIBRARY_ROUNDS)
            options = replace(options, values=values, rounds=rounds, places=_LIBRARY_PLACES * options.places)
        self.units, self.options, self.library = units, options, library
        self.world = World(units, options, self._initialised)
        self.automata: dict[ThreadName, RawAutomaton] = {}
        self.refused: list[Diagnostic] = []
        self.buffers: dict[End, tuple[Word | None, ...]] = {}
        self._since: dict[tuple[Word, Scalar], int] = {}
        self._quiet = 0
        self._growing = 0

    def run(self) -> None:
        """Evaluate until nothing changes. Appends to `refused` what is not understood."""
        for number in range(self.options.rounds):
            self.world.round = number
            self._one_round()
            if self._settle():
                return
            if self.refused and self._quiet:
                return  # A refused step writes nothing, so that a bound on what is written would be none.
            if self._quiet > self._computed():
                if self._from_the_start():
                    return
                self.world.allowed = None
                self._settle()
        place = self.units.declared(self.units.processes()[0][1]) if self.units.processes() else None
        self.refused.append(diagnostic(_UNSTABLE, [place] if place else []))

    def _from_the_start(self) -> bool:
        """Let values grow once more from those at the start, now that all else is known, and leave out what no run makes.
        Return False if these values lead to what was not known: a copy of a value may come later than others are computed.

        Round number k finds what k writes of computed values make; copies, through registers too, are found beside what
        they are copies of, however many there are.
        """
        self.world.allowed, self._since = {}, {}
        for number in range(self.options.rounds):
            before = len(self._since)
            if not self._with_copies(number):
                break
            if self.refused:
                return True
            for word, values in self.world.found.values.items():
                for value in values:
                    self._since.setdefault((word, value), number)
            bound = self._computed()
            is_enough = number > bound
            self._allow(bound if is_enough else number)
            if is_enough or len(self._since) == before:
                self._one_round()
                return bool(self.refused) or self._knew()
        self.refused.append(diagnostic(_UNSTABLE, []))
        return True

    def _knew(self) -> bool:
        """Return whether a round has found nothing but values that was not known."""
        known, found = self.world.known, self.world.found
        self._share()
        return found.spawned.keys() <= known.spawned.keys() and all(
            _is_within(getattr(found, name), getattr(known, name)) for name in _COMPARED
        )

    def _with_copies(self, number: int) -> bool:
        """Make round `number` until it finds no copy that is new, or something is refused; return False if it does not
        end."""
        for _ in range(self.options.rounds):
            self._one_round()
            copied = self._copied()
            if self.refused or not copied:
                return True
            self._since.update(dict.fromkeys(copied, number - 1))
            self._allow(number - 1)
        return False

    def _copied(self) -> set[tuple[Word, Scalar]]:
        """Return what is new in this round and no step computes."""
        return self._new() - self._written()

    def _written(self) -> set[tuple[Word, Scalar]]:
        """Return what steps of this round compute and write."""
        edges = (edge for automaton in self.automata.values() for here in automaton.edges.values() for edge in here)
        return {each for edge in edges for each in written_values(edge)}

    def _new(self) -> set[tuple[Word, Scalar]]:
        """Return what is new in this round."""
        found = {(word, value) for word, values in self.world.found.values.items() for value in values}
        return found - set(self._since)

    def _allow(self, last: int) -> None:
        """Let words have the values that were found until a round."""
        allowed: dict[Word, set[Scalar]] = {}
        for (word, value), since in self._since.items():
            if since <= last:
                allowed.setdefault(word, set()).add(value)
        self.world.allowed = allowed

    # a round

    def _one_round(self) -> None:
        world = self.world
        world.found = RoundFacts()
        world.remarks.clear()
        self.automata, self.refused = {}, []
        for process, function in self.units.processes():
            self._evaluate(process, function, self._main(process, function), is_spawned=False)
        for each in list(world.known.spawned.values()):
            machine = ThreadMachine(world, each.process, each.name, self.library, is_spawned=True)
            state = each.state.copy()
            body = self.units.function(each.function)
            assert body is not None
            machine.push(state, body, [each.argument], None)
            self._evaluate(each.process, each.name, state, is_spawned=True)
        self._early_buffers()
        self.refused = self.refused or [each for found in self.automata.values() for each in found.follows]

    def _main(self, process: str, function: str) -> State:
        state = State()
        body = self.units.function(function)
        if body is None:
            place = self.units.declared(function)
            self.refused.append(diagnostic(Refusal("RR818", f"`{function}` has no body here"), [place] if place else []))
        else:
            arguments: list[Value] = [1]
            if self.units.libraries:
                arguments = program_arguments(self.world, state, process)
                if len(self.units.arguments) == 0 and _looks_at_arguments(body):
                    place = self.units.declared(function)
                    message = f"`{function}` is run without arguments: `{body.parameters[0].name}` is 1"
                    self.world.remark("RR846", message, (place,) if place else ())
            ThreadMachine(self.world, process, function, self.library).push(state, body, arguments, None)
        return state

    def _evaluate(self, process: str, thread: str, state: State, is_spawned: bool) -> None:
        machine = ThreadMachine(self.world, process, thread, self.library, is_spawned)
        if state.frames:
            self.automata[process, thread] = machine.automaton_from(state)
            self.refused += machine.automaton.refused

    def _early_buffers(self) -> None:
        """What receives of set-up take."""
        self.buffers = {}
        for end, receives in self.world.found.early.items():
            try:
                numbered = enumerate(receives)
                self.buffers[end] = tuple(word for at, each in numbered for word in buffer_words(self.world, end, each, at))
            except Refusal as refusal:
                function = next(function for process, function in self.units.processes() if process == end.process)
                place = self.units.declared(function)
                self.refused.append(diagnostic(refusal, [place] if place else []))

    def _initialised(self, name: Object) -> ObjectBytes:
        """Return what a global holds as its declaration says."""
        state = State()
        state.place(name, ObjectBytes(zero=True))
        state.frames = [Frame(self.units.initialiser(self.world.globals[name.key[0]]))]
        machine = ThreadMachine(self.world, name.process, "", self.library)
        while state.frames:
            machine.execute(state)
        return state.memory[name]

    # what has changed

    def _settle(self) -> bool:
        """Take over what this round has found; return whether nothing has changed."""
        known, found = self.world.known, self.world.found
        self._share()
        found.ignored |= known.ignored
        found.said |= known.said
        for name, ranges in known.written_elsewhere.items():
            found.written_elsewhere[name] = merged_ranges((*ranges, *found.written_elsewhere.get(name, ())))
        for name, cuts in known.cuts.items():
            found.cuts[name] |= cuts
        for end, points in known.message_cuts.items():
            found.message_cuts[end] |= points
        self._count_sends()
        is_same = _signature(known) == _signature(found)
        if is_same or dict(known.cuts) == dict(found.cuts):
            for word, values in known.values.items():
                found.values[word] |= values
        self._close()
        has_grown = is_same and dict(known.values) != dict(found.values)
        # A round of copies alone has no computed write, and what is behind a branch that they open is still to be seen.
        self._quiet = self._quiet + bool(self._new() & self._written()) if has_grown else 0
        if not is_same:
            self._since = {}
        for word, values in found.values.items():
            for value in values:
                self._since.setdefault((word, value), self._quiet)
        self.world.known = found
        return is_same and not has_grown

    def _share(self) -> None:
        """Add the bytes that are shared by what this round has found to those that were."""
        known, found = self.world.known, self.world.found
        for name in {*known.shared, *found.shared, *found.touched}:
            new = merged_ranges(
                (*known.shared.get(name, ()), *found.shared.get(name, ()), *self.world.conflicting_bytes(name))
            )
            if new:
                found.shared[name] = new

    def _close(self) -> None:
        """Let values go wherever words are moved."""
        found = self.world.found
        todo = list(found.flows)
        while todo:
            changed = False
            for source, target in todo:
                new = ({*found.values.get(source, ()), self.world.initial_of(source)}) - found.values[target]
                if new and len(found.values[target]) <= self.options.values:
                    found.values[target] |= new
                    changed = True
            if not changed:
                return

    def _count_sends(self) -> None:
        """How many messages each end can send on one way; without bound if the count goes on growing."""
        known, found = self.world.known, self.world.found
        for connection, processes in found.connected.items():
            for process in processes:
                count = sum(
                    most(automaton, lambda edge, on=connection: int(_sends(edge) == on))  # type: ignore[misc]
                    for (at, _), automaton in self.automata.items()
                    if at == process
                )
                found.sends[End(connection, process)] = min(count, UNBOUNDED)
        self._growing = self._growing + 1 if found.sends != known.sends else 0
        if self._growing > _GROWING_SENDS:
            for end, count in found.sends.items():
                if count > known.sends.get(end, 0):
                    found.sends[end] = UNBOUNDED

    # values that grow

    def _computed(self) -> int:
        """Return how many writes of values that are new since the rest was stable all threads together can make."""
        new = {each for each, quiet in self._since.items() if quiet > 0}
        received = {each for words in self.buffers.values() for each in words if each is not None}
        return most_computed(self.automata, self.world, new, received)


def _is_within(found: object, known: object) -> bool:
    """Whether what a round has found is nothing new."""
    if isinstance(found, Mapping) and isinstance(known, Mapping):
        return all(not each or (key in known and _is_within(each, known[key])) for key, each in found.items())
    if isinstance(found, set) and isinstance(known, set):
        return found <= known
    if isinstance(found, int) and isinstance(known, int):
        return found <= known
    return found == known


def _looks_at_arguments(body: Function) -> bool:
    """Whether a function reads its parameters."""
    read = {each.address for each in body.code if isinstance(each, Load)}
    addresses = (each for each in body.code if isinstance(each, Address) and each.target in read)
    return any(each.variable in body.parameters[:2] for each in addresses)


def _sends(edge: RawEdge) -> str:
    return edge.operation.sends if isinstance(edge.operation, ThreadStatement) else ""


def _signature(facts: RoundFacts) -> Hashable:
    """Return all but the values of words, to be compared."""
    spawned = {key: (each.function, each.argument, each.state.key()) for key, each in facts.spawned.items()}
    compared = [getattr(facts, name) for name in _COMPARED]
    return tuple(_frozen(each) for each in (*compared, spawned))


_COMPARED = [
    "shared",
    "written_elsewhere",
    "ignored",
    "cuts",
    "initial",
    "exports",
    "connected",
    "posters",
    "receivers",
    "sends",
    "kinds",
    "immediates",
    "message_words",
    "message_values",
    "message_cuts",
    "lengths",
    "written",
    "early",
    "barriers",
    "counts",
    "by_processor",
    "relaxed",
    "orders",
    "limits",
    "flows",
    "said",
    "regions",
    "returned",
]


def _frozen(value: object) -> Hashable:
    """Return something hashable that is equal for equal sets and dictionaries."""
    if isinstance(value, Mapping):
        return frozenset((key, _frozen(each)) for key, each in value.items())
    if isinstance(value, set):
        return frozenset(value)
    assert isinstance(value, Hashable)
    return value


_UNSTABLE = Refusal(
    "RR820", "regions, messages or values of this program do not stay finite", "RR_VALUES(lo, hi), or a bound for its loops"
)
