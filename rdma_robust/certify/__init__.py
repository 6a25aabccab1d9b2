"""The checker of certificates.

In: the text of a program or net, and a certificate. Out: accepted, or why not. It imports nothing that found the
verdict.
"""
