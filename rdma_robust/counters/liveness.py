"""Forgetting values that nobody reads any more, so that states that differ only in them become one.

For every process and location the variables are known that the process may read from there on before it assigns them. A
variable is dead in a state if it is live for no process at its location. A dead variable becomes 0: in the transition
that assigns it, or by which the last process leaves the locations where it is live. That changes no transition and no
target: until somebody assigns it again, nobody reads it. An update of a variable from itself alone does not count as a
reading: a dead variable so updated stays dead and becomes 0 again. Two transitions of different processes that could
change places still can, since the one that comes second sets the variable to 0.

Source: live-variable analysis; Bozga, Fernandez and Ghirvu 1999 (state space reduction based on live variables).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from rdma_robust.counters.program import Assign, Body, Choose, Command, CounterProgram, LazyBranches, Require, Statement, pc
from rdma_robust.digraph import live_names, sets_of
from rdma_robust.expr import FALSE, Binary, Const, Expr, Ite, Name, disj, names

Label = TypeVar("Label")

MOST_READERS = 3
"""Processes that may read a variable: with more of them, knowing that it is dead costs more than it saves."""


def forget_dead(program: CounterProgram[Label], among: Iterable[str] | None = None) -> CounterProgram[Label]:
    """Return `program` with every dead variable set to 0; runs, labels and reached targets stay the same.

    Only variables `among` these are forgotten, if they are given. Milestones, what a target reads at no location in
    particular, and variables of many readers are left alone.
    """
    unlocated = {n for t in program.targets if t.process is None for n in names(t.condition)}
    every = (name for name, _ in program.variables) if among is None else among
    forgettable = frozenset(every) - set(program.milestones) - unlocated
    live = [_live(program, index, forgettable) for index in range(len(program.processes))]
    regions = {name: region for name in sorted(forgettable) if (region := _region(name, live)) is not None}
    deaths = _Deaths(regions)
    processes = tuple(
        replace(p, commands=tuple(replace(c, body=deaths.after(c, i)) for c in p.commands))
        for i, p in enumerate(program.processes)
    )
    entries = [p.entry for p in program.processes]
    start = tuple(
        (n, 0 if n in regions and not any(e in r for e, r in zip(entries, regions[n], strict=True)) else v)
        for n, v in program.variables
    )
    return replace(program, processes=processes, variables=start)


def _region(name: str, live: list[dict[int, frozenset[str]]]) -> tuple[frozenset[int], ...] | None:
    """The locations of each process at which the variable is live, None if too many processes read it."""
    found = tuple(frozenset(at for at, alive in locations.items() if name in alive) for locations in live)
    return found if sum(bool(region) for region in found) <= MOST_READERS else None


def _live(program: CounterProgram[Any], index: int, wanted: frozenset[str]) -> dict[int, frozenset[str]]:
    process = program.processes[index]
    flows = [
        (c.source, c.target, wanted & _reads(c.body, set(), wanted), sets_of(_assigned(c.body, wanted)))
        for c in process.commands
    ]
    asked: dict[int, frozenset[str]] = {process.entry: frozenset()}
    for target in program.targets:
        if target.process == index:
            asked[target.location] = asked.get(target.location, frozenset()) | wanted & frozenset(names(target.condition))
    return live_names(flows, asked)


def _branches(body: Body[Any], wanted: frozenset[str]) -> Sequence[Body[Any]]:
    """What follows in a body, or an outline of it that says the same of the variables that are wanted."""
    then = body.then
    return then.outline if isinstance(then, LazyBranches) and wanted <= then.speaks_for else then


def _reads(body: Body[Any], found: set[str], wanted: frozenset[str]) -> set[str]:
    """Add every name read somewhere in a body, but for updates of a variable from itself."""
    for statement in body.statements:
        match statement:
            case Require(condition):
                _collect(condition, found)
            case Assign(updates):
                for name, value in updates:
                    known = name in found
                    _collect(value, found)
                    if not known:
                        found.discard(name)
            case Choose(_, options):
                for _, test in options:
                    _collect(test, found)
    for branch in _branches(body, wanted):
        _reads(branch, found, wanted)
    return found


def _collect(expr: Expr, found: set[str]) -> None:
    """Add the names in `expr`: by recursion on the one side only, as this is done for whole programs."""
    while True:
        if isinstance(expr, Name):
            found.add(expr.name)
            return
        if isinstance(expr, Const):
            return
        if isinstance(expr, Binary):
            _collect(expr.left, found)
            expr = expr.right
        elif isinstance(expr, Ite):
            _collect(expr.test, found)
            _collect(expr.then, found)
            expr = expr.other
        else:
            expr = expr.arg


def _assigned(body: Body[Any], wanted: frozenset[str]) -> frozenset[str]:
    """The names assigned on every path, by values that do not depend on what they were."""
    here = {n for s in body.statements if isinstance(s, Assign) for n, value in s.updates if not _mentions(value, n)}
    branches = [_assigned(branch, wanted) for branch in _branches(body, wanted)]
    return frozenset(here).union(frozenset.intersection(*branches) if branches else ())


def _mentions(expr: Expr, name: str) -> bool:
    found: set[str] = set()
    _collect(expr, found)
    return name in found


@dataclass(frozen=True, slots=True)
class _Deaths:
    """`regions` has the locations of each process where a variable is live, `kept` what :meth:`_kept` has made."""

    regions: dict[str, tuple[frozenset[int], ...]]
    kept: dict[tuple[str, int], Expr] = field(default_factory=dict)

    def after(self, command: Command[Label], process: int) -> Body[Label]:
        """The command's body, after which what is dead is 0."""
        left = {n for n, r in self.regions.items() if command.source in r[process] and command.target not in r[process]}
        return self._body(command.body, command.target, process, left)

    def _body(self, body: Body[Label], target: int, process: int, due: set[str]) -> Body[Label]:
        touched = {n for s in body.statements if isinstance(s, Assign) for n, _ in s.updates if n in self.regions}
        due = due | {n for n in touched if target not in self.regions[n][process]}
        then = self._branches(body.then, target, process, due)
        if not body.labels or not due:
            return body if then is body.then else Body(body.statements, then, body.labels)
        forget: Statement = Assign(tuple((n, self._kept(n, process)) for n in sorted(due)))
        return Body((*body.statements, forget), then, body.labels)

    def _branches(self, then: Sequence[Body[Label]], target: int, process: int, due: set[str]) -> Sequence[Body[Label]]:
        if isinstance(then, LazyBranches):
            later: LazyBranches[Label] = then
            make = later.made
            return LazyBranches(lambda: [self._body(b, target, process, due) for b in make()], then.outline, then.speaks_for)
        return tuple(self._body(branch, target, process, due) for branch in then)

    def _kept(self, name: str, process: int) -> Expr:
        """The variable's value, 0 if it is live for no other process."""
        if (name, process) not in self.kept:
            alive = disj(*(self._at(i, region) for i, region in enumerate(self.regions[name]) if i != process))
            self.kept[name, process] = Const(0) if alive == FALSE else Ite(alive, Name(name), Const(0))
        return self.kept[name, process]

    def _at(self, process: int, region: frozenset[int]) -> Expr:
        if not region:
            return FALSE
        mask = sum(1 << at for at in region)
        return Binary("&", Binary(">>", Const(mask), Name(pc(process))), Const(1))
