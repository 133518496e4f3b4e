"""A module per suite; its `run` measures all of it."""
