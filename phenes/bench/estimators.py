"""Variances of the estimators on the same populations, relative to `phenotype`, with the theory beside them.

A cell is one search law, one input law and one ratio C/S of their variances. Batches of populations are drawn in it; every number is a
ratio of means over the batches, and its standard error the jackknife over them.
"""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Float, PRNGKeyArray

from phenes import inputs, weightings
from phenes.batch import Batch, realise
from phenes.diagnostics import individual_scores
from phenes.estimators import (
    biased_linear,
    diagonal,
    exchangeable,
    exchangeable_coordinates,
    full,
    genotype,
    information_mix,
    mirrored,
    mirrored_phenotype,
    phenotype,
    reparameterised,
)
from phenes.search import Gaussian, IsotropicGaussian

POPSIZE = 100
BATCHES = 40
PAST = 10  # generations that a learner sees beforehand
THRIFT = 10  # estimators that draw auxiliaries cost so much more that they see one population of this many
BASELINE = "phenotype"


@dataclass(frozen=True)
class Settings:
    """samples: individuals in each cell. full_dim, noise_dim: dimension of the cells with full covariance and with other noise laws."""

    dims: tuple[int, ...] = (2, 10, 40)
    ratios: tuple[float, ...] = (0.01, 0.1, 1.0, 10.0)
    samples: int = 200_000
    seed: int = 0
    full_dim: int | None = 10
    noise_dim: int | None = 10
    auxiliaries: int = 60

    def __post_init__(self):
        if self.samples < 2 * POPSIZE * BATCHES:
            raise ValueError(f"samples must be at least {2 * POPSIZE * BATCHES} (two populations a batch), got {self.samples}")
        if any(d < 1 for d in self.dims) or any(c <= 0 for c in self.ratios):
            raise ValueError(f"dims and ratios must be positive, got {self.dims} and {self.ratios}")

    @classmethod
    def quick(cls) -> "Settings":
        return cls(dims=(2,), ratios=(0.1, 1.0), samples=20_000, full_dim=None, noise_dim=None)


@dataclass(frozen=True)
class Ratio:
    """A measured number, its standard error, and what theory says it should be."""

    value: float
    se: float
    theory: float | None = None

    @property
    def agrees(self) -> bool | None:
        """Within 4 standard errors; where theory says that nothing varies, within rounding. None without a theory."""
        if self.theory is None:
            return None
        return bool(abs(self.value - self.theory) <= 4 * self.se + 1e-9 * abs(self.theory))


@dataclass(frozen=True)
class Row:
    """One estimator in one cell, relative to `phenotype` there.

    score_*: second moments of the score of one individual (not defined for pairs); estimate_*: variances of the weighted estimate of a
    population; *_mean, *_spread: the part of psi. bias_*: |E g - E g_phenotype|^2 / |E g_phenotype|^2, itself estimated without bias, so
    that it may come out slightly negative.
    """

    noise: str
    family: str
    dim: int
    ratio: float
    estimator: str
    samples: int
    score_mean: Ratio | None
    score_spread: Ratio | None
    estimate_mean: Ratio
    estimate_spread: Ratio
    bias_mean: Ratio
    bias_spread: Ratio

    @property
    def biased(self) -> bool:
        """By its definition."""
        return self.estimator == "biased_linear"

    @property
    def agrees(self) -> bool | None:
        verdicts = [r.agrees for r in (self.score_mean, self.score_spread) if r is not None and r.agrees is not None]
        return all(verdicts) if verdicts else None


class Cell(NamedTuple):
    noise: str
    family: str
    ratio: float
    p: Any
    q: Any
    plain: dict[str, Any]  # estimators that are averages over individuals
    auxiliary: dict[str, Any]  # the same, but dear
    pairs: dict[str, Any]  # estimators for mirrored populations


class Sample(NamedTuple):
    """One estimator in each population [batches, populations, psi]: second moments of the scores of its individuals, weighted estimate."""

    power: np.ndarray
    g: np.ndarray


def run(settings: Settings, progress: Callable[[int, int], None] = lambda done, total: None) -> list[Row]:
    """All cells. `progress(done, total)` is called after each."""
    with jax.enable_x64(True):
        cells, rows = _cells(settings), []
        for i, cell in enumerate(cells):
            # the same key: cells differ in their laws, not in their random numbers
            samples = _measure_cell(cell, jax.random.key(settings.seed), settings.samples // (POPSIZE * BATCHES))
            rows += [_row(cell, name, own, samples[BASELINE]) for name, own in samples.items() if name != BASELINE]
            progress(i + 1, len(cells))
    return rows


def _cells(settings: Settings) -> list[Cell]:
    joint, coordinates = exchangeable(settings.auxiliaries), exchangeable_coordinates(settings.auxiliaries)
    # made once: one compilation for each dimension serves all ratios
    dear = {"exchangeable": joint, "exchangeable_coordinates": coordinates}
    cells = [_isotropic(d, c, dear) for d in settings.dims for c in settings.ratios]
    if settings.full_dim:
        cells += [_full(settings.full_dim, c, {"exchangeable": joint}) for c in settings.ratios]
    if settings.noise_dim:
        cells += _other_laws(settings.noise_dim, {"exchangeable_coordinates": coordinates})
    return cells


def _isotropic(d: int, c: float, dear: dict[str, Any]) -> Cell:
    q = IsotropicGaussian(jnp.zeros(d), jnp.asarray(1.0))
    plain = _plain(diagonal, jnp.full(d, 1 / c)) | {"biased_linear": biased_linear()}
    return Cell("Gaussian", "isotropic", c, inputs.GaussianNoise(jnp.sqrt(c)), q, plain, dear, _pairs())


def _full(d: int, c: float, dear: dict[str, Any]) -> Cell:
    """Ill-conditioned S with C = c S: the ratios of isotropic laws hold for these too."""
    rotation = jnp.linalg.qr(jax.random.normal(jax.random.key(0), (d, d)))[0]
    cov = (rotation * jnp.logspace(-1, 1, d)[None]) @ rotation.T
    cov = 0.5 * (cov + cov.T)
    plain = _plain(full, jnp.linalg.inv(c * cov)) | {"biased_linear": biased_linear()}
    return Cell("Gaussian", "full", c, inputs.GaussianNoise(c * cov), Gaussian(jnp.zeros(d), cov), plain, dear, _pairs())


def _plain(shape: Callable[[Array], Array], info: Array) -> dict[str, Any]:
    return {
        "phenotype": phenotype,
        "genotype": genotype,
        "reparameterised": reparameterised,
        "information_mix": information_mix(shape, info=info),
        "information_mix, curvature": information_mix(shape, curvature=True, info=info),
        "information_mix, learnt": information_mix(shape),
    }


def _pairs() -> dict[str, Any]:
    return {"mirrored": mirrored, "mirrored_phenotype": mirrored_phenotype, "phenotype, mirrored": phenotype}


def _other_laws(d: int, dear: dict[str, Any]) -> list[Cell]:
    """Variance 1, as that of the search law, before saturation cuts the ends off."""
    laws = {
        "Student t, 5": inputs.StudentTNoise(jnp.sqrt(3 / 5), 5.0),
        "Laplace": inputs.LaplaceNoise(jnp.sqrt(1 / 2)),
        "uniform": inputs.UniformNoise(jnp.sqrt(3.0)),
        "saturating": inputs.SaturatingNoise(1.0, -1.0, 1.0),
        "rounding": inputs.RoundingNoise(jnp.sqrt(6.0), jnp.sqrt(1 / 2)),
    }
    q = IsotropicGaussian(jnp.zeros(d), jnp.asarray(1.0))
    plain = {"phenotype": phenotype, "genotype": genotype, "biased_linear": biased_linear()}
    sloped = plain | {"information_mix, learnt": information_mix()}
    return [Cell(name, "isotropic", 1.0, p, q, plain if name == "uniform" else sloped, dear, {}) for name, p in laws.items()]


def objective(x: Float[Array, " d"]) -> Float[Array, ""]:
    """Linear plus quadratic, scaled so that both matter in every dimension."""
    return (jnp.sum(x) - 0.5 * jnp.sum(x**2)) / np.sqrt(x.size)


def _measure_cell(cell: Cell, key: PRNGKeyArray, populations: int) -> dict[str, Sample]:
    past, now = _populations(cell, key, populations, pairs=False)
    few = max(populations // THRIFT, 2)
    keys = jax.random.split(jax.random.fold_in(key, 1), BATCHES * few).reshape(BATCHES, few)
    some = jax.tree.map(lambda leaf: leaf[:, :few], now)._replace(key=keys)
    samples = _measure(cell.plain, cell.p, cell.q, past, now) | _measure(cell.auxiliary, cell.p, cell.q, past, some)
    if cell.pairs:
        samples |= _measure(cell.pairs, cell.p, cell.q, past, _populations(cell, key, populations, pairs=True)[1], pairs=True)
    # what went through jax comes back in alphabetical order
    return {name: Sample(*map(np.asarray, samples[name])) for name in (*cell.plain, *cell.auxiliary, *cell.pairs)}


def _populations(cell: Cell, key: PRNGKeyArray, populations: int, pairs: bool) -> tuple[Batch, Batch]:
    """Past ones to learn from and present ones to measure: leaves [batches, populations, individuals, d]."""
    shape = (BATCHES, PAST + populations, POPSIZE, cell.q.dim)
    xi = _draw(cell.q, jax.random.fold_in(key, 2), shape[0] * shape[1] * shape[2]).reshape(shape)
    if pairs:
        half = xi[:, :, : POPSIZE // 2]
        xi = jnp.concatenate([half, -half], axis=2)
    flat = _realise(cell.p, cell.q, jax.random.fold_in(key, 3), xi.reshape(-1, cell.q.dim))
    batch = jax.tree.map(lambda leaf: leaf.reshape(*shape[:3], *leaf.shape[1:]), flat)
    return jax.tree.map(lambda leaf: leaf[:, :PAST], batch), jax.tree.map(lambda leaf: leaf[:, PAST:], batch)


# Random numbers are most of the time of compilation: drawn here, once for each law and dimension, and not in every estimator's program.
@eqx.filter_jit
def _draw(q: Any, key: PRNGKeyArray, n: int) -> Float[Array, "n d"]:
    return q.draw(key, n)


@eqx.filter_jit
def _realise(p: Any, q: Any, key: PRNGKeyArray, xi: Float[Array, "n d"]) -> Batch:
    theta = jax.vmap(q.push)(xi)
    x = realise(p, key, theta)
    return Batch(theta=theta, x=x, f=jax.vmap(objective)(x), xi=xi)


@eqx.filter_jit
def _measure(estimators: Mapping[str, Any], p: Any, q: Any, past: Batch, now: Batch, pairs: bool = False) -> dict[str, Any]:
    """One program for all the input laws of one kind and dimension; leaves are [batches, populations, individuals, ...]."""
    measure = _of_pairs if pairs else _of_individuals

    def one_batch(batches):
        past, now = batches
        ready = {name: _learn(e, p, q, past) if _learns(e) else e for name, e in estimators.items()}
        return lax.map(lambda batch: {name: measure(e, p, q, batch) for name, e in ready.items()}, now)

    return lax.map(one_batch, (past, now))


def _learns(estimator: Any) -> bool:
    return hasattr(estimator, "observe") and getattr(estimator, "info", None) is None


def _learn(estimator: Any, p: Any, q: Any, past: Batch) -> Any:
    learner = estimator.start(p, q, jax.tree.map(lambda leaf: leaf[0], past))
    dynamic, static = eqx.partition(learner, eqx.is_array)

    def generation(carry, batch):
        return eqx.filter(eqx.combine(carry, static).observe(p, q, batch), eqx.is_array), None

    return eqx.combine(lax.scan(generation, dynamic, past)[0], static)


def _of_individuals(estimator: Any, p: Any, q: Any, batch: Batch) -> tuple[Float[Array, " psi"], Float[Array, " psi"]]:
    """Second moment of the scores, and the weighted estimate, of one population."""
    w = weightings.value(batch.f)
    s = individual_scores(estimator, p, q, batch)
    return jnp.mean(s**2, axis=0), w @ s / w.size


def _of_pairs(estimator: Any, p: Any, q: Any, batch: Batch) -> tuple[Float[Array, " psi"], Float[Array, " psi"]]:
    """The same for estimators that take pairs, which have no score of one individual."""
    g = ravel_pytree(estimator(p, q, batch, weightings.value(batch.f)))[0]
    return jnp.full_like(g, jnp.nan), g


def _row(cell: Cell, name: str, own: Sample, baseline: Sample) -> Row:
    d, theory = cell.q.dim, _theory(cell, name)
    count = own.g.shape[1]
    # the same populations; mirrored ones are compared with independent ones, as many of them
    baseline = Sample(*(leaf[:, :count] for leaf in baseline))
    scores, estimates, biases = [], [], []
    for part, expected in zip((slice(0, d), slice(d, None)), theory, strict=True):
        power = [np.sum(s.power[..., part], axis=-1).mean(axis=1) for s in (own, baseline)]
        variance = [np.sum(s.g[..., part].var(axis=1, ddof=1), axis=-1) for s in (own, baseline)]
        scores.append(None if name in cell.pairs else _jackknife(_ratio_of_means, *power, theory=expected))
        estimates.append(_jackknife(_ratio_of_means, *variance))
        biases.append(_jackknife(_relative_bias, *(s.g[..., part].mean(axis=1) for s in (own, baseline))))
    return Row(cell.noise, cell.family, d, cell.ratio, name, BATCHES * count * POPSIZE, *scores, *estimates, *biases)


def _theory(cell: Cell, name: str) -> tuple[float | None, float | None]:
    """Second moments of the scores of mean and spread over those of `phenotype`, for Gaussian noise with C = c S (docs/estimators).

    The mix of second order estimates the posterior variance V by 2 V - e e', e ~ N(0, V), which is where its 1 + c^2 comes from.
    """
    c = cell.ratio
    if cell.noise != "Gaussian":
        return None, None
    return {
        "genotype": (1 + c, (1 + c) ** 2),
        "reparameterised": (1 + 1 / c, (1 + c) ** 2 / (2 * c) if cell.family == "isotropic" else None),
        "information_mix": (1.0, 1 + c**2),
        "information_mix, curvature": (1.0, 1.0),
    }.get(name, (None, None))


def _jackknife(statistic: Callable[..., float], *batches: np.ndarray, theory: float | None = None) -> Ratio:
    """The statistic of all batches, with the standard error from leaving each out in turn."""
    n = len(batches[0])
    without = np.array([statistic(*(np.delete(b, i, axis=0) for b in batches)) for i in range(n)])
    se = np.sqrt((n - 1) * np.mean((without - without.mean()) ** 2))
    return Ratio(float(statistic(*batches)), float(se), theory)


def _ratio_of_means(a: np.ndarray, b: np.ndarray) -> float:
    return a.mean() / b.mean()


def _relative_bias(g: np.ndarray, reference: np.ndarray) -> float:
    return _squared_mean(g - reference) / _squared_mean(reference)


def _squared_mean(g: np.ndarray) -> float:
    """|E g|^2, without the variance that |mean g|^2 carries."""
    return np.sum(g.mean(axis=0) ** 2) - np.sum(g.var(axis=0, ddof=1)) / len(g)


def table(rows: list[Row]) -> Any:
    """For people, as a `rich` table."""
    from rich.table import Table

    title = "Variances relative to phenotype (second moment of one score; variance of a weighted estimate), with standard errors"
    out = Table(title=title, caption="theory in brackets; agrees: within 4 standard errors of it")
    for name in ("noise", "search", "d", "C/S", "estimator", "score, mean", "score, spread", "estimate, mean", "estimate, spread"):
        out.add_column(name, justify="left" if name in ("noise", "search", "estimator") else "right")
    out.add_column("bias²/|g|², mean and spread", justify="right")
    out.add_column("agrees")
    previous = None
    for row in rows:
        cell = (row.noise, row.family, str(row.dim), f"{row.ratio:g}")
        if previous not in (None, cell):
            out.add_section()
        out.add_row(*(cell if cell != previous else ("",) * 4), *_texts(row), style="red" if row.agrees is False else None)
        previous = cell
    return out


def _texts(row: Row) -> list[str]:
    ratios = (row.score_mean, row.score_spread, row.estimate_mean, row.estimate_spread)
    biases = (row.bias_mean, row.bias_spread)
    # silent where there is nothing to see; the numbers of all estimators are in the JSON
    visible = row.biased or any(b.value > 4 * b.se + 1e-9 for b in biases)
    bias = ", ".join(f"{b.value:.3f} ±{b.se:.1g}" for b in biases) if visible else ""
    verdict = {None: "", True: "yes", False: "NO"}[row.agrees]
    return [row.estimator + (" (biased)" if row.biased else ""), *map(_text, ratios), bias, verdict]


def _text(ratio: Ratio | None) -> str:
    if ratio is None:
        return "-"
    expected = "" if ratio.theory is None else f" [{ratio.theory:.4g}]"
    # rich reads [..] as markup unless the bracket is escaped
    return f"{ratio.value:.4g} ±{ratio.se:.1g}" + expected.replace("[", "\\[")


def as_json(rows: list[Row]) -> dict[str, Any]:
    """Plain numbers and strings; `agrees` is computed, null where theory says nothing."""
    checked = [row.agrees for row in rows if row.agrees is not None]
    return {
        "benchmark": "estimators",
        "baseline": BASELINE,
        "checked": len(checked),
        "agreed": sum(checked),
        "rows": [asdict(row) | {"biased": row.biased, "agrees": row.agrees} for row in rows],
    }
