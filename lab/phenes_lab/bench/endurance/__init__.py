"""Evaluation on many processes, and for long."""
