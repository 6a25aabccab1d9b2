"""Text to syntax tree and back.

In: text. Out: the tree of `ast`, with spans and comments, or diagnostics with what was expected; and from a tree the
one layout. The formatter's result has the same tree as its input, which it checks each time. Source: docs/language.md,
"The language"; grammars/rdma.lark.
"""
