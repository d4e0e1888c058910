"""Looking at runs, while they go and after: what `phenes runs`, `show` and `watch` are made of."""
