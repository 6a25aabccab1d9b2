"""Where this repository can be cloned: `Repository` of `[project.urls]` in pyproject.toml, and nowhere else.

`python -m sitegen` writes it into README, docs, the recipe, and the citation; the site links to it. As long as there is no
address these say so: an invented one would lead strangers to somebody else's code.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[1]
NOBODYS: Final = "https://github.com/OWNER/rdma-robust"
"""What stands in examples of configurations as long as there is no address."""


@dataclass(frozen=True)
class Place:
    """Where the address stands in a file: `pattern` finds it, and what replaces it has `{url}` and `{path}` of it."""

    file: str
    pattern: str
    known: str
    unknown: str


_CLONE: Final = r"(?<=<!-- clone -->).*(?=<!-- end -->)"
PLACES: Final = (
    Place("README.md", _CLONE, "after `git clone {url} && cd rdma-robust`", "in a clone of this repository"),
    Place("docs/install.md", _CLONE, "after `git clone {url} && cd rdma-robust`", "in a clone of the repository"),
    Place("docs/ci.md", r"(?<=- uses: )\S+/rdma-robust(?=@)", "{path}", "OWNER/rdma-robust"),
    Place("docs/ci.md", r"(?<=- repo: )\S+", "{url}", NOBODYS),
    Place("release/recipe.yaml", r"(?<=url: )\S+(?=/releases/download/)", "{url}", NOBODYS),
    Place("release/recipe.yaml", r"(?<=homepage: )\S+", "{url}", NOBODYS),
    Place("CITATION.cff", r"(?<=\nlicense: Apache-2.0\n)(repository-code: .*\n)?", "repository-code: {url}\n", ""),
)


def address(pyproject: Path = ROOT / "pyproject.toml") -> str | None:
    """Return the address, None if there is none yet."""
    urls = tomllib.loads(pyproject.read_text(encoding="utf-8"))["project"].get("urls", {})
    return str(urls["Repository"]).removesuffix("/") if "Repository" in urls else None


def addressed(text: str, file: str, url: str | None) -> str:
    """Return the text of a file of PLACES with the address as it is. Raises ValueError if a place is not found once."""
    for place in PLACES:
        if place.file != file:
            continue
        path = "/".join((url or NOBODYS).split("/")[3:])
        said = place.unknown if url is None else place.known.format(url=url, path=path)
        text, found = re.subn(place.pattern, said.replace("\\", r"\\"), text)
        if found != 1:
            raise ValueError(f"{file}: {place.pattern} is there {found} times")
    return text


def write_address() -> None:
    """Write the address into all files that have it."""
    for file in sorted({place.file for place in PLACES}):
        path = ROOT / file
        path.write_text(addressed(path.read_text(encoding="utf-8"), file, address()), encoding="utf-8")
