"""Every form of report of an installed command, read by a reader of that form: what a library prints past Python, or does
otherwise in another version, breaks one of them."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import shutil
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final
from xml.etree import ElementTree

from tests.conftest import NOT_ROBUST, ROOT

PROOF: Final = "node M { x }\nthread T on M { reg r\n loop { r = x\n x = r + 1 } }\ninvariant M.x <= 2\n"
MESSAGES: Final = (
    "proc P { send 1 to R }\nproc Q { send 2 to R }\nproc R { reg v; recv v from any; assert v == 1; recv v from any }\n"
)
FAILING: Final = "node A { x }\nthread T on A { x = 1; assert x == 2 }\n"
EARLY: Final = "node A { v }\nnode B { d }\nthread S on A { v = 1; put B.d = v; v = 2 }\n"
SCALED: Final = "const N = 2\nnode A[i in 0..N - 1] { x }\nthread T on A[0] { x = 1 }\n"

VERDICTS: Final = ("text", "concise", "github", "json", "jsonl", "junit", "sarif")
FORMS: Final[Mapping[str, tuple[str, ...]]] = {
    "check sb.rdma": VERDICTS,
    "models sb.rdma": ("text", "json"),
    "scale scaled.rdma -D N=2..3": ("text", "json", "csv", "svg", "html"),
    "cover net.spec": ("text", "json", "jsonl"),
    "outcomes sb.rdma": ("text", "json"),
    "explain sb.rdma": ("text", "json", "dot", "svg", "html"),
    "repair sb.rdma": ("text", "json", "sarif"),
    "report sb.rdma --no-cache": ("html", "md", "json", "jsonl", "csv", "junit", "sarif"),
    "verify failing.rdma": VERDICTS,
    "prove --model sc proof.rdma": VERDICTS,
    "lint early.rdma": ("text", "concise", "github", "json", "jsonl"),
    "messages check calls.mp": VERDICTS,
    "messages check --engine smt calls.mp": ("json",),
    "messages check --engine sat calls.mp": ("json",),
    "messages explain calls.mp": ("text", "json", "svg", "html"),
    "messages matches calls.mp": ("text", "json"),
}
"""Commands, with all forms of their reports."""

WRITTEN: Final = (
    "export sb.rdma --to promela",
    "export sb.rdma --to spec",
    "export sb.rdma --to json",
    "fmt sb.rdma",
    "new lock",
)
"""Commands that write texts which other versions of libraries must not change."""

TIMES: Final = re.compile(r"\b\d+(\.\d+)?(e-\d+)? ?(ms|s|MiB)\b|\d+\.\d+|rdma-robust-\w+")


def _is_page(text: str) -> None:
    assert text.lower().startswith("<!doctype html") and text.rstrip().endswith("</html>"), text[:200]


def _is_table(text: str) -> None:
    rows = list(csv.reader(io.StringIO(text)))
    assert len(rows) > 1 and len({len(row) for row in rows}) == 1, text[:200]


def _is_xml(text: str) -> None:
    ElementTree.fromstring(text)


def _are_lines(text: str) -> None:
    assert [json.loads(line) for line in text.splitlines()]


READERS: Final[Mapping[str, Callable[[str], object]]] = {
    "json": json.loads,
    "sarif": json.loads,
    "jsonl": _are_lines,
    "html": _is_page,
    "svg": _is_xml,
    "junit": _is_xml,
    "csv": _is_table,
}


def prepare(folder: Path) -> None:
    """Put the programs of FORMS into a folder."""
    (folder / "sb.rdma").write_text(NOT_ROBUST)
    (folder / "early.rdma").write_text(EARLY)
    (folder / "failing.rdma").write_text(FAILING)
    (folder / "proof.rdma").write_text(PROOF)
    (folder / "calls.mp").write_text(MESSAGES)
    (folder / "scaled.rdma").write_text(SCALED)
    shutil.copy(ROOT / "tests/nets/kanban-any-cards.spec", folder / "net.spec")


def said(command: Path | str, arguments: str, folder: Path) -> tuple[int, str, str]:
    """Return the exit code and what is printed on both streams, by a command that knows of no Python path but its own."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "VIRTUAL_ENV", "LD_"))}
    done = subprocess.run(
        [str(command), *arguments.split()], cwd=folder, env=kept, capture_output=True, text=True, timeout=300, check=False
    )
    return done.returncode, done.stdout, done.stderr


def forms_of(command: Path | str, folder: Path) -> dict[str, str]:
    """Return each report of FORMS and WRITTEN, without times, after its reader has read it."""
    found = {}
    for arguments, forms in FORMS.items():
        for form in forms:
            asked = f"{arguments} --format {form}"
            code, out, err = said(command, asked, folder)
            assert code in (0, 1) and "error" not in err, f"{asked}: exit code {code}\n{err}"
            try:
                assert out.strip()
                READERS.get(form, str)(out)
            except (ValueError, AssertionError, ElementTree.ParseError) as error:
                raise AssertionError(f"{asked}: {error}\n{out[:500]}") from error
            found[asked] = "" if form == "html" else TIMES.sub("#", out)  # pages have data that are packed, with times
    for asked in WRITTEN:
        code, out, err = said(command, asked, folder)
        assert (code, err) == (0, ""), f"{asked}: exit code {code}\n{err}"
        found[asked] = out
    return found
