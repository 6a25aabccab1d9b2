"""A server for programs that use tools by the Model Context Protocol: questions about `.rdma` programs, answered in JSON.

Every call names its budget, and runs in a process of its own that gets nothing but the text of one program in an empty
folder. A file is read only if it lies, with all links followed, in one of the folders that were given. What is undecided
says so in a member of its own, so nobody takes it for an answer.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from rdma_robust import __version__
from rdma_robust.errors import UsageError
from rdma_robust.files import LARGEST, read_regular
from rdma_robust.foreign import own_command
from rdma_robust.text import printable

MOST_S: Final = 600.0
LEAST_MIB: Final = 128
MOST_MIB: Final = 65_536
_LATE_S: Final = 10.0
"""How much longer than its budget a process may take before it is killed: it ends by itself, and says what it found."""
_ROOM_MIB: Final = 2048
"""Addresses beyond the budget of memory: those of the interpreter and of its libraries."""
TOOLS: Final[Mapping[str, str]] = {
    "check": "Decide whether a program is robust: whether all it can do on RDMA hardware it can also do under SC.",
    "explain": "Explain why a program is robust or not: the counterexample step by step, and which pairs are reordered.",
    "repair": "Find the fewest waits and fences that make a program robust, as edits of its text.",
    "outcomes": "List the final states that a program can reach on RDMA hardware and under SC.",
    "needs": "Say on which ordering guarantees of the hardware a program relies.",
    "lint": "Report what is likely a mistake in a program.",
}
"""The commands that are tools, and what each is for."""
_WITHOUT_MEMORY: Final = frozenset({"outcomes"})
"""Commands without a limit of memory of their own."""
_STATUS: Final = {
    0: ("ok", "answered: nothing is wrong"),
    1: ("wrong", "answered: something is wrong, as the report says"),
    2: ("invalid", "the program or the question is not well-formed; nothing was decided"),
    3: ("unknown", "UNKNOWN: a limit was reached before there was an answer. This is not a pass; a larger budget may help"),
}
_BUDGET: Final = (
    f"timeout_s (seconds, at most {MOST_S:g}) and memory_mib ({LEAST_MIB} to {MOST_MIB}) are the budget. Give the program "
    "as `text`, or a `.rdma` file as `path`. `decided` false means that there is no answer, which is not a pass."
)


def serve_tools(folders: Sequence[str]) -> None:
    """Answer over standard input and output until the client has gone. Raises UsageError for what is no folder."""
    roots = [_root(folder) for folder in folders]
    sdk: Any = import_module("mcp.server.mcpserver")
    server = sdk.MCPServer("rdma-robust", version=__version__, log_level="ERROR")
    for name, what in TOOLS.items():
        server.tool(name=name, description=f"{what} {_BUDGET}")(_tool(name, roots, sdk.exceptions.ToolError))
    server.run("stdio")


def _root(folder: str) -> Path:
    if not os.path.isdir(folder):
        raise UsageError(f"--folder {printable(folder)}: that is no folder")
    return Path(folder).resolve()


def _tool(command: str, roots: Sequence[Path], refusal: type[Exception]) -> Callable[..., dict[str, Any]]:
    """The function of a tool, which raises `refusal` where a call is refused: of others clients are told nothing."""

    def ask(timeout_s: float, memory_mib: int, text: str = "", path: str = "") -> dict[str, Any]:
        try:
            return tool_answer(command, called_program(text, path, roots), timeout_s, memory_mib)
        except ValueError as error:
            raise refusal(str(error)) from None

    return ask


def called_program(text: str, path: str, roots: Sequence[Path]) -> bytes:
    """Return the program that a call is about. Raises ValueError for none, for two, and for a file elsewhere."""
    if bool(text) == bool(path):
        raise ValueError("give the program either as text or as the path of a file")
    content = text.encode() if text else read_inside(path, roots)
    if len(content) > LARGEST:
        raise ValueError(f"the program has {len(content):,} bytes; at most {LARGEST:,} are read")
    return content


def tool_answer(command: str, content: bytes, timeout_s: float, memory_mib: int) -> dict[str, Any]:
    """Return the report of a command about a program, with what its exit code means. Raises ValueError without a budget."""
    if not 0 < timeout_s <= MOST_S:
        raise ValueError(f"timeout_s is {timeout_s:g}: a time above 0 and at most {MOST_S:g} s is needed")
    if not LEAST_MIB <= memory_mib <= MOST_MIB:
        raise ValueError(f"memory_mib is {memory_mib}: {LEAST_MIB} to {MOST_MIB} MiB are needed")
    limits = ["--timeout", f"{timeout_s:g}"]
    if command not in _WITHOUT_MEMORY:
        limits += ["--memory", str(memory_mib)]
    with TemporaryDirectory(prefix="rdma-robust-mcp-") as folder:
        (Path(folder) / "program.rdma").write_bytes(content)
        asked = own_command([command, "program.rdma", "--format", "json", *limits])
        with subprocess.Popen(
            asked, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        ) as process:
            room = (memory_mib + _ROOM_MIB) << 20
            with suppress(OSError, AttributeError):  # it may be done already, or the system has no such limit
                resource.prlimit(process.pid, resource.RLIMIT_AS, (room, room))
            try:
                out, said = process.communicate(timeout=timeout_s + _LATE_S)
            except subprocess.TimeoutExpired:
                process.kill()
                out, said = b"", b"it did not end in time and was killed"
                process.communicate()
                return _told(3, out, said)
    return _told(process.returncode, out, said)


def read_inside(path: str, roots: Sequence[Path]) -> bytes:
    """Return a `.rdma` file that lies in one of the folders, with all links followed; a relative path is from a folder.

    Raises ValueError."""
    if not roots:
        raise ValueError("no folder was given with --folder: give the program as text")
    found = next(filter(None, (_inside(root, path) for root in roots)), None)
    if found is None:
        raise ValueError(f"{path}: there is no such file in the folders that were given")
    if found.suffix != ".rdma":
        raise ValueError(f"{path}: only files that end in .rdma are read")
    try:
        return read_regular(found, LARGEST)
    except (OSError, UsageError) as error:
        raise ValueError(f"{path}: {error}") from error


def _inside(root: Path, path: str) -> Path | None:
    try:
        found = (root / path).resolve(strict=True)
    except (OSError, RuntimeError, ValueError):
        return None
    return found if found.is_relative_to(root) else None


def _told(code: int, out: bytes, said: bytes) -> dict[str, Any]:
    status, meaning = _STATUS.get(code, ("unknown", f"UNKNOWN: the tool ended with exit code {code}. This is not a pass"))
    told: dict[str, Any] = {"status": status, "decided": code in (0, 1), "meaning": meaning, "exit_code": code}
    try:
        told["report"] = json.loads(out)
    except ValueError:
        told["report"] = None
    if said:
        told["messages"] = said.decode(errors="replace")
    return told
