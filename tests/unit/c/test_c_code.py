"""The register code of C does what a compiler's program does."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.c_programs import SAMPLES, as_compiled, as_read, needs_compiler, random_program


@needs_compiler
@pytest.mark.parametrize("name", sorted(SAMPLES))
def test_samples_print_what_a_compiled_program_prints(name: str, tmp_path: Path) -> None:
    assert as_read(SAMPLES[name], tmp_path) == as_compiled(SAMPLES[name], tmp_path)


@needs_compiler
def test_random_programs_print_what_compiled_ones_print(tmp_path: Path) -> None:
    text = random_program(range(12))
    assert as_read(text, tmp_path) == as_compiled(text, tmp_path)


@needs_compiler
@pytest.mark.long
def test_many_random_programs_print_what_compiled_ones_print(tmp_path: Path) -> None:
    for first in range(1000, 3000, 40):
        text = random_program(range(first, first + 40))
        assert as_read(text, tmp_path) == as_compiled(text, tmp_path), first
