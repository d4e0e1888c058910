"""A generation node for Ax that knows that what is planned is not what is executed.

The parameters of an arm are what is intended. What was executed goes back as tracking metrics::

    node = PhenesNode(noise={"width": 4.0}, budget=60)
    client.configure_tracking_metrics(["executed_width"])
    client.set_generation_strategy(GenerationStrategy(nodes=[node]))
    for _ in range(60):
        for trial, planned in client.get_next_trials(max_trials=1).items():
            width, cost = workshop(planned["width"])
            client.complete_trial(trial, {"cost": cost, "executed_width": width})
    print(node.result(client._experiment))

The experiment holds all that the node knows: a client that was saved and loaded gets a new node,
which goes on from the trials that are there. `client.get_best_parameterization` is of a model of
Ax's; `node.result` is the answer, with an error.
"""

# Ax may not be installed where types are checked
# pyright: basic, reportMissingImports=false, reportIncompatibleMethodOverride=false

from __future__ import annotations

import math
from typing import Any

try:
    from ax.core.data import Data
    from ax.core.experiment import Experiment
    from ax.core.parameter import (
        ChoiceParameter,
        FixedParameter,
        ParameterType,
        RangeParameter,
    )
    from ax.core.parameter import Parameter as AxParameter
    from ax.generation_strategy.external_generation_node import ExternalGenerationNode
except ModuleNotFoundError as error:
    from phenes._extras import install_hint

    raise ModuleNotFoundError(f"PhenesNode needs Ax: {install_hint('ax')}", name="ax") from error

from phenes import _validate
from phenes.integrations.campaign import (
    Noise,
    ask_one,
    check_noise,
    make_optimizer,
    noise_by_name,
)
from phenes.optimizer import Optimizer, Result
from phenes.space import Choice, Integer, Log, Parameter, Real

EXECUTED = "executed_"  # before a parameter's name: the metric of what it became


class PhenesNode(ExternalGenerationNode):
    """Suggests what to intend, by all trials of the experiment and what was executed.

    Parameters
    ----------
    noise : mapping of str to float, or "learn", optional
        Standard deviation of what is executed of a float parameter around what is planned; of one
        with a log scale, of its logarithm (0.05 is an error of 5 %). Others are executed exactly.
        "learn": estimated from the metrics "executed_NAME".
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
        If an argument is not what it must be, or, once it is used, if the experiment has several
        objectives or constraints.
    """

    def __init__(
        self,
        noise: Noise = None,
        *,
        budget: int | None = None,
        engine: str = "auto",
        seed: int = 0,
    ):
        # the same plan twice is no mistake: the answer is verified by repeating it
        super().__init__(name="phenes", should_deduplicate=False)
        self.noise, self.engine = check_noise(noise), engine
        self.budget = None if budget is None else _validate.count("budget", budget)
        self.seed = _validate.count("seed", seed, 0)
        self._opt: Optimizer | None = None
        self._parameters: dict[str, AxParameter] = {}
        self._told: set[int] = set()

    def update_generator_state(self, experiment: Experiment, data: Data) -> None:
        """Tell the trials that have ended, each once.

        Parameters
        ----------
        experiment : ax.Experiment
            Its search space and its trials.
        data : ax.Data
            The values, and what was executed.
        """
        if self._opt is None:
            self._opt = self._made(experiment)
        metric = _objective(experiment).metric_names[0]
        means: dict[int, dict[str, float]] = {}
        for row in data.df.itertuples():
            means.setdefault(int(row.trial_index), {})[str(row.metric_name)] = float(row.mean)
        for index, trial in sorted(experiment.trials.items()):
            seen = means.get(index, {})
            failed = trial.status.is_failed
            ended = failed or (trial.status.is_completed and metric in seen)
            if ended and index not in self._told:
                self._told.add(index)
                value = math.nan if failed else seen[metric]
                self._tell(trial.arms[0].parameters, value, seen)

    def get_next_candidate(self, pending_parameters: list[Any]) -> dict[str, Any]:
        """What to intend next.

        Parameters
        ----------
        pending_parameters : list of dict
            Of the trials that are under way.

        Returns
        -------
        dict of str to value
        """
        assert self._opt is not None, "Ax updates the state first"
        asked = ask_one(self._opt, len(pending_parameters))
        fixed = {
            name: each.value
            for name, each in self._parameters.items()
            if isinstance(each, FixedParameter)
        }
        return {name: _suggested(self._parameters[name], asked[name]) for name in asked} | fixed

    def result(self, experiment: Experiment) -> Result:
        """The answer: what to intend, and E f there with its error, on the evidence of all trials.

        Parameters
        ----------
        experiment : ax.Experiment
            With at least one trial that has ended.

        Returns
        -------
        phenes.Result
            Parameters by name, as Ax has them.

        Raises
        ------
        ValueError
            If no trial has ended.
        """
        self.update_generator_state(experiment, experiment.lookup_data())
        if not self._told:
            raise ValueError("the experiment must have a trial that has ended, got none")
        assert self._opt is not None
        return self._opt.result

    def _made(self, experiment: Experiment) -> Optimizer:
        self._parameters = dict(experiment.search_space.parameters)
        noise = noise_by_name(self.noise, self._parameters)
        return make_optimizer(
            {
                name: _parameter(each, noise.get(name, 0.0))
                for name, each in sorted(self._parameters.items())
                if not isinstance(each, FixedParameter)
            },
            self.noise,
            budget=self.budget,
            engine=self.engine,
            maximize=not _objective(experiment).minimize,
            seed=self.seed,
        )

    def _tell(self, planned: dict[str, Any], value: float, seen: dict[str, float]) -> None:
        assert self._opt is not None
        theta = {
            name: planned[name]
            for name, each in self._parameters.items()
            if not isinstance(each, FixedParameter)
        }
        x = {name: seen[EXECUTED + name] for name in theta if EXECUTED + name in seen}
        self._opt.tell(theta, [value], realised=[x if x or self.noise is None else None])


def _objective(experiment: Experiment) -> Any:
    config = experiment.optimization_config
    if config is None:
        raise ValueError("the experiment must have an objective, got none")
    if len(config.objective.metric_names) != 1 or config.all_constraints:
        raise ValueError(
            "PhenesNode needs one objective without outcome constraints, got"
            f" {config.objective.expression!r} with {len(config.all_constraints)} constraints"
        )
    return config.objective


def _parameter(each: AxParameter, noise: float) -> Parameter:
    """A parameter of Ax's as one of a space."""
    if isinstance(each, RangeParameter) and each.parameter_type == ParameterType.FLOAT:
        kind = Log if each.log_scale else Real
        return kind(each.lower, each.upper, noise=noise)
    if noise:
        raise ValueError(f"noise must be of float parameters, got {each.name}")
    if isinstance(each, RangeParameter):
        return Integer(int(each.lower), int(each.upper))
    if isinstance(each, ChoiceParameter):
        return Choice(*each.values)
    raise ValueError(f"PhenesNode does not know {type(each).__name__}")


def _suggested(each: AxParameter, value: Any) -> Any:
    if isinstance(each, RangeParameter) and each.parameter_type == ParameterType.FLOAT:
        return float(min(max(value, each.lower), each.upper))
    return int(value) if isinstance(each, RangeParameter) else value
