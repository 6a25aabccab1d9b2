"""Random C of one thread that computes: what it prints when a compiler translates it is what evaluation has to find.

Whatever C leaves open is avoided: signed overflow wraps (`-fwrapv`), shifts and indices are masked, divisors are not zero,
and no expression reads what another part of it writes. More than 400 lines: lists of statements, one to a line.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from random import Random
from typing import Final

INTEGERS: Final = (
    "char",
    "signed char",
    "unsigned char",
    "short",
    "unsigned short",
    "int",
    "unsigned",
    "long",
    "unsigned long",
    "_Bool",
)
SHOWN: Final = 40
"""Numbers that a program may print."""
_LITERALS: Final = r"""
0 1 2 3 -1 5 127 128 255 256 -128 32767 65535 65536 2147483647 (-2147483647-1) 4294967295u 0x80000000 1u 1L
0x7fffffffffffffffL ~0ul 'a' '\xff' 017 0xfffful THIRD 100ull
"""
HEAD: Final = f"""#include <stdint.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef __RDMA_ROBUST__
#include <infiniband/verbs.h>
#include <rdma_robust.h>
static long out[{SHOWN}];
#define SHOW(number, value) out[number] = (long)(value)
#else
#define SHOW(number, value) printf("%d %ld\\n", number, (long)(value))
#endif
enum kind {{ FIRST, SECOND = 5, THIRD }};
struct inner {{ short half; unsigned char byte; }};
struct record {{
	int number; struct inner in; char text[6];
	unsigned low : 5; int high : 7; unsigned long wide : 40; _Bool flag : 1;
}};
union both {{ unsigned long whole; unsigned char bytes[8]; short halves[4]; int number; }};
struct list {{ int value; struct list *next; }};
static int twice(int x) {{ return x * 2; }}
static int less_one(int x) {{ return x - 1; }}
static int counted(int x) {{ static unsigned char calls = 250; calls += 3; return calls + x; }}
static struct record changed(struct record given, int by)
{{
	given.number += by; given.high = by; given.in.byte ^= by;
	return given;
}}
static void exchange(long *one, long *other) {{ long kept = *one; *one = *other; *other = kept; }}
static unsigned long hashed(const void *at, unsigned long count)
{{
	unsigned long found = 7;
	for (const unsigned char *byte = at; count--; byte++)
		found = found * 31 + *byte;
	return found;
}}
"""
TAIL: Final = """
#ifdef __RDMA_ROBUST__
static struct ibv_cq *cq;
static struct ibv_qp *qp;
RR_PROCESS(A) void a(void)
{{
	long in;
	RR_EXPORT("out", out);
	RR_CQ(cq);
	RR_QP(qp, cq, cq);
	RR_CONNECT(qp, "c");
	RR_INPUT(in, {low}, {high});
	run(in);
}}
RR_PROCESS(B) void b(void)
{{
	struct ibv_sge sge = {{ (uintptr_t)out, sizeof out, 0 }};
	struct ibv_send_wr wr = {{ .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_RDMA_READ }}, *bad;
	unsigned long there;
	RR_IMPORT(there, "out");
	RR_CQ(cq);
	RR_QP(qp, cq, cq);
	RR_CONNECT(qp, "c");
	wr.wr.rdma.remote_addr = there;
	ibv_post_send(qp, &wr, &bad);
}}
#else
int main(int count, char **given) {{ (void)count; run(atol(given[1])); return 0; }}
#endif
"""


class RandomC:
    """A program: `text`, and the numbers from `low` to `high` that it is run on."""

    def __init__(self, seed: int, size: int) -> None:
        self.random = Random(seed)
        self.low = self.random.choice((0, 1, -1, 7, 127, 255, 65535, 2147483647, -2147483648, 4294967295, -129))
        self.high = self.low + self.random.randint(0, 2)
        self._hidden: set[str] = set()
        self._counters = 0
        self._loops: list[str] = []
        self._lines: list[str] = []
        self._depth = 1
        self._numbers = {"in": "long"}
        self._arrays: dict[str, str] = {}
        self.text = HEAD + self._globals() + self._run(size) + TAIL.format(low=self.low, high=self.high)

    # declarations

    def _globals(self) -> str:
        kind, number = self.random.choice(INTEGERS), self._literal()
        self._numbers["global"] = kind
        self._arrays["table"] = self.random.choice(INTEGERS[:-1])
        values = ", ".join(self._literal() for _ in range(self.random.randint(1, 8)))
        return f"static {kind} global = {number};\nstatic {self._arrays['table']} table[8] = {{ {values} }};\n"

    def _run(self, size: int) -> str:
        say, choose = self._say, self.random.choice
        for name in ("a", "b", "c", "d"):
            kind = choose(INTEGERS)
            say(f"{kind} {name} = {self._expression(2)};")
            self._numbers[name] = kind
        self._arrays["row"] = choose(INTEGERS[:-1])
        say(
            f"{self._arrays['row']} row[8] = {{ [{self.random.randrange(4)}] = {self._expression(1)}, "
            f"{self._expression(1)} }};"
        )
        say('struct record one = { .number = 3, .in = { 4, 5 }, .text = "ab", .low = 6 }, other = { 0 };')
        say(f"union both both = {{ .whole = {self._literal()} }};")
        say("struct list cells[3] = { { 1, &cells[1] }, { 2, &cells[2] }, { 3, 0 } }, *at = cells;")
        say("int (*function)(int) = twice;")
        say('char made[48] = "";')
        for array, pointer in (("row", "p"), ("table", "q")):
            say(f"{self._arrays[array]} *{pointer} = {array};")
        say("double real = 1.5; float small = 0.25f;")
        for _ in range(size):
            self._statement(2)
        self._show()
        return "static void run(long in)\n{\n" + "\n".join(self._lines) + "\n}\n"

    def _show(self) -> None:
        shown = [
            *self._numbers,
            "p - row",
            "q - table",
            "*p",
            "*q",
            "both.whole",
            "at ? at->value : -1",
            "real * 8",
            "small * 8",
        ]
        shown += ["function(10)", "hashed(row, sizeof row)", "hashed(table, sizeof table)", "hashed(made, sizeof made)"]
        for name in ("one", "other"):
            shown += [f"{name}.{each}" for each in ("number", "in.half", "in.byte", "low", "high", "wide", "flag")]
            shown += [f"hashed({name}.text, sizeof {name}.text)"]
        for number, each in enumerate(shown):
            self._say(f"SHOW({number}, {each});")
        assert len(shown) <= SHOWN

    def _say(self, line: str) -> None:
        self._lines.append("\t" * self._depth + line)

    # expressions

    def _literal(self) -> str:
        return self.random.choice(_LITERALS.split())

    def _names(self) -> list[str]:
        return [each for each in (*self._numbers, *self._loops) if each not in self._hidden]

    def _expression(self, depth: int) -> str:
        """Return an expression of any integer type, without effects."""
        if depth <= 0:
            return self.random.choice((self._literal, lambda: self.random.choice(self._names()), self._place))()
        left = self._expression(depth - 1)
        return self.random.choice(_FORMS)(self, left, depth - 1)

    def _place(self) -> str:
        """Return a place that has a number and is read only."""
        if len(self._lines) < 12:
            return self._literal()
        found = [
            "one.number",
            "other.in.half",
            "one.in.byte",
            "other.low",
            "one.high",
            "(unsigned long)other.wide",
            "one.flag",
            "both.number",
            "both.bytes[3]",
            "both.halves[1]",
            "*p",
            "*q",
            "row[3]",
            "table[2]",
            "one.text[1]",
            "cells[1].value",
            "made[2]",
            "(&one)->low",
            "cells->next->value",
        ]
        return self.random.choice(
            [each for each in found if not any(name in each for name in self._hidden if len(name) > 1)]
        )

    @contextmanager
    def _without(self, *names: str) -> Iterator[None]:
        before, self._hidden = self._hidden, self._hidden | set(names)
        yield
        self._hidden = before

    # statements

    def _statement(self, depth: int) -> None:
        simple, nested = _SIMPLE, _NESTED if depth > 0 else ()
        chosen = self.random.choice((*simple, *simple, *nested))
        chosen(self, depth)

    def _block(self, depth: int, count: int = 2) -> None:
        self._depth += 1
        for _ in range(self.random.randint(1, count)):
            self._statement(depth - 1)
        self._depth -= 1

    def _own(self) -> str:
        return self.random.choice([each for each in self._numbers if each != "in" or self.random.random() < 0.2])

    def _target(self) -> tuple[str, tuple[str, ...]]:
        """Return a place that is written, and what no other part of the expression may read."""
        name = self._own()
        index = f"{self._expression(1)} & 7"
        return self.random.choice(
            (
                (name, (name,)),
                (name, (name,)),
                (f"row[{index}]", ("row", "*p")),
                (f"table[{index}]", ("table", "*q")),
                ("*p", ("row", "*p")),
                ("*q", ("table", "*q")),
                ("one.number", ("one",)),
                ("other.in.half", ("other",)),
                ("one.low", ("one",)),
                ("other.high", ("other",)),
                ("one.wide", ("one",)),
                ("other.flag", ("other",)),
                ("one.in.byte", ("one",)),
                ("(&other)->wide", ("other",)),
                ("one.high", ("one",)),
                (f"both.bytes[{index}]", ("both",)),
                (f"both.halves[{self.random.randrange(4)}]", ("both",)),
                ("both.whole", ("both",)),
                ("other.text[5]", ("other",)),
                ("cells[1].value", ("cells",)),
            )
        )

    def _assign(self, _depth: int) -> None:
        target, hidden = self._target()
        with self._without(*hidden):
            self._say(f"{target} = {self._expression(3)};")

    def _compound(self, _depth: int) -> None:
        target, hidden = self._target()
        operator = self.random.choice(("+", "-", "*", "&", "|", "^", "<<", ">>", "/", "%"))
        with self._without(*hidden):
            right = self._expression(2)
        if operator in ("<<", ">>"):
            right = f"({right} & 15)"
        if operator in "/%":
            right = f"(({right} & 31) + 1)"
        self._say(f"{target} {operator}= {right};")

    def _effects(self, _depth: int) -> None:
        """An expression with effects inside."""
        target, hidden = self._target()
        other, more = self._target()
        if {*hidden} & {*more} or any(name in target for name in more) or any(name in other for name in hidden):
            return
        with self._without(*hidden, *more):
            rest, condition = self._expression(2), self._expression(2)
        step = self.random.choice((f"{other}++", f"--{other}", f"({other} += {rest})", f"({other} = {rest})"))
        self._say(
            self.random.choice(
                (
                    f"{target} = {step} + {rest};",
                    f"{target} = ({step}, {rest});",
                    f"{target} = {condition} && {step};",
                    f"{target} = {condition} || {step};",
                    f"{target} = {condition} ? {step} : {rest};",
                    f"{target} = !{step};",
                    f"{target} -= {step};",
                )
            )
        )

    def _step_of_pointer(self, _depth: int) -> None:
        array, pointer = self.random.choice((("row", "p"), ("table", "q")))
        index = f"(int)({self._expression(2)} & 7)"
        self._say(
            self.random.choice(
                (
                    f"{pointer} = {array} + ({index});",
                    f"{pointer} = &{array}[{index}];",
                    f"if ({pointer} < {array} + 7) *{pointer}++ = {self._literal()};",
                    f"if ({pointer} > {array}) --{pointer};",
                    f"{pointer} += {index} - ({pointer} - {array});",
                    f"{pointer}[{index} - ({pointer} - {array})]++;",
                    f"{self._own()} = {pointer} == {array} + ({index});",
                    f"{self._own()} = &{array}[7] - {pointer};",
                    f"{self._own()} = (char *)&{array}[7] - (char *){pointer};",
                )
            )
        )

    def _records(self, _depth: int) -> None:
        one, other = self.random.sample(("one", "other"), 2)
        self._say(
            self.random.choice(
                (
                    f"{one} = {other};",
                    f"{one} = changed({other}, {self._expression(2)});",
                    f"{one}.in = {other}.in;",
                    f'{one} = (struct record){{ .high = {self._expression(1)}, .text = "xyz", '
                    f".wide = {self._expression(1)} }};",
                    f"{self._own()} = changed({one}, 3).number + {self._literal()};",
                    f"{{ struct record *r = {self._expression(1)} ? &one : &other; r->low++; r->in.half -= 7; }}",
                    f"memcpy(&{one}.in, &{other}.in, sizeof {one}.in);",
                    f"{{ struct inner in = {one}.in; {other}.in.byte = in.half; }}",
                )
            )
        )

    def _memory(self, _depth: int) -> None:
        say, literal = self._say, self._literal()
        size, by = self.random.randrange(5), self.random.randrange(4)
        say(
            self.random.choice(
                (
                    f"memset(row, {literal}, {size});",
                    f"memset(both.bytes + {by}, {self._expression(1)}, {size});",
                    f"memcpy(table + {by}, table + 4, {size} * sizeof *table > 4 * sizeof *table ? 0 : sizeof *table);",
                    f"memmove((char *)row + {by}, row, {size});",
                    f"memcpy(&both, row, {size});",
                    f"memcpy(row, &both.number, {size} & 3);",
                    f"both.number = memcmp(row, table, {size}) > 0;",
                    f"*(unsigned short *)(both.bytes + {2 * by}) = {literal};",
                    f"{{ unsigned char *byte = (unsigned char *)row; {self._own()} = byte[{size}] << {by}; "
                    f"byte[{size}] ^= {literal}; }}",
                    f"{{ long *x = malloc(16), *y = calloc(2, 8); x[0] = {self._expression(1)}; x[1] = 4; y[1] = 3; "
                    f"exchange(x, y + {by & 1}); {self._own()} = x[0] * 2 + y[1]; free(x); }}",
                )
            )
        )

    def _texts(self, _depth: int) -> None:
        number = self.random.choice(self._names())
        form, cast = self.random.choice(_CONVERSIONS)
        flags = self.random.choice(("", "", "", "5", "-6", "08", "+", "#", ".3", "#09", " 07.4", "-+9", "#.5", "+.0"))
        if form[-1] == "c" or (form[-1] not in "oxX" and "#" in flags) or (form[-1] not in "di" and {*" +"} & {*flags}):
            flags = flags.strip("+ #.0")
        text = self.random.choice(("", "12", "-7", "0x1f", " 42z", "abc", "\\v+08", "99999999999999999999", "-0x"))
        self._say(
            self.random.choice(
                (
                    f"{self._own()} = snprintf(made, {self.random.choice((4, 9, 48))}, "
                    f'"<%{flags}{form}>", ({cast}){number});',
                    f'sprintf(made, "%s|%{flags}{form}", "{text}", ({cast}){number});',
                    f'strcpy(made, "{text}");',
                    f'strncpy(made, "{text}", {self.random.randrange(1, 9)});',
                    f'{self._own()} = strlen(made) + sizeof "{text}";',
                    f'{self._own()} = strcmp(made, "{text}") > 0;',
                    f'{self._own()} = strncmp(made, "{text}", 2) < 0;',
                    f'{self._own()} = strtol("{text}", 0, {self.random.choice((0, 8, 10, 16))});',
                    f'{self._own()} = strtoul("{text}", 0, 0);',
                    f'{self._own()} = atoi("{text}");',
                    f"{self._own()} = strchr(\"{text}\", '2') != 0;",
                    f"made[{self.random.randrange(40)}] = {self._expression(1)};",
                    f'{self._own()} = "{text}!"[{self.random.randrange(max(len(text), 1))}];',
                )
            )
        )

    def _atomics(self, _depth: int) -> None:
        kind, name = self.random.choice(INTEGERS[:-1]), self._own()
        operator = self.random.choice(("add", "sub", "and", "or", "xor"))
        by, start = self._expression(2), self._expression(1)
        form = self.random.choice(
            (
                f"__atomic_{operator}_fetch(&n, {by}, 5)",
                f"__atomic_fetch_{operator}(&n, {by}, 0)",
                f"__sync_{operator}_and_fetch(&n, {by})",
                f"__sync_fetch_and_{operator}(&n, {by})",
                f"__atomic_exchange_n(&n, {by}, 5)",
                f"__sync_val_compare_and_swap(&n, {start}, {by})",
                f"__sync_bool_compare_and_swap(&n, {by}, 1)",
                f"__atomic_compare_exchange_n(&n, &e, {by}, 0, 5, 5)",
            )
        )
        self._say(f"{{ {kind} n = {start}, e = {self._expression(0)}; {name} = {form};")
        self._say(f"{name} ^= n * 3 + e + __atomic_load_n(&n, 5); }}")

    def _calls(self, _depth: int) -> None:
        name = self._own()
        say = self.random.choice(
            (
                f"function = {self._expression(2)} ? less_one : twice;",
                f"{name} = function({self._expression(2)});",
                f"{name} = counted({self._expression(1)});",
                f"{name} = twice(less_one({self._expression(1)}));",
                f"at = {self._expression(1)} ? cells[0].next : cells;",
                "if (at) at = at->next;",
                "if (!at) at = &cells[2];",
                f"for (struct list *each = cells; each; each = each->next) {{ each->value += {self.random.randrange(9)}; }}",
            )
        )
        self._say(say)

    def _reals(self, _depth: int) -> None:
        number = f"((int)({self._expression(1)}) & 1023)"
        self._say(
            self.random.choice(
                (
                    f"real = {number} / 8.0;",
                    f"small = (float){number} * 0.5f;",
                    f"real = real < {number} ? 2.5 : small;",
                    f"if (real < 1e6 && real > -1e6) {self._own()} = (int)(real * 3);",
                    f"real = -small + {number};",
                    "small = (int)small % 7;",
                    f"{self._own()} = (real > small) + !real;",
                    "real = real > 1e6 ? 1 : real * real; ",
                )
            )
        )

    def _if(self, depth: int) -> None:
        self._say(f"if ({self._expression(2)}) {{")
        self._block(depth)
        if self.random.random() < 0.6:
            self._say(f"}} else if ({self._expression(2)}) {{")
            self._block(depth)
            self._say("} else {")
            self._block(depth)
        self._say("}")

    def _loop(self, depth: int) -> None:
        self._counters += 1
        name, count = f"i{self._counters}", self.random.randint(1, 4)
        kind = self.random.choice(("int", "unsigned char", "long"))
        way = self.random.randrange(3)
        if way == 0:
            self._say(f"for ({kind} {name} = 0; {name} < {count}; {name}++) {{")
        elif way == 1:
            self._say(f"{{ {kind} {name} = {count}; while ({name}-- > 0) {{")
        else:
            self._say(f"{{ {kind} {name} = {count}; do {{")
        self._loops.append(name)
        self._block(depth)
        if self.random.random() < 0.5:
            self._say(f"\tif ({self._expression(1)}) {self.random.choice(('break', 'continue'))};")
            self._block(depth, 1)
        self._loops.pop()
        self._say(("}", "} }", f"}} while (--{name} > 0); }}")[way])

    def _switch(self, depth: int) -> None:
        self._say(f"switch ({self._expression(2)}) {{")
        for label in self.random.sample(
            ("0", "1", "2 ... 4", "'a'", "SECOND + 3", "-1", "default", "255"), self.random.randint(1, 5)
        ):
            self._say(f"{'' if label == 'default' else 'case '}{label}:")
            self._block(depth, 1)
            if self.random.random() < 0.6:
                self._say("\tbreak;")
        self._say("\t;\n\t}")

    def _goto(self, depth: int) -> None:
        self._counters += 1
        name = f"label{self._counters}"
        self._say(f"if ({self._expression(2)}) goto {name};")
        self._block(depth)
        self._say(f"{name}: ;")

    def _shadow(self, depth: int) -> None:
        name = self.random.choice([each for each in self._numbers if each != "in"])
        kind, before = self.random.choice(INTEGERS), self._numbers[name]
        with self._without(name):
            first = self._expression(1)
        self._say(f"{{ {kind} {name} = {first};")
        self._numbers[name] = kind
        self._block(depth)
        self._numbers[name] = before
        self._say(f"global += {name}; }}")


_CONVERSIONS: Final = tuple(
    (form, kind)
    for kind, forms in {
        "int": "d c hhu hd i hhx",
        "unsigned": "u x X o",
        "long": "ld",
        "unsigned long": "lx lu",
        "size_t": "zu",
    }.items()
    for form in forms.split()
)


def _operation(*operators: str) -> Callable[[RandomC, str, int], str]:
    def form(maker: RandomC, left: str, depth: int) -> str:
        return f"({left} {maker.random.choice(operators)} {maker._expression(depth)})"

    return form


def _shift(maker: RandomC, left: str, depth: int) -> str:
    if maker.random.random() < 0.3:
        return f"((unsigned long){left} {maker.random.choice(('<<', '>>'))} ({maker._expression(depth)} & 63))"
    return f"({left} {maker.random.choice(('<<', '>>'))} ({maker._expression(depth)} & 31))"


def _division(maker: RandomC, left: str, depth: int) -> str:
    right = f"({maker._expression(depth)} & 15)"
    divisor = maker.random.choice((f"({right} + 1)", f"(-(int){right} - 2)"))
    return f"({left} {maker.random.choice(('/', '%'))} {divisor})"


def _cast(maker: RandomC, left: str, _depth: int) -> str:
    return f"({maker.random.choice(INTEGERS)}){left}"


def _unary(maker: RandomC, left: str, _depth: int) -> str:
    return f"{maker.random.choice(('-', '~', '!', '+', ''))}({left})"


def _choice(maker: RandomC, left: str, depth: int) -> str:
    return f"({left} ? {maker._expression(depth)} : {maker._expression(depth)})"


def _size(maker: RandomC, left: str, _depth: int) -> str:
    return maker.random.choice(
        (f"sizeof({left} + 0)", "sizeof(struct record)", "offsetof(struct record, text)", f"({left}, 3)", f"(int){left}")
    )


def _indexed(maker: RandomC, left: str, _depth: int) -> str:
    names = [each for each in ("table", "row") if each in maker._arrays and each not in maker._hidden]
    return f"{maker.random.choice(names)}[{left} & 7]" if names else left


_SUM: Final = _operation("+", "-", "*")
_COMPARISON: Final = _operation("<", ">", "<=", ">=", "==", "!=")
_FORMS: Final = (
    *(_SUM, _SUM, _operation("&", "|", "^"), _COMPARISON, _operation("&&", "||")),
    *(_shift, _division, _cast, _cast, _unary, _choice, _size, _indexed),
)
_WRITES: Final = (RandomC._assign, RandomC._compound, RandomC._effects)
_SIMPLE: Final = (
    *(*_WRITES, *_WRITES, RandomC._step_of_pointer, RandomC._records),
    *(RandomC._memory, RandomC._atomics, RandomC._texts, RandomC._calls, RandomC._reals),
)
_NESTED: Final = (RandomC._if, RandomC._loop, RandomC._switch, RandomC._goto, RandomC._shadow)
