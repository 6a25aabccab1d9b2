"""The worker of the page in which the tool runs: commands, and what editors ask, are answered in this process.

The page has a worker for one question at a time, so standard output and the current folder are the question's own.
"""

from __future__ import annotations

import io
import json
import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import chdir, redirect_stderr, redirect_stdout
from dataclasses import asdict
from functools import lru_cache
from importlib.machinery import ModuleSpec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final

from rdma_robust.cli.app import run
from rdma_robust.errors import NO_SPAN, Diagnostic, RdmaRobustError, UsageError
from rdma_robust.frame.editor import Editor, diagnostic_words
from rdma_robust.frame.exits import Exit
from rdma_robust.frame.registry import front_end_of
from rdma_robust.frame.shell.stderr import internal_message
from rdma_robust.text import printable

if TYPE_CHECKING:
    from rdma_robust.cli.commands.explore import ExploreRequest
    from rdma_robust.teaching.explorer.live import Explorable

LIBRARIES: Final[Mapping[str, str]] = {
    "numpy": "the search over matches and the state equation of nets need numpy",
    "pysat": "the engine sat needs python-sat",
}
"""Libraries that a browser does not have, and what needs them."""


class _Absent:
    """Says of a library that is missing what needs it, instead of that there is no such module."""

    def find_spec(self, name: str, _path: object = None, _target: object = None) -> ModuleSpec | None:
        if (top := name.partition(".")[0]) in LIBRARIES:
            raise UsageError(f"{LIBRARIES[top]}, which a browser does not have: install rdma-robust, and ask there")
        return None


class SolverNeededError(BaseException):
    """HiGHS has to be loaded first, which only the page can do; no handler on the way may swallow it."""


def tell_what_is_absent() -> None:
    """From now on, say of libraries that a browser lacks what needs them."""
    if not any(isinstance(each, _Absent) for each in sys.meta_path):
        sys.meta_path.append(_Absent())


def ask(request: str) -> str:
    """Return what a command answers, both as JSON.

    A request has the `arguments`, the `files` by name, which to `read` afterwards, and perhaps how many `columns` a report
    has. The answer has `exit`, `out`, `err` and the `files` that were read; or what the page has to load first, to ask
    again, as `needs`.
    """
    asked: dict[str, Any] = json.loads(request)
    os.environ.pop("COLUMNS", None)
    if columns := asked.get("columns"):
        os.environ["COLUMNS"] = str(columns)
    try:
        return json.dumps(_answered(asked["arguments"], asked["files"], asked["read"]))
    except SolverNeededError:
        return json.dumps({"needs": "highs"})


def _answered(arguments: Sequence[str], given: Mapping[str, str], read: Sequence[str]) -> dict[str, Any]:
    out, err = io.StringIO(), io.StringIO()
    with TemporaryDirectory() as folder, chdir(folder), redirect_stdout(out), redirect_stderr(err):
        for name, text in given.items():
            Path(name).write_text(text, encoding="utf-8", newline="")
        code = _code(arguments)
        made = {name: Path(name).read_text(encoding="utf-8") for name in read if Path(name).exists()}
    return {"exit": code, "out": out.getvalue(), "err": err.getvalue(), "files": made}


def _code(arguments: Sequence[str]) -> int:
    """Return the exit code of a command; no exception leaves it but that of the solver."""
    try:
        return int(run(arguments))
    except MemoryError:
        print("unknown: the memory of this tab is used up", file=sys.stderr)
        return Exit.UNKNOWN
    except Exception as error:
        print(internal_message(f"{type(error).__name__}: {error}"), file=sys.stderr)
        return Exit.INTERNAL


def explored(request: str) -> str:
    """Return what the explorer's page asks, as its server does, in JSON: a `value`, or why there is none as `error`.

    A request has the `path` and the `body` that the server would get; and the program: its `text`, the name of its `file`,
    the `options` of the hardware by name, and the `seconds` that deciding it may take.
    """
    asked: dict[str, Any] = json.loads(request)
    program = (asked["text"], asked["file"], tuple(sorted(asked["options"].items())), float(asked["seconds"]))
    try:
        return json.dumps({"value": _explorer_answer(program, asked["path"], asked.get("body") or {})})
    except RdmaRobustError as error:
        return json.dumps({"error": printable(str(error))})
    except Exception as error:
        return json.dumps({"error": internal_message(f"{type(error).__name__}: {error}")})


_Program = tuple[str, str, tuple[tuple[str, str], ...], float]
"""Text, file, options and seconds."""


def _explorer_answer(program: _Program, path: str, body: Mapping[str, Any]) -> dict[str, Any]:
    from rdma_robust.cli.commands.explore import decided_view  # noqa: PLC0415 - slow, and only the explorer needs it
    from rdma_robust.teaching.explorer.page_answers import program_answer, view_answer  # noqa: PLC0415

    session, request = _exploration(program)
    match path:
        case "api/program":
            return program_answer(session)
        case "api/view":
            return view_answer(session, body)
        case "api/verdict":
            return asdict(decided_view(request.options, session))
    raise UsageError(f"the explorer asks nothing like {path}")


@lru_cache(1)
def _exploration(program: _Program) -> tuple[Explorable, ExploreRequest]:
    """Return the exploration of a program, which is kept until another one is asked about. Raises RdmaRobustError."""
    from rdma_robust.cli.commands.explore import ExploreRequest, open_session  # noqa: PLC0415 - as above
    from rdma_robust.frame.shell.inputs import Source  # noqa: PLC0415
    from rdma_robust.options import CheckOptions  # noqa: PLC0415

    text, file, options, seconds = program
    request = ExploreRequest(file, CheckOptions(**dict(options), timeout=seconds))  # type: ignore[arg-type]
    return open_session(Source(file, None, text.encode()), request, warnings=False), request


def findings(text: str, file: str) -> str:
    """Return the errors and warnings of a text that no search is needed for, as JSON: from, to, severity, message."""
    found = _editor(text, file).diagnostics(text, file)
    return json.dumps([_placed(each) for each in found if each.span.file in ("", file)])


def hover_at(text: str, file: str, offset: int) -> str:
    """Return what there is to say at a 0-based offset, as JSON: from, to and Markdown; or null."""
    found = _editor(text, file).hover(text, offset)
    return json.dumps(found and {"from": found.span.start, "to": found.span.end, "text": found.text})


def _editor(text: str, file: str) -> Editor:
    load = front_end_of(text, file).editor
    return Editor(lambda *_: ()) if load is None else load()


def _placed(found: Diagnostic) -> dict[str, Any]:
    start, end = (0, 0) if found.span == NO_SPAN else (found.span.start, found.span.end)
    said = f"{diagnostic_words(found)} [{found.code}]"
    return {"from": start, "to": end, "severity": str(found.severity), "message": said}
