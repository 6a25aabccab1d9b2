"""Answers kept between runs, by what was asked: the text of the program, the options and the code of the tool.

An entry is a compressed JSON object in a file of its own, written in one step; it names what it answers, and one that
cannot be read, or answers something else, counts as missing. So runs may share a folder, and may be killed at any time.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import tempfile
import time
import zlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rdma_robust.batch.fingerprint import fingerprint
from rdma_robust.batch.job import Job, Record
from rdma_robust.options import REDUCTIONS
from rdma_robust.reports.batch.program_page import Page
from rdma_robust.reports.check.result import Result
from rdma_robust.reports.share.from_json import Unreadable, from_json, to_json

ENVIRONMENT = "RDMA_ROBUST_CACHE"
UNUSED_S = 30 * 24 * 3600
"""After how long the answers of another version of the tool are thrown away."""

Question = dict[str, object]


def default_folder() -> Path:
    """Return where answers are kept unless told otherwise: the user's cache folder, or what RDMA_ROBUST_CACHE says."""
    import platformdirs  # noqa: PLC0415 - only where the default is needed

    chosen = os.environ.get(ENVIRONMENT)
    return Path(chosen) if chosen else platformdirs.user_cache_path("rdma-robust", appauthor=False)


@dataclass
class Cache:
    """Records of earlier runs in `folder`. What goes wrong with it is no error: `trouble` says what did, if anything.

    `hits` counts what was found.
    """

    folder: Path
    trouble: str = ""
    hits: int = 0
    _version: str = field(default_factory=fingerprint)

    def open(self) -> None:
        """Prepare the folder of this version, and drop those of versions that were not used for a month."""
        try:
            self._mine.mkdir(parents=True, exist_ok=True, mode=0o700)
            os.utime(self._mine)
            for other in self.folder.iterdir():
                if other != self._mine and _is_ours(other) and time.time() - other.stat().st_mtime > UNUSED_S:
                    shutil.rmtree(other, ignore_errors=True)
        except OSError as error:
            self._complain(error)

    def get(self, job: Job) -> Record | None:
        """Return the record of an earlier run for `job`, None if there is none that holds for its limits."""
        for question in (settled_question(job), limited_question(job)):
            entry = self._read(question)
            if entry is None:
                continue
            try:
                result = from_json(Result, {**entry["result"], "file": job.name})
                page = None if entry["page"] is None else from_json(Page, entry["page"])
            except (Unreadable, KeyError, TypeError):
                continue
            if result.verdict != "error" and (page is not None) == job.page:
                self.hits += 1
                return Record(result, page=page, settled=True, lasting=True)
        return None

    def put(self, job: Job, record: Record) -> None:
        """Keep `record` for runs to come, if it would be the same in them."""
        if record.result.verdict == "error" or not (record.settled or record.lasting):
            return
        question = settled_question(job) if record.settled else limited_question(job)
        page = None if record.page is None else to_json(record.page)
        entry = {"question": question, "result": to_json(record.result) | {"file": ""}, "page": page}
        try:
            _write(self._path(question), zlib.compress(json.dumps(entry).encode(), 6))
        except OSError as error:
            self._complain(error)

    @property
    def _mine(self) -> Path:
        return self.folder / self._version

    def _path(self, question: Question) -> Path:
        name = hashlib.sha256(json.dumps(question, sort_keys=True).encode()).hexdigest()
        return self._mine / name[:2] / f"{name[2:]}.json.z"

    def _read(self, question: Question) -> Any:
        try:
            entry = json.loads(zlib.decompress(self._path(question).read_bytes()))
        except (OSError, ValueError, zlib.error, RecursionError, MemoryError):
            return None
        return entry if isinstance(entry, dict) and entry.get("question") == question else None

    def _complain(self, error: OSError) -> None:
        self.trouble = self.trouble or f"{error.filename or self.folder}: {error.strerror or error}"


def settled_question(job: Job) -> Question:
    """Return what is asked, without the limits that only say how long to try."""
    options = job.options
    return {
        "text": job.sha256,
        "stem": job.stem,
        "instrumentation": options.instrumentation,
        "engine": options.engine,
        **options.model.described(),
        "await_loops": options.await_loops,
        "max_states": options.max_states,
        "self_check": options.self_check,
        "reductions": [name for name in REDUCTIONS if name in options.reductions],
        "page": job.page,
        "repair": job.repair,
    }


def limited_question(job: Job) -> Question:
    """Return what is asked, with all limits: what a limit cut short answers only the same limits."""
    return settled_question(job) | {"timeout": job.options.timeout, "memory": job.options.memory}


def _is_ours(folder: Path) -> bool:
    """Whether the name is that of a version: nothing else in the folder is touched."""
    version, _, digest = folder.name.rpartition("-")
    return bool(version) and len(digest) == 16 and set(digest) <= set("0123456789abcdef") and folder.is_dir()


def _write(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    handle, temporary = tempfile.mkstemp(prefix=".new-", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise
