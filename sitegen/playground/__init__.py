"""The playground: a folder of static files in which the tool runs in the browser.

In: the sources of the page (`page/`), the packages that its lock file names, the installed rdma-robust with what it needs.
Out: `build/playground/`. Node and npm are needed, at build time only.
"""
