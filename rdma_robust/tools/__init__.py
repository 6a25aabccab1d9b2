"""The tools: what each registers, one file a tool, read by `frame/registry.py`.

In: nothing; these modules load no engine. Out: a `TOOL` each: help, places of commands, front ends, settings, certificates.
"""
