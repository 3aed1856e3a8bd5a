"""The routes that answer with JSON, one file per group; `table` has all of them."""
