"""BoTorch with perturbed inputs and a risk measure, as in its tutorial on risk-averse search.

The box is the unit cube, values are standardised and maximised. The first 2 (d + 1) points are x0
and a Sobol sequence. The best value so far is the risk of the posterior mean over all theta tried.
"""

# pyright: reportMissingImports=false
# (BoTorch may not be installed)

from typing import Any

import numpy as np

from phenes_lab.bench.risk.problems import BOX, Problem

PERTURBATIONS, SAMPLES = 32, 32
RESTARTS, RAW, STEPS = 4, 128, 50
EVERY, UNTIL = 4, 30  # a refit at every 4th ask, beyond 30 rows
LOOKS = 10  # evaluations between looks


def search(
    problem: Problem, budget: int, start: np.ndarray, seed: int
) -> tuple[np.ndarray, np.ndarray]:
    """Evaluations at each look [k], and the theta recommended then [k, d]."""
    import torch

    torch.set_num_threads(1)
    torch.manual_seed(seed)
    width = BOX[1] - BOX[0]
    rng = np.random.default_rng([seed, 8])
    design = torch.quasirandom.SobolEngine(problem.dim, scramble=True, seed=seed)
    sobol = design.draw(2 * problem.dim + 1).double().numpy()
    first = np.vstack([(start - BOX[0]) / width, sobol])
    model = _Model(problem, seed)
    at: list[int] = []
    answers: list[np.ndarray] = []
    for n in range(1, budget + 1):
        theta = first[n - 1] if n <= len(first) else model.ask()
        x = theta + problem.noise / width * rng.standard_normal(problem.dim)
        model.tell(theta, x, float(problem.f(BOX[0] + width * x[None])[0]))
        if n >= len(first) and n % LOOKS == 0:
            at.append(n)
            answers.append(BOX[0] + width * model.answer())
    return np.array(at), np.array(answers)


class _Model:
    def __init__(self, problem: Problem, seed: int):
        import torch
        from botorch.acquisition.risk_measures import CVaR, VaR
        from botorch.utils.sampling import draw_sobol_normal_samples

        self.dim, self.seed = problem.dim, seed
        draws = draw_sobol_normal_samples(self.dim, PERTURBATIONS, seed=seed).double()
        self.perturbations = draws * (problem.noise / (BOX[1] - BOX[0]))
        kind, level = problem.risk.rstrip(")").split("(")
        self.risk = (CVaR if kind == "cvar" else VaR)(float(level), PERTURBATIONS)
        self.bounds = torch.tensor([[0.0] * self.dim, [1.0] * self.dim], dtype=torch.double)
        self.theta: list[np.ndarray] = []
        self.rows: list[np.ndarray] = []
        self.values: list[float] = []
        self.fitted: Any = None

    def tell(self, theta: np.ndarray, row: np.ndarray, value: float) -> None:
        self.theta.append(theta)
        self.rows.append(row)
        self.values.append(value)

    def ask(self) -> np.ndarray:
        import torch
        from botorch.acquisition import qLogExpectedImprovement
        from botorch.optim import optimize_acqf
        from botorch.sampling import SobolQMCNormalSampler

        n = len(self.rows)
        model = self._fitted(n <= UNTIL or n % EVERY == 0)
        acquisition = qLogExpectedImprovement(
            model,
            self._risks(model).max(),
            sampler=SobolQMCNormalSampler(torch.Size([SAMPLES]), seed=self.seed + n),
            objective=self.risk,
        )
        theta, _ = optimize_acqf(
            acquisition, self.bounds, 1, RESTARTS, raw_samples=RAW, options={"maxiter": STEPS}
        )
        return theta[0].detach().numpy()

    def answer(self) -> np.ndarray:
        risks = self._risks(self._fitted(False))
        return self.theta[int(risks.argmax())]

    def _fitted(self, refit: bool) -> Any:
        import torch
        from botorch.exceptions import ModelFittingError
        from botorch.fit import fit_gpytorch_mll
        from botorch.models import SingleTaskGP
        from botorch.models.transforms.input import InputPerturbation
        from gpytorch.mlls import ExactMarginalLogLikelihood

        y = np.array(self.values)
        y = (y.mean() - y) / (y.std() or 1.0)
        model = SingleTaskGP(
            torch.tensor(np.array(self.rows)),
            torch.tensor(y)[:, None],
            outcome_transform=None,
            input_transform=InputPerturbation(self.perturbations),
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

    def _risks(self, model: Any) -> Any:
        """By the posterior mean at the perturbed points of every theta tried."""
        import torch

        with torch.no_grad():
            tried = torch.tensor(np.array(self.theta))[:, None]
            return self.risk(model.posterior(tried).mean).ravel()
