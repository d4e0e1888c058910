"""BoTorch: a Gaussian process with and without a thought of the noise on the inputs.

The box is the unit cube, values are standardised. The first 2 (d + 1) points are x0 and a Sobol
sequence; then the hyperparameters are fitted at every ask up to 30 rows and at every fourth beyond.
The best value so far is that of the posterior mean over all theta tried, since single values are
noisy. qLogNoisyExpectedImprovement does not go with InputPerturbation (BoTorch 0.18).
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
    search = _Search(problem, seed, robust)
    for n in range(1, looks[-1] + 1):
        theta = first[n - 1] if n <= len(first) else search.ask()
        x, f = lab(theta[None])
        search.tell(theta, x[0] if robust else theta, f[0])
        if n in looks:
            with lab.unclocked():
                points.append(search.answer())
    return lab.answers(looks, points)


class _Search:
    def __init__(self, problem: Problem, seed: int, robust: bool):
        import torch
        from botorch.acquisition.objective import ExpectationPosteriorTransform
        from botorch.utils.sampling import draw_sobol_normal_samples

        self.dim, self.seed = problem.dim, seed
        self.theta, self.rows, self.values = [], [], []
        self.bounds = torch.tensor([[0.0] * self.dim, [1.0] * self.dim], dtype=torch.double)
        self.perturbations = self.transform = None
        if robust:
            draws = draw_sobol_normal_samples(self.dim, PERTURBATIONS, seed=seed).double()
            self.perturbations = draws * torch.tensor(
                problem.noise / (problem.upper - problem.lower)
            )
            self.transform = ExpectationPosteriorTransform(PERTURBATIONS)
        self.fitted: Any = None

    def tell(self, theta: np.ndarray, row: np.ndarray, value: float) -> None:
        self.theta.append(theta)
        self.rows.append(row)
        self.values.append(value)

    def ask(self) -> np.ndarray:
        from botorch.acquisition import LogExpectedImprovement, qLogExpectedImprovement
        from botorch.sampling import SobolQMCNormalSampler

        n = len(self.rows)
        model = self._model(n <= UNTIL or n % EVERY == 0)
        best = self._means(model).max()
        if self.transform is None:
            acquisition: Any = LogExpectedImprovement(model, best)
        else:
            import torch

            sampler = SobolQMCNormalSampler(torch.Size([SAMPLES]), seed=self.seed + n)
            acquisition = qLogExpectedImprovement(
                model, best, sampler=sampler, posterior_transform=self.transform
            )
        return self._optimise(acquisition, RAW)[0]

    def answer(self) -> np.ndarray:
        """The argmin of the posterior mean, or the best theta tried if the search misses it."""
        from botorch.acquisition import PosteriorMean

        model = self._model(True)
        theta, value = self._optimise(
            PosteriorMean(model, posterior_transform=self.transform), ANSWER_RAW
        )
        means = self._means(model)
        return theta if value >= float(means.max()) else self.theta[int(means.argmax())]

    def _model(self, refit: bool) -> Any:
        """Values are maximised."""
        import torch
        from botorch.exceptions import ModelFittingError
        from botorch.fit import fit_gpytorch_mll
        from botorch.models import SingleTaskGP
        from botorch.models.transforms.input import InputPerturbation
        from gpytorch.mlls import ExactMarginalLogLikelihood

        y = np.array(self.values)
        y = (y.mean() - y) / (y.std() or 1.0)
        shift = None if self.perturbations is None else InputPerturbation(self.perturbations)
        model = SingleTaskGP(
            torch.tensor(np.array(self.rows)),
            torch.tensor(y)[:, None],
            outcome_transform=None,
            input_transform=shift,
        )
        if self.fitted is not None:
            model.load_state_dict(self.fitted)
        if refit or self.fitted is None:
            try:
                fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))
                self.fitted = model.state_dict()
            except ModelFittingError:  # the last parameters stay
                if self.fitted is not None:
                    model.load_state_dict(self.fitted)
        return model.eval()

    def _means(self, model: Any) -> Any:
        """Of F at all theta tried, one at a time: their joint law is not needed."""
        import torch

        with torch.no_grad():
            tried = torch.tensor(np.array(self.theta))[:, None]
            return model.posterior(tried, posterior_transform=self.transform).mean.ravel()

    def _optimise(self, acquisition: Any, raw: int) -> tuple[np.ndarray, float]:
        from botorch.optim import optimize_acqf

        theta, value = optimize_acqf(
            acquisition,
            self.bounds,
            1,
            RESTARTS,
            raw_samples=raw,
            options={"maxiter": STEPS},
        )
        return theta[0].detach().numpy(), float(value)
