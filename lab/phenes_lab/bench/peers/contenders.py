"""Who takes part: libraries that people use today with their best known settings, and phenes."""

import functools
import importlib.util
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from phenes_lab.bench.peers.libraries import Cmaes, Phenes, Pycma, PycmaNoiseHandler, Search, Start

OURS = "phenes"
BASELINE = "cmaes"  # without noise, what phenes must not be much worse than


class Peer(NamedTuple):
    """search: makes a run from a Start. module: what has to be installed.

    rival: counts among the peers that phenes is measured against. noiseless: takes part without
    noise too, where telling x and telling theta are the same. microseconds: rough cost of an
    evaluation, for the progress bar.
    """

    about: str
    module: str
    microseconds: float
    search: Callable[..., Search]
    rival: bool = True
    noiseless: bool = False


def _evosax(start: Start, name: str) -> Any:
    from phenes_lab.bench.peers.jaxed import Evosax  # JAX is not waited for before it is needed

    return Evosax(start, name, 100)


def _paes(start: Start) -> Any:
    from phenes_lab.bench.peers.jaxed import Paes

    return Paes(start)


make = functools.partial
PEERS: dict[str, Peer] = {
    OURS: Peer("phenes.Optimizer, told x", "phenes", 15, Phenes, rival=False, noiseless=True),
    "phenes-theta": Peer(
        "phenes.Optimizer, told theta: what the realised x is worth",
        "phenes",
        15,
        make(Phenes, told_x=False),
        rival=False,
    ),
    "paes": Peer(
        "the paper's PAES, fixed learning rate, N = 100, told x", "phenes", 10, _paes, rival=False
    ),
    "pycma": Peer("pycma, default N, told theta", "cma", 50, Pycma, noiseless=True),
    "pycma-x": Peer("pycma, default N, told x", "cma", 60, make(Pycma, told_x=True)),
    "pycma-100": Peer(
        "pycma, N = 100, told theta", "cma", 17, make(Pycma, popsize=100), noiseless=True
    ),
    "pycma-100-x": Peer("pycma, N = 100, told x", "cma", 26, make(Pycma, popsize=100, told_x=True)),
    "pycma-handler": Peer(
        "pycma, default N, NoiseHandler, told theta", "cma", 50, PycmaNoiseHandler
    ),
    "cmaes": Peer("cmaes CMA, default N, told theta", "cmaes", 30, Cmaes, noiseless=True),
    "cmaes-x": Peer("cmaes CMA, default N, told x", "cmaes", 30, make(Cmaes, told_x=True)),
    "cmaes-lra": Peer(
        "cmaes CMA with lr_adapt, default N, told theta",
        "cmaes",
        40,
        make(Cmaes, lr_adapt=True),
        noiseless=True,
    ),
    "cmaes-lra-x": Peer(
        "cmaes CMA with lr_adapt, default N, told x",
        "cmaes",
        40,
        make(Cmaes, lr_adapt=True, told_x=True),
    ),
    "evosax-cma": Peer(
        "evosax CMA_ES, N = 100, told theta",
        "evosax",
        10,
        make(_evosax, name="CMA_ES"),
        noiseless=True,
    ),
    "evosax-snes": Peer(
        "evosax SNES, N = 100, told theta", "evosax", 10, make(_evosax, name="SNES"), noiseless=True
    ),
}


def check_installed(names: Iterable[str]) -> None:
    missing = sorted(
        {
            PEERS[name].module
            for name in names
            if importlib.util.find_spec(PEERS[name].module) is None
        }
    )
    if missing:
        raise ValueError(
            f"the peers need {', '.join(missing)}, which are not installed: choose --peers, or"
            f" pip install -e ./lab"
        )
