"""Random programs without remote instructions, targets in them, and a naive search for the targets."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from rdma_robust.expr import VALUE, evaluate
from rdma_robust.language.check.targets import ThreadAtExit
from rdma_robust.language.flow.cfg import Cas, Program, Read, Step, Write, steps
from rdma_robust.language.load import load_program, load_program_and_target

State = tuple[tuple[int, ...], tuple[tuple[int, ...], ...], tuple[int, ...]]
"""Program points and registers by thread, and the memory by cell."""


def random_local_program(rng: Random) -> str:
    """Return the text of a program of reads, writes, swaps, branches and loops that loads without errors."""
    domain = rng.random() < 0.4
    arrays = rng.random() < 0.3
    lines = [f"domain {rng.choice(['0..2', '0..1', '-1..1'])}"] if domain else []
    nodes = {"A": ["x", "y"], "B": ["u"]} if rng.random() < 0.3 else {"A": ["x", "y"]}
    for node, variables in nodes.items():
        lines.append(f"node {node} {{ {', '.join(v + ('[2]' if v == 'y' and arrays else '') for v in variables)} }}")
    for number in range(rng.randint(1, 3)):
        node = rng.choice(sorted(nodes))
        variables = ["y[0]", "y[1]", "y[r0]", "x"] if node == "A" and arrays else nodes[node]
        lines += [f"thread T{number} on {node} {{", "reg r0", "reg r1"]
        lines += [line for _ in range(rng.randint(1, 4)) for line in _statement(rng, variables, domain, 2)]
        lines.append("}")
    return "\n".join(lines) + "\n"


def _statement(rng: Random, variables: list[str], domain: bool, depth: int) -> list[str]:
    def block() -> list[str]:
        return [line for _ in range(rng.randint(0, 2)) for line in _statement(rng, variables, domain, depth - 1)]

    kind = rng.choice(
        ["write", "write", "read", "read", "cas", "register", "assume", "halt", "if", "while", "choose", "loop"]
    )
    variable, register, value = rng.choice(variables), rng.choice(["r0", "r1"]), rng.choice(["0", "1", "1", "r0", "r1"])
    condition = f"{rng.choice([variable, variable, 'r0'])} {rng.choice(['==', '!='])} {rng.randint(0, 1)}"
    if depth == 0 and kind in ("if", "while", "choose", "loop"):
        kind = "write"
    match kind:
        case "write":
            return [f"{variable} = {value}" + (" + 1" if domain and rng.random() < 0.3 else "")]
        case "read":
            return [f"{register} = {variable}" + (" + 1" if domain and rng.random() < 0.3 else "")]
        case "cas":
            return [f"{rng.choice(['', f'{register} = '])}cas({variable}, {value}, {rng.randint(0, 1)})"]
        case "register":
            return [f"{register} = {value}"]
        case "halt":
            return ["if r0 == 1 {", "halt", "}"] if rng.random() < 0.7 else ["halt"]
        case "assume":
            return [f"{rng.choice(['assume', 'assert'])} {condition}"]
        case "while" | "loop":
            return [f"while {condition} {{" if kind == "while" else "loop {", *block(), "}"]
        case "choose":
            return ["choose {", *block(), "} or {", *block(), "}"]
        case _:
            other = f"{variable} {rng.choice(['==', '!='])} 1"
            middle = [f"}} else if {other} {{", *block()] if rng.random() < 0.5 else []
            return [f"if {condition} {{", *block(), *middle, *(["} else {", *block()] if rng.random() < 0.5 else []), "}"]


def random_target(rng: Random, text: str) -> str:
    """Return a target about one node of the program that the reduction takes."""
    program = load_program(text, "random")
    node = rng.choice(program.threads).node
    threads = [t for t in program.threads if t.node == node]
    cells = [str(cell) for cell in program.cells if cell.node == node]
    ended = rng.sample(threads, rng.randint(0, min(2, len(threads))))
    parts = [f"{t.name} ended" for t in ended]
    registers = [f"{t.name}.{r}" for t in ended for r, _ in t.registers]
    tests = [f"{name} {rng.choice(['==', '==', '!='])} {rng.randint(0, 1)}" for name in rng.sample(cells, 1)]
    tests += [f"{name} == {rng.randint(0, 1)}" for name in rng.sample(registers, min(1, len(registers)))]
    chosen = rng.sample(tests, rng.randint(0 if parts else 1, len(tests)))
    return " && ".join([*parts, f"({' || '.join(chosen)})"] if chosen and rng.random() < 0.2 else [*parts, *chosen])


def reachable(text: str, target: str) -> bool:
    """Return whether a state under sequential consistency meets the target: every state, one step of the graph at a time."""
    program, wanted = load_program_and_target(text, "naive", target)
    start: State = (
        tuple(t.entry for t in program.threads),
        tuple(tuple(value for _, value in t.registers) for t in program.threads),
        tuple(cell.init for cell in program.cells),
    )
    seen = {start}
    todo = [start]
    while todo:
        state = todo.pop()
        points, registers, memory = state
        env = {str(cell): value for cell, value in zip(program.cells, memory, strict=True)}
        for thread, point, values in zip(program.threads, points, registers, strict=True):
            env |= {f"{thread.name}.{r}": v for (r, _), v in zip(thread.registers, values, strict=True)}
            env[f"{thread.name} ended"] = point == thread.exit
        assert all(isinstance(atom, ThreadAtExit) for _, atom in wanted.atoms)
        if evaluate(wanted.condition, env):
            return True
        for after in _successors(program, state):
            if after not in seen:
                seen.add(after)
                todo.append(after)
    return False


def _successors(program: Program, state: State) -> Iterator[State]:
    points, registers, memory = state
    for number, thread in enumerate(program.threads):
        for source, target, step in steps(thread):
            if source == points[number]:
                env = {r: v for (r, _), v in zip(thread.registers, registers[number], strict=True)}
                done = _do(program, step, env, memory)
                if done is not None:
                    after, new = done
                    values = tuple(new[r] for r, _ in thread.registers)
                    yield (
                        (*points[:number], target, *points[number + 1 :]),
                        (*registers[:number], values, *registers[number + 1 :]),
                        after,
                    )


def _do(
    program: Program, step: Step, env: dict[str, int], memory: tuple[int, ...]
) -> tuple[tuple[int, ...], dict[str, int]] | None:
    """Return memory and registers after a step, None if it is not enabled."""
    op = step.op
    written = None
    if isinstance(op, Read | Cas):
        env = env | {VALUE.name: memory[program.cells.index(op.cell)]}
    if not evaluate(step.guard, env):
        return None
    if isinstance(op, Write):
        written = evaluate(op.value, env)
    elif isinstance(op, Cas) and evaluate(op.expected, env) == env[VALUE.name]:
        written = evaluate(op.new, env)
    if written is not None and isinstance(op, Write | Cas):
        at = program.cells.index(op.cell)
        memory = (*memory[:at], written, *memory[at + 1 :])
    return memory, env | {name: evaluate(value, env) for name, value in step.assigns}
