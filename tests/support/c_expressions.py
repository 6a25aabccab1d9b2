"""An independent reader of C's expressions, with Promela's `->` for `?`: the grammar of the C standard, rule by rule."""

from __future__ import annotations

import lark

from rdma_robust.expr import Binary, Const, Expr, Ite, Name, Unary

GRAMMAR = r"""
?logical_or: logical_and | logical_or OR logical_and -> binary
?logical_and: inclusive_or | logical_and AND inclusive_or -> binary
?inclusive_or: exclusive_or | inclusive_or BIT_OR exclusive_or -> binary
?exclusive_or: bit_and | exclusive_or BIT_XOR bit_and -> binary
?bit_and: equality | bit_and BIT_AND equality -> binary
?equality: relational | equality (EQ | NE) relational -> binary
?relational: shift | relational (LT | GT | LE | GE) shift -> binary
?shift: additive | shift (LEFT | RIGHT) additive -> binary
?additive: multiplicative | additive (PLUS | MINUS) multiplicative -> binary
?multiplicative: unary_expression | multiplicative (TIMES | DIVIDE | MODULO) unary_expression -> binary
?unary_expression: primary | (MINUS | NOT | INVERT) unary_expression -> unary
?primary: CNAME -> name
        | INT -> number
        | "(" logical_or ")"
        | "(" logical_or "->" logical_or ":" logical_or ")" -> conditional

OR: "||"
AND: "&&"
BIT_OR: "|"
BIT_XOR: "^"
BIT_AND: "&"
EQ: "=="
NE: "!="
LT: "<"
GT: ">"
LE: "<="
GE: ">="
LEFT: "<<"
RIGHT: ">>"
PLUS: "+"
MINUS: "-"
TIMES: "*"
DIVIDE: "/"
MODULO: "%"
NOT: "!"
INVERT: "~"

%import common.CNAME
%import common.INT
%ignore " "
"""

_OTHER_OPERATORS = ("++", "--", "!!")
"""Of C and SPIN: none of them is two shorter ones."""


class _Trees(lark.Transformer[lark.Token, Expr]):
    def number(self, found: list[lark.Token]) -> Expr:
        return Const(int(found[0]))

    def name(self, found: list[lark.Token]) -> Expr:
        return Name(str(found[0]))

    def unary(self, found: list[lark.Token]) -> Expr:
        op, arg = found
        return Unary(str(op), arg)

    def binary(self, found: list[lark.Token]) -> Expr:
        left, op, right = found
        return Binary(str(op), left, right)

    def conditional(self, found: list[Expr]) -> Expr:
        return Ite(*found)


_PARSER = lark.Lark(GRAMMAR, parser="lalr", lexer="basic", start="logical_or", transformer=_Trees())


def parse(text: str) -> Expr:
    """Return the tree that C gives to `text`. Raises ValueError or lark.UnexpectedInput where it is no expression."""
    if any(operator in text for operator in _OTHER_OPERATORS):
        raise ValueError(f"an operator that is none of ours is in {text}")
    return _PARSER.parse(text)


def in_c(expr: Expr) -> Expr:
    """Return `expr` with C's operators only: negative numbers and `&~` are two operators there."""
    match expr:
        case Const(value) if value < 0:
            return Unary("-", Const(-value))
        case Unary(op, arg):
            return Unary(op, in_c(arg))
        case Binary("&~", left, right):
            return Binary("&", in_c(left), Unary("~", in_c(right)))
        case Binary(op, left, right):
            return Binary(op, in_c(left), in_c(right))
        case Ite(test, then, other):
            return Ite(in_c(test), in_c(then), in_c(other))
        case _:
            return expr
