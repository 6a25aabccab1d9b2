"""Answers kept between runs, by what was asked: the text of the program, the options and the code of the tool.

An entry is a compressed JSON object in a file of its own, written in one step; it names what it answers, and one that
cannot be read, or answers something else, counts as missing. So runs may share a folder, and may be killed at any time.

Who could write to the folder could make up verdicts. So it must be the user's alone, every entry begins with a digest made
with a key that lies there, and a violation is checked anew, as a certificate is; of files that share no memory by what
their question keeps for that.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import hmac
import json
import os
import secrets
import shutil
import stat
import tempfile
import time
import zlib
from base64 import b64decode, b64encode
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from rdma_robust import parse
from rdma_robust.batch.job import Job, Record
from rdma_robust.certify.checker import verify
from rdma_robust.certify.document import InvalidCertificate, read_document, read_program_options
from rdma_robust.files import read_regular
from rdma_robust.fingerprint import fingerprint
from rdma_robust.frame.answer import Answer, R
from rdma_robust.frame.report_part import AskedFile, KeptForm
from rdma_robust.frame.shell.inputs import states_of_parts
from rdma_robust.options import REDUCTIONS
from rdma_robust.reports.batch.batch_view import Page
from rdma_robust.reports.check.result import Result
from rdma_robust.reports.share.claim_findings import Claims
from rdma_robust.reports.share.from_json import Unreadable, from_json, to_json

KEY_BYTES: Final = 32
_OTHERS_WRITE: Final = stat.S_IWGRP | stat.S_IWOTH


class UnsafeFolderError(OSError):
    """Others could change what is in a folder; `filename` and `strerror` say which and why."""

    def __init__(self, folder: Path, why: str) -> None:
        super().__init__(errno.EPERM, why, os.fspath(folder))


def make_private(folder: Path) -> None:
    """Make `folder` and what is missing above it, for the user alone. Raises UnsafeFolderError, OSError.

    Refused is a folder that is not the user's or that others may write to, and one above which others could rename or
    replace something: each parent must belong to the user or to root, and be writable for nobody else unless it is sticky.
    Both the path as it is given and the one without symbolic links are looked at.
    """
    folder = Path(os.path.abspath(folder))
    for each in reversed((folder, *folder.parents)):
        with contextlib.suppress(FileExistsError):
            each.mkdir(mode=0o700)
    check_private(folder)


def check_private(folder: Path) -> None:
    """Raise UnsafeFolderError if others could change what is in the folder, see :func:`make_private`."""
    for path in dict.fromkeys((Path(os.path.abspath(folder)), Path(os.path.realpath(folder)))):
        found = os.stat(path)
        if not stat.S_ISDIR(found.st_mode):
            raise NotADirectoryError(errno.ENOTDIR, "it is not a directory", os.fspath(path))
        if found.st_uid != os.geteuid():
            raise UnsafeFolderError(path, "it belongs to somebody else")
        if found.st_mode & _OTHERS_WRITE:
            raise UnsafeFolderError(path, "others may write to it (chmod go-w)")
        for parent in path.parents:
            _check_parent(parent)


def _check_parent(parent: Path) -> None:
    found = os.stat(parent)
    if found.st_uid not in (0, os.geteuid()):
        raise UnsafeFolderError(parent, "it belongs to somebody else, who could replace what is below it")
    if found.st_mode & _OTHERS_WRITE and not found.st_mode & stat.S_ISVTX:
        raise UnsafeFolderError(parent, "others may write to it, and could replace what is below it")


def key_of(folder: Path) -> bytes:
    """Return the key of a private folder, made when it is first asked for. Raises UnsafeFolderError, OSError."""
    path = folder / "key"
    if not path.exists():
        with _temporary(folder, secrets.token_bytes(KEY_BYTES)) as new, contextlib.suppress(FileExistsError):
            os.link(new, path)
    found = os.lstat(path)
    if not stat.S_ISREG(found.st_mode) or found.st_uid != os.geteuid() or found.st_mode & 0o077:
        raise UnsafeFolderError(path, "it is not a file that only the user may read; remove it")
    key = read_regular(path, KEY_BYTES + 1)
    if len(key) != KEY_BYTES:
        raise UnsafeFolderError(path, "it is no key; remove it")
    return key


@contextlib.contextmanager
def _temporary(folder: Path, data: bytes) -> Iterator[str]:
    handle, path = tempfile.mkstemp(prefix=".new-", dir=folder)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
        yield path
    finally:
        with contextlib.suppress(OSError):
            os.unlink(path)


def write_private(path: Path, data: bytes) -> None:
    """Write a file below a private folder, in one step. Raises OSError."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    with _temporary(path.parent, data) as new:
        os.replace(new, path)


ENVIRONMENT = "RDMA_ROBUST_CACHE"
UNUSED_S = 30 * 24 * 3600
"""After how long the answers of another version of the tool are thrown away."""

MOST: Final = 64 * 1024 * 1024
"""Bytes of an entry, compressed or not; a larger one is not kept."""

_DIGEST: Final = hashlib.sha256().digest_size

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
    _key: bytes = b""

    def open(self) -> None:
        """Prepare the folder of this version, and drop those of versions that were not used for a month.

        A folder that others could change is not used at all.
        """
        try:
            make_private(self._mine)
            self._key = key_of(self.folder)
            os.utime(self._mine)
            for other in self.folder.iterdir():
                if other != self._mine and _is_ours(other) and time.time() - other.stat().st_mtime > UNUSED_S:
                    shutil.rmtree(other, ignore_errors=True)
        except OSError as error:
            self._complain(error)

    def get(self, job: Job) -> Record | None:
        """Return the record of an earlier run for `job`, None if there is none that holds for its limits."""
        for question in (settled_question(job), limited_question(job)):
            entry = self.read(question)
            if entry is None:
                continue
            try:
                result = from_json(Result, {**entry["result"], "file": job.name})
                page = None if entry["page"] is None else from_json(Page, entry["page"])
                claims = None if entry["claims"] is None else from_json(Claims, entry["claims"])
            except (Unreadable, KeyError, TypeError):
                continue
            if result.verdict == "not-robust" and not _proves(entry.get("proof"), job):
                continue
            if result.verdict != "error" and (page is not None) == job.page:
                self.hits += 1
                return Record(result, page=page, claims=claims, settled=True, lasting=True)
        return None

    def put(self, job: Job, record: Record) -> None:
        """Keep `record` for runs to come, if it would be the same in them."""
        if not self._key or record.result.verdict == "error" or not (record.settled or record.lasting):
            return
        if record.result.verdict == "not-robust" and not record.proof:
            return
        question = settled_question(job) if record.settled else limited_question(job)
        page = None if record.page is None else to_json(record.page)
        entry = {"result": to_json(record.result) | {"file": ""}, "page": page}
        entry["claims"] = None if record.claims is None else to_json(record.claims)
        self.write(question, entry | {"proof": b64encode(record.proof).decode()})

    def write(self, question: Question, entry: Mapping[str, object]) -> None:
        """Keep what answers a question."""
        plain = json.dumps({"question": question, **entry}).encode() if self._key else b""
        if not plain or len(plain) > MOST:
            return
        packed = zlib.compress(plain, 6)
        try:
            write_private(self._path(question), self._digest(packed) + packed)
        except OSError as error:
            self._complain(error)

    @property
    def _mine(self) -> Path:
        return self.folder / self._version

    def _path(self, question: Question) -> Path:
        name = hashlib.sha256(json.dumps(question, sort_keys=True).encode()).hexdigest()
        return self._mine / name[:2] / f"{name[2:]}.json.z"

    def read(self, question: Question) -> Any:
        """Return what was kept for a question, an object of JSON, None if there is nothing."""
        if not self._key:
            return None
        try:
            data = read_regular(self._path(question), MOST + _DIGEST)
            digest, packed = data[:_DIGEST], data[_DIGEST:]
            if not hmac.compare_digest(digest, self._digest(packed)):
                return None
            entry = json.loads(_unpacked(packed))
        except (OSError, ValueError, zlib.error, RecursionError, MemoryError):
            return None
        return entry if isinstance(entry, dict) and entry.get("question") == question else None

    def _digest(self, packed: bytes) -> bytes:
        """Return the digest of an entry of this version."""
        return hmac.digest(self._key, self._version.encode() + b"\0" + packed, "sha256")

    def _complain(self, error: OSError) -> None:
        self.trouble = self.trouble or f"{error.filename or self.folder}: {error.strerror or error}"


def _unpacked(packed: bytes) -> bytes:
    """Return what was compressed. Raises ValueError if it is larger than an entry may be, or not whole."""
    stream = zlib.decompressobj()
    plain = stream.decompress(packed, MOST)
    if not stream.eof or stream.unused_data:
        raise ValueError("an entry is not whole, or too large")
    return plain


def _proves(proof: object, job: Job) -> bool:
    """Whether `proof` is a certificate that the program of `job` is not robust under its model."""
    try:
        certificate = read_document(b64decode(str(proof), validate=True))
        meant = read_program_options(certificate.options)
        options = job.options.on(parse(job.text, job.name).hardware)
        same = certificate.options["model"] == asdict(options.model) and meant.await_loops == options.await_loops
        return same and verify(certificate, job.text, job.name).claim == "not-robust"
    except (InvalidCertificate, ValueError, RecursionError):
        return False


def settled_question(job: Job) -> Question:
    """Return what is asked, without the limits that only say how long to try."""
    options = job.options
    return {
        "text": job.sha256,
        "stem": job.stem,
        "instrumentation": options.instrumentation,
        "engine": options.engine,
        **options.model.described(),
        "told": asdict(options.told),
        "recv_depth": options.recv_depth,
        "await_loops": options.await_loops,
        "define": list(options.define),
        "max_states": options.max_states,
        "self_check": options.self_check,
        "reductions": [name for name in REDUCTIONS if name in options.reductions],
        "page": job.page,
        "repair": job.repair,
        "claims": bool(job.claims),
        **({"parts": parts} if (parts := states_of_parts(job.text, job.name)) else {}),
    }


def limited_question(job: Job) -> Question:
    """Return what is asked, with all limits: what a limit cut short answers only the same limits."""
    return settled_question(job) | {"timeout": job.options.timeout, "memory": job.options.memory, "claims": job.claims}


def _is_ours(folder: Path) -> bool:
    """Whether the name is that of a version: nothing else in the folder is touched."""
    version, _, digest = folder.name.rpartition("-")
    return bool(version) and len(digest) == 16 and set(digest) <= set("0123456789abcdef") and folder.is_dir()


def known(cache: Cache, form: KeptForm[R], asked: AskedFile) -> R | None:
    """Return the record of an earlier run, None if there is none that holds for the limits and whose errors are shown."""
    for key in asked.keys():  # noqa: SIM118 - no mapping
        entry = cache.read(key)
        if entry is None:
            continue
        try:
            record: Any = from_json(form.record, entry["record"])
            shown = form.is_shown(asked, record, entry["proofs"])
        except (Unreadable, KeyError, TypeError, ValueError):
            continue
        if shown:
            cache.hits += 1
            found = tuple(replace(each, file=asked.name) for each in record.findings)
            record = replace(record, file=asked.name, source=asked.text, findings=found)
            return form.named(record, asked.name)
    return None


def keep(cache: Cache, form: KeptForm[R], asked: AskedFile, answer: Answer[R]) -> None:
    """Keep an answer for runs to come, if it would be the same in them."""
    lasting = form.lasting(asked, answer)
    if lasting == "no":
        return
    settled, limited = asked.keys()
    record: Any = answer.record
    plain = to_json(replace(record, file="", source=None))
    cache.write(settled if lasting == "settled" else limited, {"record": plain, "proofs": form.packed(answer.proofs)})
