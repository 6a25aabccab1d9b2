"""z3 (the extra `smt`), loaded so that its native library is the one of its package: the one place that imports it.

Left to itself z3 looks for `libz3` in the current folder first, and would run what a checkout of somebody else has there.
Importing this module raises ImportError where z3 is not installed.
"""

from __future__ import annotations

import builtins
import sys
from importlib.util import find_spec
from os.path import join

_SPEC = find_spec("z3")
_OF_PACKAGE = [*(_SPEC.submodule_search_locations or ())] if _SPEC else []
vars(builtins)["Z3_LIB_DIRS"] = [*(join(each, "lib") for each in _OF_PACKAGE), *_OF_PACKAGE, join(sys.prefix, "lib")]
try:
    import z3
finally:
    del vars(builtins)["Z3_LIB_DIRS"]

__all__ = ["z3"]
