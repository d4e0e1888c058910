"""Contexts (the paper's appendix B): bandit feedback, mixtures of experts."""
