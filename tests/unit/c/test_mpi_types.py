"""Derived types of MPI: their bounds, and the order of their elements, beside what an installed MPI says of random ones."""

from __future__ import annotations

import random
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.support.c_automata import evaluated, statements

WORDS = 512


def made(randomness: random.Random, depth: int, lines: list[str]) -> str:
    """Write what makes a random type of integers into lines; return the name of its handle."""
    if not depth or randomness.random() < 0.1:
        return "MPI_INT"
    old, name, number = made(randomness, depth - 1, lines), f"t{len(lines)}", randomness.randint(1, 3)

    def numbers(kind: str, called: str, values: list[int]) -> str:
        return f"{kind} {called}_{name}[] = {{ {', '.join(map(str, values))} }};"

    lengths = numbers("int", "n", [randomness.randint(0, 2) for _ in range(number)])
    places = [randomness.randint(-2, 4) for _ in range(number)]
    match randomness.randrange(9):
        case 0:
            call = f"MPI_Type_contiguous({number}, {old}, &{name});"
        case 1:
            length, stride = randomness.randint(0, 2), randomness.randint(-3, 3)
            call = f"MPI_Type_vector({number}, {length}, {stride}, {old}, &{name});"
        case 2:
            length, stride = randomness.randint(1, 2), 4 * randomness.randint(-3, 5)
            call = f"MPI_Type_create_hvector({number}, {length}, {stride}, {old}, &{name});"
        case 3:
            call = f"{lengths} {numbers('int', 'd', places)} MPI_Type_indexed({number}, n_{name}, d_{name}, {old}, &{name});"
        case 4:
            at = numbers("MPI_Aint", "d", [4 * each for each in places])
            call = f"{lengths} {at} MPI_Type_create_hindexed({number}, n_{name}, d_{name}, {old}, &{name});"
        case 5:
            call = f"{numbers('int', 'd', places)} MPI_Type_create_indexed_block({number}, 2, d_{name}, {old}, &{name});"
        case 6:
            at = numbers("MPI_Aint", "d", [4 * each for each in places])
            kinds = (
                f"MPI_Datatype k_{name}[] = {{ {', '.join(randomness.choice((old, 'MPI_INT')) for _ in range(number))} }};"
            )
            call = f"{lengths} {at} {kinds} MPI_Type_create_struct({number}, n_{name}, d_{name}, k_{name}, &{name});"
        case 7:
            call = (
                f"MPI_Type_create_resized({old}, {4 * randomness.randint(-1, 1)}, {4 * randomness.randint(1, 6)}, &{name});"
            )
        case _:
            sizes = [randomness.randint(1, 3) for _ in range(2)]
            inner = [randomness.randint(1, each) for each in sizes]
            starts = [randomness.randint(0, size - part) for size, part in zip(sizes, inner, strict=True)]
            shape = " ".join(numbers("int", one, of) for one, of in (("a", sizes), ("b", inner), ("c", starts)))
            order = randomness.choice(("MPI_ORDER_C", "MPI_ORDER_FORTRAN"))
            call = f"{shape} MPI_Type_create_subarray(2, a_{name}, b_{name}, c_{name}, {order}, {old}, &{name});"
    lines.append(f"MPI_Datatype {name}; {call}")
    return name


def program(seed: int) -> tuple[str, str]:
    """Return what makes a random type, and the name of its handle."""
    lines: list[str] = []
    name = made(random.Random(seed), 3, lines)
    return "\n".join(lines), name


def of_ours(seed: int) -> list[int]:
    """Return lower bound, extent and size of a type, and the words of two elements in their order, as they are evaluated."""
    lines, name = program(seed)
    text = f"""#include <mpi.h>
        int main(int argc, char **argv) {{ int rank, size, *m, w[{WORDS}]; MPI_Aint low, extent; MPI_Win win; {lines}
        MPI_Init(&argc, &argv); MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        MPI_Win_allocate(4 * {WORDS}, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &m, &win); MPI_Barrier(MPI_COMM_WORLD);
        MPI_Type_get_extent({name}, &low, &extent); MPI_Type_size({name}, &size);
        if (rank == 0) {{ MPI_Send(&low, 1, MPI_LONG, 1, 0, MPI_COMM_WORLD);
        MPI_Send(&extent, 1, MPI_LONG, 1, 0, MPI_COMM_WORLD);
        MPI_Send(&size, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
        MPI_Get(w, size / 4 * 2, MPI_INT, 1, {WORDS // 2}, 2, {name}, win); }}
        return 0; }}"""
    found = [each.split() for each in statements(evaluated(text), "main_P0")]
    sent = [int(each[3]) for each in found if each[0] == "put" and "data" in each[1]]
    got = [each[3].removeprefix("P1.win").removeprefix("_").removeprefix("o") for each in found if each[0] == "get"]
    return [*sent, *(int(each or 0) // 4 - WORDS // 2 for each in got)]


def test_types_of_types() -> None:
    """A row of a triangle: what the bounds are, and which words two elements of it are."""
    seeds = {seed: of_ours(seed) for seed in range(3)}
    assert all(len(found) == 3 + found[2] // 2 for found in seeds.values())


@pytest.mark.ci
def test_random_types_are_what_an_installed_mpi_says(tmp_path: Path) -> None:
    compiler = shutil.which("mpicc")
    if compiler is None:
        pytest.skip("no mpicc: types are not compared with an installed MPI")
    seeds = range(60)
    blocks = []
    for seed in seeds:
        lines, name = program(seed)
        committed = "" if name == "MPI_INT" else f"MPI_Type_commit(&{name});"
        blocks.append(f"""{{ {lines} {committed} MPI_Aint low, extent; int size, at = 0;
            MPI_Type_get_extent({name}, &low, &extent); MPI_Type_size({name}, &size);
            printf("%ld %ld %d", low, extent, size);
            MPI_Pack(w + {WORDS // 2}, 2, {name}, packed, sizeof packed, &at, MPI_COMM_WORLD);
            for (int i = 0; i < at / 4; i++) printf(" %d", packed[i] - {WORDS // 2}); puts(""); }}""")
    text = f"""#include <mpi.h>
        #include <stdio.h>
        static int w[{WORDS}], packed[4 * {WORDS}];
        int main(int argc, char **argv) {{ MPI_Init(&argc, &argv); for (int i = 0; i < {WORDS}; i++) w[i] = i;
        {"".join(blocks)} MPI_Finalize(); return 0; }}"""
    (tmp_path / "types.c").write_text(text, encoding="utf-8")
    program_path = tmp_path / "types"
    subprocess.run([compiler, "-o", str(program_path), str(tmp_path / "types.c")], check=True)
    said = subprocess.run([str(program_path)], check=True, capture_output=True, text=True).stdout.splitlines()
    wanted = [[int(each) for each in line.split()] for line in said]
    assert len(wanted) == len(seeds)
    for seed, said_of_it in zip(seeds, wanted, strict=True):
        found = of_ours(seed)
        if found[2]:  # the bounds of a type without elements are nowhere defined
            assert found == said_of_it, seed
        else:
            assert said_of_it[2] == 0, seed
