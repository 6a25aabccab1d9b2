"""Programs of the language as C: with verbs and a harness, and as tests that run on a library.

In: the text of a program. Out: C, or ProgramError with every statement that the library has no call for.
"""
