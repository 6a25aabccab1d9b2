"""The functions of OpenSHMEM 1.5, deprecated ones among them, and one of 1.6: their names, and declarations (`shmem.h`)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from rdma_robust.c.code import CType

_NO_TYPE: Final = CType("void", 0)


@dataclass(frozen=True, slots=True)
class ShmemFunction:
    """A function: its name and declaration, the operation that it is, the type of its elements (kind `void` without one),
    whether a context is its first argument, and whether it returns before it is done (`_nbi`)."""

    name: str
    declaration: str
    operation: str
    type: CType = _NO_TYPE
    has_context: bool = False
    is_late: bool = False


def _integer(size: int, signed: bool = True) -> CType:
    return CType("int", size, signed)


_C: Final = {
    "float": "float",
    "double": "double",
    "longdouble": "long double",
    "char": "char",
    "schar": "signed char",
    "short": "short",
    "int": "int",
    "long": "long",
    "longlong": "long long",
    "uchar": "unsigned char",
    "ushort": "unsigned short",
    "uint": "unsigned int",
    "ulong": "unsigned long",
    "ulonglong": "unsigned long long",
    **{f"{sign}int{bits}": f"{sign}int{bits}_t" for bits in (8, 16, 32, 64) for sign in ("", "u")},
    "size": "size_t",
    "ptrdiff": "ptrdiff_t",
}
_TYPES: Final[Mapping[str, CType]] = {
    "float": CType("float", 4),
    "double": CType("float", 8),
    "longdouble": CType("float", 16),
    "char": _integer(1),
    "schar": _integer(1),
    "short": _integer(2),
    "int": _integer(4),
    "long": _integer(8),
    "longlong": _integer(8),
    "uchar": _integer(1, False),
    "ushort": _integer(2, False),
    "uint": _integer(4, False),
    "ulong": _integer(8, False),
    "ulonglong": _integer(8, False),
    **{f"{sign}int{bits}": _integer(bits // 8, not sign) for bits in (8, 16, 32, 64) for sign in ("", "u")},
    "size": _integer(8, False),
    "ptrdiff": _integer(8),
}
"""The types that names of functions have, and what they are on the machines that are modelled."""

_BASIC: Final = tuple(name for name in _C if not name.startswith(("int", "uint")) or name in ("int", "uint"))[:-2]
"""Types of which no two are one type of C: what `_Generic` can choose among."""
_EIGHTS: Final = tuple(f"{sign}int{bits}" for bits in (8, 16, 32, 64) for sign in ("", "u"))
_ATOMIC: Final = (
    *["int", "long", "longlong", "uint", "ulong", "ulonglong", "int32", "int64", "uint32", "uint64", "size", "ptrdiff"],
)
_READABLE: Final = ("float", "double", *_ATOMIC)
_BITWISE: Final = ("uint", "ulong", "ulonglong", "int32", "int64", "uint32", "uint64")
_WAITED: Final = ("short", "ushort", *_ATOMIC)
_REDUCED: Final = (*_BASIC, *_EIGHTS, "size", "ptrdiff")
_BITS: Final = ("uchar", "ushort", "uint", "ulong", "ulonglong", *_EIGHTS, "size")
_BITS_APART: Final = ("uchar", "ushort", "uint", "ulong", "ulonglong", "int8", "int16", "int32", "int64")
"""Those among them of which no two are one type of C."""
_SIZED: Final = {"8": 1, "16": 2, "32": 4, "64": 8, "128": 16}

_MOVES: Final = {
    "put": "void {name}({c}{t} *, const {t} *, size_t, int)",
    "get": "void {name}({c}{t} *, const {t} *, size_t, int)",
    "put_nbi": "void {name}({c}{t} *, const {t} *, size_t, int)",
    "get_nbi": "void {name}({c}{t} *, const {t} *, size_t, int)",
    "iput": "void {name}({c}{t} *, const {t} *, ptrdiff_t, ptrdiff_t, size_t, int)",
    "iget": "void {name}({c}{t} *, const {t} *, ptrdiff_t, ptrdiff_t, size_t, int)",
    "put_signal": "void {name}({c}{t} *, const {t} *, size_t, uint64_t *, uint64_t, int, int)",
    "put_signal_nbi": "void {name}({c}{t} *, const {t} *, size_t, uint64_t *, uint64_t, int, int)",
}
_ONE: Final = {"p": "void {name}({c}{t} *, {t}, int)", "g": "{t} {name}({c}const {t} *, int)"}
_OF_READABLE: Final = {
    "atomic_fetch": "{t} {name}({c}const {t} *, int)",
    "atomic_set": "void {name}({c}{t} *, {t}, int)",
    "atomic_swap": "{t} {name}({c}{t} *, {t}, int)",
    "atomic_fetch_nbi": "void {name}({c}{t} *, const {t} *, int)",
    "atomic_swap_nbi": "void {name}({c}{t} *, {t} *, {t}, int)",
}
_OF_INTEGERS: Final = {
    "atomic_compare_swap": "{t} {name}({c}{t} *, {t}, {t}, int)",
    "atomic_fetch_inc": "{t} {name}({c}{t} *, int)",
    "atomic_inc": "void {name}({c}{t} *, int)",
    "atomic_fetch_add": "{t} {name}({c}{t} *, {t}, int)",
    "atomic_add": "void {name}({c}{t} *, {t}, int)",
    "atomic_compare_swap_nbi": "void {name}({c}{t} *, {t} *, {t}, {t}, int)",
    "atomic_fetch_inc_nbi": "void {name}({c}{t} *, {t} *, int)",
    "atomic_fetch_add_nbi": "void {name}({c}{t} *, {t} *, {t}, int)",
}
_OF_BITS: Final = {
    f"atomic_{fetch}{each}{late}": form
    for each in ("and", "or", "xor")
    for fetch, late, form in (
        ("", "", "void {name}({c}{t} *, {t}, int)"),
        ("fetch_", "", "{t} {name}({c}{t} *, {t}, int)"),
        ("fetch_", "_nbi", "void {name}({c}{t} *, {t} *, {t}, int)"),
    )
}
_LISTS: Final = {
    "wait_until_all": "void {name}({t} *, size_t, const int *, int, {t})",
    "wait_until_any": "size_t {name}({t} *, size_t, const int *, int, {t})",
    "wait_until_some": "size_t {name}({t} *, size_t, size_t *, const int *, int, {t})",
    "wait_until_all_vector": "void {name}({t} *, size_t, const int *, int, {t} *)",
    "wait_until_any_vector": "size_t {name}({t} *, size_t, const int *, int, {t} *)",
    "wait_until_some_vector": "size_t {name}({t} *, size_t, size_t *, const int *, int, {t} *)",
    "test_all": "int {name}({t} *, size_t, const int *, int, {t})",
    "test_any": "size_t {name}({t} *, size_t, const int *, int, {t})",
    "test_some": "size_t {name}({t} *, size_t, size_t *, const int *, int, {t})",
    "test_all_vector": "int {name}({t} *, size_t, const int *, int, {t} *)",
    "test_any_vector": "size_t {name}({t} *, size_t, const int *, int, {t} *)",
    "test_some_vector": "size_t {name}({t} *, size_t, size_t *, const int *, int, {t} *)",
}
_WAITS: Final = {
    "wait_until": "void {name}(volatile {t} *, int, {t})",
    "test": "int {name}(volatile {t} *, int, {t})",
    **_LISTS,
}
_COLLECTIVE: Final = {
    "alltoall": "int {name}(shmem_team_t, {t} *, const {t} *, size_t)",
    "alltoalls": "int {name}(shmem_team_t, {t} *, const {t} *, ptrdiff_t, ptrdiff_t, size_t)",
    "broadcast": "int {name}(shmem_team_t, {t} *, const {t} *, size_t, int)",
    "collect": "int {name}(shmem_team_t, {t} *, const {t} *, size_t)",
    "fcollect": "int {name}(shmem_team_t, {t} *, const {t} *, size_t)",
}
_OF_BITS_ONLY: Final = ("and", "or", "xor")
_REDUCTIONS: Final = (*_OF_BITS_ONLY, "max", "min", "sum", "prod")
_REDUCE: Final = "int {name}(shmem_team_t, {t} *, const {t} *, size_t)"
_TO_ALL: Final = "void {name}({t} *, const {t} *, int, int, int, int, {t} *, long *)"

_PLAIN: Final = """
void shmem_init(void)
int shmem_init_thread(int, int *)
void shmem_query_thread(int *)
void shmem_finalize(void)
void shmem_global_exit(int)
int shmem_my_pe(void)
int shmem_n_pes(void)
int shmem_pe_accessible(int)
int shmem_addr_accessible(const void *, int)
void *shmem_ptr(const void *, int)
void shmem_info_get_version(int *, int *)
void shmem_info_get_name(char *)
void *shmem_malloc(size_t)
void *shmem_calloc(size_t, size_t)
void *shmem_align(size_t, size_t)
void *shmem_realloc(void *, size_t)
void *shmem_malloc_with_hints(size_t, long)
void shmem_free(void *)
int shmem_ctx_create(long, shmem_ctx_t *)
int shmem_team_create_ctx(shmem_team_t, long, shmem_ctx_t *)
void shmem_ctx_destroy(shmem_ctx_t)
int shmem_ctx_get_team(shmem_ctx_t, shmem_team_t *)
int shmem_team_my_pe(shmem_team_t)
int shmem_team_n_pes(shmem_team_t)
int shmem_team_get_config(shmem_team_t, long, shmem_team_config_t *)
int shmem_team_translate_pe(shmem_team_t, int, shmem_team_t)
int shmem_team_split_strided(shmem_team_t, int, int, int, const shmem_team_config_t *, long, shmem_team_t *)
int shmem_team_split_2d(shmem_team_t, int, const __rr_t *, long, shmem_team_t *, const __rr_t *, long, shmem_team_t *)
void shmem_team_destroy(shmem_team_t)
void shmem_barrier_all(void)
void shmem_sync_all(void)
int shmem_team_sync(shmem_team_t)
int shmem_sync(shmem_team_t)
void shmem_quiet(void)
void shmem_fence(void)
void shmem_ctx_quiet(shmem_ctx_t)
void shmem_pe_quiet(const int *, size_t)
void shmem_ctx_pe_quiet(shmem_ctx_t, const int *, size_t)
void shmem_ctx_fence(shmem_ctx_t)
uint64_t shmem_signal_fetch(const uint64_t *)
uint64_t shmem_signal_wait_until(uint64_t *, int, uint64_t)
void shmem_set_lock(long *)
void shmem_clear_lock(long *)
int shmem_test_lock(long *)
void shmem_pcontrol(int, ...)
void start_pes(int)
int _my_pe(void)
int _num_pes(void)
int my_pe(void)
int num_pes(void)
void *shmalloc(size_t)
void shfree(void *)
void *shrealloc(void *, size_t)
void *shmemalign(size_t, size_t)
void shmem_barrier(int, int, int, long *)
void shmem_clear_cache_inv(void)
void shmem_set_cache_inv(void)
void shmem_clear_cache_line_inv(void *)
void shmem_set_cache_line_inv(void *)
void shmem_udcflush(void)
void shmem_udcflush_line(void *)
void shmem_wait(volatile long *, long)
"""
_OLD_NAMES: Final = {
    "cswap": "atomic_compare_swap",
    "finc": "atomic_fetch_inc",
    "inc": "atomic_inc",
    "fadd": "atomic_fetch_add",
    "add": "atomic_add",
    "swap": "atomic_swap",
    "set": "atomic_set",
    "fetch": "atomic_fetch",
}
"""Names that atomics had until OpenSHMEM 1.3."""


def _typed(operation: str, form: str, types: tuple[str, ...], contexts: bool, spelled: str = "") -> Iterator[ShmemFunction]:
    for type_name in types:
        for context in ("", "ctx_")[: 1 + contexts]:
            name = f"shmem_{context}{type_name}_{spelled or operation}"
            declared = form.format(name=name, c="shmem_ctx_t, " * bool(context), t=_C[type_name])
            late = operation.endswith("_nbi")
            yield ShmemFunction(name, declared, operation.removesuffix("_nbi"), _TYPES[type_name], bool(context), late)


def _of_bytes(operation: str, form: str) -> Iterator[ShmemFunction]:
    """The forms of a transfer that count elements of a size, and bytes."""
    plain, late = operation.removesuffix("_nbi"), "_nbi" * operation.endswith("_nbi")
    first, _, rest = plain.partition("_")
    for suffix, size in {**_SIZED, "mem": 1}.items():
        if suffix == "mem" and plain in ("iput", "iget"):
            continue
        for context in ("", "ctx_"):
            name = f"shmem_{context}{first}{suffix}{'_' * bool(rest)}{rest}{late}"
            declared = form.format(name=name, c="shmem_ctx_t, " * bool(context), t="void")
            yield ShmemFunction(name, declared, plain, CType("void", size), bool(context), bool(late))


def _old() -> Iterator[ShmemFunction]:
    for old, operation in _OLD_NAMES.items():
        form = (_OF_READABLE | _OF_INTEGERS)[operation]
        more = ("float", "double") if operation in _OF_READABLE else ()
        yield from _typed(operation, form, ("int", "long", "longlong", *more), False, old)
    yield from _typed("wait", "void {name}(volatile {t} *, {t})", ("short", "int", "long", "longlong"), False)
    for reduction in _REDUCTIONS:
        types = ("short", "int", "long", "longlong") + ("float", "double", "longdouble") * (reduction not in _OF_BITS_ONLY)
        yield from _typed(f"{reduction}_to_all", _TO_ALL, types, False)
    for bits in ("32", "64"):
        each = {
            "broadcast": "void *, const void *, size_t, int, int, int, int, long *",
            "collect": "void *, const void *, size_t, int, int, int, long *",
            "fcollect": "void *, const void *, size_t, int, int, int, long *",
            "alltoall": "void *, const void *, size_t, int, int, int, long *",
            "alltoalls": "void *, const void *, ptrdiff_t, ptrdiff_t, size_t, int, int, int, long *",
        }
        for name, parameters in each.items():
            declared = f"void shmem_{name}{bits}({parameters})"
            yield ShmemFunction(f"shmem_{name}{bits}", declared, f"old_{name}", CType("void", int(bits) // 8))


def _functions() -> Iterator[ShmemFunction]:
    for line in _PLAIN.split("\n")[1:-1]:
        name = line.partition("(")[0].rpartition(" ")[2].lstrip("*")
        yield ShmemFunction(name, line, name.removeprefix("shmem_"))
    for operation, form in {**_MOVES, **_ONE}.items():
        yield from _typed(operation, form, (*_BASIC, *_EIGHTS, "size", "ptrdiff"), True)
        if operation in _MOVES:
            yield from _of_bytes(operation, form)
    groups: tuple[tuple[Mapping[str, str], tuple[str, ...]], ...] = (
        (_OF_READABLE, _READABLE),
        (_OF_INTEGERS, _ATOMIC),
        (_OF_BITS, _BITWISE),
    )
    for operations, types in groups:
        for operation, form in operations.items():
            yield from _typed(operation, form, types, True)
    for operation, form in _WAITS.items():
        yield from _typed(operation, form, _WAITED, False)
    for operation, form in _COLLECTIVE.items():
        yield from _typed(operation, form, (*_BASIC, *_EIGHTS, "size", "ptrdiff"), False)
        declared = form.format(name=f"shmem_{operation}mem", t="void")
        yield ShmemFunction(f"shmem_{operation}mem", declared, operation, CType("void", 1))
    for reduction in _REDUCTIONS:
        types = _BITS if reduction in _OF_BITS_ONLY else _REDUCED
        yield from _typed(f"{reduction}_reduce", _REDUCE, types, False)
    yield from _old()


FUNCTIONS: Final[Mapping[str, ShmemFunction]] = {each.name: each for each in _functions()}
"""All functions by their names."""


# the header

_HEAD: Final = """/* OpenSHMEM 1.5, declarations of ours. */
#ifndef SHMEM_H
#define SHMEM_H
#include <stddef.h>
#include <stdint.h>
typedef struct __rr_shmem_ctx *shmem_ctx_t;
typedef struct __rr_shmem_team *shmem_team_t;
typedef struct { int num_contexts; } shmem_team_config_t;
typedef shmem_team_config_t __rr_t;
#define SHMEM_MAJOR_VERSION 1
#define SHMEM_MINOR_VERSION 5
#define SHMEM_MAX_NAME_LEN 64
#define SHMEM_VENDOR_STRING "rdma-robust"
#define SHMEM_CTX_INVALID ((shmem_ctx_t)0)
#define SHMEM_CTX_DEFAULT ((shmem_ctx_t)1)
#define SHMEM_TEAM_INVALID ((shmem_team_t)0)
#define SHMEM_TEAM_WORLD ((shmem_team_t)1)
#define SHMEM_TEAM_SHARED ((shmem_team_t)2)
#define SHMEM_TEAM_NUM_CONTEXTS 1L
"""
_NUMBERS: Final = {
    "SHMEM_CMP_EQ": 1, "SHMEM_CMP_NE": 2, "SHMEM_CMP_GT": 3, "SHMEM_CMP_LE": 4, "SHMEM_CMP_LT": 5, "SHMEM_CMP_GE": 6,
    "SHMEM_SIGNAL_SET": 1, "SHMEM_SIGNAL_ADD": 2,
    "SHMEM_THREAD_SINGLE": 0, "SHMEM_THREAD_FUNNELED": 1, "SHMEM_THREAD_SERIALIZED": 2, "SHMEM_THREAD_MULTIPLE": 3,
    "SHMEM_CTX_SERIALIZED": 1, "SHMEM_CTX_PRIVATE": 2, "SHMEM_CTX_NOSTORE": 4,
    "SHMEM_MALLOC_ATOMICS_REMOTE": 1, "SHMEM_MALLOC_SIGNAL_REMOTE": 2,
    "SHMEM_BCAST_SYNC_SIZE": 1, "SHMEM_REDUCE_SYNC_SIZE": 1, "SHMEM_BARRIER_SYNC_SIZE": 1, "SHMEM_COLLECT_SYNC_SIZE": 1,
    "SHMEM_ALLTOALL_SYNC_SIZE": 1, "SHMEM_ALLTOALLS_SYNC_SIZE": 1, "SHMEM_SYNC_SIZE": 1, "SHMEM_SYNC_VALUE": 0,
    "SHMEM_REDUCE_MIN_WRKDATA_SIZE": 1,
}  # fmt: skip


def _generic(
    operation: str, types: tuple[str, ...], arguments: int, first: str = "_1", contexts: bool = True
) -> Iterator[str]:
    """The form without a type in its name: chosen by what the first argument points to, with a context by their number."""
    parameters = [f"_{number + 1}" for number in range(arguments)]

    def chosen(context: str) -> str:
        ways = ", ".join(f"{_C[each]}: shmem_{context}{each}_{operation}" for each in types)
        return f"_Generic(*({first}), {ways})"

    called = ", ".join(parameters)
    if not contexts:
        yield f"#define shmem_{operation}({called}) {chosen('')}({called})"
        return
    yield f"#define __rr_shmem_{operation}({called}) {chosen('')}({called})"
    yield f"#define __rr_shmem_ctx_{operation}(_c, {called}) {chosen('ctx_')}(_c, {called})"
    names = ", ".join(f"_x{number}" for number in range(arguments + 1))
    yield f"#define __rr_shmem_pick_{operation}({names}, _name, ...) _name"
    pick = f"__rr_shmem_pick_{operation}(__VA_ARGS__, __rr_shmem_ctx_{operation}, __rr_shmem_{operation}, 0)"
    yield f"#define shmem_{operation}(...) {pick}(__VA_ARGS__)"


def _generics() -> Iterator[str]:
    integers = tuple(name for name in _ATOMIC if name in _BASIC)
    groups = (
        ({**_MOVES, **_ONE}, _BASIC, True),
        (_OF_READABLE, ("float", "double", *integers), True),
        (_OF_INTEGERS, integers, True),
        (_OF_BITS, ("uint", "ulong", "ulonglong", "int32", "int64"), True),
        (_WAITS, ("short", "ushort", *integers), False),
    )
    for operations, types, contexts in groups:
        for operation, form in operations.items():
            arguments = form.partition("(")[2].count(",") + 1
            yield from _generic(operation, types, arguments, contexts=contexts)
    for operation, form in _COLLECTIVE.items():
        yield from _generic(operation, _BASIC, form.partition("(")[2].count(",") + 1, "_2", contexts=False)
    for reduction in _REDUCTIONS:
        types = _BITS_APART if reduction in _OF_BITS_ONLY else tuple(each for each in _REDUCED if each in _BASIC)
        yield from _generic(f"{reduction}_reduce", types, 4, "_2", contexts=False)


@lru_cache
def shmem_header() -> str:
    """Return the text of `shmem.h`."""
    numbers = [f"#define {name} {value}" for name, value in _NUMBERS.items()]
    declared = [f"{each.declaration};" for each in FUNCTIONS.values()]
    generic = ["#if defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L", *_generics(), "#endif"]
    return _HEAD + "\n".join([*numbers, *declared, *generic, "#endif", ""])
