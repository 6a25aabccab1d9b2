"""A whole C program: evaluated in rounds, and given out as automata of `.rdma` statements with words that have names."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import PurePath
from typing import Any

from rdma_robust.c.automaton import CProgram, EvaluatedThread, Guard, Remark, ThreadEdge, WordPlace
from rdma_robust.c.evaluate.annotations import ANNOTATIONS
from rdma_robust.c.evaluate.atomics import ATOMICS
from rdma_robust.c.evaluate.c_values import UnknownValue
from rdma_robust.c.evaluate.calls import Handler
from rdma_robust.c.evaluate.evaluation_rounds import EvaluationRounds, ThreadName
from rdma_robust.c.evaluate.libc import LIBC
from rdma_robust.c.evaluate.mpi.mpi_calls import MPI
from rdma_robust.c.evaluate.operations import (
    BarrierUse,
    Choice,
    MainThreads,
    NoBuffer,
    OnLane,
    Part,
    Queue,
    Receiver,
    RegisterUse,
    Scratch,
    Sender,
    ThreadStatement,
    ThreadUse,
    Word,
)  # fmt: skip
from rdma_robust.c.evaluate.pthreads import THREADS
from rdma_robust.c.evaluate.raw_automaton import RawAutomaton, RawEdge
from rdma_robust.c.evaluate.refused_code import Refusal, diagnostic
from rdma_robust.c.evaluate.round_facts import End, EvaluationOptions
from rdma_robust.c.evaluate.shared_texts import SHARED_TEXTS
from rdma_robust.c.evaluate.shmem.shmem_calls import SHMEM
from rdma_robust.c.evaluate.spelling import Codes, Names, is_short, wanted_name, word_at_other_end
from rdma_robust.c.evaluate.units import Units
from rdma_robust.c.evaluate.verbs.connection_manager import CONNECTION_MANAGER
from rdma_robust.c.evaluate.verbs.polls import POLLS
from rdma_robust.c.evaluate.verbs.set_up import SET_UP
from rdma_robust.c.evaluate.verbs.work_requests import REQUESTS
from rdma_robust.errors import Diagnostic, ProgramError

LIBRARY: Mapping[str, Handler] = {
    **LIBC,
    **SHARED_TEXTS,
    **ATOMICS,
    **THREADS,
    **ANNOTATIONS,
    **SET_UP,
    **CONNECTION_MANAGER,
    **REQUESTS,
    **POLLS,
    **SHMEM,
    **MPI,
}
"""All calls that evaluation knows by name."""


def evaluate_units(
    units: Units, options: EvaluationOptions | None = None, name: str = "", refused: list[Diagnostic] | None = None
) -> CProgram:
    """Return the automata of all threads of a program, which is called as its file is, if it has no name.

    Raises ProgramError with all that is not understood; with a list for what is `refused`, threads end with `skip` there.
    """
    _check_processes(units)
    rounds = EvaluationRounds(units, options or EvaluationOptions(), LIBRARY)
    rounds.run()
    for more in list(units.hardware.values())[1:]:
        rounds.refused.append(diagnostic(Refusal("RR814", "RR_HARDWARE is said twice, with different settings"), [more]))
    if refused is not None:
        refused += _distinct(rounds.refused)
    elif rounds.refused:
        raise ProgramError(units.file, units.text, tuple(_distinct(rounds.refused)))
    try:
        writer = _Writer(rounds)
        if refused is None and not rounds.refused and writer.is_silent():
            raise _silent(units)
        return writer.program(Names().name("program", name or PurePath(units.file).stem))
    except Refusal as refusal:
        raise ProgramError(units.file, units.text, (diagnostic(refusal, []),)) from None


def _silent(units: Units) -> ProgramError:
    place = units.declared(units.processes()[0][1])
    hint = "look at what main does before: an option, an early return, a loop that is not entered"
    refusal = Refusal("RR818", "no process does anything that others see, so there is nothing to decide", hint)
    return ProgramError(units.file, units.text, (diagnostic(refusal, [place] if place else []),))


def _check_processes(units: Units) -> None:
    seen: set[str] = set()
    found: list[Diagnostic] = []
    if not units.processes():
        message = "no function is said to be a process"
        hint = "RR_PROCESS(A) before the function that machine A runs; `rdma-robust new harness FILE.c` writes a harness"
        found.append(diagnostic(Refusal("RR818", message, hint), []))
    for process, function in units.processes():
        if process in seen:
            place = units.declared(function)
            refusal = Refusal("RR818", f"there are two processes `{process}`", "a name for each RR_PROCESS")
            found.append(diagnostic(refusal, [place] if place else []))
        seen.add(process)
    if found:
        raise ProgramError(units.file, units.text, tuple(found))


def _distinct(refused: Iterable[Diagnostic]) -> list[Diagnostic]:
    """Return each refusal once: the first of those that say the same of the same innermost place."""
    found: dict[tuple[str, str, int, int, str], Diagnostic] = {}
    for each in refused:
        found.setdefault((each.code, each.span.file, each.span.line, each.span.column, each.message), each)
    return list(found.values())


class _Writer:
    """Gives names to all that a program uses, and writes its statements."""

    def __init__(self, rounds: EvaluationRounds) -> None:
        self.world, self.automata, self.buffers = rounds.world, rounds.automata, rounds.buffers
        self.facts = rounds.world.known
        self.asked = next(iter(rounds.units.hardware), "")
        self.processes = [process for process, _ in rounds.units.processes()]
        self.threads = Names(self.processes)
        counts: dict[str, int] = defaultdict(int)
        for _, thread in self.automata:
            counts[thread] += 1
        for process, thread in self.automata:
            self.threads.name((process, thread), thread if counts[thread] == 1 else f"{thread}_{process}")
        self.lanes = {each: self._lanes_of(*each) for each in self.automata}
        self.words: dict[str, Names] = {process: Names(self.threads.taken) for process in self.processes}
        self.used: dict[str, dict[object, WordPlace]] = {process: {} for process in self.processes}
        self.codes = Codes(self._numbers())

    # what there is

    def _statements(self) -> Iterable[ThreadStatement | Choice]:
        for automaton in self.automata.values():
            for edges in automaton.edges.values():
                yield from (edge.operation for edge in edges if edge.operation is not None)

    def _numbers(self) -> set[int]:
        found: set[int] = set()
        for each in self._statements():
            values = each.among if isinstance(each, Choice) else [part for part in each.parts if isinstance(part, int)]
            found |= {value for value in values if isinstance(value, int)}
            words = [part for part in each.parts if isinstance(part, Word)] if isinstance(each, ThreadStatement) else []
            for word in words:
                found |= {value for value in self.world.values_of(word) if isinstance(value, int)}
        return found

    def _lanes_of(self, process: str, thread: str) -> dict[str, str]:
        """Return the connections of a thread that are lanes: all but the first to each node."""
        lanes = Names([*self.threads.taken, *self.processes])
        found: dict[str, str] = {}
        peers: set[str | None] = set()
        for end in sorted(self.facts.posters, key=lambda each: each.connection):
            if end.process == process and thread in self.facts.posters[end]:
                peer = self.world.peer(end.connection, process)
                if peer in peers:
                    found[end.connection] = lanes.name(end.connection, end.connection)
                peers.add(peer)
        return found

    def _thread_at(self, ends: Mapping[End, set[str]], end: End) -> ThreadName | None:
        users = ends.get(end, set())
        return (end.process, min(users)) if users else None

    def sender_of(self, connection: str, process: str) -> ThreadName | None:
        """Return the thread at the other end of a connection that posts requests on it."""
        peer = self.world.peer(connection, process) or ""
        return self._thread_at(self.facts.posters, End(connection, peer))

    # parts of statements

    def word(self, word: Word, process: str) -> str:
        """Return a word as statements of a process name it."""
        home = word.object.process
        name = self.words[home].name(word, wanted_name(self.world, word))
        if word not in self.used[home]:
            initial = self.codes.number(self.world.initial_of(word))
            is_sync = word in self.facts.watched and word not in self.facts.plain
            says = ["sync"] * is_sync + ["relaxed"] * (word.object in self.facts.relaxed)
            self.used[home][word] = WordPlace(name, initial, word.object.name, word.offset, word.size, tuple(says))
        return name if home == process else f"{home}.{name}"

    def extra(self, key: object, home: str, process: str, wanted: str) -> str:
        """Return a word that the C has not."""
        name = self.words[home].name(("extra", key), wanted)
        self.used[home].setdefault(("extra", key), WordPlace(name, 0, "", 0, 0))
        return name if home == process else f"{home}.{name}"

    def queue(self, connection: str, at: ThreadName) -> str:
        """Return the queue pair of a thread: its lane, or the node at the other end."""
        return self.lanes[at].get(connection) or self.world.peer(connection, at[0]) or ""

    def part(self, part: Part, at: ThreadName, registers: Names) -> str:
        """Return a part of a statement of a thread."""
        process, _ = at
        match part:
            case Word():
                return self.word(part, process)
            case RegisterUse(name):
                return registers.name(name, name)
            case Queue(connection):
                return self.queue(connection, at)
            case OnLane(connection):
                return f" on {self.lanes[at][connection]}" if connection in self.lanes[at] else ""
            case Receiver(connection):
                return self._receiver(connection, process)
            case Sender(connection):
                sender = self.sender_of(connection, process)
                assert sender is not None
                return self.threads.given[sender] + self.part(OnLane(connection), sender, registers)
            case Scratch(connection):
                return self.extra(("scratch", connection, process), self._peer(connection, process), process, "unread")
            case NoBuffer():
                return self.extra("nothing", process, process, "nothing")
            case ThreadUse(name):
                return self.threads.given[process, name]
            case BarrierUse(barrier):
                return ", ".join(sorted(self.threads.given[process, each] for each in self.facts.barriers[barrier]))
            case MainThreads(processes):
                return self._main_threads(processes)
            case UnknownValue():
                return "0"
            case _:
                return str(self.codes.number(part))

    def _main_threads(self, processes: tuple[str, ...]) -> str:
        if len(processes) == len(self.automata):
            return ""
        functions = dict(self.world.units.processes())
        return " " + ", ".join(sorted(self.threads.given[each, functions[each]] for each in processes))

    def _peer(self, connection: str, process: str) -> str:
        return self.world.peer(connection, process) or process

    def _receiver(self, connection: str, process: str) -> str:
        peer = self._peer(connection, process)
        found = self._thread_at(self.facts.receivers, End(connection, peer))
        if found is None:
            found = next(each for each in self.automata if each[0] == peer)
        return self.threads.given[found]

    # the whole

    def thread(self, at: ThreadName, automaton: RawAutomaton) -> EvaluatedThread:
        """Return the automaton of a thread with its statements as text."""
        registers = Names(self.threads.taken)
        registers.taken |= {*self.processes, *self.lanes[at].values(), *self.words[at[0]].given.values()}
        edges = {
            place: tuple(found for edge in each if (found := self._edge(edge, at, registers)) is not None)
            for place, each in automaton.edges.items()
        }
        posted = tuple(self._posted(at, registers))
        lanes = tuple(f"qp {name} to {self._peer(connection, at[0])}" for connection, name in self.lanes[at].items())
        names = tuple(registers.given.values())
        return EvaluatedThread(self.threads.given[at], at[0], edges, names, (*lanes, *posted))

    def _edge(self, edge: RawEdge, at: ThreadName, registers: Names) -> ThreadEdge | None:
        operation = edge.operation
        if operation is None:
            return ThreadEdge(edge.to, chain=edge.chain)
        if isinstance(operation, Choice):
            values, among = (frozenset(map(self.codes.number, each)) for each in (operation.values, operation.among))
            name = registers.name(operation.register, operation.register)
            return ThreadEdge(edge.to, guard=Guard(name, values, among), chain=edge.chain)
        if any(isinstance(part, Sender) and self.sender_of(part.connection, at[0]) is None for part in operation.parts):
            return ThreadEdge(edge.to, chain=edge.chain)
        parts = [self.part(part, at, registers) for part in operation.parts]
        remote = word_at_other_end(operation)
        if remote is not None and "." not in parts[remote]:
            parts[remote] = f"{at[0]}.{parts[remote]}"
        return ThreadEdge(edge.to, operation.form.format(*parts), chain=edge.chain, synchronises=operation.synchronises)

    def _posted(self, at: ThreadName, registers: Names) -> Iterable[str]:
        """The receives that set-up has posted, of the connections whose messages this thread takes."""
        for end, buffers in self.buffers.items():
            users = self.facts.receivers.get(end) or {
                next(thread for process, thread in self.automata if process == end.process)
            }
            if end.process == at[0] and at[1] in users and self.sender_of(end.connection, at[0]) is not None:
                names = [self.part(word or NoBuffer(), at, registers) for word in buffers]
                yield f"posted {', '.join(names)} from {self.part(Sender(end.connection), at, registers)}"

    def program(self, name: str) -> CProgram:
        """Return the whole program."""
        self._name_words()
        threads = tuple(self.thread(at, automaton) for at, automaton in self.automata.items())
        nodes = {process: tuple(sorted(self.used[process].values(), key=_order)) for process in self.processes}
        remarks = (*self.world.remarks.values(), *self._silent())
        return CProgram(name, nodes, threads, tuple(self._head()), remarks, dict(self.codes.meaning))

    def _name_words(self) -> None:
        """Name words before registers, in the order of their addresses."""
        words: set[Word] = {word for buffers in self.buffers.values() for word in buffers if word is not None}
        for each in self._statements():
            words |= {part for part in each.parts if isinstance(part, Word)} if isinstance(each, ThreadStatement) else set()
        for word in sorted(words, key=lambda each: (each.object.process, repr(each.object), each.offset, each.size)):
            self.word(word, word.object.process)

    def _head(self) -> Iterable[str]:
        hardware = [self.asked] if self.asked else []
        if self.world.rnr_waits == {True} and "rnr" not in self.asked:
            hardware.append("rnr wait")
        libraries = self.world.units.libraries
        if self.world.options.is_of_standard and libraries and "order" not in self.asked:
            hardware.append("order accumulate" if "MPI" in libraries else "order none")
        if any(isinstance(each, tuple) and each[0] == "loopback" for each in self.facts.said):
            yield "allow loopback"
        orders = self.facts.orders
        if len(orders) > 1:
            raise Refusal("RR814", "queue pairs of several orders (MLX5DV_QP_CREATE_OOO_DP) are not modelled", "one for all")
        hardware += [f"order {order}" for order in orders if order and "order" not in self.asked]
        if hardware:
            yield f"hardware {', '.join(hardware)}"
        forms = [each.form for each in self._statements() if isinstance(each, ThreadStatement)]
        if not any("faa(" in form for form in forms):
            return
        numbers = {*filter(is_short, self._numbers()), *self.codes.codes.values(), 0}
        if self.facts.limits is None:
            yield f"domain {min(numbers)}..{max(1, *numbers)}"
            return
        low, high = self.facts.limits
        if not all(low <= each <= high for each in numbers):
            message = (
                f"a program with additions in memory has the values {min(numbers)}..{max(numbers)} within {low}..{high}"
            )
            raise Refusal("RR820", message, "RR_VALUES has all of them, 0 and a number for each address too")
        yield f"domain {low}..{high}"

    def is_silent(self) -> bool:
        """Return whether no process does anything."""
        return not any(self._does_something(process) for process, _ in self.world.units.processes())

    def _does_something(self, process: str) -> bool:
        automata = [automaton for at, automaton in self.automata.items() if at[0] == process]
        statements = (edge.operation for each in automata for edges in each.edges.values() for edge in edges)
        return any(isinstance(each, ThreadStatement) and each.form != "halt" for each in statements)

    def _silent(self) -> Iterable[Remark]:
        """Warnings of processes that do nothing."""
        for process, function in self.world.units.processes():
            if not self._does_something(process):
                message = f"process `{process}` does nothing that others see"
                yield Remark("RR845", message, self.world.units.declared(function), "does it end before, or in set-up?")


def _order(word: WordPlace) -> tuple[Any, ...]:
    return word.object == "", word.object, word.offset, word.name
