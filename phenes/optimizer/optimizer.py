"""Ask and tell: the optimiser for labs, machines and simulators that realise x themselves."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from phenes import _validate
from phenes._validate import FloatArray
from phenes.constraints.wanted import EXAMPLE, columns, wanted
from phenes.optimizer.answer.trust import ANSWER
from phenes.optimizer.ask_tell import AskTell, Plan
from phenes.optimizer.ending import Progress, Wishes
from phenes.optimizer.engines import ENGINES
from phenes.optimizer.noise.state import NoiseState
from phenes.optimizer.readings import Readings
from phenes.optimizer.records.campaign import Campaign, Settings
from phenes.optimizer.records.journal import Journal
from phenes.optimizer.setup import encode_told, make_setup
from phenes.risk import as_risk, mean

if TYPE_CHECKING:
    from phenes.constraints import Wanted
    from phenes.optimizer.options import Bounds, Noise
    from phenes.space import Space


class Optimizer(Readings, Campaign):
    """Minimise E f(x), x ~ p_theta, from the intended theta, the realised x and the values f.

    Values may come in any order, in parts, for theta that were never asked, or not at all.
    Without `realised` nothing is known of x, and the search is an ordinary evolution strategy on
    noisy values.

    Parameters
    ----------
    space : Space or array_like, shape (d,)
        What is searched: named parameters, or for plain vectors where the search starts. With a
        space, points are mappings by name wherever this page says (n, d) or (d,).
    sigma0 : float or array_like, shape (d,), optional
        Standard deviation of the first steps, one or one for each coordinate; not with a space,
        where it is a quarter of each range.
    noise : float, array_like, input law, "learn" or None, optional
        The law of x given theta, as for `minimize`. None: x = theta, or what the space says.
    x0 : mapping or array_like, optional
        Where the search starts; in a space some or all parameters by name, the others in the
        middle of their range.
    bounds : pair, sequence of pairs or scipy.optimize.Bounds, optional
        Bounds of theta, as for `minimize`.
    batch : int, optional
        Evaluations that are run at once: how many `ask` gives, the last time what the budget
        leaves. The population of the evolution strategy is then a whole number of batches.
    popsize : int, optional
        In place of `batch`: evaluations of a generation, at least 2; by default 4 + 3 ln d, and
        more in some restarts.
    budget : int, optional
        Evaluations after which `stop` says so; by default 1000 (d + 10). May be changed later.
    target : float, optional
        `stop` says so when E f is below it (above it to maximise) by two standard errors.
    maximize : bool, optional
        Maximise instead.
    objective : Risk, optional
        What is minimised over theta in place of E f: a quantile, a tail, a probability or a spread
        of f(x), such as `phenes.risk.cvar(0.9)`. To maximise, of the other tail.
    verify : int, optional
        Evaluations of the budget that are kept to verify the answer by fresh draws: by default a
        tenth, 0 for none.
    engine : {"auto", "gp", "relay", "adaptive"}, optional
        What asks: a Gaussian process of f on the realised x, which needs few evaluations; the
        evolution strategy, which is quick and scales; or one after the other. In up to 15
        coordinates "auto" is "gp" for a budget of at most 500 and "relay" up to 2000; otherwise
        it is "adaptive".
    constraints : Wanted, optional
        How surely the constraints that are told must hold: `phenes.chance(0.99)`,
        `phenes.chance(stress=0.99, gap=0.9)` or `phenes.on_average()`.
    checkpoint : str or pathlib.Path, optional
        A file in which every ask and tell is kept at once. The same call with the same file goes on
        where it was, bit for bit; a larger budget is allowed. One program writes it at a time.
    seed : int, optional
        The same seed and the same values give the same run.

    Attributes
    ----------
    dim : int
        Number of coordinates d.
    seed, target
        As given.
    objective : Risk
        What is minimised over theta.
    space : Space or None
        The named parameters, if there are any.
    engine : str
        What asks: "gp", "relay" or "adaptive".
    learns : bool
        Is the noise learnt from the data?
    wanted : Wanted or None
        What is wanted of the constraints, if there are any.

    Raises
    ------
    ValueError
        If an argument is not what it must be; one sentence names what was given and expected.

    Examples
    --------
    >>> import numpy as np, phenes
    >>> rng = np.random.default_rng(0)
    >>> opt = phenes.Optimizer(x0=np.ones(3), sigma0=0.5, noise=0.1, budget=500, seed=0)
    >>> while not opt.stop():
    ...     theta = opt.ask()
    ...     x = theta + 0.1 * rng.standard_normal(theta.shape)  # what the lab made of it
    ...     opt.tell(theta, np.sum(x**2, axis=1), realised=x)
    >>> opt.result.nfev
    500
    """

    def __init__(
        self,
        space: Space | ArrayLike | None = None,
        sigma0: ArrayLike | None = None,
        noise: Noise = None,
        *,
        x0: ArrayLike | Mapping[str, Any] | None = None,
        bounds: Bounds = None,
        batch: int | None = None,
        popsize: int | None = None,
        budget: int | None = None,
        target: float | None = None,
        maximize: bool = False,
        objective: Any = None,
        verify: int | None = None,
        engine: str = "auto",
        constraints: Wanted | None = None,
        checkpoint: str | Path | None = None,
        seed: int = 0,
    ):
        self._setup = make_setup(space, sigma0, noise, x0, bounds)
        self.space = self._setup.space
        self.dim = self._setup.x0.size
        self.seed = _validate.count("seed", seed, 0)
        self.target = None if target is None else _validate.number("target", target)
        self._sign = -1.0 if _validate.flag("maximize", maximize) else 1.0
        self.objective = as_risk(objective)
        self._shift, self._slope = self.objective.shown(self._sign)  # to values that users see
        self._batch, self._requested = _validate.batch(batch, popsize)
        self._progress = Progress(_validate.budget(budget, self.dim))
        reserved = _validate.verify(verify, self._progress.budget)
        self._noise = NoiseState(self._setup.noise, self._setup.x0)
        self.learns = self._noise.learns
        at_once, whole = self._batch or self._requested, self._batch is not None
        self._wishes = Wishes(self.target, self._slope, reserved, at_once, whole, self._shift)
        words = _validate.choice("engine", engine, ENGINES)
        self.wanted = wanted(constraints)
        self._plan = Plan(
            words,
            self._batch,
            self._requested,
            self.seed,
            self.wanted,
            self.objective.minimised(self._sign),
        )
        self._settings = Settings(
            self._setup.x0,
            self._setup.sigma0,
            self._setup.lower,
            self._setup.upper,
            self._batch,
            self._requested,
            self.budget,
            self.target,
            self._sign < 0,
            reserved,
            words,
            self.seed,
            None if self.space is None else self.space.described(),
            None if self.wanted is None else self.wanted.described(),
            None if self.objective == mean() else self.objective.described(),
        )
        self._begin()
        self._journal = Journal(self.dim)
        if checkpoint is not None:
            self._keep(checkpoint, self.budget)

    def _begin(self) -> None:
        """The search, as the budget has it."""
        self._state = AskTell(self._setup, self._noise, self._plan, self._progress, self._wishes)

    @property
    def budget(self) -> int:
        """Evaluations after which `stop` says so. It may be raised or lowered during a run."""
        return self._progress.budget

    @budget.setter
    def budget(self, value: int) -> None:
        self._change_budget(_validate.count("budget", value))

    def _change_budget(self, budget: int) -> None:
        self._journal.budget(budget)
        self._progress.budget = budget
        if not self._state.asked and not self.nfev:
            self._begin()

    def _begin_with(self, budget: int) -> None:
        self._progress.budget = budget
        self._begin()

    def ask(self, n: int | None = None, pending: int = 0) -> Any:
        """Intended theta to try. May be asked again before anything is told.

        Near the end of the budget these are points at which the answer is verified; there are never
        more than the budget leaves. Once it is used, more draws at the answer.

        Parameters
        ----------
        n : int, optional
            How many; by default `batch`.
        pending : int, optional
            Rows that were handed out, are still under way and will be told, such as
            `len(opt.pending)`: they count as used.

        Returns
        -------
        ndarray, shape (m, d), or list of m dict
            m is at most n.

        Raises
        ------
        ValueError
            If n is not a whole number of at least 1.
        """
        return self._named(self.ask_vectors(n, pending))

    def _named(self, rows: FloatArray) -> Any:
        if self.space is None:
            return rows
        return [dict(self.space.decode(row)) for row in rows]

    def _vectors(self, theta: Any) -> Any:
        return theta if self.space is None else self._encoded(theta, None)[0]

    def _encoded(self, theta: Any, realised: Any) -> tuple[FloatArray, FloatArray | None]:
        assert self.space is not None
        return encode_told(self.space, theta, realised, self._journal.pending)

    def _hand_out_again(self, theta: FloatArray, pending: int) -> FloatArray:
        return self._state.ask_again(theta, pending)

    def ask_vectors(self, n: int | None = None, pending: int = 0) -> FloatArray:
        """`ask`, always as vectors: those of the space, if there is one.

        Parameters
        ----------
        n, pending : int, optional
            As for `ask`.

        Returns
        -------
        ndarray, shape (m, d)
            m is at most n.
        """
        wanted = self.batch if n is None else _validate.count("n", n)
        under_way = _validate.count("pending", pending, 0)
        left = max(self.budget - self.nfev - under_way, 0)
        rows = wanted if self.nfev >= self.budget else min(wanted, left)
        if rows == 0:  # pending evaluations use up the budget
            return np.empty((0, self.dim))
        theta = self._state.ask(rows, under_way)
        self._journal.ask(theta, under_way)
        return theta

    def tell(self, theta: Any, f: ArrayLike, realised: Any = None, constraints: Any = None) -> None:
        """Tell values of f, of any number of theta.

        Parameters
        ----------
        theta : array_like, shape (n, d)
            What was intended. In a space: mappings by name, a data frame or mapping with a column
            for each name, or an array with a column for each parameter.
        f : array_like, shape (n,)
            Values at the realised x; NaN, infinite or None is a failed evaluation.
        realised : array_like, shape (n, d), optional
            The measured x; NaN coordinates were not measured. In a space as theta: parameters
            that are left out were not measured, or if they have no noise, are as intended.
        constraints : mapping or array_like, shape (n, J), optional
            Values by name, `{"stress": [...]}`, or a column for each constraint; good where they
            are at most 0, NaN is not. With each call, if `constraints` was given to the optimiser.

        Raises
        ------
        ValueError
            If shapes do not match, theta is not finite, or a name or value is unknown; if there
            are no constraints and the optimiser has been given some, or the reverse.

        Warns
        -----
        NoiseWarning
            If the realised inputs contradict the declared noise.
        """
        if self.space is not None:
            theta, realised = self._encoded(theta, realised)
        self.tell_vectors(theta, f, realised, constraints)

    def tell_vectors(
        self,
        theta: ArrayLike,
        f: ArrayLike,
        realised: ArrayLike | None = None,
        constraints: Any = None,
    ) -> None:
        """`tell`, always with vectors: those of the space, if there is one.

        Parameters
        ----------
        theta, f, realised, constraints
            As for `tell`.
        """
        intended, values, x = _validate.told(theta, f, realised, self.dim)
        names, c = self._held(constraints, values)
        self._journal.tell(intended, values, x, names, c)
        if c is not None:
            self._state.trust.seen.name_limits(names)
        self._state.tell(intended, x, self._sign * values, c)

    def _held(
        self, constraints: Any, values: FloatArray
    ) -> tuple[tuple[str, ...], FloatArray | None]:
        """Names and values of constraints (n, J) that are told; None if there are none."""
        if self.wanted is None:
            if constraints is not None:
                raise ValueError(
                    "constraints were told, and the optimiser was not given how surely they must"
                    f" hold: give it {EXAMPLE}, or another probability"
                )
            return (), None
        if constraints is not None:
            return columns(constraints, self.wanted, self.constraint_names, values.size)
        if np.isfinite(values).any():
            raise ValueError(
                "constraints must be told with each evaluation, as constraints={'stress': [...]},"
                " since the optimiser was given what they must meet; got None"
            )
        return (), None

    def verify(self, n: int) -> Any:
        """More theta at the present answer, to be told like any others.

        What is claimed then rests on them too. Does not mind the budget.

        Parameters
        ----------
        n : int
            How many.

        Returns
        -------
        ndarray, shape (n, d), or list of n dict
            Equal rows.

        Raises
        ------
        ValueError
            If n is not a whole number of at least 1.
        """
        count = _validate.count("n", n)
        at = self._state.recommended().theta
        self._place(at)
        theta = np.tile(at, (count, 1))
        self._journal.verify(theta)
        return self._named(theta)

    def _place(self, theta: FloatArray) -> None:
        self._state.trust.place(ANSWER, theta)
