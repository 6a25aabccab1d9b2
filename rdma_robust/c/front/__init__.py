"""The front end of C: libclang's syntax trees compiled to the register code of :mod:`rdma_robust.c.code`.

In: C files, options of the preprocessor. Out: `Units`, the functions, globals and annotations of all files of a program.
What libclang calls an error is one, as it is (RR810); what it reads and we do not is refused where a way of the program
comes to it.
"""
