"""Random `.rdma` programs in which threads meet: few variables, many conflicts, polls that have something to poll."""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random


@dataclass(frozen=True)
class Size:
    """Bounds (least, most) for random programs; `instructions` counts the statements of one thread, nested ones too.

    With `atomics` there are fetch-and-add (only in programs with a domain), exchanges, `mfence` and choices of values too.
    With `connectives` most conditions have `&&` and `||` with a word that is read, once or twice, behind them or before.
    """

    threads: tuple[int, int] = (2, 3)
    nodes: tuple[int, int] = (1, 3)
    cells: tuple[int, int] = (2, 3)
    instructions: tuple[int, int] = (2, 4)
    registers: int = 2
    total: int = 9
    atomics: bool = False
    connectives: bool = False


TINY = Size(threads=(1, 2), nodes=(1, 2), instructions=(1, 4), total=6)
SMALL = Size()
LARGER = Size(threads=(2, 4), instructions=(2, 6), total=12)


def random_program(rng: Random, size: Size = SMALL, *, loops: bool = False) -> str:
    """Return the text of a program that loads without errors; the same for the same state of `rng`.

    Without `loops` no thread's graph has a cycle. `size.total` bounds the statements of all threads together.
    """
    return _Writer(rng, size, loops).program()


@dataclass
class _Thread:
    """`unpolled` counts, per remote node, the operations on the path so far that no poll has taken yet."""

    name: str
    node: str
    left: int
    registers: list[str]
    unpolled: dict[str, int] = field(default_factory=dict)


class _Writer:
    def __init__(self, rng: Random, size: Size, loops: bool) -> None:
        self.rng = rng
        self.size = size
        self.loops = loops
        self.nodes = ["A", "B", "C"][: rng.randint(*size.nodes)]
        self.loopback = rng.random() < (0.6 if len(self.nodes) == 1 else 0.05)
        self.highest = rng.choice([1, 1, 2])
        self.domain = rng.random() < 0.5
        self.arrays = rng.random() < 0.2
        self.cells: dict[str, list[str]] = {node: [] for node in self.nodes}
        self.declared: dict[str, list[str]] = {node: [] for node in self.nodes}
        self.indexed: dict[str, str] = {}
        self.place_cells()

    def place_cells(self) -> None:
        count = max(len(self.nodes), self.rng.randint(*self.size.cells))
        for i, name in zip(range(count), "xyzuvw", strict=False):
            node = self.nodes[i] if i < len(self.nodes) else self.rng.choice(self.nodes)
            initial = f" = {self.rng.randint(0, self.highest)}" if self.rng.random() < 0.2 else ""
            if self.arrays and node not in self.indexed:
                self.indexed[node] = name
                self.cells[node] += [f"{name}[0]", f"{name}[1]"]
                self.declared[node].append(f"{name}[2]{initial}")
            else:
                self.cells[node].append(name)
                self.declared[node].append(f"{name}{initial}")

    def program(self) -> str:
        lines = ["allow loopback"] if self.loopback else []
        lines += [f"domain 0..{self.rng.choice([self.highest, 2, 3])}"] if self.domain else []
        for node, declared in self.declared.items():
            lines += [f"node {node} {{", *(f"  {cell}" for cell in declared), "}"]
        total = self.size.total
        for i in range(self.rng.randint(*self.size.threads)):
            left = min(self.rng.randint(*self.size.instructions), total)
            total -= left
            registers = [f"r{k}" for k in range(self.size.registers)]
            thread = _Thread(f"T{i + 1}", self.rng.choice(self.nodes), left, registers)
            lines += self.thread(thread, i)
        return "\n".join(lines) + "\n"

    def thread(self, thread: _Thread, number: int) -> list[str]:
        if number < len(self.nodes) and self.rng.random() < 0.7:
            thread.node = self.nodes[number]
        body: list[str] = []
        while thread.left > 0:
            body += self.statement(thread, 1)
        used = [r for r in thread.registers if any(r in line for line in body)]
        initial = f" = {self.rng.randint(0, self.highest)}" if self.rng.random() < 0.15 else ""
        return [f"thread {thread.name} on {thread.node} {{", *(f"  reg {r}{initial}" for r in used), *body, "}"]

    # ---- statements, each a list of lines

    def statement(self, thread: _Thread, depth: int) -> list[str]:
        thread.left -= 1
        rng = self.rng
        pad = "  " * depth
        polled = [node for node, n in thread.unpolled.items() if n > 0]
        if polled and rng.random() < 0.35:
            node = rng.choice(polled)
            thread.unpolled[node] -= 1
            return [f"{pad}poll {node}"]
        if polled and rng.random() < 0.08:
            return [f"{pad}rfence {rng.choice(polled)}"]
        kinds = {"put": 26, "get": 20, "write": 18, "read": 22, "cas": 8, "assume": 8, "fence": 1, "poll": 1}
        kinds |= {"register": 5, "assert": 2, "halt": 1}
        if self.size.atomics:
            kinds |= {"swap": 10, "mfence": 4, "nondet": 4} | ({"faa": 14} if self.domain else {})
        if depth < 3 and thread.left > 0:
            kinds |= {"if": 7, "choose": 5}
            kinds |= {"loop": 12, "while": 10} if self.loops else {}
        if self.loops:
            kinds |= {"spin": 6}
        kind = rng.choices(list(kinds), list(kinds.values()))[0]
        if kind in ("if", "choose", "loop", "while"):
            return self.block(kind, thread, depth)
        return [pad + self.simple(kind, thread)]

    def simple(self, kind: str, thread: _Thread) -> str:
        remotes = [node for node in self.nodes if node != thread.node or self.loopback]
        if kind in ("put", "get", "fence", "poll") and not remotes:
            kind = self.rng.choice(["write", "read", "cas"])
        if kind == "fence":
            return f"rfence {self.rng.choice(remotes)}"
        if kind == "poll":
            return f"poll {self.rng.choice(remotes)}"
        if kind in ("put", "get"):
            return self.operation(kind, thread, self.rng.choice(remotes))
        local = self.local(thread)
        match kind:
            case "write":
                return f"{local} = {self.value(thread)}"
            case "read":
                return f"{self.register(thread)} = {local}" + (" + 1" if self.domain and self.rng.random() < 0.1 else "")
            case "cas":
                swap = f"cas({local}, {self.value(thread)}, {self.value(thread)})"
                return swap if self.rng.random() < 0.3 else f"{self.register(thread)} = {swap}"
            case "faa" | "swap":
                call = f"{kind}({local}, {self.value(thread)})"
                return call if self.rng.random() < 0.4 else f"{self.register(thread)} = {call}"
            case "nondet":
                target = local if self.rng.random() < 0.3 else self.register(thread)
                return f"{target} = nondet({self.rng.randint(0, 1)}, {self.rng.randint(1, 2)})"
            case "assume" | "assert":
                return f"{kind} {self.condition(thread)}"
            case "spin":
                return f"while {local} {self.rng.choice(['==', '!='])} {self.constant()} {{ }}"
            case "register":
                return f"{self.register(thread)} = {self.arithmetic(thread)}"
            case _:
                return kind if kind in ("halt", "mfence") else "skip"

    def operation(self, kind: str, thread: _Thread, node: str) -> str:
        remote, local = self.rng.choice(self.cells[node]), self.local(thread)
        thread.unpolled[node] = thread.unpolled.get(node, 0) + 1
        if kind == "get":
            return f"get {local} = {node}.{remote}"
        return f"put {node}.{remote} = {local if self.rng.random() < 0.5 else self.constant()}"

    def block(self, kind: str, thread: _Thread, depth: int) -> list[str]:
        pad = "  " * depth
        first = {"if": f"if {self.condition(thread)} {{", "choose": "choose {", "loop": "loop {"}
        lines = [pad + first.get(kind, f"while {self.condition(thread)} {{")]
        lines += self.inner(thread, depth)
        if kind == "choose" or (kind == "if" and self.rng.random() < 0.5):
            lines.append(pad + ("} or {" if kind == "choose" else "} else {"))
            lines += self.inner(thread, depth)
        return [*lines, pad + "}"]

    def inner(self, thread: _Thread, depth: int) -> list[str]:
        lines: list[str] = []
        while thread.left > 0 and (not lines or self.rng.random() < 0.35):
            lines += self.statement(thread, depth + 1)
        return lines

    # ---- operands

    def constant(self) -> int:
        return self.rng.randint(1, self.highest) if self.rng.random() < 0.85 else 0

    def register(self, thread: _Thread) -> str:
        return self.rng.choice(thread.registers)

    def value(self, thread: _Thread) -> str:
        return str(self.constant()) if self.rng.random() < 0.75 else self.register(thread)

    def local(self, thread: _Thread) -> str:
        cells = self.cells[thread.node]
        array = self.indexed.get(thread.node)
        if array is not None and self.rng.random() < 0.15:
            return f"{array}[{self.register(thread)}]"
        return self.rng.choice(cells)

    def connected(self, thread: _Thread) -> str:
        cell = self.local(thread)
        words = [cell, *(self.rng.choice([cell, *thread.registers]) for _ in range(self.rng.randint(1, 2)))]
        self.rng.shuffle(words)
        text = ""
        for word in words:
            atom = f"{word} {self.rng.choice(['==', '!='])} {self.rng.choice([0, self.constant()])}"
            atom = f"!({atom})" if self.rng.random() < 0.15 else atom
            text = f"({text} {self.rng.choice(['&&', '||'])} {atom})" if text else atom
        return text.removeprefix("(").removesuffix(")") if text.startswith("(") else text

    def condition(self, thread: _Thread) -> str:
        if self.size.connectives and self.rng.random() < 0.7:
            return self.connected(thread)
        subject = self.local(thread) if self.rng.random() < 0.6 else self.register(thread)
        text = f"{subject} {self.rng.choice(['==', '==', '!=', '<', '>='])} {self.value(thread)}"
        if self.rng.random() < 0.06:
            return f"{self.register(thread)} == {self.constant()} && {text}"
        return text

    def arithmetic(self, thread: _Thread) -> str:
        a, b = self.register(thread), self.value(thread)
        operators = ["==", "<", "&&", "||"] + (["+", "+", "+", "-", "*", "/", "%"] if self.domain else [])
        operator = self.rng.choice(operators)
        return f"{a} {operator} {1 if operator in '/%' and b == '0' else b}"
