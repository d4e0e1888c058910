"""How long things take: the first call, a generation, steps of episodes."""
