"""Rules of the code that are switched off, or changed, for a while: a piece of a module's text is replaced."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from contextlib import contextmanager
from types import FunctionType, ModuleType


@contextmanager
def switched(module: ModuleType, before: str, after: str) -> Iterator[None]:
    """Within this, functions and methods of `module` do what they did if `after` stood there instead of `before`.

    `before` must stand there once, and only code in functions may change.
    """
    source = inspect.getsource(module)
    assert source.count(before) == 1, f"{module.__name__} has {before!r} {source.count(before)} times"
    changed = ModuleType(module.__name__)
    changed.__file__ = module.__file__
    exec(compile(source.replace(before, after), module.__file__ or "", "exec"), changed.__dict__)
    pairs = list(_pairs(vars(module), vars(changed), module.__name__))
    kept = [(old, old.__code__) for old, _ in pairs]
    try:
        for old, new in pairs:
            old.__code__ = new.__code__
        yield
    finally:
        for old, code in kept:
            old.__code__ = code


def _pairs(old: dict[str, object], new: dict[str, object], name: str) -> Iterator[tuple[FunctionType, FunctionType]]:
    """Yield each function of a module or class with what has become of it."""
    for key, value in old.items():
        other = new.get(key)
        value, other = getattr(value, "__func__", value), getattr(other, "__func__", other)
        if isinstance(value, FunctionType) and isinstance(other, FunctionType):
            if value.__module__ == name and value.__code__.co_freevars == other.__code__.co_freevars:
                yield value, other
        elif isinstance(value, type) and isinstance(other, type) and value.__module__ == name:
            yield from _pairs(dict(vars(value)), dict(vars(other)), name)
