"""Random programs of senders and of servers that take from any, with goals of many forms about what servers receive."""

from __future__ import annotations

import random
from typing import Final

_GOALS: Final = (
    "largest", "smallest", "total", "count", "equal", "conjunction", "single", "mixed", "senders", "weighted", "branch",
)  # fmt: skip


class _Goals:
    """Writes goals about receives `a0` .. and their senders `s0` .. of one server."""

    def __init__(self, chance: random.Random, count: int) -> None:
        self.chance, self.count = chance, count

    def value(self) -> str:
        return f"a{self.chance.randrange(self.count)}"

    def number(self, most: int = 4) -> int:
        return self.chance.randint(-1, most)

    def compare(self, *ops: str) -> str:
        return self.chance.choice(ops or ("==", "!=", "<", "<=", ">", ">="))

    def atom(self) -> str:
        left = self.chance.choice(
            [self.value(), f"{self.value()} * 2", f"s{self.chance.randrange(self.count)}", f"-{self.value()}"]
        )
        return f"{left} {self.compare()} {self.number()}"

    def condition(self, depth: int = 2) -> str:
        if not depth or self.chance.random() < 0.4:
            return self.chance.choice([self.atom(), f"{self.value()} {self.compare()} {self.value()}"])
        joined = f" {self.chance.choice(['&&', '||'])} ".join(self.condition(depth - 1) for _ in range(2))
        return f"!({joined})" if self.chance.random() < 0.3 else f"({joined})"

    def goal(self) -> str:
        """Return statements that end in an assertion."""
        every = range(self.count)
        match self.chance.choice(_GOALS):
            case "largest" | "smallest" as kind:
                op = self.compare(*((">", ">=") if kind == "largest" else ("<", "<=")))
                test = (
                    "if a{0} {1} m {{ m = a{0} }}"
                    if self.chance.random() < 0.7
                    else "if m {2} a{0} {{ }} else {{ m = a{0} }}"
                )
                turned = {">": ">=", ">=": ">", "<": "<=", "<=": "<"}[op]
                lines = [test.format(each, op, turned) for each in every]
                return (
                    f"m = {self.number()}\n  "
                    + "\n  ".join(lines).replace("{ }", "{ skip }")
                    + f"\n  assert m {self.compare()} {self.number()}"
                )
            case "total":
                return f"assert {' + '.join(f'a{each}' for each in every)} {self.compare()} {self.number(2 * self.count)}"
            case "count":
                test = f"{self.compare()} {self.number()}"
                lines = [f"if a{each} {test} {{ m = m + {self.chance.randint(1, 2)} }}" for each in every]
                return "m = 0\n  " + "\n  ".join(lines) + f"\n  assert m {self.compare()} {self.number()}"
            case "equal":
                return f"assert {self.value()} {self.compare('==', '!=')} {self.value()}"
            case "conjunction":
                joined = " && ".join(f"a{each} == {self.number(3)}" for each in every if self.chance.random() < 0.7)
                return f"assert !({joined or 'a0 == 1'})"
            case "single":
                return f"assert {self.atom()}"
            case "senders":
                return f"assert s{self.chance.randrange(self.count)} != s{self.chance.randrange(self.count)}"
            case "weighted":
                terms = " + ".join(f"{self.number(3)} * a{each}" for each in every)
                return f"assert {terms} {self.compare()} {self.number(3 * self.count)}"
            case "branch":
                return f"if {self.atom()} {{ assert {self.condition(1)} }}"
            case _:
                return f"assert {self.condition()}"


def gathering_program(seed: int, *, wild: bool = False) -> str:
    """Return a program; the same seed gives the same.

    `wild` ones are of a wider kind: tags, named sources, several channels, unequal numbers, servers that answer.
    """
    chance = random.Random(seed)
    servers = chance.choice([1, 1, 2])
    counts = [chance.randint(1, 3 if servers > 1 else 4) for _ in range(servers)]
    clients: list[list[str]] = []
    for server, count in enumerate(counts):
        missing = chance.choice([0, 0, 0, -1 if wild else 0, 1])
        for _ in range(count + missing):
            send = chance.choice(["send", "send", "h = isend"])
            tag = f" tag {chance.randint(0, 1)}" if wild and chance.random() < 0.3 else ""
            line = f"{send} {chance.randint(0, 3)} to S{server}{tag}"
            if clients and chance.random() < (0.4 if wild else 0.15):
                chance.choice(clients).append(line)
            else:
                clients.append([line])
    clients = clients or [["send 1 to S0"]]
    lines = [_server(chance, server, count, wild, len(clients)) for server, count in enumerate(counts)]
    for number, sends in enumerate(clients):
        body = "\n  ".join(sends + (["wait h"] if chance.random() < 0.5 and any("=" in each for each in sends) else []))
        asserted = "\n  assert 1 == 0" if chance.random() < 0.03 else ""
        lines.append(f"proc C{number} {{\n  req h\n  {body}{asserted}\n}}")
    return "\n".join(lines) + "\n"


def _server(chance: random.Random, server: int, count: int, wild: bool, clients: int) -> str:
    goals = _Goals(chance, count)
    names = "".join(f", a{each}, s{each}" for each in range(count))
    lines = [f"proc S{server} {{", f"  reg m{names}"]
    if chance.random() < 0.3:
        lines.append(f"  req r[{count}]")
        lines += [f"  r[{each}] = irecv a{each} from any s{each}" for each in range(count)]
        order = chance.sample(range(count), chance.randint(max(1, count - 1), count))
        lines += [f"  wait r[{each}]" for each in order]
    else:
        for each in range(count):
            source = f"C{chance.randrange(clients)}" if wild and chance.random() < 0.15 else f"any s{each}"
            tag = f" tag {chance.randint(0, 1)}" if wild and chance.random() < 0.15 else ""
            lines.append(f"  recv a{each} from {source}{tag}")
            if wild and chance.random() < 0.1:
                lines.append(f"  assume {goals.atom()}")
            if chance.random() < 0.1:
                lines.append(f"  assert a{each} {goals.compare()} {goals.number()}")
    lines += [f"  {goals.goal()}" for _ in range(chance.randint(1, 2))]
    return "\n".join([*lines, "}"])
