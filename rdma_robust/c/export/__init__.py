"""Programs of `.rdma` as C: for verbs with a harness, and as tests that run on a library."""
