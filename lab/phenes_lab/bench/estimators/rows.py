"""What is asked for, and what is answered."""

from dataclasses import dataclass

POPSIZE = 100
BATCHES = 40
BASELINE = "phenotype"


@dataclass(frozen=True)
class EstimatorsSettings:
    """samples: individuals in each cell. full_dim, noise_dim: dimension of the cells with full
    covariance and with other noise laws.
    """

    dims: tuple[int, ...] = (2, 10, 40)
    ratios: tuple[float, ...] = (0.01, 0.1, 1.0, 10.0)
    samples: int = 200_000
    seed: int = 0
    full_dim: int | None = 10
    noise_dim: int | None = 10
    auxiliaries: int = 60

    def __post_init__(self):
        if self.samples < 2 * POPSIZE * BATCHES:
            raise ValueError(
                f"samples must be at least {2 * POPSIZE * BATCHES} (two populations a batch), got"
                f" {self.samples}"
            )
        if any(d < 1 for d in self.dims) or any(c <= 0 for c in self.ratios):
            raise ValueError(f"dims and ratios must be positive, got {self.dims} and {self.ratios}")

    @classmethod
    def quick(cls) -> "EstimatorsSettings":
        return cls(dims=(2,), ratios=(0.1, 1.0), samples=20_000, full_dim=None, noise_dim=None)


@dataclass(frozen=True)
class Ratio:
    """A measured number, its standard error, and what theory says it should be."""

    value: float
    se: float
    theory: float | None = None

    @property
    def agrees(self) -> bool | None:
        """Within 4 standard errors; where theory says that nothing varies, within rounding. None
        without a theory.
        """
        if self.theory is None:
            return None
        return bool(abs(self.value - self.theory) <= 4 * self.se + 1e-9 * abs(self.theory))


@dataclass(frozen=True)
class EstimatorsRow:
    """One estimator in one cell, relative to `phenotype` there.

    score_*: second moments of the score of one individual (not defined for pairs); estimate_*:
    variances of the weighted estimate of a population; *_mean, *_spread: the part of psi. bias_*:
    |E g - E g_phenotype|^2 / |E g_phenotype|^2, itself estimated without bias, so that it may come
    out slightly negative.
    """

    noise: str
    family: str
    dim: int
    ratio: float
    estimator: str
    samples: int
    score_mean: Ratio | None
    score_spread: Ratio | None
    estimate_mean: Ratio
    estimate_spread: Ratio
    bias_mean: Ratio
    bias_spread: Ratio

    @property
    def biased(self) -> bool:
        """By its definition."""
        return self.estimator == "biased_linear"

    @property
    def agrees(self) -> bool | None:
        verdicts = [
            r.agrees
            for r in (self.score_mean, self.score_spread)
            if r is not None and r.agrees is not None
        ]
        return all(verdicts) if verdicts else None
