"""The playground as `make playground` makes it, and its worker in Node: the files of the page, in the Python of the page."""

from __future__ import annotations

import fcntl
import json
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Final

from sitegen.playground import bundle

_WORKER: Final = """
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { fileURLToPath, pathToFileURL } from "node:url";
const { stdin, stdout } = process;
const worker = pathToFileURL(process.argv[1]);
Object.assign(process, { browser: true, type: "renderer" });  // Pyodide and HiGHS take this for a browser
globalThis.WorkerGlobalScope = class { static [Symbol.hasInstance]() { return true; } };
globalThis.self = globalThis;
globalThis.location = { href: String(worker), toString() { return this.href; } };
globalThis.fetch = async (what) => new Response(readFileSync(fileURLToPath(String(what))));
const asked = createInterface({ input: stdin })[Symbol.asyncIterator]();
globalThis.postMessage = async (said) => {
  stdout.write(`${JSON.stringify(said)}\\n`);
  const { value, done } = await asked.next();
  if (done) { process.exit(); }
  globalThis.onmessage({ data: JSON.parse(value) });
};
await import(worker);
"""
"""Loads worker.js with what it finds in a browser, but files for the network; messages are lines."""


@contextmanager
def _locked() -> Iterator[None]:
    """Packages are installed, and Python is compiled, once for all processes that run the tests."""
    bundle.INSTALLED.mkdir(parents=True, exist_ok=True)
    with (bundle.INSTALLED / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def install() -> None:
    """Have the packages of the page. Raises NotMadeError."""
    with _locked():
        bundle.installed(bundle.INSTALLED)


def make(folder: Path) -> Path:
    """Make the page in a folder, and return this. Raises NotMadeError."""
    with _locked():
        bundle.make(folder)
    return folder


class Lines:
    """A process that answers each line of JSON by another one."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        assert process.stdin and process.stdout
        self._asks: IO[str] = process.stdin
        self._answers: IO[str] = process.stdout

    def hear(self) -> Any:
        return json.loads(self._answers.readline())

    def ask(self, asked: Any) -> Any:
        self._asks.write(f"{json.dumps(asked)}\n")
        self._asks.flush()
        return self.hear()


@contextmanager
def answering(command: Sequence[str], folder: Path) -> Iterator[Lines]:
    """Start a process that answers lines; it ends with its input."""
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=folder) as process:
        try:
            yield Lines(process)
        except BaseException:
            process.kill()
            raise


@contextmanager
def worker(page: Path) -> Iterator[Lines]:
    """Start the worker of a page in Node. What is asked has an `id`, the function `call` of cli/page_worker.py, and what is
    `given` to it; the answer has both `id` and `answer`."""
    with answering(["node", "--input-type=module", "--eval", _WORKER, str(page / "worker.js")], page) as lines:
        said = lines.hear()
        assert said == {"ready": True}, said
        yield lines
