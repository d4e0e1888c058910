"""The experiments of the paper, run again: a folder each, with its settings, claims and figures."""
