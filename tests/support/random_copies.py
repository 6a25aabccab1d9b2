"""Random programs with crowds: few shared words, templates on a node that all share or each copy on its own, named threads.

    program = load_decidable(random_copies(Random(7)), "random.rdma", crowds=True)

They have no loops unless asked for, and hardware of every kind.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random

_PLAIN = {"put": 22, "get": 20, "read": 18, "write": 18, "cas": 8, "assume": 10, "fence": 2}
_DEPLOYED = {"rcas": 10, "swap": 4, "inline": 6, "mfence": 4}


@dataclass
class _Thread:
    name: str
    node: str
    own: list[str]
    left: int
    unpolled: dict[str, int] = field(default_factory=dict)


def random_copies(rng: Random, *, loops: bool = False, deployed: bool = False) -> str:
    """Return the text of a program."""
    return _Writer(rng, loops, deployed).program()


class _Writer:
    def __init__(self, rng: Random, loops: bool, deployed: bool) -> None:
        self.rng, self.loops, self.deployed = rng, loops, deployed
        self.shared = {"S": ["x", "y", "z"][: rng.choice([1, 2, 2, 3])]}
        if rng.random() < 0.4:
            self.shared["U"] = ["u", "v"][: rng.choice([1, 1, 2])]
        self.hardware = self.said()

    def said(self) -> list[str]:
        if not self.deployed:
            return ["reads ordered"] if self.rng.random() < 0.15 else []
        found = ["cpu tso"] if self.rng.random() < 0.6 else []
        found += ["atomics glob"] if self.rng.random() < 0.2 else []
        return found + ([f"order {self.rng.choice(['multipath', 'relaxed'])}"] if self.rng.random() < 0.25 else [])

    def program(self) -> str:
        rng = self.rng
        many = ("C", "D")[: rng.choice([1, 1, 1, 2])]
        nodes = [
            f"node {name} {{ {', '.join(self.declared(word) for word in words)} }}" for name, words in self.shared.items()
        ]
        threads = []
        for name in many:
            if rng.random() < 0.6:
                own = [f"{name.lower()}{i}" for i in range(rng.choice([1, 1, 2]))]
                nodes.append(self.node(f"{name}N[*]", own))
                threads.append(_Thread(f"{name}[*]", f"{name}N[*]", own, rng.randint(2, 4)))
            else:
                threads.append(_Thread(f"{name}[*]", rng.choice(list(self.shared)), [], rng.randint(1, 4)))
        for name in ("T", "V")[: rng.choice([0, 0, 1, 1, 2])]:
            threads.append(_Thread(name, rng.choice(list(self.shared)), [], rng.randint(1, 3)))
        bodies = [self.thread(thread) for thread in threads]
        lines = [*(["allow loopback"] if self.deployed else []), *self.hardware_line(), *nodes, *bodies]
        return "\n".join(lines) + "\n"

    def node(self, name: str, words: list[str]) -> str:
        return f"node {name} {{ {', '.join(self.declared(word) for word in words)} }}"

    def declared(self, word: str) -> str:
        return f"{word} = 1" if self.rng.random() < 0.3 else word

    def hardware_line(self) -> list[str]:
        return ["hardware " + ", ".join(self.hardware)] if self.hardware else []

    def thread(self, thread: _Thread) -> str:
        body: list[str] = []
        while thread.left > 0:
            body += self.statement(thread, 1)
        if self.loops and self.rng.random() < 0.6:
            body = ["  loop {", *(f"  {line}" for line in body), "  }"]
        registers = ["r"] if any(" r" in line for line in body) else []
        return "\n".join([f"thread {thread.name} on {thread.node} {{", *(f"  reg {each}" for each in registers), *body, "}"])

    def statement(self, thread: _Thread, depth: int) -> list[str]:
        rng, pad = self.rng, "  " * depth
        thread.left -= 1
        polled = [node for node, number in thread.unpolled.items() if number > 0]
        if polled and rng.random() < 0.35:
            node = rng.choice(polled)
            thread.unpolled[node] -= 1
            return [f"{pad}poll {node}"]
        if thread.left > 0 and depth == 1 and rng.random() < 0.15:
            before = dict(thread.unpolled)
            left = self.statement(thread, 2)
            thread.unpolled, after = before, thread.unpolled
            right = self.statement(thread, 2)
            thread.unpolled = {node: min(after.get(node, 0), thread.unpolled.get(node, 0)) for node in after}
            return [f"{pad}choose {{", *left, f"{pad}}} or {{", *right, f"{pad}}}"]
        return [f"{pad}{self.simple(thread, polled)}"]

    def simple(self, thread: _Thread, polled: list[str]) -> str:
        rng = self.rng
        near = thread.own or self.shared[thread.node]
        far = [(node, word) for node, words in self.shared.items() if node != thread.node for word in words]
        if self.deployed and not thread.own and rng.random() < 0.1:
            far = [*far, *((thread.node, word) for word in near)]
        kinds = _PLAIN | (_DEPLOYED if self.deployed else {})
        if not far:
            kinds = {kind: n for kind, n in kinds.items() if kind not in ("put", "get", "rcas", "inline", "fence")}
        if not polled:
            kinds.pop("fence", None)
        kind = rng.choices(list(kinds), list(kinds.values()))[0]
        mine, value = rng.choice(near), str(rng.choice([0, 1, 1, 2]))
        if far and kind in ("put", "get", "rcas", "inline"):
            node, word = rng.choice(far)
            thread.unpolled[node] = thread.unpolled.get(node, 0) + 1
            match kind:
                case "put":
                    return f"put {node}.{word} = {rng.choice([mine, mine, value])}"
                case "get":
                    return f"get {mine} = {node}.{word}"
                case "rcas":
                    return f"get {mine} = cas({node}.{word}, {rng.choice([0, 0, 1])}, {rng.choice([1, 1, 2])})"
                case _:
                    return f"put {node}.{word} = {rng.choice([mine, value])} inline"
        match kind:
            case "read":
                return f"r = {mine}"
            case "cas":
                return f"r = cas({mine}, {rng.choice([0, 0, 1])}, {rng.choice([1, 1, 2])})"
            case "swap":
                return f"r = swap({mine}, {value})"
            case "assume":
                return f"assume {mine} == {rng.choice([0, 1, 1])}" if rng.random() < 0.7 else "assume r == 1"
            case "fence":
                return f"rfence {rng.choice(polled)}"
            case "mfence":
                return "mfence"
            case _:
                return f"{mine} = {value}"
