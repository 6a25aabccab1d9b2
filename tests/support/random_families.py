"""Random message programs with a server and families of clients, many of which are interchangeable, and many just not."""

from __future__ import annotations

import random

_SERVER = (
    "recv v from any s",
    "recv v from any s",
    "recv v from any s",
    "recv w",
    "recv w from s",
    "recv v from any s tag 1",
    "send v to s",
    "send 1 to s",
    "send {value} to s tag 1",
    "send s to s",
    "send w to u",
    "send {value} to C[{one}]",
    "send {value} to C[t + 1]",
    "recv w from C[t + 1]",
    "u = s",
    "w = s",
    "t = t + v",
    "t = t + 1",
    "t = v",
    "assert t < {value}",
    "assert v != {value}",
    "assert s != C[{one}]",
    "assert u != s",
    "assert v != w",
)
_CLIENT = (
    "send {value} to S",
    "send {value} to S",
    "send {value} to S tag 1",
    "send x to S",
    "send PID to S",
    "send y to S",
    "recv x from S",
    "recv x",
    "recv x from any y",
    "send x to y",
    "send {value} to C[{next}]",
    "x = {value}",
    "y = x",
    "x = x + 1",
    "assert x == {value}",
    "assert x != PID",
    "assert y == 0",
)
_SERVER_TESTS = ("v == {value}", "s == C[{one}]", "s == u", "t > {value}", "v == w", "v")
_CLIENT_TESTS = ("x == {value}", "x == i", "x == PID", "y == S", "x")


class _FamilyWriter:
    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        self.count = self.chance.choice([2, 3, 3, 4])
        self.plain = self.chance.random() < 0.6

    def fill(self, text: str, client: bool) -> str:
        values = ["0", "1", "2", *(["i", "i % 2", "PID"] if client and not self.plain else [])]
        following = f"i % {self.count} + 1"
        one = self.chance.randint(1, self.count)
        return text.format(value=self.chance.choice(values), next=following, one=one)

    def statement(self, client: bool, depth: int = 1) -> str:
        chance = self.chance.randrange(100)
        if depth and chance < 14:
            test = self.fill(self.chance.choice(_CLIENT_TESTS if client else _SERVER_TESTS), client)
            return f"if {test} {{ {self.block(client, 1)} }} else {{ {self.block(client, self.chance.randint(0, 1))} }}"
        if depth and chance < 20:
            return f"choose {{ {self.block(client, 1)} }} or {{ {self.block(client, 1)} }}"
        if depth and chance < 30 and not client:
            return f"for j in 1..{self.count} {{ {self.block(client, self.chance.randint(1, 2))} }}"
        while True:
            text = self.chance.choice(_CLIENT if client else _SERVER)
            if not (self.plain and ("{next}" in text or "C[{one}]" in text)):
                return self.fill(text, client)

    def block(self, client: bool, length: int) -> str:
        return "; ".join(self.statement(client, 0) for _ in range(length)) or "skip"

    def program(self) -> str:
        server = "; ".join(self.statement(False) for _ in range(self.chance.randint(1, 4)))
        client = "; ".join(self.statement(True) for _ in range(self.chance.randint(1, 3)))
        taking = f"for j in 1..{self.count} {{ recv v from any s; {self.block(False, 1)} }}"
        last = "daemon " if self.chance.random() < 0.1 else ""
        return (
            f"{last}proc S {{ reg v, w, s, u, t; {taking}; {server} }}\n"
            f"proc C[i in 1..{self.count}] {{ reg x, y; send {self.fill('{value}', True)} to S; {client} }}\n"
        )


def random_family(seed: int) -> str:
    """Return the text of a program of a server S and clients C[1], C[2] ..; the same seed gives the same."""
    return _FamilyWriter(seed).program()
