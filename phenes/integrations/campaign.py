"""The Optimizer behind another tool: its parameters as a space, its trials told as they end."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from phenes import _validate
from phenes.optimizer import Optimizer
from phenes.optimizer.engines import ADAPTIVE, FEW_COORDINATES, GP
from phenes.space import Parameter, Space

Noise = Mapping[str, float] | str | None  # by parameter, "learn", or all are hit exactly


def check_noise(noise: Noise) -> Noise:
    """A mapping, "learn" or None; the names are checked when those of the study are known."""
    if noise is not None and noise != "learn" and _validate.mapping(noise) is None:
        raise ValueError(
            "noise must be a mapping of parameters to standard deviations, or 'learn', got"
            f" {_validate.quote(noise)}"
        )
    return noise


def noise_by_name(noise: Noise, names: Mapping[str, Any]) -> dict[str, float]:
    """What was said of single parameters, all of which must exist."""
    said = {} if noise is None or isinstance(noise, str) else dict(noise)
    if said.keys() - names.keys():
        _validate.same_names("noise", said, names, all_of=False)
    return said


def make_optimizer(
    parameters: Mapping[str, Parameter],
    noise: Noise,
    *,
    budget: int | None,
    engine: str,
    maximize: bool,
    seed: int,
) -> Optimizer:
    """Without a budget nothing is verified, and the engine is that of few evaluations."""
    if budget is None and engine == "auto":
        engine = GP if len(parameters) <= FEW_COORDINATES else ADAPTIVE
    return Optimizer(
        Space(parameters, noise="learn" if noise == "learn" else None),
        budget=budget,
        verify=0 if budget is None else None,
        engine=engine,
        maximize=maximize,
        seed=seed,
    )


def ask_one(opt: Optimizer, pending: int) -> dict[str, Any]:
    """What to intend next; one more draw at the answer where all of the budget is under way."""
    return (opt.ask(1, pending=pending) or opt.verify(1))[0]
