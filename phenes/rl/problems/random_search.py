"""Augmented random search (Mania, Guy, Recht 2018): linear policies, pairs of directions, the best.

The step is m + alpha / (b sigma_R) sum over the b best directions k of (R_k+ - R_k-) delta_k, where
R_k+- is the return at m +- nu delta_k, a direction is as good as the better of its two, and sigma_R
is the standard deviation of the 2b returns. V2 brings observations to a common scale, V1 does not;
with b below the number of directions it is V1-t or V2-t.
"""

from typing import NamedTuple

from phenes import _validate
from phenes.rl.problems.directions import TopDirections
from phenes.rl.problems.settings import Settings
from phenes.rl.rollouts.spaces import Spaces
from phenes.rl.trajectories import Genotype

EPISODES = 20_000  # of a run unless told otherwise
LOOK = 100  # episodes between two looks at the mean policy


class Search(NamedTuple):
    """Settings of augmented random search.

    Parameters
    ----------
    directions : int
        N, mirrored pairs in a generation.
    top : int
        b, how many of them count.
    step : float
        alpha.
    noise : float
        nu, the spread of the search.
    bonus : float
        Reward of a step for being alive, which is taken away.
    normalise : bool
        Bring observations to a common scale: V2, else V1.
    """

    directions: int
    top: int
    step: float
    noise: float
    bonus: float = 0.0
    normalise: bool = True


# settings of the paper, as the zoo of Stable-Baselines3 has them ("closest to original paper")
PUBLISHED = {
    "Swimmer": Search(1, 1, 0.02, 0.01, normalise=False),
    "Hopper": Search(8, 4, 0.01, 0.025, bonus=1.0),
    "HalfCheetah": Search(32, 4, 0.02, 0.03),
    "Walker2d": Search(40, 30, 0.03, 0.025, bonus=1.0),
    "Ant": Search(60, 20, 0.015, 0.025, bonus=1.0),
    "Humanoid": Search(230, 230, 0.02, 0.0075, bonus=5.0),
    "MountainCarContinuous": Search(16, 16, 0.02, 0.05),  # of the zoo alone
}
ELSEWHERE = Search(8, 8, 0.02, 0.05)  # defaults of sb3-contrib


def published(name: str) -> Search:
    """The published settings for an environment of this name; the defaults of others elsewhere."""
    return PUBLISHED.get(name.rpartition("-v")[0], ELSEWHERE)


def random_search(spaces: Spaces, search: Search | None = None) -> Settings:
    """Augmented random search, V2-t where nothing else was published for an environment.

    Parameters
    ----------
    spaces : Spaces
        Spaces of the environment.
    search : Search, optional
        Number of directions, of the best of them, step, noise, bonus and whether to normalise; as
        published for this environment unless given.

    Returns
    -------
    Settings
        Settings for this environment.

    Raises
    ------
    ValueError
        If there are more best directions than directions, or a number is not positive.
    """
    found = published(spaces.name) if search is None else search
    n, b = (_validate.count(w, getattr(found, w)) for w in ("directions", "top"))
    if b > n:
        raise ValueError(f"top must be at most the number of directions {n}, got {b}")
    step = _validate.positive_number("step", found.step)
    noise = _validate.positive_number("noise", found.noise)
    return Settings(
        Genotype(),
        popsize=2 * n,
        generations=max(1, EPISODES // (2 * n)),
        hidden=(),
        sigma=(noise, noise),
        rate=step / noise,
        natural=True,
        weighting=TopDirections(b),
        normalise=found.normalise,
        mirrored=True,
        deterministic=True,
        last=0.0,
        bias=0.0,
        bonus=found.bonus,
        every=max(1, LOOK // (2 * n)),
    )


def random_search_v1(spaces: Spaces) -> Settings:
    """Augmented random search without a scale of observations and with all directions: V1.

    Parameters
    ----------
    spaces : Spaces
        Spaces of the environment.

    Returns
    -------
    Settings
        Settings for this environment.
    """
    found = published(spaces.name)
    return random_search(spaces, found._replace(top=found.directions, normalise=False))
