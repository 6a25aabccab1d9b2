"""Follows a document from its first block to its last, as a person who tries everything would."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from io import StringIO
from typing import Any

import yaml

from rdma_robust.language.load import load_program
from rdma_robust.messages.language.load_messages import load_messages
from rdma_robust.petri.spec.reader import read_spec
from tests.support.documents import ROOT, Block, commands, without_times
from tests.support.terminal import Terminal


class Reader:
    """What has been run so far: files in the terminal's folder, names of Python, and what the last block printed."""

    def __init__(self, terminal: Terminal) -> None:
        self.terminal = terminal
        self.names: dict[str, Any] = {"__name__": "__main__"}
        self.printed: str | None = None
        """What the last block printed, if it was Python."""

    def follow(self, block: Block) -> Iterator[str]:
        """Yield what is wrong with `block`."""
        if block.title is not None:
            yield from self.file(block)
        elif block.language in ("console", "python", "rdma", "mp", "spec", "json", "yaml"):
            yield from getattr(self, block.language)(block)
        elif block.language == "text" and self.printed is not None and block.follows:
            yield from differences(block.place, self.printed, block.body)
        self.printed = self.printed if block.language == "python" else None

    def file(self, block: Block) -> Iterator[str]:
        path = self.terminal.folder / str(block.title)
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(block.body, encoding="utf-8")
        elif block.language == "json":
            if not begins(json.loads(block.body), json.loads(path.read_text(encoding="utf-8"))):
                yield f"{block.place}: {block.title} holds something else"
        else:
            yield from differences(block.place, path.read_text(encoding="utf-8"), block.body)

    def console(self, block: Block) -> Iterator[str]:
        for command, shown in commands(block):
            yield from differences(f"{block.place}: $ {command}", self.terminal.run(command), shown)

    def python(self, block: Block) -> Iterator[str]:
        printed = StringIO()
        self.terminal.provide(block.body)
        with contextlib.redirect_stdout(printed):
            exec(compile("\n" * block.line + block.body, str(block.document.relative_to(ROOT)), "exec"), self.names)
        self.printed = printed.getvalue()
        return iter(())

    def rdma(self, block: Block) -> Iterator[str]:
        program = load_program(block.body, block.place)
        file = self.terminal.folder / "block.rdma"
        file.write_text(block.body, encoding="utf-8")
        asked = [["check", "--expect"]] * (program.expect_robust is not None) + [
            ["outcomes", "--max-states", "20000"]
        ] * bool(program.outcomes)
        asked += [["prove", "--expect"]] * any(each.kind == "safe" for each in program.expectations)
        for arguments in asked or [["check"]]:
            printed = self.terminal.run(f"rdma-robust {' '.join(arguments)} block.rdma")
            if self.terminal.code and (asked or self.terminal.code != 1):
                yield f"{block.place}: {printed}"

    def mp(self, block: Block) -> Iterator[str]:
        groups = ["messages"] * bool(load_messages(block.body, block.place).claims)
        groups += ["contracts"] * ("expect contract" in block.body)
        (self.terminal.folder / "block.mp").write_text(block.body, encoding="utf-8")
        for group in groups:
            printed = self.terminal.run(f"rdma-robust {group} check --expect block.mp")
            if self.terminal.code:
                yield f"{block.place}: {printed}"

    def spec(self, block: Block) -> Iterator[str]:
        read_spec(block.body, block.place)
        return iter(())

    def json(self, block: Block) -> Iterator[str]:
        json.loads(block.body)
        return iter(())

    def yaml(self, block: Block) -> Iterator[str]:
        yaml.safe_load(block.body)
        return iter(())


def differences(place: str, printed: str, shown: str) -> Iterator[str]:
    if without_times(printed) != without_times(shown):
        yield f"{place}\n--- prints\n{printed}--- the document says\n{shown}"


def begins(shown: Any, whole: Any) -> bool:
    """Tell whether `shown` is `whole`, but for strings that `...` cuts short."""
    match shown, whole:
        case dict(), dict():
            return list(shown) == list(whole) and all(begins(shown[key], whole[key]) for key in shown)
        case list(), list():
            return len(shown) == len(whole) and all(map(begins, shown, whole))
        case str(), str() if shown.endswith("..."):
            return whole.startswith(shown.removesuffix("..."))
    return type(shown) is type(whole) and bool(shown == whole)
