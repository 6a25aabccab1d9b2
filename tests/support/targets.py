"""Random targets of reachability questions, and the answer from all states of a machine, one step at a time."""

from __future__ import annotations

from random import Random

from rdma_robust.expr import evaluate
from rdma_robust.language.check.targets import StateTarget, ThreadAtExit, ThreadAtLine
from rdma_robust.language.flow.cfg import Program, steps
from rdma_robust.semantics.machines.rdma import DONE, RdmaMachine, RdmaState
from rdma_robust.semantics.machines.sc import ScMachine, ScState, ScThread
from rdma_robust.semantics.machines.threadcode import Observables

Some = RdmaState | ScState


def random_target(rng: Random, program: Program) -> str:
    """Return a condition over the program's states that is not trivially true or false as it is written."""
    atoms = [f"{t.name} ended" for t in program.threads] + ["drained"]
    atoms += [f"{t.name} at {step.span.line}" for t in program.threads for _, _, step in steps(t)]
    words = [str(cell) for cell in program.cells if not cell.hidden]
    words += [f"{t.name}.{r}" for t in program.threads for r, _ in t.registers]
    parts = []
    for _ in range(rng.choice([1, 2, 2, 3, 3, 4])):
        if words and rng.random() < 0.6:
            part = f"{rng.choice(words)} {rng.choice(['==', '==', '!=', '<', '>='])} {rng.randint(0, 2)}"
        else:
            part = rng.choice(atoms)
        parts.append(f"!({part})" if rng.random() < 0.2 else part)
    text = parts[0]
    for part in parts[1:]:
        text = f"({text}) || {part}" if rng.random() < 0.15 else f"{text} && {part}"
    return text


def everything(program: Program) -> Observables:
    return Observables(frozenset(range(len(program.threads))), frozenset(program.cells), True)


def holds(machine: RdmaMachine | ScMachine, target: StateTarget, state: Some) -> bool:
    """Evaluate the target on a state, by its definition."""
    program = machine.program
    env = {str(cell): value for cell, value in zip(program.cells, state.memory, strict=True)}
    for thread, local in zip(program.threads, state.threads, strict=True):
        env |= {f"{thread.name}.{r}": value for (r, _), value in zip(thread.registers, local.registers, strict=True)}
    threads = {t.name: (t, local) for t, local in zip(program.threads, state.threads, strict=True)}
    for name, atom in target.atoms:
        if isinstance(atom, ThreadAtExit):
            thread, local = threads[atom.thread]
            env[name] = local.point == thread.exit
        elif isinstance(atom, ThreadAtLine):
            thread, local = threads[atom.thread]
            lines = [step.span.line for source, _, step in steps(thread) if source == local.point]
            if isinstance(local, ScThread) and local.carried:
                lines = [machine.codes[program.threads.index(thread)].commands[local.carried[0].command].step.span.line]
            env[name] = local.point != thread.exit and atom.line in lines
        elif isinstance(state, RdmaState):
            env[name] = all(e.stage == DONE for t in state.threads for queue in t.queues for e in queue)
        else:
            env[name] = not any(t.carried for t in state.threads)
    return bool(evaluate(target.condition, env))


def reachable(machine: RdmaMachine | ScMachine, target: StateTarget, most: int) -> bool | None:
    """Return whether the target holds in a state of a machine that watches everything; None after `most` states."""
    todo = [move.state for move in machine.initial()]
    seen = set(todo)
    while todo:
        state = todo.pop()
        if holds(machine, target, state):
            return True
        for move in machine.successors(state):
            if move.state not in seen:
                seen.add(move.state)
                todo.append(move.state)
        if len(seen) > most:
            return None
    return False
