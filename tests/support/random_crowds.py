"""Random programs with templates: few words, many conflicts, so that copies meet; also ones that need several copies."""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random

PAPER: dict[str, str] = {}


@dataclass(frozen=True)
class Shape:
    """Bounds for random programs; `settings` also gives hardware other than the paper's."""

    templates: tuple[int, int] = (1, 2)
    named: tuple[int, int] = (0, 2)
    shared: tuple[int, int] = (1, 3)
    private: tuple[int, int] = (0, 2)
    statements: tuple[int, int] = (2, 5)
    loops: bool = False
    remote: bool = True
    settings: bool = False


STRAIGHT = Shape()
LOOPING = Shape(loops=True, statements=(2, 4))
DEPLOYED = Shape(settings=True)
DEPLOYED_LOOPING = Shape(settings=True, loops=True, statements=(2, 4))
SHAPES = {"straight": STRAIGHT, "looping": LOOPING, "deployed": DEPLOYED, "deployed-looping": DEPLOYED_LOOPING}


def random_crowd(rng: Random, shape: Shape = STRAIGHT) -> str:
    """Return the text of a program with one or two templates."""
    return _Writer(rng, shape).program()


@dataclass
class _Thread:
    name: str
    node: str
    words: list[str]
    """Words of its own node."""
    left: int
    body: list[str] = field(default_factory=list)
    unpolled: dict[str, int] = field(default_factory=dict)


class _Writer:
    def __init__(self, rng: Random, shape: Shape) -> None:
        self.rng = rng
        self.shape = shape
        self.words = {"S": ["x", "y", "z"][: rng.randint(*shape.shared)]}
        if len(self.words["S"]) > 1 and rng.random() < 0.3:
            self.words["T"] = [self.words["S"].pop()]
        self.domain = rng.random() < 0.4

    def program(self) -> str:
        rng, shape = self.rng, self.shape
        lines = self.hardware() if shape.settings else []
        lines += ["domain 0..2"] * self.domain
        lines += [f"node {n} {{ {', '.join(w + self.initial() for w in words)} }}" for n, words in self.words.items()]
        threads: list[str] = []
        for name in ["C", "D"][: rng.randint(*shape.templates)]:
            private = ["a", "b"][: rng.randint(*shape.private)]
            own = bool(private) and (rng.random() < 0.8 or not shape.remote)
            if own:
                words = ", ".join(f"{name.lower()}{w}{self.initial()}" for w in private)
                lines.append(f"node {name}N[*] {{ {words} }}")
            node = f"{name}N" if own else rng.choice(list(self.words))
            mine = [f"{name.lower()}{w}" for w in private] if own else self.words[node]
            threads += self.thread(f"{name}[*]", f"{node}[*]" if own else node, mine)
        for number in range(rng.randint(*shape.named)):
            node = rng.choice(list(self.words))
            threads += self.thread(f"N{number}", node, self.words[node])
        return "\n".join([*lines, *threads]) + "\n"

    def hardware(self) -> list[str]:
        rng = self.rng
        said = ["cpu tso"] if rng.random() < 0.5 else []
        said += ["atomics glob"] if rng.random() < 0.2 else []
        said += [f"order {rng.choice(['multipath', 'relaxed'])}"] if rng.random() < 0.25 else []
        return [f"hardware {', '.join(said)}"] if said else []

    def initial(self) -> str:
        return " = 1" if self.rng.random() < 0.2 else ""

    def thread(self, name: str, node: str, words: list[str]) -> list[str]:
        thread = _Thread(name, node.removesuffix("[*]"), words, self.rng.randint(*self.shape.statements))
        body: list[str] = []
        while thread.left > 0:
            body += self.statement(thread, 1)
        registers = [f"  reg {r}" for r in ("p", "q") if any(r in line.split() for line in body)]
        return [f"thread {name} on {node} {{", *registers, *body, "}"]

    def statement(self, thread: _Thread, depth: int) -> list[str]:
        rng, pad = self.rng, "  " * depth
        thread.left -= 1
        if (waiting := [n for n, k in thread.unpolled.items() if k > 0]) and rng.random() < 0.35:
            node = rng.choice(waiting)
            thread.unpolled[node] -= 1
            return [f"{pad}poll {node}"]
        if depth < 3 and thread.left > 0 and rng.random() < (0.3 if self.shape.loops else 0.15):
            return self.block(thread, depth)
        return [pad + line for line in self.simple(thread)]

    def block(self, thread: _Thread, depth: int) -> list[str]:
        rng, pad = self.rng, "  " * depth
        kinds = ["choose", "if"] + ["loop"] * (3 * self.shape.loops)
        kind = rng.choice(kinds)
        before = dict(thread.unpolled)
        body = self.statement(thread, depth + 1)
        while thread.left > 0 and rng.random() < 0.5:
            body += self.statement(thread, depth + 1)
        if kind == "choose":
            thread.unpolled = dict(before)
            other = self.statement(thread, depth + 1) if thread.left > 0 else [f"{pad}  skip"]
            return [f"{pad}choose {{", *body, f"{pad}}} or {{", *other, f"{pad}}}"]
        head = "loop" if kind == "loop" else f"if p == {rng.randint(0, 1)}"
        return [f"{pad}{head} {{", *body, f"{pad}}}"]

    def simple(self, thread: _Thread) -> list[str]:
        rng = self.rng
        remotes = [node for node in self.words if node != thread.node]
        kinds = {"write": 14, "read": 16, "cas": 9, "assume": 7, "mfence": 2}
        kinds |= {"faa": 4} if self.domain else {}
        if remotes and self.shape.remote:
            kinds |= {"put": 26, "get": 20, "rcas": 8, "rfence": 3, "poll": 2} | ({"rfaa": 4} if self.domain else {})
        kind = rng.choices(list(kinds), list(kinds.values()))[0]
        mine, register, value = rng.choice(thread.words), rng.choice(["p", "q"]), rng.randint(0, 1)
        if kind in ("put", "get", "rcas", "rfaa", "rfence", "poll"):
            remote = rng.choice(remotes)
            if kind in ("rfence", "poll"):
                return [f"{kind} {remote}"]
            there = f"{remote}.{rng.choice(self.words[remote])}"
            thread.unpolled[remote] = thread.unpolled.get(remote, 0) + 1
            return [
                {
                    "put": f"put {there} = {rng.choice([mine, str(rng.randint(1, 2))])}",
                    "get": f"get {mine} = {there}",
                    "rcas": f"get {mine} = cas({there}, {value}, {1 - value})",
                    "rfaa": f"get {mine} = faa({there}, 1)",
                }[kind]
            ]
        match kind:
            case "write":
                return [f"{mine} = {rng.choice(['1', '2' if self.domain else '1', register])}"]
            case "read":
                return [f"{register} = {mine}"]
            case "cas":
                test = [f"assume {register} == {value}"] if rng.random() < 0.5 else []
                return [f"{register} = cas({mine}, {value}, {1 - value})", *test]
            case "faa":
                return [f"{register} = faa({mine}, 1)"]
            case "assume":
                return [f"{register} = {mine}", f"assume {register} == {value}"]
            case _:
                return ["mfence"]
