"""Policies in networks (the paper's section 6.2): CartPole, Pendulum, Swimmer differ in numbers."""
