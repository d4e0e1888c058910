"""What a training of a network is made of: the default for any environment, the paper's."""

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass

import jax.numpy as jnp
from jaxtyping import Array, Int

from phenes import _validate, weightings
from phenes.rl.policies.network import constant
from phenes.rl.problems.directions import TopDirections
from phenes.rl.rollouts.spaces import Spaces
from phenes.rl.trajectories import (
    ByTrajectory,
    Genotype,
    Reparameterised,
    ScoreAtMean,
    credited,
    curved_mix,
    linearised,
)
from phenes.weightings import Weighting

SHORT = 300  # steps of an episode up to which the noise of a sum of scores is bearable
# of `linear`: alpha / nu of augmented random search, published between 0.4 and 2.7; with 1 two of
# four seeds of Hopper fall
RATE = 0.5
# its constant input where episodes end by themselves; those that vary have a spread of 1: with 0
# four of five seeds of Hopper do not learn to stand, with 1 two of five of a double pendulum fall
CONSTANT = 0.5


@dataclass(frozen=True)
class Settings:
    """What a training of a network is made of.

    Parameters
    ----------
    estimator : ByTrajectory
        Estimator of the gradient.
    popsize : int
        Episodes in a generation.
    generations : int
        How long to learn.
    hidden : tuple of int
        Widths of the hidden layers.
    sigma : tuple of (float, float)
        Spread of the search in theta, from the first value to the second over `decay` generations.
    decay : int
        See sigma.
    action_noise : float or None
        Standard deviation of continuous actions in units of their bounds; None follows sigma.
    rate : float
        Learning rate of Adam, or of plain steps; see natural.
    natural : bool
        Plain steps along the natural gradient, m + rate mean(w_i (theta_i - m)), in units of the
        spread whatever it is, instead of those of Adam.
    weighting : callable
        f [N] -> w [N], one of `phenes.weightings`.
    normalise : bool
        Bring observations to a common scale.
    mirrored : bool
        Pairs m +- s xi that start from the same state.
    alike : bool
        All individuals of a generation start from the same state, so that what they return differs
        by what they do.
    deterministic : bool
        Individuals take their best action (for the genotype estimator).
    last : float
        Factor of the first weights of the last layer; a small one begins in the middle of the
        actions, and none of them is beyond their bounds. 0 makes a linear policy begin at zero.
    bias : float
        Size of the constant input of a layer, 0 for none.
    bonus : float or None
        Reward of a step that is taken off what the learner sees: what is paid for being alive. None
        measures it in the first generation, see `phenes.rl.problems.idle`.
    widen : bool
        Search wider as long as nobody does better than an idle policy, from which mirrored pairs
        begin.
    together : bool
        Search the weights of a linear policy as observations vary together, and its constant input
        only where episodes end by themselves, see `phenes.rl.problems.together`.
    every : int
        Generations between two looks at the mean policy.

    Raises
    ------
    ValueError
        If a number is not in its range, or popsize is odd for mirrored pairs.
    """

    estimator: ByTrajectory
    popsize: int = 20
    generations: int = 300
    hidden: tuple[int, ...] = (32, 32)
    sigma: tuple[float, float] = (0.1, 0.1)
    decay: int = 1
    action_noise: float | None = 0.3
    rate: float = 3e-2
    weighting: Weighting = weightings.standardise
    normalise: bool = True
    mirrored: bool = False
    alike: bool = False
    deterministic: bool = False
    last: float = 1.0
    natural: bool = False
    bias: float = 1.0
    bonus: float | None = 0.0
    widen: bool = False
    together: bool = False
    every: int = 5

    def __post_init__(self):
        _validate.counts(self, ("popsize",), 2)
        _validate.counts(self, ("generations", "decay", "every"))
        for name in ("sigma", "rate", "action_noise"):
            if getattr(self, name) is not None:
                _validate.positive(name, getattr(self, name))
        _validate.positive("last", self.last, strict=False)
        constant(self.bias)
        if self.bonus is not None:
            _validate.number("bonus", self.bonus)
        if self.widen and not (self.mirrored and self.natural):
            raise ValueError("widen needs mirrored pairs and natural steps")
        if self.together and not self.natural:
            raise ValueError("together needs natural steps")
        if self.mirrored and self.popsize % 2:
            raise ValueError(f"popsize must be even for mirrored pairs, got {self.popsize}")

    def spread(self) -> Callable[[Int[Array, ""] | int], Array]:
        """sigma by generation.

        Returns
        -------
        callable
            generation -> sigma.
        """
        first, last = self.sigma
        return lambda generation: jnp.asarray(
            first + (last - first) * jnp.minimum(generation / self.decay, 1.0)
        )

    def described(self) -> dict[str, object]:
        """The settings as JSON: what must be the same for a run to be gone on with.

        Returns
        -------
        dict
            Names and plain values.
        """
        plain = {f.name: getattr(self, f.name) for f in dataclasses.fields(self)}
        return {
            **plain,
            "estimator": repr(self.estimator),
            "weighting": getattr(self.weighting, "__qualname__", repr(self.weighting)),
        }


def default(spaces: Spaces) -> Settings:
    """Settings that need no tuning.

    The estimator follows from the kind of actions and the length of an episode.

    Parameters
    ----------
    spaces : Spaces
        Spaces of the environment.

    Returns
    -------
    Settings
        Settings for this environment.
    """
    if spaces.discrete:
        return Settings(curved_mix(32))
    if spaces.limit <= SHORT:
        # short episodes: the score of the actions has little enough variance, if the action noise
        # is much larger than that of theta, with discounted rewards to go
        estimator = credited(Reparameterised(), discount=0.95)
        return Settings(
            estimator,
            generations=400,
            sigma=(0.02, 0.02),
            rate=5e-3,
            action_noise=1.0,
            last=0.1,
            popsize=100,
            hidden=(64, 64),
        )
    return linear()


def linear() -> Settings:
    """A linear policy that begins idle, few mirrored pairs, the better half, and natural steps.

    All individuals of a generation begin in the same state. Weights are searched as observations
    vary together.

    The default for continuous actions and long episodes.

    Returns
    -------
    Settings
        The same for every environment.
    """
    return Settings(
        Genotype(),
        popsize=8,
        generations=1000,
        hidden=(),
        sigma=(0.05, 0.05),
        rate=RATE,
        weighting=TopDirections(),
        mirrored=True,
        alike=True,
        deterministic=True,
        last=0.0,
        natural=True,
        bias=CONSTANT,
        bonus=None,
        widen=True,
        together=True,
        every=12,
    )


def network(spaces: Spaces) -> Settings:
    """Networks that draw their actions, and scores of these: `default` unless episodes are long.

    For long episodes with continuous actions: whole returns less a baseline at the first state.
    With half of this sigma one seed of Swimmer stays in the plateau where hardly anything moves.

    Parameters
    ----------
    spaces : Spaces
        Spaces of the environment.

    Returns
    -------
    Settings
        Settings for this environment.
    """
    if spaces.discrete or spaces.limit <= SHORT:
        return default(spaces)
    return Settings(
        credited(linearised(50, every_step=False), by_step=False),
        popsize=100,
        hidden=(64, 64),
        sigma=(0.1, 0.1),
        rate=1e-2,
        action_noise=0.1,
    )


def paper(spaces: Spaces) -> Settings:
    """The paper's PAES (errata 17, 20).

    Two hidden layers, Adam 1e-3, centred ranks, N = 100, the score at the mean.

    Parameters
    ----------
    spaces : Spaces
        Spaces of the environment.

    Returns
    -------
    Settings
        Settings for this environment.
    """
    common = {
        "popsize": 100,
        "rate": 1e-3,
        "weighting": weightings.centred_ranks,
        "normalise": False,
    }
    if spaces.discrete:
        return Settings(
            ScoreAtMean(), generations=1000, hidden=(32, 32), sigma=(0.1, 0.1), **common
        )
    swimmer = spaces.name.startswith("Swimmer")
    sigma, decay = ((0.2, 0.05), 5000) if swimmer else ((0.05, 0.01), 3000)
    return Settings(
        ScoreAtMean(),
        generations=decay,
        hidden=(64, 64),
        sigma=sigma,
        decay=decay,
        action_noise=None,
        **common,
    )


def paper_es(spaces: Spaces) -> Settings:
    """The paper's ES.

    As `paper`, with mirrored pairs and the genotype score; continuous actions without noise.

    Parameters
    ----------
    spaces : Spaces
        Spaces of the environment.

    Returns
    -------
    Settings
        Settings for this environment.
    """
    return dataclasses.replace(
        paper(spaces), estimator=Genotype(), mirrored=True, deterministic=not spaces.discrete
    )
