"""Counter programs as Promela models for SPIN.

Each process is an `active proctype` whose labels are the process's locations, and each root-to-leaf path of a command one
`d_step`, so SPIN's states are those of the counter program. (In models with more of them than SPIN can take, it is `atomic`,
which compiles much slower.) SPIN's dead-variable elimination does not look into a `d_step`, so dead variables are set to 0
here. A target is an option of its location (of a watching process, if it has none) that asserts false; all labels begin with
`end`, so standing still anywhere is no error. Hence `pan` reports an error iff a target is reachable.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import groupby
from typing import Any, Final

from rdma_robust.counters.intervals import Interval, hull
from rdma_robust.counters.program import Command, CounterProgram, Target, counter_bounds, pc
from rdma_robust.counters.promela.body_paths import SAVED, BodyPath, paths_of_body, reset_dead
from rdma_robust.counters.promela.ranges import variable_intervals
from rdma_robust.counters.promela.words import WORD, Narrow, lies_within, temporaries
from rdma_robust.expr import FALSE, TRUE, Binary, Const, Expr, Ite, Name, Unary, names
from rdma_robust.text import free_name

_TYPES: tuple[tuple[str, Interval], ...] = (("bit", (0, 1)), ("byte", (0, 255)), ("short", (-(2**15), 2**15 - 1)))
"""Promela's types, the smallest first, with the values they hold; `int` holds every word."""

_WORDS = """
active always asm assert atomic auto bit bool break buchi byte c_code c_decl c_expr c_state c_track case chan
char cond const continue d_proctype d_step default do double else empty enabled enum equivalent errno eval
eventually extern false fi float for full get_priority goto hidden i386 if implies in init inline int len
linux local long ltl main mtype nempty never next nfull notrace now np od of pc_value pid printf printm
priority proctype provided register release restrict return run select set_priority short show signed sizeof
skip static stderr stdin stdout stronguntil struct switch timeout trace true typedef typeof union unix unless
unsigned until void volatile weakuntil while xr xs
"""

RESERVED = frozenset(_WORDS.split())
"""Words that Promela, its preprocessor or the C code made from it understand in another way."""

_PRECEDENCE: Final = (
    ("||",),
    ("&&",),
    ("|",),
    ("&", "&~"),
    ("==", "!="),
    ("<", "<=", ">", ">="),
    (">>",),
    ("+", "-"),
    ("*", "/", "%"),
)
"""The binary operators from the loosest to the tightest, as C and Promela have them; all associate to the left."""

_STRENGTH: Final = {op: strength for strength, operators in enumerate(_PRECEDENCE) for op in operators}
_LOOSEST: Final = 0
_UNARY: Final = len(_PRECEDENCE)
_BITS: Final = frozenset({"|", "&", "&~", ">>"})


def identifiers(wishes: Iterable[str]) -> list[str]:
    """Return a different Promela identifier for every wish, as like it as possible.

    One that C might take for a macro, because it is capitals with an underscore, gets a prefix.
    """
    found: list[str] = []
    used = set(RESERVED)
    for wish in wishes:
        plain = re.sub(r"[^A-Za-z0-9]+", "_", (f"next {wish[:-1]}" if wish.endswith("'") else wish)).strip("_")
        macro = plain.isupper() and "_" in plain
        if macro or not plain[:1].isalpha() or plain in RESERVED or plain.startswith("end"):
            plain = f"v_{plain}"
        found.append(free_name(plain, used))
    return found


def type_for(interval: Interval) -> str:
    """Return the smallest Promela type that holds every value of the interval."""
    return next((name for name, values in _TYPES if lies_within(interval, values)), "int")


def line_comment(text: str) -> str:
    """Return `text` as a comment of one line."""
    clean = "".join(c if " " <= c <= "~" else "?" for c in text).replace("*/", "* /").replace("/*", "/ *")
    return f"/* {clean.rstrip(chr(92))} */"


def spell(expr: Expr, names: Mapping[str, str], around: int = _LOOSEST) -> str:
    """Return `expr`, whose names are spelt as `names` says, as an operand of an operator of strength `around`.

    Beyond the parentheses that are needed, operators on bits have theirs, because few readers know how tightly they bind,
    and so has a unary operator under another: to SPIN `!!` and `--` are other operators.
    """
    match expr:
        case Const(value):
            return str(value) if value >= 0 else f"({value})"
        case Name(name):
            return names[name]
        case Unary(op, arg):
            text = f"{op}{spell(arg, names, _UNARY + 1)}"
            return f"({text})" if around > _UNARY else text
        case Ite(test, then, other):
            return f"({spell(test, names)} -> {spell(then, names)} : {spell(other, names)})"
        case Binary(op, left, right):
            strength = _STRENGTH[op]
            c_op, invert = ("&", "~") if op == "&~" else (op, "")
            right_around = _UNARY + 1 if invert else strength + 1
            text = f"{spell(left, names, strength)} {c_op} {invert}{spell(right, names, right_around)}"
            return f"({text})" if strength < around or op in _BITS else text


MAX_D_STEPS = 2_000
"""SPIN 6.5 refuses a model with 2,048 of them."""

_WATCHER = -1
"""Stands for the watching process where processes are numbered."""


@dataclass(frozen=True)
class Legend:
    """Comments of a model for people: notes for its head, and the source of a command by one of its labels."""

    notes: Sequence[str]
    source: Callable[[Any], str]


@dataclass(frozen=True)
class Promela:
    """The text of a model, and the counters without a proven bound: with any, the model is a bounded one."""

    text: str
    bounded: tuple[str, ...]


def promela(program: CounterProgram[Any], counter_bound: int, legend: Legend, keep_dead: bool = False) -> Promela:
    """Return `program` as a Promela model.

    A counter without a proven bound stays at `counter_bound` where it would exceed it. A smaller counter never enables more,
    so such a model has some of the behaviours of the program, perhaps not all. With `keep_dead`, dead variables keep
    their values. Raises UsageError where a number may exceed 32 bits.
    """
    model = _Model.of(program, counter_bound)
    if not keep_dead:
        model = model.without_dead()
    model = model.without_idle()
    return Promela("\n".join(_Writer(model, legend).lines()) + "\n", tuple(model.caps))


@dataclass(frozen=True)
class _Transition:
    command: Command[Any]
    path: BodyPath


@dataclass(frozen=True)
class _Model:
    """A counter program cut into transitions over 32-bit variables; `initial` has those variables."""

    program: CounterProgram[Any]
    caps: Mapping[str, int]
    ranges: Mapping[str, Interval]
    initial: Mapping[str, int]
    processes: tuple[tuple[_Transition, ...], ...]
    targets: tuple[Target[Any], ...]

    @staticmethod
    def of(program: CounterProgram[Any], counter_bound: int) -> _Model:
        bounds = counter_bounds(program)
        caps = {c: counter_bound for c, bound in bounds.items() if bound is None}
        ranges = variable_intervals(program, bounds) | dict.fromkeys(caps, (0, counter_bound))
        cut = [[(c, path) for c in each.commands for path in paths_of_body(c.body, caps)] for each in program.processes]
        seen = {name for each in cut for _, path in each for name in path.names()}
        seen |= {name for target in program.targets for name in names(target.condition)}
        cut = [[(c, _moving(path, c, i)) for c, path in each] if pc(i) in seen else each for i, each in enumerate(cut)]
        located = ((pc(i), each.entry) for i, each in enumerate(program.processes) if pc(i) in seen)
        start = (*program.variables, *((c, 0) for c in program.counters), *located)
        ranges |= temporaries((path for each in cut for _, path in each), ranges)
        narrow = Narrow(ranges)
        initial = {word: first for name, value in start for word, first in narrow.variables(name, value)}
        processes = tuple(tuple(_Transition(c, narrow.path(path).sequential()) for c, path in each) for each in cut)
        targets = tuple(Target(t.label, narrow.test(t.condition), t.process, t.location) for t in program.targets)
        return _Model(program, caps, ranges, initial, processes, targets)

    @cached_property
    def users(self) -> dict[str, set[int]]:
        """The processes that use a variable or temporary, by its name."""
        found: dict[str, set[int]] = {name: set() for name in self.initial}
        for index, transitions in enumerate(self.processes):
            for transition in transitions:
                for name in transition.path.names():
                    found.setdefault(name, set()).add(index)
        for target in self.targets:
            for name in names(target.condition):
                found[name].add(_WATCHER if target.process is None else target.process)
        return found

    def without_dead(self) -> _Model:
        """Return the same model, with variables of one process set to 0 where they are dead."""
        processes = []
        for index, transitions in enumerate(self.processes):
            steps = [(t.command.source, t.command.target, t.path) for t in transitions]
            looked_at = [(t.location, n) for t in self.targets if t.process == index for n in names(t.condition)]
            paths = reset_dead(steps, looked_at, self.variables(index))
            processes.append(tuple(replace(t, path=path) for t, path in zip(transitions, paths, strict=True)))
        return replace(self, processes=tuple(processes))

    def without_idle(self) -> _Model:
        """Return the same model without the transitions that change nothing: pan refuses an unconditional one."""
        kept = (
            tuple(t for t in transitions if t.path.steps or t.command.source != t.command.target)
            for transitions in self.processes
        )
        return replace(self, processes=tuple(kept))

    def variables(self, owner: int | None) -> list[str]:
        """Return the variables that only process `owner` uses; for None, those that several (or the watcher) use."""
        owners = {None} if owner is None else {owner}
        return [n for n in self.initial if self.users[n] and self._owner(n) in owners]

    def _owner(self, name: str) -> int | None:
        users = self.users[name]
        return None if len(users) > 1 or _WATCHER in users else min(users)

    def temporaries(self) -> list[str]:
        return [name for name in self.users if name not in self.initial]

    def interval(self, name: str) -> Interval:
        return self.ranges.get(name.removeprefix(SAVED), (0, WORD[1]))


def _moving(path: BodyPath, command: Command[Any], process: int) -> BodyPath:
    """Return the path of a command that also sets the variable with its process's location."""
    return replace(path, steps=(*path.steps, ((pc(process), Const(command.target)),)))


@dataclass(frozen=True)
class _Writer:
    model: _Model
    legend: Legend

    @cached_property
    def identifiers(self) -> list[str]:
        """Of the processes, then of all variables."""
        return identifiers([*(each.name for each in self.model.program.processes), *self.model.users])

    @cached_property
    def together(self) -> str:
        """The keyword for steps taken at once."""
        count = sum(map(len, self.model.processes)) + len(self.model.targets)
        return "d_step" if count <= MAX_D_STEPS else "atomic"

    @cached_property
    def names(self) -> dict[str, str]:
        return dict(zip(self.model.users, self.identifiers[len(self.model.processes) :], strict=True))

    def lines(self) -> Iterator[str]:
        model = self.model
        yield from self._head()
        yield from map(self._declaration, model.variables(None))
        yield from map(self._temporary, model.temporaries())
        for index in range(len(model.processes)):
            yield ""
            yield from self._process(index)
        watched = [t for t in model.targets if t.process is None and t.condition != FALSE]
        if watched:
            yield from ("", "active proctype watcher()", "{", "end_watch:", "  if")
            for target in watched:
                yield from self._violation(target, "end_watch")
            yield from ("  fi", "}")

    def _head(self) -> Iterator[str]:
        model = self.model
        yield from map(line_comment, (f"{model.program.name}, a model for SPIN", *self.legend.notes))
        for name, bound in model.caps.items():
            yield line_comment(f"bounded model: {name} has no proven bound and stays at {bound} where it would exceed it;")
            yield line_comment("an error found is one of the program, but the program may have errors that are not found")
        if model.program.counters and not model.caps:
            yield line_comment("every counter has a proven bound: the model has all behaviours of the program")
        yield line_comment("spin -a FILE && gcc -O2 -DSAFETY -o pan pan.c && ./pan -m1000000")
        yield ""

    def _declaration(self, name: str) -> str:
        first = self.model.initial[name]
        value = f" = {first}" if first else ""
        return f"{type_for(self.model.interval(name))} {self.names[name]}{value}; {line_comment(self._described(name))}"

    def _temporary(self, name: str) -> str:
        """Declare a variable that is no part of the state; Promela has no hidden bits."""
        kind = type_for(hull(self.model.interval(name), (0, 2)))
        return f"hidden {kind} {self.names[name]}; {line_comment(f'{self._described(name)}, temporary')}"

    def _described(self, name: str) -> str:
        low, high = self.model.interval(name)
        return f"{name}, {low} to {high}"

    def _process(self, index: int) -> Iterator[str]:
        process = self.model.program.processes[index]
        places: dict[int, list[str]] = {process.entry: []}
        for _, group in groupby(self.model.processes[index], key=lambda t: id(t.command)):
            transitions = list(group)
            command = transitions[0].command
            options = places.setdefault(command.source, [])
            options.append(f"{line_comment(self.legend.source(transitions[0].path.label))}")
            options.extend(line for each in transitions for line in self._option(each))
            places.setdefault(command.target, [])
        for target in self.model.targets:
            if target.process == index and target.condition != FALSE:
                options = places.setdefault(target.location, [])
                options.extend(self._violation(target, _place(target.location)))
        yield f"active proctype {self.identifiers[index]}()"
        yield "{"
        yield from (f"  {self._declaration(name)}" for name in self.model.variables(index))
        for place, options in places.items():
            yield f"{_place(place)}:"
            yield from ("  if", *options, "  fi;") if options else ("  false;",)
        yield "}"

    def _option(self, transition: _Transition) -> Iterator[str]:
        path = transition.path
        does = "; ".join(f"{self.names[name]} = {spell(value, self.names)}" for ((name, value),) in path.steps)
        guard = "true" if path.guard == TRUE else spell(path.guard, self.names)
        goto = f"goto {_place(transition.command.target)}"
        yield f"  {line_comment(str(path.label))}"
        if does:
            yield from (f"  :: {self.together} {{ {guard} ->", f"       {does}", f"     }} {goto}")
        else:
            yield f"  :: {guard} -> {goto}"

    def _violation(self, target: Target[Any], place: str) -> Iterator[str]:
        check = "true" if target.condition == TRUE else spell(target.condition, self.names)
        yield f"  {line_comment('target' if target.label is None else f'target: {target.label}')}"
        yield f"  :: {self.together} {{ {check} -> assert(false) }} goto {place}"


def _place(location: int) -> str:
    return f"end_{location}"
