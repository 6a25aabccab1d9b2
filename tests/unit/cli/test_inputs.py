"""From arguments to programs, and reports to files."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from rdma_robust.cli.app import with_command
from rdma_robust.errors import UsageError
from rdma_robust.frame.shell.inputs import LARGEST, Missing, Source, UnreadableError, expand, read_source
from rdma_robust.frame.shell.output import replace_file


@pytest.mark.parametrize(
    ("arguments", "meant"),
    [
        (["a.rdma"], ["check", "a.rdma"]),
        (["--timeout", "5", "a.rdma"], ["check", "--timeout", "5", "a.rdma"]),
        (["-"], ["check", "-"]),
        (["--", "-a.rdma"], ["check", "--", "-a.rdma"]),
        (["check", "a.rdma"], ["check", "a.rdma"]),
        (["fmt", "a.rdma"], ["fmt", "a.rdma"]),
        (["outcomes", "a.rdma"], ["outcomes", "a.rdma"]),
        (["./fmt"], ["check", "./fmt"]),
        (["--help"], ["--help"]),
        (["--version"], ["--version"]),
        ([], []),
    ],
)
def test_the_default_command(arguments: list[str], meant: list[str]) -> None:
    assert with_command(arguments) == meant


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in ("b.rdma", "a.rdma", "sub/c.rdma", "sub/no.txt", "[x].rdma"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(name)
    return tmp_path


def names(*arguments: str) -> list[str]:
    return [item.name if isinstance(item, Source) else f"missing {item.name}" for item in expand(arguments)]


@pytest.mark.usefixtures("folder")
def test_expansion() -> None:
    assert names("b.rdma", "a.rdma") == ["b.rdma", "a.rdma"]
    assert names("?.rdma") == ["a.rdma", "b.rdma"]
    assert names("sub") == ["sub/c.rdma"]
    assert names("**/*.rdma") == ["[x].rdma", "a.rdma", "b.rdma", "sub/c.rdma"]
    assert names("s*b") == ["sub/c.rdma"]
    assert names("sub/**") == names("sub/*") == names("s*") == names("sub*/*.r*a") == ["sub/c.rdma"]
    assert names("**") == ["[x].rdma", "a.rdma", "b.rdma", "sub/c.rdma"]
    assert names("sub/*.txt") == ["sub/no.txt"]
    assert expand(["**"], suffixes=(".txt", ".json")) == [Source("sub/no.txt", "sub/no.txt", in_folder=True)]
    assert expand(["sub/n*"]) == [Missing("sub/n*", "no .rdma file matches this pattern")]
    assert names("[x].rdma") == ["[x].rdma"]
    assert names("a.rdma", "./a.rdma", os.path.abspath("a.rdma")) == ["a.rdma"]
    assert names("no", "q*", "a.rdma", "no") == ["missing no", "missing q*", "a.rdma"]
    assert names("-", "-") == ["<stdin>"]


def test_links_to_one_file_are_one_program(folder: Path) -> None:
    (folder / "link.rdma").symlink_to("a.rdma")
    (folder / "dangling.rdma").symlink_to("nowhere")
    assert names("a.rdma", "link.rdma") == ["a.rdma"]
    with pytest.raises(UnreadableError, match="No such file"):
        read_source(Source("dangling.rdma", "dangling.rdma"))


@pytest.mark.parametrize("target", ["../outside.rdma", "/etc/hostname", ".git/config"])
def test_a_link_that_nobody_has_named_shows_nothing_but_programs_of_its_folder(folder: Path, target: str) -> None:
    """Reports show what a file says; a checkout of somebody else may bring links."""
    (folder.parent / "outside.rdma").write_text("secret")
    (folder / ".git").mkdir()
    (folder / ".git/config").write_text("token")
    (folder / "sub/brought.rdma").symlink_to(os.path.relpath(os.path.join(folder, target), folder / "sub"))
    (folder / "sub/inside.rdma").symlink_to("../a.rdma")
    for argument in (".", "*/*.rdma", "**"):
        items = {item.name.removeprefix("./"): item for item in expand([argument])}
        brought = items["sub/brought.rdma"]
        assert isinstance(brought, Missing) and "it is a link that leads out of" in brought.reason
        assert "sub/inside.rdma" in items or "a.rdma" in items
    assert isinstance(expand(["sub/brought.rdma"])[0], Source)


@pytest.mark.usefixtures("folder")
def test_a_mistyped_command_gets_a_hint() -> None:
    (item,) = expand(["chekc"], ("check", "fmt"))
    assert isinstance(item, Missing)
    assert "`check`" in item.reason


def test_reading(tmp_path: Path) -> None:
    path = tmp_path / "x.rdma"

    def read(data: bytes) -> str:
        path.write_bytes(data)
        return read_source(Source("x", str(path)))

    assert read(b"\xef\xbb\xbfnode") == "node"
    assert read("// ü\r\n".encode()) == "// ü\r\n"
    with pytest.raises(UnreadableError, match=r"byte 0xff at byte offset 7 \(line 2\)"):
        read(b"abcde\nc\xffd")
    with pytest.raises(UnreadableError, match="byte offset 5"):
        read(b"\xef\xbb\xbfab\xff")
    with pytest.raises(UnreadableError, match="larger than"):
        read(b" " * (LARGEST + 1))
    with pytest.raises(UnreadableError, match="directory"):
        read_source(Source("x", str(tmp_path)))


def test_replacing_a_file_keeps_links_and_permissions(tmp_path: Path) -> None:
    real, link = tmp_path / "real", tmp_path / "link"
    real.write_text("old")
    real.chmod(0o604)
    link.symlink_to("real")
    replace_file(str(link), "new")
    assert link.is_symlink()
    assert real.read_text() == "new"
    assert real.stat().st_mode & 0o777 == 0o604
    replace_file(os.devnull, "x")
    with pytest.raises(UsageError, match="cannot write"):
        replace_file(str(tmp_path / "no" / "file"), "x")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["link", "real"]
