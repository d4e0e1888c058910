"""A sampler for Optuna that knows that what is suggested is not what is realised.

A trial's parameters are what is intended. What was realised goes back as a user attribute::

    def objective(trial):
        width = trial.suggest_float("width", 50, 300)
        made, cost = workshop(width)
        trial.set_user_attr("realised", {"width": made})
        return cost

    sampler = PhenesSampler(noise={"width": 4.0}, budget=100)
    study = optuna.create_study(sampler=sampler, storage="sqlite:///study.db")
    study.optimize(objective, n_trials=100)
    print(sampler.result(study))

The study's storage holds all that the sampler knows: another process, or the same program
tomorrow, goes on from the trials that are there. `study.best_params` is the luckiest trial where
there is noise; `sampler.result` is the answer, with an error.
"""

# Optuna may not be installed where types are checked
# pyright: basic, reportMissingImports=false, reportReturnType=false

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

try:
    from optuna.distributions import (
        BaseDistribution,
        CategoricalDistribution,
        FloatDistribution,
        IntDistribution,
    )
    from optuna.samplers import BaseSampler, RandomSampler
    from optuna.search_space import IntersectionSearchSpace
    from optuna.study import Study, StudyDirection
    from optuna.trial import FrozenTrial, TrialState
except ModuleNotFoundError as error:
    from phenes._extras import install_hint

    raise ModuleNotFoundError(
        f"PhenesSampler needs Optuna: {install_hint('optuna')}", name="optuna"
    ) from error

from phenes import _validate
from phenes._validate import FloatArray
from phenes.integrations.campaign import (
    Noise,
    ask_one,
    check_noise,
    make_optimizer,
    noise_by_name,
)
from phenes.optimizer import Optimizer, Result
from phenes.space import Choice, Integer, Log, Parameter, Real

REALISED = "realised"  # the user attribute
ENDED = (TrialState.COMPLETE, TrialState.FAIL, TrialState.PRUNED)


class PhenesSampler(BaseSampler):
    """Suggests what to intend, by all trials of the study and what their inputs became.

    The first trial is drawn at random, to see which parameters there are. Parameters that not
    every trial has are drawn at random too, and so are all while the study has none in common.

    Parameters
    ----------
    noise : mapping of str to float, or "learn", optional
        Standard deviation of what is realised of a float parameter around what is suggested; of a
        parameter with log=True, of its logarithm (0.05 is an error of 5 %). Others are realised
        exactly. "learn": estimated from what trials say in their user attribute "realised".
    budget : int, optional
        How many trials there will be: at the end of them, trials verify the answer. Without,
        none do.
    engine : {"auto", "gp", "adaptive"}, optional
        What asks, as for `phenes.Optimizer`.
    seed : int, optional
        The same seed and the same trials give the same suggestions.

    Raises
    ------
    ValueError
        If an argument is not what it must be.
    """

    def __init__(
        self,
        noise: Noise = None,
        *,
        budget: int | None = None,
        engine: str = "auto",
        seed: int = 0,
    ):
        self.noise, self.engine = check_noise(noise), engine
        self.budget = None if budget is None else _validate.count("budget", budget)
        self.seed = _validate.count("seed", seed, 0)
        self._random = RandomSampler(seed=self.seed)
        self._common = IntersectionSearchSpace()
        self._key: Any = None
        self._opt: Optimizer | None = None
        self._told: set[int] = set()

    def reseed_rng(self) -> None:
        """For Optuna's threads: suggestions of parallel trials differ by what is under way."""
        self._random.reseed_rng()

    def infer_relative_search_space(
        self, study: Study, trial: FrozenTrial
    ) -> dict[str, BaseDistribution]:
        """The parameters that all trials have in common.

        Parameters
        ----------
        study : optuna.Study
            Of the trial.
        trial : optuna.trial.FrozenTrial
            The trial to come.

        Returns
        -------
        dict of str to BaseDistribution
        """
        found = self._common.calculate(study)
        return {name: each for name, each in found.items() if not each.single()}

    def sample_relative(
        self,
        study: Study,
        trial: FrozenTrial,
        search_space: dict[str, BaseDistribution],
    ) -> dict[str, Any]:
        """What to intend next.

        Parameters
        ----------
        study : optuna.Study
            Its trials are told first, each once.
        trial : optuna.trial.FrozenTrial
            The trial to come.
        search_space : dict of str to BaseDistribution
            Of `infer_relative_search_space`.

        Returns
        -------
        dict of str to value
        """
        if not search_space:
            return {}
        opt = self._updated(study, search_space)
        running = study.get_trials(deepcopy=False, states=(TrialState.RUNNING,))
        pending = sum(each.number != trial.number for each in running)
        asked = ask_one(opt, pending)
        return {name: _suggested(each, asked[name]) for name, each in sorted(search_space.items())}

    def sample_independent(
        self,
        study: Study,
        trial: FrozenTrial,
        param_name: str,
        param_distribution: BaseDistribution,
    ) -> Any:
        """A random value, for parameters that are not in common.

        Parameters
        ----------
        study : optuna.Study
            Of the trial.
        trial : optuna.trial.FrozenTrial
            The trial.
        param_name : str
            Of the parameter.
        param_distribution : BaseDistribution
            Its range.

        Returns
        -------
        value
        """
        return self._random.sample_independent(study, trial, param_name, param_distribution)

    def before_trial(self, study: Study, trial: FrozenTrial) -> None:
        """Refuse studies with several objectives.

        Parameters
        ----------
        study : optuna.Study
            Of the trial.
        trial : optuna.trial.FrozenTrial
            The trial to come.

        Raises
        ------
        ValueError
            If there are several.
        """
        if len(study.directions) != 1:
            raise ValueError(
                f"PhenesSampler needs a study of one objective, got {len(study.directions)}"
            )

    def after_trial(
        self,
        study: Study,
        trial: FrozenTrial,
        state: TrialState,
        values: Sequence[float] | None,
    ) -> None:
        """Nothing to do: trials are read when the next is asked for.

        Parameters
        ----------
        study : optuna.Study
            Of the trial.
        trial : optuna.trial.FrozenTrial
            The trial.
        state : TrialState
            How it ended.
        values : sequence of float, optional
            What it is worth.
        """

    def result(self, study: Study) -> Result:
        """The answer: what to intend, and E f there with its error, on the evidence of all trials.

        Parameters
        ----------
        study : optuna.Study
            With at least one trial that has ended.

        Returns
        -------
        phenes.Result
            Parameters by name, with values as `trial.params` has them; an option such as None,
            which no parameter of phenes can be, as text.

        Raises
        ------
        ValueError
            If no trial has ended.
        """
        found = {
            name: each for name, each in self._common.calculate(study).items() if not each.single()
        }
        if not found:
            raise ValueError("the study must have a trial that has ended, got none")
        return self._updated(study, found).result

    def _updated(self, study: Study, space: dict[str, BaseDistribution]) -> Optimizer:
        """The optimizer of these parameters, told of all trials that have ended."""
        key = sorted((name, repr(each)) for name, each in space.items())
        if self._opt is None or key != self._key:
            self._opt, self._key, self._told = self._made(study, space), key, set()
        for trial in study.get_trials(deepcopy=False, states=ENDED):
            if trial.number not in self._told and all(name in trial.params for name in space):
                self._told.add(trial.number)
                self._tell(self._opt, trial, space)
        return self._opt

    def _made(self, study: Study, space: dict[str, BaseDistribution]) -> Optimizer:
        noise = noise_by_name(self.noise, space)
        return make_optimizer(
            {
                name: _parameter(name, each, noise.get(name, 0.0))
                for name, each in sorted(space.items())
            },
            self.noise,
            budget=self.budget,
            engine=self.engine,
            maximize=study.direction == StudyDirection.MAXIMIZE,
            seed=self.seed,
        )

    def _tell(self, opt: Optimizer, trial: FrozenTrial, space: dict[str, BaseDistribution]) -> None:
        theta = {name: _intended(each, trial.params[name]) for name, each in space.items()}
        said = trial.user_attrs.get(REALISED)
        x = None
        if _validate.mapping(said) is not None:
            x = {
                name: _intended(space[name], value) for name, value in said.items() if name in space
            }
        exact = self.noise is None
        value = trial.value if trial.state == TrialState.COMPLETE else np.nan
        opt.tell(theta, [value], realised=[x if x is not None or not exact else {}])


class _Steps(Integer):
    """Numbers at equal distances: the coordinate counts the steps, the value is Optuna's."""

    def __init__(self, low: float, high: float, step: float):
        super().__init__(0, round((high - low) / step))
        self._low, self._step = low, step

    def _encode(self, name: str, value: Any) -> FloatArray:
        return np.array(
            [float(np.round((_validate.measured(name, value) - self._low) / self._step))]
        )

    def _decode(self, coordinates: FloatArray) -> Any:
        value = self._low + float(coordinates[0]) * self._step
        if isinstance(self._low, int) and value.is_integer():
            return int(value)
        return float(f"{value:.12g}")  # 0.3, not 0.30000000000000004


def _parameter(name: str, each: BaseDistribution, noise: float) -> Parameter:
    if isinstance(each, FloatDistribution) and each.step is None:
        kind = Log if each.log else Real
        return kind(each.low, each.high, noise=noise)
    if noise:
        raise ValueError(f"noise must be of float parameters without a step, got {name}")
    if isinstance(each, CategoricalDistribution):
        return Choice(*_options(each))
    if isinstance(each, FloatDistribution | IntDistribution):
        return _Steps(each.low, each.high, each.step)
    raise ValueError(f"PhenesSampler does not know {type(each).__name__}")


def _options(each: CategoricalDistribution) -> list[Any]:
    """The choices of Optuna, as text what no `Choice` can have; numbers if two agree."""
    plain = [
        one if isinstance(one, str | int | float | bool) and one == one else repr(one)
        for one in each.choices
    ]
    alike = len({(type(one), one) for one in plain}) < len(plain)
    return list(range(len(plain))) if alike else plain


def _intended(each: BaseDistribution, value: Any) -> Any:
    """A value of Optuna's as one of the space."""
    if isinstance(each, CategoricalDistribution):
        return _options(each)[each.choices.index(value)]
    return value


def _suggested(each: BaseDistribution, value: Any) -> Any:
    """The reverse."""
    if isinstance(each, CategoricalDistribution):
        known = _options(each)
        return each.choices[
            [type(one) is type(value) and one == value for one in known].index(True)
        ]
    return type(each.low)(min(max(value, each.low), each.high))
