"""The lock files: what pyproject.toml asks for is pinned by hashes, nowhere in particular, and `make` and CI use it."""

from __future__ import annotations

import json
import re
import tomllib
from dataclasses import dataclass
from typing import Any

import pytest
from packaging.markers import Marker, default_environment
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.conftest import ROOT

PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PROJECT: dict[str, Any] = PYPROJECT["project"]
LOCKS = {"dev": "dev", "run": "build"}
"""A lock file to the extra that it is for."""
PYTHONS = ("3.11", "3.12", "3.13")


@dataclass(frozen=True)
class Pin:
    """One requirement of a lock file."""

    name: str
    version: str
    marker: str
    hashes: tuple[str, ...]

    def holds_on(self, python: str) -> bool:
        environment = default_environment() | {"python_version": python, "python_full_version": f"{python}.9"}
        return not self.marker or Marker(self.marker).evaluate({k: str(v) for k, v in environment.items()})


def pins(lock: str) -> list[Pin]:
    text = (ROOT / f"requirements/{lock}.lock").read_text(encoding="utf-8")
    text = re.sub(r"^ *#.*\n", "", text, flags=re.MULTILINE).replace("\\\n", " ")
    found = []
    for line in map(str.strip, text.splitlines()):
        match = re.fullmatch(
            r"(?P<name>[\w.-]+)==(?P<version>\S+)(?: ; (?P<marker>.*?))? +(?P<hashes>--hash=.*)", line.strip()
        )
        assert match, f"not a pinned version with hashes: {line}"
        hashes = tuple(match["hashes"].split())
        found.append(Pin(canonicalize_name(match["name"]), match["version"], match["marker"] or "", hashes))
    return found


def wanted(extra: str) -> list[Requirement]:
    """What the package and one of its extras ask for, extras of the package itself resolved."""
    found = []
    for text in PROJECT["optional-dependencies"].get(extra, []):
        requirement = Requirement(text)
        if requirement.name == PROJECT["name"]:
            found += [each for inner in requirement.extras for each in wanted(inner)]
        else:
            found.append(requirement)
    return [*found, *map(Requirement, PROJECT["dependencies"])]


@pytest.mark.parametrize("python", PYTHONS)
@pytest.mark.parametrize("lock", LOCKS)
def test_a_lock_pins_all_that_is_asked_for(lock: str, python: str) -> None:
    pinned = {pin.name: pin.version for pin in pins(lock) if pin.holds_on(python)}
    for requirement in wanted(LOCKS[lock]):
        version = pinned.get(canonicalize_name(requirement.name))
        assert version, f"{requirement.name} is not in requirements/{lock}.lock: make lock"
        assert requirement.specifier.contains(version), f"{requirement} is pinned to {version}: make lock"


@pytest.mark.parametrize("lock", LOCKS)
def test_every_pin_is_of_files_with_hashes(lock: str) -> None:
    for pin in pins(lock):
        assert pin.hashes
        for each in pin.hashes:
            assert re.fullmatch(r"--hash=sha256:[0-9a-f]{64}", each), pin.name


@pytest.mark.parametrize("python", PYTHONS)
def test_the_locks_agree(python: str) -> None:
    dev, run = ({pin.name: pin for pin in pins(lock) if pin.holds_on(python)} for lock in ("dev", "run"))
    for name, pin in run.items():
        assert (pin.version, pin.hashes) == (dev[name].version, dev[name].hashes), name


def test_the_build_needs_what_the_extra_for_building_has() -> None:
    assert set(PYPROJECT["build-system"]["requires"]) == set(PROJECT["optional-dependencies"]["build"])


def test_make_asks_for_the_hashes() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert "install --require-hashes --requirement requirements/$(1).lock" in makefile
    for lock, extra in LOCKS.items():
        assert f"$(call dependencies,{lock},{extra})" in makefile
    assert len(re.findall(r"install --no-deps --no-build-isolation --editable \.$", makefile, re.MULTILINE)) == 2


def test_what_the_playground_bundles_is_pinned_by_hashes() -> None:
    folder = ROOT / "sitegen/playground/page"
    asked = json.loads((folder / "package.json").read_text(encoding="utf-8"))["devDependencies"]
    packages = json.loads((folder / "package-lock.json").read_text(encoding="utf-8"))["packages"]
    assert packages.pop("")["devDependencies"] == asked
    for name, package in packages.items():
        assert package["integrity"].startswith("sha512-"), name
        assert "resolved" not in package, f"{name}: from wherever npm is told to get packages"
    assert {name: packages[f"node_modules/{name}"]["version"] for name in asked} == asked
