"""What a problem knows of itself, and where the kinds of problems are registered."""

import dataclasses
import math
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from phenes_lab.bench.trust.laws import Law

FAILURES = ("nan", "inf", "exception", "none", "timeout")
TOLD = ("law", "learn", "nothing", "half")


@dataclass(frozen=True)
class Problem:
    """One instance: minimise E f(x). A value that is not finite is a failure.

    values: f of rows x [n, d], without its own noise. chance: what happens to these values by
    chance. failing: how a failure shows to the one who calls f: NaN, inf, an exception, None, a
    time-out. told: what the search is told of x: the law of it ("law"), x itself but not the law
    ("learn"), neither ("nothing"), the law and every other coordinate ("half"). lowest, highest:
    what no claim on E f may pass.
    best: the optimal theta, exact: E f, where mathematics has them. failure: what a failure costs
    in truth; None: see `truth.price`.
    """

    x0: np.ndarray
    sigma0: float
    law: Law
    values: Callable[[np.ndarray], np.ndarray]
    failing: str = "nan"
    bounds: tuple[np.ndarray, np.ndarray] | None = None
    lowest: float = -math.inf
    highest: float = math.inf
    chance: Callable[[np.ndarray, np.random.Generator], np.ndarray] | None = None
    told: str = "law"
    best: np.ndarray | None = None
    exact: Callable[[np.ndarray], float] | None = None
    failure: float | None = None
    name: str = ""
    family: str = ""
    seed: int = 0

    def __post_init__(self):
        if self.failing not in FAILURES:
            raise ValueError(f"failing must be one of {', '.join(FAILURES)}, got {self.failing!r}")
        if self.told not in TOLD:
            raise ValueError(f"told must be one of {', '.join(TOLD)}, got {self.told!r}")

    @property
    def dim(self) -> int:
        return self.x0.size

    @property
    def noise(self) -> Any:
        """As given to `phenes.minimize`."""
        return "learn" if self.told == "learn" else self.law.stated()

    @property
    def certain(self) -> bool:
        """The same theta always gives the same value."""
        return self.law.size == 0 and self.chance is None

    def realise(self, theta: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        return self.law.realise(theta, rng)

    def judged(self, x: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """f of rows x, with its own noise; NaN where it fails."""
        with np.errstate(all="ignore"):
            y = np.asarray(self.values(x), float)
        y = y if self.chance is None else self.chance(y, rng)
        return np.where(np.isfinite(y), y, np.nan)

    def sample(self, theta: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """x and f of rows theta."""
        x = self.realise(theta, rng)
        return x, self.judged(x, rng)


Build = Callable[[np.random.Generator, int], Problem]


class Kind(NamedTuple):
    """build(rng, dim): draws an instance. facts: fields that all of its instances share."""

    family: str
    dim: int
    build: Build
    facts: dict[str, Any]


KINDS: dict[str, Kind] = {}


def problem(name: str, family: str, dim: int, **facts: Any) -> Callable[[Build], Build]:
    """Registers a function (rng, dim) -> Problem that draws an instance."""

    def register(build: Build) -> Build:
        if name in KINDS:
            raise ValueError(f"there are two problems {name!r}")
        KINDS[name] = Kind(family, dim, build, facts)
        return build

    return register


def names() -> tuple[str, ...]:
    import phenes_lab.bench.trust.kinds  # noqa: F401  # registers them

    return tuple(KINDS)


def draw(name: str, seed: int, base: int = 0) -> Problem:
    """Instance `seed` of a kind: optimum, walls, rotation and start are drawn."""
    if name not in names():
        raise ValueError(f"there is no problem {name!r}, only {', '.join(names())}")
    kind = KINDS[name]
    built = kind.build(np.random.default_rng([base, number(name), seed]), kind.dim)
    return dataclasses.replace(built, name=name, family=kind.family, seed=seed, **kind.facts)


def number(name: str) -> int:
    """For seeds: the same on every machine."""
    return zlib.crc32(name.encode())


def chosen(wanted: tuple[str, ...]) -> tuple[str, ...]:
    """Names of problems, and of families for all that are in them."""
    known = names()
    families = {
        each: tuple(name for name in known if KINDS[name].family == each)
        for each in wanted
        if each not in known
    }
    return tuple(name for each in wanted for name in families.get(each) or (each,))
