"""What is proven in Coq: the list `proofs/theorems.toml`, and what Coq prints of it, kept in `proofs/printed.txt`.

Coq is needed only to print anew; everything else reads the two files.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

PROOFS: Final = Path(__file__).parents[1] / "proofs"
LISTED: Final = PROOFS / "theorems.toml"
PRINTED: Final = PROOFS / "printed.txt"

_WIDTH: Final = 110


@dataclass(frozen=True)
class Theorem:
    """A theorem: `statement` is what docs/ call it, `name` is `File.name` in proofs/."""

    statement: str
    says: str
    name: str

    @property
    def module(self) -> str:
        """The name of its file without `.v`; no two files of proofs/ have one name."""
        return self.name.partition(".")[0]

    @property
    def anchor(self) -> str:
        """The anchor of its heading in docs/proof.md, on GitHub and in the site."""
        return self.name.replace(".", "").lower()


@dataclass(frozen=True)
class Part:
    """A part of the list: its title, a few words, its theorems."""

    title: str
    text: str
    theorems: tuple[Theorem, ...]


@dataclass(frozen=True)
class ByHand:
    """A statement of a page in docs/ (`page`, a name without `.md`) that has no formal proof, and why."""

    page: str
    statement: str
    why: str


def parts() -> tuple[Part, ...]:
    """Return the parts of the list in their order."""
    listed = tomllib.loads(LISTED.read_text(encoding="utf-8"))
    return tuple(
        Part(part["title"], part["text"].strip(), tuple(Theorem(**each) for each in part["theorem"]))
        for part in listed["part"]
    )


def theorems() -> tuple[Theorem, ...]:
    """Return all theorems of the list."""
    return tuple(theorem for part in parts() for theorem in part.theorems)


def by_hand() -> tuple[ByHand, ...]:
    """Return the statements without a formal proof."""
    return tuple(ByHand(**each) for each in tomllib.loads(LISTED.read_text(encoding="utf-8"))["by_hand"])


@dataclass(frozen=True)
class CoqTable:
    """A table of preserved order that Coq prints: for which hardware (as in `Model`), what Coq calls that, and the file with
    the list of the cells (`listed`); `relation` is ippo or oppo if it is of one of them."""

    order: str
    ordered_reads: bool
    term: str
    cpu: str = "sc"
    module: str = "Table"
    relation: str = ""

    @property
    def name(self) -> str:
        others = (word for word in (self.cpu, self.module) if word not in ("sc", "Table"))
        words = (self.order, "ordered-reads" if self.ordered_reads else "", *others, self.relation)
        return " ".join(word for word in words if word)


@dataclass(frozen=True)
class CoqChanges:
    """Hardware of which Coq prints the one-cell changes of the table: a name, what Coq calls it, the file that lists them,
    and the one that declares the kinds of events."""

    name: str
    term: str
    module: str = "Changes"
    kinds: str = "Model"


def tables() -> tuple[CoqTable, ...]:
    """Return the tables of preserved order that Coq prints."""
    return tuple(CoqTable(**each) for each in tomllib.loads(LISTED.read_text(encoding="utf-8"))["table"])


def changes() -> tuple[CoqChanges, ...]:
    """Return the hardware of which Coq prints the one-cell changes."""
    return tuple(CoqChanges(**each) for each in tomllib.loads(LISTED.read_text(encoding="utf-8"))["changes"])


def sources() -> dict[str, Path]:
    """Return the Coq files by their names without `.v`."""
    return {path.stem: path for path in sorted(PROOFS.rglob("*.v"))}


@dataclass(frozen=True)
class Printed:
    """What Coq printed: its version, of each theorem the statement and the axioms (none: empty), the tables, and of
    every one-cell change the earlier and the later kind, the new cell, and the facts that do not hold any more."""

    version: str
    statements: Mapping[str, str]
    axioms: Mapping[str, str]
    tables: Mapping[str, str]
    changes: Mapping[str, str]


def printed() -> Printed:
    """Read what is kept of what Coq printed."""
    head, *blocks = re.split(r"^== ", PRINTED.read_text(encoding="utf-8"), flags=re.MULTILINE)
    statements: dict[str, str] = {}
    axioms: dict[str, str] = {}
    shown: dict[str, str] = {}
    changed: dict[str, str] = {}
    for block in blocks:
        title, _, body = block.partition("\n")
        kind, _, name = title.partition(" ")
        {"theorem": statements, "axioms": axioms, "table": shown, "changes": changed}[kind][name] = body.strip("\n")
    return Printed(head.strip(), statements, axioms, shown, changed)


def written(answer: Printed) -> str:
    """Return `answer` as it is kept in the repository."""
    blocks = [f"{answer.version}\n"]
    for name, statement in answer.statements.items():
        blocks.append(f"== theorem {name}\n{statement}\n== axioms {name}\n{answer.axioms[name]}\n")
    blocks += [f"== table {name}\n{text}\n" for name, text in answer.tables.items()]
    blocks += [f"== changes {name}\n{text}\n" for name, text in answer.changes.items()]
    return "".join(blocks)


def not_compiled() -> str | None:
    """Return why Coq cannot be asked: it is missing, or what it needs is not compiled. None if it can."""
    if shutil.which("coqc") is None:
        return "coqc is not installed"
    files = sources()
    for name, path in files.items():
        needed = re.findall(
            r"^From RR Require (?:Import|Export) ([\w\s]+)\.$", path.read_text(encoding="utf-8"), re.MULTILINE
        )
        older = [path, *(files[each].with_suffix(".vo") for line in needed for each in line.split())]
        if _time(path.with_suffix(".vo")) < max(map(_time, older)):
            return f"{name}.v is not compiled: run `make -C proofs`"
    return None


def _time(path: Path) -> float:
    return path.stat().st_mtime if path.exists() else 0.0


def ask_coq() -> Printed:
    """Ask Coq for the statements, axioms and tables. Raises ValueError if a name is unknown to it."""
    version = subprocess.run(["coqc", "--print-version"], capture_output=True, text=True, check=True).stdout.split()[0]
    listed = theorems()
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "Printed.v"
        script.write_text("\n".join(_questions(listed)), encoding="utf-8")
        asked = subprocess.run(
            ["coqc", "-q", "-w", "none", "-R", PROOFS, "RR", script.name],
            cwd=folder,
            capture_output=True,
            text=True,
            check=False,
        )
        if asked.returncode:
            raise ValueError(f"Coq does not know what {LISTED.name} names: {asked.stderr}")

        def answer(name: str) -> str:
            return (Path(folder) / f"{name}.out").read_text(encoding="utf-8").rstrip()

        return Printed(
            f"Coq {version}",
            {each.name: answer(f"{each.name}.says").partition("\n\n")[0] for each in listed},
            {each.name: _axioms(answer(f"{each.name}.axioms")) for each in listed},
            {each.name: _cells(answer(each.name)) for each in tables()},
            {each.name: _changed(answer(f"changes {each.name}")) for each in changes()},
        )


def _axioms(text: str) -> str:
    return "" if text.startswith("Closed under") else text.removeprefix("Axioms:\n").replace("Classical_Prop.", "")


def _cells(text: str) -> str:
    """Return whether nfo orders anything, then a line a cell: the earlier and the later kind, how far kept."""
    flush = re.search(r"\b(true|false)\b", text)
    found = re.findall(r"(\w+),\s+(\w+),\s+(\w+)\)", text)
    return "\n".join([f"nfo {flush[1] if flush else ''}", *(" ".join(cell) for cell in found)])


def _changed(text: str) -> str:
    found = re.findall(r"(\w+),\s+(\w+),\s+(\w+),\s+\[([^\]]*)\]", text)
    return "\n".join(" ".join((*change, *re.findall(r"\w+", facts))) for *change, facts in found)


def _questions(listed: tuple[Theorem, ...]) -> Iterator[str]:
    """Yield a Coq file that writes each answer into a file of its own. What is imported for one ends with its module."""
    yield f"Set Printing Width {_WIDTH}. Set Printing Depth 10000."
    for module in dict.fromkeys(each.module for each in listed):
        yield from _begin(module)
        for each in listed:
            if each.module == module:
                yield f'Redirect "{each.name}.says" About {each.name}.'
                yield f'Redirect "{each.name}.axioms" Print Assumptions {each.name}.'
        yield f"End Of{module}."
    for module in dict.fromkeys(table.module for table in tables()):
        yield from _begin(module)
        yield "From RR Require Import Cells." if module == "Table" else ""
        for table in tables():
            if table.module == module:
                yield f'Redirect "{table.name}" Eval vm_compute in listed ({table.term}).'
        yield f"End Of{module}."
    yield "From Coq Require Import String List. Import ListNotations. Open Scope string_scope."
    for hardware in changes():
        yield f"From RR Require Import {hardware.kinds} {hardware.module}."
        yield f'Redirect "changes {hardware.name}" Eval vm_compute in changes ({hardware.term}).'


def _begin(module: str) -> Iterator[str]:
    """Begin a module of its own, with what the file `module` imports and the file itself."""
    text = sources()[module].read_text(encoding="utf-8")
    yield f"Module Of{module}."
    yield from re.findall(r"^(?:From \w+ )?(?:Require )?Import [\w\s.]+?\.$", text, re.MULTILINE)
    yield f"From RR Require Import {module}."
