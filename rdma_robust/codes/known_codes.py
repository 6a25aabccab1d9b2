"""The registry of codes. Where a message is made, a code is a text; it is loaded where codes are explained or suppressed."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Final, Literal

Kind = Literal[
    "program", "settings", "claims", "target", "command", "net", "instance", "local", "trencher", "messages", "contracts",
    "runs", "violations", "races", "table", "export", "c", "c-contracts", "none"
]  # fmt: skip

EXAMPLES: Final[Mapping[Kind, tuple[str, tuple[str, ...]]]] = {
    "program": ("example.rdma", ("check", "example.rdma")),
    "claims": ("example.rdma", ("verify", "example.rdma")),
    "target": ("example.rdma", ("reach", "example.rdma")),
    "races": ("example.rdma", ("races", "example.rdma")),
    "c": ("example.c", ("check", "example.c")),
    "c-contracts": ("example.c", ("contracts", "check", "example.c")),
    "export": ("example.rdma", ("export", "--to", "verbs-c", "example.rdma")),
    "settings": ("rdma-robust.toml", ("check", "--show-settings")),
    "table": ("example.toml", ("hardware", "check", "example.toml")),
    "net": ("example.spec", ("cover", "example.spec")),
    "instance": ("example.txt", ("demo", "pcp", "example.txt", "--pace", "0")),
    "messages": ("example.mp", ("messages", "check", "example.mp")),
    "contracts": ("example.mp", ("contracts", "check", "example.mp")),
    "runs": ("example.mp", ("messages", "check", "example.mp")),
    "violations": ("example.mp", ("contracts", "check", "example.mp")),
    "trencher": ("example.trencher", ("check", "example.trencher")),
    "local": ("example.rdma", ("demo", "finite", "example.rdma", "--target", "A.x == 7", "--pace", "0")),
}
"""For each kind of example the file it is in and the command that shows its code.

"messages" are programs in which something is wrong as they stand, "runs" those of which some run shows something;
"contracts" and "violations" likewise. An example of the kind "command" is itself a command line about some `example.rdma`;
"none" has no example: it would be too long, or is no input of the tool."""

RANGES: Final = (
    ("RR001", "findings.toml", "what a run says of whole programs and of itself"),
    ("RR101", "syntax.toml", "the text of a program"),
    ("RR201", "names.toml", "declarations and names"),
    ("RR301", "statements.toml", "statements and expressions; from RR401 on, remote operations"),
    ("RR501", "claims.toml", "claims and conditions"),
    ("RR601", "others.toml", "nets and other inputs that are no programs"),
    ("RR701", "warnings.toml", "warnings"),
    ("RR721", "lints.toml", "lints: what `rdma-robust lint` warns of besides"),
    ("RR741", "message_warnings.toml", "warnings about message programs"),
    ("RR751", "contract_warnings.toml", "warnings about contracts"),
    ("RR791", "comments.toml", "comments that ignore warnings"),
    ("RR801", "settings.toml", "files with settings"),
    ("RR810", "c.toml", "C that cannot be evaluated"),
    ("RR821", "order_tables.toml", "files of order tables"),
    ("RR841", "c_programs.toml", "programs of C as wholes"),
    ("RR901", "messages.toml", "message programs, `.mp`"),
    ("RR951", "contracts.toml", "contracts of message programs"),
)
"""Where each range of codes begins, the file it is in, and what it is about."""


@dataclass(frozen=True, slots=True)
class MessageCode:
    """A code. `bad` gives it and `repaired` does not, both with the further `options` of the command of their kind."""

    name: str
    title: str
    severity: Literal["error", "warning"]
    explanation: str
    kind: Kind
    bad: str
    repaired: str
    options: tuple[str, ...]
    by: str = "check"
    """The command that shows the code of a program."""

    def command(self, example: str) -> tuple[str, ...]:
        """Return the arguments that show what the tool says about `example`, which is `bad` or `repaired`."""
        if self.kind == "command":
            import shlex  # noqa: PLC0415 - for few codes

            return tuple(shlex.split(example))[1:]
        shown = EXAMPLES[self.kind][1]
        return (*((self.by, *shown[1:]) if self.kind == "program" else shown), *self.options)


@cache
def codes() -> Mapping[str, MessageCode]:
    """Return every code by its name, in their order."""
    found: dict[str, MessageCode] = {}
    for _, file, _ in RANGES:
        text = resources.files("rdma_robust.codes").joinpath(file).read_text("utf-8")
        for name, entry in tomllib.loads(text).items():
            found[name] = MessageCode(
                name,
                entry["title"],
                entry["severity"],
                entry["explanation"].strip(),
                entry.get("kind", "program"),
                entry.get("bad", "").lstrip("\n"),
                entry.get("repaired", "").lstrip("\n"),
                tuple(entry.get("options", ())),
                entry.get("command", "check"),
            )
    return found


def tags_of(code: str) -> list[str]:
    """Return the words under which code scanning files what has a code."""
    return ["rdma", "concurrency" if code.startswith("RR0") else "correctness"]
