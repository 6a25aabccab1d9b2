"""The `.spec` format of mist, QCover and ICover.

In: text. Out: a net and its question, or diagnostics; and back to text. Source: docs/coverability.md, "The format".
"""
