"""BoTorch with InputPerturbation and its risk measures, VaR, CVaR and expectation.

As BoTorch's own tutorial on risk with input perturbations, with two changes:
qLogExpectedImprovement of the risk beyond the best posterior risk of a theta tried (tried once, on
80 rows of the bowl: qNEI and qLogNEI propose the same theta, in four to seven times the time), and
128 fixed draws of the noise for the answer in place of 16, of which a tail of a tenth is two. With
32 draws for the next theta, 4 restarts and 50 steps a run took twice as long, and was no better
after 25 evaluations of the ledge (one seed; two seeds for restarts and steps). Model, first points
and refits are those of `phenes_lab.bench.few.surrogates`.
"""

# pyright: reportMissingImports=false
# (the extra `few` of the laboratory may not be installed)

from collections.abc import Sequence
from typing import Any

import numpy as np

from phenes.risk import Risk
from phenes_lab.bench.few.surrogates import SAMPLES, Search

DRAWS, ANSWER_DRAWS = 16, 128
ANSWER_RAW, CHUNK = 256, 32
RISKS = ("mean", "quantile", "cvar")  # names of those that it has


class RiskSearch(Search):
    """In the unit cube. scale: the noise as shares of the box."""

    restarts, steps = 2, 30

    def __init__(self, risk: Risk, dim: int, scale: np.ndarray, seed: int):
        super().__init__(dim, scale, seed)
        self.risk = risk

    def acquisition(self, model: Any, best: Any) -> Any:
        from botorch.acquisition import qLogExpectedImprovement

        return qLogExpectedImprovement(
            model, best, sampler=self._sampler, objective=self.objective(DRAWS)
        )

    def model(self, refit: bool, draws: int = DRAWS) -> Any:
        return super().model(refit, draws)

    def answer(self) -> np.ndarray:
        """The theta of the best expected risk, or the best one tried if the search misses it."""
        from botorch.acquisition import qSimpleRegret

        model = self.model(True, ANSWER_DRAWS)
        merit = qSimpleRegret(model, sampler=self._sampler, objective=self.objective(ANSWER_DRAWS))
        theta, value = self.optimise(merit, ANSWER_RAW)
        tried = self.standings(model, ANSWER_DRAWS)
        return theta if value >= float(tried.max()) else self.theta[int(tried.argmax())]

    def standings(self, model: Any, draws: int = DRAWS) -> Any:
        import torch

        objective, found = self.objective(draws), []
        with torch.no_grad():
            for some in torch.tensor(np.array(self.theta))[:, None].split(CHUNK):
                samples = self._sampler(model.posterior(some))
                found.append(objective(samples).mean(dim=0).ravel())
        return torch.cat(found)

    def objective(self, draws: int) -> Any:
        """Values are maximised, so that the tail of BoTorch's risk measures is the lower one."""
        from botorch.acquisition.risk_measures import CVaR, Expectation, VaR

        if self.risk.name == "mean":
            return Expectation(draws)
        kind = {"cvar": CVaR, "quantile": VaR}[self.risk.name]
        return kind(self.risk.described()["level"], draws)

    @property
    def _sampler(self) -> Any:
        import torch
        from botorch.sampling import SobolQMCNormalSampler

        return SobolQMCNormalSampler(torch.Size([SAMPLES]), seed=self.seed + len(self.rows))


def search(
    risk: Risk,
    measure: Any,
    start: np.ndarray,
    scale: np.ndarray,
    looks: Sequence[int],
    seed: int,
    told_x: bool,
) -> list[np.ndarray]:
    """The theta recommended at each look. measure(theta) -> x, f, all in the unit cube.

    told_x: the model is of f on the measured x; otherwise on theta, as its users have it.
    """
    import torch

    torch.set_num_threads(1)
    torch.manual_seed(seed)
    dim = start.size
    design = torch.quasirandom.SobolEngine(dim, scramble=True, seed=seed)
    first = np.vstack([start, design.draw(2 * dim + 1).double().numpy()])
    found, state = [], RiskSearch(risk, dim, scale, seed)
    for n in range(1, looks[-1] + 1):
        theta = first[n - 1] if n <= len(first) else state.ask()
        x, f = measure(theta)
        state.tell(theta, x if told_x else theta, f)
        if n in looks:
            found.append(state.answer())
    return found
