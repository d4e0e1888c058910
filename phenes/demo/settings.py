"""Settings of the race: seeds, lengths, noise, spread and rates."""

from dataclasses import dataclass

import numpy as np

from phenes import _validate


@dataclass(frozen=True)
class DemoSettings:
    """`starts`: where each part is aimed at first.

    `within`: the regret to reach, as a share of the robust optimum.
    """

    seeds: int = 40
    generations: int = 750
    seed: int = 0
    popsize: int = 40
    noise: float = 0.1
    spread: float = 0.05
    learning_rate: float = 4.0
    decay: float = 5.0  # the rate of generation t is learning_rate / (1 + t / decay)
    starts: tuple[tuple[float, float], ...] = (
        (0.44, 0.36),
        (0.46, 0.13),
        (0.08, 0.52),
        (0.25, 0.44),
        (0.46, 0.22),
    )
    within: float = 5e-4
    product_seeds: int = 10  # runs of `maximize`, the third contender, if there are as many seeds

    def __post_init__(self):
        for name in ("seeds", "generations", "popsize", "product_seeds"):
            _validate.count(name, getattr(self, name))
        for name in ("noise", "spread", "learning_rate", "decay", "within"):
            _validate.positive(name, getattr(self, name))

    @property
    def predicted_gain(self) -> float:
        """Ratio of the gradient's variances near the optimum, ES over PAES: 1 + (C/S) / (1 + 4/d).

        The gradient is that of the mean. Near the optimum f is quadratic and the standardised
        weight is w = (d - r^2) / sqrt(2d), r^2 = |x - mean|^2 / (S + C). Squared weights and
        distances are thus correlated, E[w^2 r^2] = (1 + 4/d) E[w^2] E[r^2]; if they were not, the
        ratio would be 1 + C/S.
        """
        return 1 + (self.noise / self.spread) ** 2 / (1 + 4 / np.size(self.starts))

    @property
    def evaluations(self) -> np.ndarray:
        """Number of evaluations after each generation."""
        return self.popsize * np.arange(1, self.generations + 1)

    @property
    def product_budget(self) -> int:
        """Evaluations of each run of `maximize`: a tenth of the others'."""
        return max(int(self.evaluations[-1]) // 10, self.popsize)
