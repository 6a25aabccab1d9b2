"""Functions of C with contracts in comments, as functions with contracts of `.mp`.

In: the text of a C file. Out: the syntax tree of an `.mp` program, with places in the C, which `contracts/` decides.
"""
