"""A run in a file: its calls and its evaluations, so that it goes on where it was."""
