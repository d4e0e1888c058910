"""Loops of `minimize`: generation by generation, or value by value as they arrive."""
