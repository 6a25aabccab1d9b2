"""Calls of libibverbs and librdmacm, and what they mean to evaluation: set-up, requests, receives, completions.

In: a call with the values of its arguments. Out: its value, statements of `.rdma`, or the ways on which it may go on.
"""
