"""The blocks of code in README.md and docs/, and what it means that they are right.

```console   commands, each a line `$ command` and then all that it prints, on both streams; times may differ
```python    runs; the blocks of a document share their names. A block ```text right behind one is what it prints
```rdma      a program: it is decided, and as its `expect` and `outcome` lines say
```mp        a message program: it is read and, if it has `expect` lines, as they say
```spec      a Petri net: it is read
```json, ```yaml   is well-formed
```sh        is not run; the line above is `<!-- not run: reason -->`
```coq       is what Coq prints, which tests/proofs compares
```text      is no code

A block with `title="FILE"` is a file: it is written for the commands behind it, which show what it is good for. If a
command has written FILE already, the block is what it holds; for JSON a string that ends in `...` is a beginning.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
GENERATED = ROOT / "docs/reference"
DOCUMENTS = tuple(
    path for path in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))) if not path.is_relative_to(GENERATED)
)
LANGUAGES = frozenset(
    {"console", "python", "rdma", "mp", "spec", "json", "yaml", "sh", "text", "lua", "elisp", "coq", "toml", "c"}
)
FENCE = re.compile(
    r"^(?P<indent> *)```(?P<language>\w*)(?: title=\"(?P<title>[^\"\n]+)\")?(?P<rest>[^\n]*)\n"
    r"(?P<body>(?:.*\n)*?)(?P=indent)```$",
    re.MULTILINE,
)
NOT_RUN = re.compile(r"<!-- not run: (.+) -->\n\Z")


@dataclass(frozen=True)
class Block:
    """A fenced block: its first line in the document, what follows the fence, the text; `reason` says why it is not run."""

    document: Path
    line: int
    language: str
    title: str | None
    rest: str
    body: str
    reason: str | None
    follows: bool
    """Whether only an empty line is between this block and the one before."""

    @property
    def place(self) -> str:
        return f"{self.document.relative_to(ROOT)}:{self.line}"


def blocks(document: Path) -> tuple[Block, ...]:
    """Return the blocks of `document`, in order."""
    text = document.read_text(encoding="utf-8")
    found = []
    end = -1
    for each in FENCE.finditer(text):
        reason = NOT_RUN.search(text, 0, each.start())
        found.append(
            Block(
                document,
                text.count("\n", 0, each.start()) + 1,
                each["language"],
                each["title"],
                each["rest"],
                re.sub(rf"^{each['indent']}", "", each["body"], flags=re.MULTILINE),
                reason[1] if reason else None,
                end >= 0 and not text[end : each.start()].strip(),
            )
        )
        end = each.end()
    return tuple(found)


def commands(block: Block) -> tuple[tuple[str, str], ...]:
    """Return the commands of a console block, each with what it prints. A `\\` at the end of a line continues it."""
    parts = re.split(r"^\$ ", block.body, flags=re.MULTILINE)
    assert parts[0] == "", f"{block.place}: a console block begins with a command"
    split = [re.fullmatch(r"((?:.*\\\n)*.*)\n?((?:.*\n)*)", part) for part in parts[1:]]
    return tuple((each[1], each[2]) for each in split if each)


def without_times(text: str) -> str:
    """Return `text` with times replaced and runs of blanks, whose length depends on them, made one."""
    lines = (re.sub(r" +", " ", re.sub(r"\d+\.\d+ s\b", "T s", line)).rstrip() for line in text.rstrip().split("\n"))
    return "\n".join(lines)
