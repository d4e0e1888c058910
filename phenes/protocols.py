"""What the parts of a strategy must be able to do, written down as protocols.

A part is anything that has the methods named here: no class has to be inherited. `SearchLaw`,
`InputLaw`, `Estimator`, `LearningEstimator`, `Weighting`, `Metric` and `Optimiser` are what `es`
and `run` are made of. The protocols named `Has...` are optional: a law that has such a method is
taken by more estimators, or is faster; a law that has not is served by a general way, or refused
with a sentence that says what to use instead.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol, Self, TypeAlias, TypeVar, runtime_checkable

from jaxtyping import Array, Float, Int, PRNGKeyArray

if TYPE_CHECKING:
    from phenes.batch import Batch

Tree: TypeAlias = Any
"""An array, or arrays in a container that JAX knows (theta, x, xi, gradients of optax)."""

Family: TypeAlias = Any
"""A law, or a gradient shaped like it, of the families that a part serves; it refuses others."""

Weights: TypeAlias = Float[Array, " n"]
Scalar: TypeAlias = Float[Array, ""]
Weighting: TypeAlias = Callable[[Float[Array, " n"]], Weights]
"""Values f[N] of a population to their weights w[N]."""

Move: TypeAlias = Callable[[Family, Family], tuple[Family, Int[Array, ""]]]
"""(q, updates) to the moved q and the number of parameters that were held back."""


# laws that are only looked at


@runtime_checkable
class Density(Protocol):
    """A law with a density, such as a marginal P(x)."""

    def log_prob(self, x: Tree, /) -> Scalar:
        """Log-density of one x."""
        ...


@runtime_checkable
class Distribution(Density, Protocol):
    """A law with a density that can be drawn from, such as a posterior of theta."""

    def sample(self, key: PRNGKeyArray, /) -> Tree:
        """One draw."""
        ...


@runtime_checkable
class Proposal(Protocol):
    """r(a | x): where `exchangeable` draws its auxiliaries from."""

    def sample(self, key: PRNGKeyArray, x: Tree, /) -> Tree:
        """One draw of a given x."""
        ...

    def log_prob(self, a: Tree, x: Tree, /) -> Scalar:
        """Log-density of a given x."""
        ...


# q: search laws


@runtime_checkable
class SearchLaw(Protocol):
    """q_psi(theta), what is chosen: a tree whose inexact arrays are psi."""

    def draw(self, key: PRNGKeyArray, n: int, /) -> Tree:
        """The randomness xi[n] of n individuals; row i must not depend on n."""
        ...

    def push(self, xi: Tree, /) -> Tree:
        """The theta of one xi."""
        ...

    def log_prob(self, theta: Tree, /) -> Scalar:
        """log q(theta)."""
        ...

    def move(self, updates: Self, /) -> tuple[Self, Int[Array, ""]]:
        """psi + updates, kept inside its domain, and how many parameters were held back."""
        ...


Q = TypeVar("Q", bound=SearchLaw)


@runtime_checkable
class HasScore(SearchLaw, Protocol):
    """A closed form that is faster than differentiating log_prob."""

    def score(self, theta: Tree, w: Weights, /) -> Self:
        """1/N sum_i w_i d log q(theta_i) / d psi."""
        ...


@runtime_checkable
class HasNatural(SearchLaw, Protocol):
    """A Fisher information in closed form: `metric.natural`."""

    def natural(self, g: Family, /) -> Self:
        """I[q]^-1 g."""
        ...


@runtime_checkable
class HasPoint(SearchLaw, Protocol):
    """A spread that may be 0: a law without a density, and without a Fisher information."""

    def is_singular(self) -> bool:
        """True if it is known to have no density."""
        ...

    def where_point(self, of_x: Family, direction: Family, /) -> Self:
        """`direction`, or of a point population that of `of_x` for the mean."""
        ...


@runtime_checkable
class HasCentre(SearchLaw, Protocol):
    """A theta in the middle: `estimators.biased_imitation`."""

    def centre(self) -> Array:
        """The theta of the mean, smooth in psi."""
        ...


@runtime_checkable
class HasPull(SearchLaw, Protocol):
    """An inverse of push, for estimators that look at xi under `rao_blackwellise`."""

    def pull(self, theta: Tree, /) -> Tree:
        """The xi that push turns into theta."""
        ...


@runtime_checkable
class HasMirror(SearchLaw, Protocol):
    """Symmetric randomness: `es(..., mirrored=True)`."""

    def mirror(self, xi: Tree, /) -> Tree:
        """The partners of xi[n]."""
        ...


@runtime_checkable
class HasStd(SearchLaw, Protocol):
    """A spread that can be set: `es(..., std=...)`."""

    def with_std(self, std: Float[Array, ""] | float, /) -> Self:
        """The same law with another spread."""
        ...


@runtime_checkable
class HasResample(SearchLaw, Protocol):
    """Auxiliaries of `exchangeable` that keep a part of theta, such as its context."""

    def resample(self, key: PRNGKeyArray, theta: Tree, n: int, /) -> Tree:
        """n draws that share with theta what was not chosen."""
        ...


@runtime_checkable
class HasCoordinates(SearchLaw, Protocol):
    """Independent coordinates: `exchangeable_coordinates`."""

    def coordinate_log_prob(self, theta: Float[Array, " d"], /) -> Float[Array, " d"]:
        """log q of each coordinate."""
        ...


# p: input laws


@runtime_checkable
class InputLaw(Protocol):
    """p_theta(x), what the world makes of an intention; all of an input law that is required."""

    def sample(self, key: PRNGKeyArray, theta: Tree, /) -> Tree:
        """One x for one theta."""
        ...

    def log_prob(self, x: Tree, theta: Tree, /) -> Scalar:
        """log p_theta(x)."""
        ...


@runtime_checkable
class HasSampleAll(InputLaw, Protocol):
    """A population drawn at once; row i must not depend on the number of rows."""

    def sample_all(self, key: PRNGKeyArray, theta: Tree, /) -> Tree:
        """x[N] for theta[N]."""
        ...


@runtime_checkable
class HasMarginal(InputLaw, Protocol):
    """P_psi(x), the mean of p_theta(x) over q: `estimators.phenotype`."""

    def marginal(self, q: Family, /) -> Density:
        """The marginal of x under q."""
        ...


@runtime_checkable
class HasMarginalScore(InputLaw, Protocol):
    """A closed form that is faster than differentiating the marginal."""

    def marginal_score(self, q: Family, x: Tree, w: Weights, /) -> Family:
        """1/N sum_i w_i d log P(x_i) / d psi."""
        ...


@runtime_checkable
class HasPartialScore(InputLaw, Protocol):
    """Coordinates that are independent given theta: each counts if it was measured."""

    def has_partial_score(self) -> bool:
        """Whether they are."""
        ...

    def partial_score(self, q: Family, x: Tree, theta: Tree, w: Weights, /) -> Family:
        """1/N sum_i w_i E[s_q(theta_i) | x_i where measured, theta_i elsewhere]."""
        ...


@runtime_checkable
class HasPosterior(InputLaw, Protocol):
    """The law of theta given x: `estimators.rao_blackwellise`."""

    def posterior(self, q: Family, x: Tree, /) -> Distribution:
        """P(theta | x) under q."""
        ...


@runtime_checkable
class HasThetaScore(InputLaw, Protocol):
    """A closed form of the slope of log p, or a refusal where it would be biased."""

    def theta_score(self, x: Tree, theta: Tree, /) -> Tree:
        """d log p_theta(x_i) / d theta for each individual."""
        ...


@runtime_checkable
class HasMirroredScore(InputLaw, Protocol):
    """The posterior of a mirrored pair in closed form: `estimators.mirrored_phenotype`."""

    def mirrored_score(self, q: Family, x: Tree, w: Float[Array, "two n"], /) -> Family:
        """The Rao-Blackwellised score of pairs x[2, N]."""
        ...


@runtime_checkable
class HasMarginalNatural(InputLaw, Protocol):
    """The Fisher information of the marginal in closed form: `metric.natural_marginal`."""

    def marginal_natural(self, q: Family, g: Family, /) -> Family:
        """I[P]^-1 g."""
        ...


@runtime_checkable
class HasCoordinateNoise(InputLaw, Protocol):
    """Noise that is independent in each coordinate: `exchangeable_coordinates`."""

    def coordinate_log_prob(
        self, x: Float[Array, " d"], theta: Float[Array, " d"], /
    ) -> Float[Array, " d"]:
        """log p of each coordinate."""
        ...


@runtime_checkable
class HasStatistic(InputLaw, Protocol):
    """A sufficient statistic of repeated draws: the marginal of `inputs.Repeated`."""

    def pooled(self, repeats: int, /) -> InputLaw:
        """The law of the statistic of `repeats` draws."""
        ...

    def statistic(self, x: Tree, /) -> Tree:
        """The statistic of x[R]."""
        ...


@runtime_checkable
class HasRepeats(InputLaw, Protocol):
    """Several draws at one theta: x and f have one more axis, [N, R]."""

    @property
    def repeats(self) -> int:
        """R."""
        ...


# estimators and what they are used with


@runtime_checkable
class Estimator(Protocol):
    """The estimate of d E[W(f(x))] / d psi from a population, a plain function."""

    def __call__(self, p: Family, q: Family, batch: Batch, w: Weights, /) -> Family:
        """The gradient, shaped like q."""
        ...


@runtime_checkable
class LearningEstimator(Protocol):
    """An estimator that learns from past generations; `es` carries it in its state.

    An estimator that looked at a generation before it estimates the gradient from it would be
    biased. `step` therefore returns both, in this order: the gradient with what was known before
    this generation, and the estimator that has learnt from it.
    """

    def start(self, p: Family, q: Family, batch: Batch, /) -> Self:
        """The estimator with room for what it is going to learn; batch has shapes only."""
        ...

    def step(self, p: Family, q: Family, batch: Batch, w: Weights, /) -> tuple[Family, Self]:
        """The gradient with what is known so far, and the estimator after this generation."""
        ...


@runtime_checkable
class Observer(Protocol):
    """A part that learns from a generation whose gradient has been taken."""

    def observe(self, p: Family, q: Family, batch: Batch, /) -> Self:
        """The part with what it has learnt."""
        ...


@runtime_checkable
class Metric(Protocol):
    """From the gradient to the direction of the step."""

    def __call__(self, p: Family, q: Family, g: Family, /) -> Family:
        """The direction, shaped like q."""
        ...


@runtime_checkable
class Optimiser(Protocol):
    """An optax transformation."""

    @property
    def init(self) -> Callable[[Tree], Tree]:
        """The state of the optimiser for parameters."""
        ...

    @property
    def update(self) -> Callable[..., tuple[Tree, Tree]]:
        """(gradient, state, parameters) to (updates, state)."""
        ...
