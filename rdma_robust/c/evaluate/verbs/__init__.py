"""What calls of libibverbs and librdmacm mean: set-up, requests, receives, completions."""
