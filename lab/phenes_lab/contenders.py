"""The contenders: libraries that people use today, with their best known settings, and phenes."""

import functools
import importlib.util
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from phenes_lab.rivals import Cmaes, Phenes, Pycma, PycmaLq, PycmaNoiseHandler, Search, Start

OURS = "phenes"
THETA = "phenes-theta"  # the same engine, told theta only: what the realised x is worth
BASELINE = "cmaes"  # without noise, what phenes must not be much worse than


class Contender(NamedTuple):
    """search: makes a run from a Start. module: what has to be installed.

    rival: counts among those that phenes is measured against. noiseless: takes part without noise
    too, where telling x and telling theta are the same. microseconds: rough cost of an evaluation,
    for the progress bar.
    """

    about: str
    module: str
    microseconds: float
    search: Callable[..., Search]
    rival: bool = True
    noiseless: bool = False


def _jax(start: Start, name: str, *options: Any) -> Any:
    """Import JAX only if the contender is used."""
    from phenes_lab import jax_rivals

    return getattr(jax_rivals, name)(start, *options)


def _evosax(algorithm: str) -> Callable[..., Search]:
    return lambda start: _jax(start, "Evosax", algorithm, 100)


def _told(search: Callable[..., Search], about: str, *costs: float, **options: Any) -> Any:
    """Two contenders from one library, told theta and told x. options: of the search."""
    theta, x = costs
    module = {Pycma: "cma", PycmaLq: "cma", Cmaes: "cmaes"}[search]
    make = functools.partial
    return (
        Contender(f"{about}, told theta", module, theta, make(search, **options), noiseless=True),
        Contender(f"{about}, told x", module, x, make(search, **options, told_x=True)),
    )


PYCMA, PYCMA_X = _told(Pycma, "pycma, default population", 50, 60)
PYCMA_100, PYCMA_100_X = _told(Pycma, "pycma, N = 100", 17, 26, popsize=100)
# told x it diverges in two dimensions: its models extrapolate to candidates that it did not draw
LQ, _ = _told(PycmaLq, "pycma's lq-CMA-ES, which has models too", 900, 900)
CMAES, CMAES_X = _told(Cmaes, "cmaes CMA, default population", 30, 30)
# with small learning rates it goes on through noise, and may lose by being started again when it
# seems to stagnate (sphere, d = 10, noise .1, 15,000 evaluations: a gap of 2.3e-5 instead of 8e-6):
# it takes part both ways
ADAPTIVE = "cmaes CMA with lr_adapt, default population"
LRA, LRA_X = _told(Cmaes, f"{ADAPTIVE}, one run", 40, 40, lr_adapt=True, blind=False)
LRA_AGAIN, LRA_X_AGAIN = _told(Cmaes, f"{ADAPTIVE}, restarts", 40, 40, lr_adapt=True)
EVOSAX = Contender("evosax CMA_ES, N = 100, told theta", "evosax", 10, _evosax("CMA_ES"))
CONTENDERS: dict[str, Contender] = {
    OURS: Contender("phenes.Optimizer, told x", "phenes", 15, Phenes, False, True),
    THETA: Contender(
        "phenes.Optimizer, told theta: what the realised x is worth",
        "phenes",
        15,
        functools.partial(Phenes, told_x=False),
        rival=False,
    ),
    "paes": Contender(
        "the paper's PAES, fixed learning rate, N = 100, told x",
        "phenes",
        10,
        lambda start: _jax(start, "Paes"),
        rival=False,
    ),
    "pycma": PYCMA,
    "pycma-x": PYCMA_X,
    "pycma-100": PYCMA_100,
    "pycma-100-x": PYCMA_100_X,
    "pycma-handler": Contender(
        "pycma, default population, NoiseHandler, told theta", "cma", 50, PycmaNoiseHandler
    ),
    "pycma-lq": LQ,
    "cmaes": CMAES,
    "cmaes-x": CMAES_X,
    "cmaes-lra": LRA,
    "cmaes-lra-x": LRA_X,
    "cmaes-lra-r": LRA_AGAIN._replace(noiseless=False),
    "cmaes-lra-x-r": LRA_X_AGAIN,
    "evosax-cma": EVOSAX._replace(noiseless=True),
    "evosax-snes": EVOSAX._replace(
        about="evosax SNES, N = 100, told theta", search=_evosax("SNES"), noiseless=True
    ),
}
RIVALS = tuple(name for name, contender in CONTENDERS.items() if contender.rival)


def check_installed(names: Iterable[str], table: Mapping[str, Any] = CONTENDERS) -> None:
    """Raise a ValueError that names the packages these contenders need and that are missing."""
    needed = {table[name].module for name in names}
    missing = sorted(module for module in needed if importlib.util.find_spec(module) is None)
    if missing:
        raise ValueError(
            f"these contenders need {', '.join(missing)}, which are not installed: choose others,"
            " or pip install -e ./lab"
        )
