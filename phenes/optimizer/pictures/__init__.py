"""What the pictures of an `Optimizer` and of a `Result` are made of."""
