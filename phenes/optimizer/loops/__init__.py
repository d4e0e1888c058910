"""The two loops of `minimize`: by generations, and steady-state without them."""
