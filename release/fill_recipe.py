"""Fill release/recipe.yaml for a release: `python3 release/fill_recipe.py` after `make dist` writes dist/recipe.yaml.

It has the hash of the sdist in dist/, whose version has to be that of the recipe. Exit code 2 if there is no such sdist.
"""

from __future__ import annotations

import hashlib
import re
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parents[1]
ZEROS = "0" * 64
"""What the recipe has in the repository, where no sdist has been released."""


def filled(recipe: str, sdists: Path) -> str:
    """Return the recipe with the hash of the sdist of its version in `sdists`. Raises FileNotFoundError if there is none."""
    version = re.findall(r'^  version: "(.+)"$', recipe, re.MULTILINE)[0]
    sdist = sdists / f"rdma_robust-{version}.tar.gz"
    return recipe.replace(ZEROS, hashlib.sha256(sdist.read_bytes()).hexdigest())


def main(root: Path = HERE) -> int:
    try:
        text = filled((root / "release/recipe.yaml").read_text(encoding="utf-8"), root / "dist")
    except FileNotFoundError as error:
        print(
            f"there is no {error.filename}: `make dist` builds it; the version is that of release/recipe.yaml",
            file=sys.stderr,
        )
        return 2
    (root / "dist/recipe.yaml").write_text(text, encoding="utf-8")
    print("dist/recipe.yaml")
    return 0


if __name__ == "__main__":
    sys.exit(main())
