"""BoTorch: a Gaussian process with and without a thought of the noise on the inputs.

The box is the unit cube, values are standardised. The first 2 (d + 1) points are x0 and a Sobol
sequence; then the hyperparameters are fitted at every ask up to 30 rows and at every fourth beyond.
The best value so far is that of the posterior mean over all theta tried, since single values are
noisy. qLogNoisyExpectedImprovement does not go with InputPerturbation and a posterior transform
(BoTorch 0.18). `phenes_lab.bench.risk.surrogates` has the same search for risks.
"""

# pyright: reportMissingImports=false
# (the extra `few` may not be installed)

from collections.abc import Sequence
from typing import Any

import numpy as np

from phenes_lab.bench.few.problems import Problem
from phenes_lab.bench.few.searches import Answers, Lab

PERTURBATIONS = 16
SAMPLES = 32
EVERY, UNTIL = 4, 30  # a refit at every 4th ask, beyond 30 rows
RESTARTS, RAW, STEPS = 4, 128, 50  # of the search for the next theta
ANSWER_RAW = 512  # of the search for the answer


def robust(problem: Problem, looks: Sequence[int], seed: int) -> Answers:
    """The model is of f on the realised x; F is its mean over fixed draws of the noise."""
    return _run(problem, looks, seed, True)


def plain(problem: Problem, looks: Sequence[int], seed: int) -> Answers:
    """The model is of noisy values on theta."""
    return _run(problem, looks, seed, False)


def _run(problem: Problem, looks: Sequence[int], seed: int, robust: bool) -> Answers:
    import torch

    torch.set_num_threads(1)
    torch.manual_seed(seed)
    lab, points = Lab(problem, looks[-1], seed, unit=True), []
    design = torch.quasirandom.SobolEngine(problem.dim, scramble=True, seed=seed)
    first = np.vstack([lab.start, design.draw(2 * problem.dim + 1).double().numpy()])
    scale = problem.noise / (problem.upper - problem.lower) if robust else None
    search = Search(problem.dim, scale, seed)
    for n in range(1, looks[-1] + 1):
        theta = first[n - 1] if n <= len(first) else search.ask()
        x, f = lab(theta[None])
        search.tell(theta, x[0] if robust else theta, f[0])
        if n in looks:
            with lab.unclocked():
                points.append(search.answer())
    return lab.answers(looks, points)


class Search:
    """scale: standard deviations of the noise as shares of the box, None for a model without it."""

    restarts, steps = RESTARTS, STEPS

    def __init__(self, dim: int, scale: np.ndarray | None, seed: int):
        import torch

        self.dim, self.scale, self.seed = dim, scale, seed
        self.theta, self.rows, self.values = [], [], []
        self.bounds = torch.tensor([[0.0] * dim, [1.0] * dim], dtype=torch.double)
        self.fitted: Any = None

    def tell(self, theta: np.ndarray, row: np.ndarray, value: float) -> None:
        self.theta.append(theta)
        self.rows.append(row)
        self.values.append(value)

    def ask(self) -> np.ndarray:
        n = len(self.rows)
        model = self.model(n <= UNTIL or n % EVERY == 0)
        return self.optimise(self.acquisition(model, self.standings(model).max()), RAW)[0]

    def answer(self) -> np.ndarray:
        """The argmin of the posterior mean, or the best theta tried if the search misses it."""
        model = self.model(True)
        theta, value = self.optimise(self.merit(model), ANSWER_RAW)
        means = self.standings(model)
        return theta if value >= float(means.max()) else self.theta[int(means.argmax())]

    def acquisition(self, model: Any, best: Any) -> Any:
        """What the next theta maximises."""
        import torch
        from botorch.acquisition import LogExpectedImprovement, qLogExpectedImprovement
        from botorch.sampling import SobolQMCNormalSampler

        if self.scale is None:
            return LogExpectedImprovement(model, best)
        sampler = SobolQMCNormalSampler(torch.Size([SAMPLES]), seed=self.seed + len(self.rows))
        return qLogExpectedImprovement(
            model, best, sampler=sampler, posterior_transform=self._transform
        )

    def merit(self, model: Any) -> Any:
        """What the answer maximises."""
        from botorch.acquisition import PosteriorMean

        return PosteriorMean(model, posterior_transform=self._transform)

    def standings(self, model: Any) -> Any:
        """Merits of all theta tried, one at a time: their joint law is not needed."""
        import torch

        with torch.no_grad():
            tried = torch.tensor(np.array(self.theta))[:, None]
            return model.posterior(tried, posterior_transform=self._transform).mean.ravel()

    @property
    def _transform(self) -> Any:
        from botorch.acquisition.objective import ExpectationPosteriorTransform

        return None if self.scale is None else ExpectationPosteriorTransform(PERTURBATIONS)

    def perturbation(self, draws: int) -> Any:
        """InputPerturbation with so many fixed draws of the noise, None without noise."""
        import torch
        from botorch.models.transforms.input import InputPerturbation
        from botorch.utils.sampling import draw_sobol_normal_samples

        if self.scale is None:
            return None
        normal = draw_sobol_normal_samples(self.dim, draws, seed=self.seed).double()
        return InputPerturbation(normal * torch.tensor(self.scale))

    def model(self, refit: bool, draws: int = PERTURBATIONS) -> Any:
        """Values are maximised."""
        import torch
        from botorch.exceptions import ModelFittingError
        from botorch.fit import fit_gpytorch_mll
        from botorch.models import SingleTaskGP
        from gpytorch.mlls import ExactMarginalLogLikelihood

        y = np.array(self.values)
        y = (y.mean() - y) / (y.std() or 1.0)
        model = SingleTaskGP(
            torch.tensor(np.array(self.rows)),
            torch.tensor(y)[:, None],
            outcome_transform=None,
            input_transform=self.perturbation(draws),
        )
        if self.fitted is not None:
            model.load_state_dict(self.fitted, strict=False)
        if refit or self.fitted is None:
            try:
                fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))
                self.fitted = {
                    name: value
                    for name, value in model.state_dict().items()
                    if not name.startswith("input_transform.")  # the next may have other draws
                }
            except ModelFittingError:  # the last parameters stay
                if self.fitted is not None:
                    model.load_state_dict(self.fitted, strict=False)
        return model.eval()

    def optimise(self, acquisition: Any, raw: int) -> tuple[np.ndarray, float]:
        from botorch.optim import optimize_acqf

        theta, value = optimize_acqf(
            acquisition,
            self.bounds,
            1,
            self.restarts,
            raw_samples=raw,
            options={"maxiter": self.steps},
        )
        return theta[0].detach().numpy(), float(value)
