"""Policies in networks (the paper's section 6.3): CartPole, Pendulum, Swimmer differ in numbers."""
