"""Where f has many optima: a wide search by values finds the bottom of the trend below them.

Ranks of a wide search lead into the basin that happens to be next. A quadratic that is fitted to
enough draws averages ripples: its coefficients are gradient and Hessian of f smoothed by the
search itself (Stein's identity), however little of the variance it explains. A restart may begin
with it: Newton steps on models of all draws so far, with a search that narrows only along axes
where the minimum is known. At the end the search goes on there, as narrow as the error of the
minimum.
"""

from dataclasses import dataclass

from phenes.adaptive import newton
from phenes.adaptive.bounds import confine
from phenes.adaptive.estimate import drawn, rows, separable_axes
from phenes.adaptive.model.features import features_of
from phenes.adaptive.model.quadratic import fit
from phenes.adaptive.phases import Decisions, Recentre
from phenes.adaptive.state import State

FOUND = "the bottom of the trend is known: the search goes on there"


@dataclass
class Trend:
    """Owns how many draws the trend may have, and when the next model of them is due."""

    rows: int = 0  # 0: there is no trend to be found (any more)
    due: int = 0

    @property
    def active(self) -> bool:
        return self.rows > 0

    def decide(self, state: State) -> Decisions:
        """A Newton step on the trend, when there are some more draws; at last, the search there."""
        if state.evaluations < self.due:
            return ()
        dim = state.coords.dim
        self.due = state.evaluations + features_of(dim)
        last = state.evaluations >= self.rows
        self.rows = 0 if last else self.rows
        why = FOUND if last else ""
        marginal = state.marginal
        z, f = rows(state, state.archive.count, drawn(dim))
        model = fit(z, f, axes=separable_axes(state))
        if model is None or not model.crossed:
            return (Recentre(marginal.mean, marginal.cov, why),) if last else ()
        advice = newton.wide(model, confine(state.coords, marginal, model.turn), last)
        mean = marginal.mean + marginal.unwhiten(model.out_of(advice.move))
        return (Recentre(mean, marginal.rescaled(model.turn, advice.factors), why),)

    def stop(self) -> None:
        """The search has been sent elsewhere: ranks go on."""
        self.rows = 0
