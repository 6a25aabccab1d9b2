"""Random texts for `prove`: shared words or a network, arithmetic that may grow, atomics, labels, and claims about them."""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random
from typing import Literal

Kind = Literal["shared", "network", "queue pairs"]
"""Threads of one node; puts, gets, remote atomics and flushes; puts, gets, polls, fences and flushes."""

MODELS_OF = {"shared": ("sc", "tso", "pso"), "network": ("sc", "rma"), "queue pairs": ("sc", "rdma")}
"""The models that have all operations of a kind of program."""


@dataclass(frozen=True)
class SafetySize:
    """Bounds (least, most); `statements` of one thread, nested ones counted too, and at most `total` of all threads."""

    threads: tuple[int, int] = (1, 3)
    statements: tuple[int, int] = (1, 4)
    total: int = 8
    words: int = 2


SMALL_SAFETY = SafetySize()
LARGE_SAFETY = SafetySize(threads=(2, 3), statements=(2, 6), total=12, words=3)


def random_safety_program(
    rng: Random, kind: Kind, size: SafetySize = SMALL_SAFETY, *, loops: bool = True, growth: bool = True
) -> str:
    """Return the text of a program that loads without errors; the same for the same state of `rng`.

    With `growth` values may be any integers, else they are few and all searches of values end. Without `loops` no thread's
    graph has a cycle.
    """
    return _SafetyWriter(rng, kind, size, loops, growth).text()


@dataclass
class _SafetyWriter:
    rng: Random
    kind: Kind
    size: SafetySize
    loops: bool
    growth: bool
    words: dict[str, list[str]] = field(default_factory=dict)
    labels: list[tuple[str, str]] = field(default_factory=list)
    threads: list[tuple[str, str]] = field(default_factory=list)
    left: int = 0

    def text(self) -> str:
        rng = self.rng
        nodes = ["A"] if self.kind == "shared" else ["A", "B"]
        self.words = {node: ["x", "y", "z"][: rng.randint(1, self.size.words)] for node in nodes}
        lines = [f"node {node} {{ {', '.join(map(self.declared, words))} }}" for node, words in self.words.items()]
        total = self.size.total
        for number in range(rng.randint(*self.size.threads)):
            node = nodes[number % len(nodes)] if rng.random() < 0.8 else rng.choice(nodes)
            self.threads.append((f"T{number}", node))
            self.left = min(rng.randint(*self.size.statements), total)
            total -= self.left
            lines += self.thread(*self.threads[-1])
        lines += [self.claim() for _ in range(rng.randint(1, 3))]
        return "\n".join(lines) + "\n"

    def declared(self, word: str) -> str:
        return f"{word} = {self.rng.randint(0, 2)}" if self.rng.random() < 0.3 else word

    def thread(self, name: str, node: str) -> list[str]:
        body: list[str] = []
        while self.left > 0:
            body += self.statement(name, node, 1)
        return [f"thread {name} on {node} {{", "  reg r", "  reg s = 1", *body, "}"]

    def statement(self, name: str, node: str, depth: int) -> list[str]:
        self.left -= 1
        pad = "  " * depth
        blocks = {"if": 8, "choose": 5} | ({"while": 9, "loop": 9} if self.loops else {})
        kinds = self.kinds() | (blocks if depth < 3 and self.left > 0 else {})
        kind = self.rng.choices(list(kinds), list(kinds.values()))[0]
        if kind in blocks:
            return self.block(kind, name, node, depth)
        line = self.simple(kind, node)
        if self.rng.random() < 0.15:
            label = f"L{len(self.labels)}"
            self.labels.append((name, label))
            line = f"{label}: {line}"
        return [pad + line]

    def kinds(self) -> dict[str, int]:
        local = {"store": 14, "load": 14, "register": 8, "atomic": 8, "await": 5, "assume": 2, "assert": 6}
        local["nondet"] = 8 if self.growth else 4
        match self.kind:
            case "shared":
                return local | {"mfence": 5, "skip": 2}
            case "network":
                return local | {"put": 14, "get": 14, "remote": 8, "flush": 12, "mfence": 1}
            case "queue pairs":
                return local | {"put": 14, "get": 14, "flush": 6, "poll": 10, "rfence": 4}

    def block(self, kind: str, name: str, node: str, depth: int) -> list[str]:
        pad = "  " * depth

        def inside() -> list[str]:
            lines: list[str] = []
            for _ in range(self.rng.randint(1, 2)):
                lines += self.statement(name, node, depth + 1) if self.left > 0 else []
            return lines or [f"{pad}  skip"]

        match kind:
            case "if":
                tail = [f"{pad}}} else {{", *inside()] if self.rng.random() < 0.4 else []
                return [f"{pad}if {self.condition(node)} {{", *inside(), *tail, f"{pad}}}"]
            case "choose":
                return [f"{pad}choose {{", *inside(), f"{pad}}} or {{", *inside(), f"{pad}}}"]
            case "while":
                return [f"{pad}while {self.condition(node)} {{", *inside(), f"{pad}}}"]
            case _:
                return [f"{pad}loop {{", *inside(), f"{pad}}}"]

    def simple(self, kind: str, node: str) -> str:
        rng = self.rng
        word, register, other = rng.choice(self.words[node]), rng.choice("rs"), "A" if node == "B" else "B"
        match kind:
            case "store":
                return f"{word} = {self.value()}"
            case "load":
                return f"{register} = {word}" + (" + 1" if self.growth and rng.random() < 0.2 else "")
            case "register":
                return f"{register} = {self.value()}"
            case "atomic":
                return f"{rng.choice(['', f'{register} = '])}{self.atomic(word)}"
            case "await" | "assume" | "assert":
                return f"{kind} {self.condition(node)}"
            case "nondet":
                anything = self.growth and rng.random() < 0.6
                return f"{register} = nondet({'' if anything else '0, ' + str(rng.randint(0, 2))})"
            case "put":
                return f"put {other}.{rng.choice(self.words[other])} = {rng.choice([*self.words[node], '1', '2'])}"
            case "get":
                return f"get {word} = {other}.{rng.choice(self.words[other])}"
            case "remote":
                return f"get {word} = {self.atomic(f'{other}.{rng.choice(self.words[other])}')}"
            case "flush" | "poll" | "rfence":
                return f"{kind} {other}"
            case _:
                return kind

    def atomic(self, word: str) -> str:
        rng = self.rng
        kind = rng.choice(["faa", "swap", "cas"] if self.growth else ["swap", "cas"])
        operand = rng.choice(["r", "s", "0", "1", "2"])
        return f"cas({word}, {rng.randint(0, 1)}, {operand})" if kind == "cas" else f"{kind}({word}, {operand})"

    def value(self) -> str:
        rng = self.rng
        plain = rng.choice(["0", "1", "2", "r", "s"])
        if rng.random() < 0.6:
            return plain
        register, constant = rng.choice("rs"), rng.randint(1, 2)
        if not self.growth:
            return rng.choice(
                [f"1 - {register} * {register} % 2", f"({register} + {constant}) % 3", f"{register} == {constant}"]
            )
        return rng.choice(
            [f"{register} + {constant}", f"{register} - {constant}", "r + s", f"{register} % 3", f"2 * {register}"]
        )

    def condition(self, node: str) -> str:
        rng = self.rng
        left = rng.choice([*self.words[node], "r", "s"])
        right = rng.choice(["0", "1", "2", "r", "s"])
        return f"{left} {rng.choice(['==', '!=', '<', '<=', '>'])} {right}"

    def claim(self) -> str:
        """An invariant or outcome; most do not hold everywhere, or there would be little to compare."""
        rng = self.rng
        names = [f"{node}.{word}" for node, words in self.words.items() for word in words]
        names += [f"{name}.{register}" for name, _ in self.threads for register in "rs"]
        compared = [
            f"{rng.choice(names)} {rng.choice(['==', '==', '!=', '<'])} {rng.choice([*names, '0', '1', '2', '3'])}"
            for _ in range(rng.randint(1, 3))
        ]
        if rng.random() < 0.5:
            models = ", ".join(
                f"{rng.choice(['forbidden', 'forbidden', 'allowed'])} under {m}" for m in MODELS_OF[self.kind]
            )
            return f"outcome {' && '.join(compared)} : {models}"
        at = [f"{thread} at {label}" for thread, label in self.labels if rng.random() < 0.5]
        at += [f"{name} ended" for name, _ in self.threads if rng.random() < 0.2]
        return f"invariant !({' && '.join([*compared[:2], *at[:2]])})"
