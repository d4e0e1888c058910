"""Policies in networks: theta searched by a Gaussian law, estimators on trajectories.

One generation is a function from what is carried to what is carried, compiled with the environment
or in two halves around it.
"""

import dataclasses
import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple, Protocol, cast

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax.typing import DTypeLike
from jaxtyping import Array, ArrayLike, Float, Int, PRNGKeyArray

from phenes import _validate, metric
from phenes.batch import Batch
from phenes.protocols import Tree
from phenes.rl import rollouts
from phenes.rl.curve import Curve, Report
from phenes.rl.policies import MLP, GaussianHead, Normaliser, Policy, from_network, head_for
from phenes.rl.policies.heads import Head
from phenes.rl.policies.network import constant
from phenes.rl.policies.policy import Network
from phenes.rl.problems import Advanced, scanned
from phenes.rl.problems.idle import Idle, best_step, survival, widened
from phenes.rl.problems.settings import Settings
from phenes.rl.problems.together import MOST, Together
from phenes.rl.rollouts.backends import Rollouts, Workers
from phenes.rl.rollouts.layouts import Layout, from_described
from phenes.rl.rollouts.python_envs import best
from phenes.rl.rollouts.spaces import (
    LARGEST,
    Action,
    Observation,
    Options,
    Spaces,
    World,
)
from phenes.rl.rollouts.trajectory import Trajectory, added, length, total
from phenes.rl.trajectories import ByTrajectory, Genotype, Trajectories
from phenes.rl.trajectories.selection import Measured
from phenes.search import IsotropicGaussian
from phenes.strategy import Info, State, Strategy, es, generation_keys

LOOKS = 10  # episodes of a look
PROOF = 100  # episodes that decide whether the target is reached

EVALUATION = 0x65766C  # a stream of random numbers apart from that of the generations


class Carry(NamedTuple):
    """Everything that the next generation depends on, beside the key."""

    state: State  # its estimator is a `Measured`
    policy: Policy  # with the scale of observations
    idle: Idle
    together: Together | None = None  # which observations vary together, where that matters

    @property
    def estimator(self) -> ByTrajectory:
        """The estimator, with what it has learnt."""
        return self.measured.estimator

    @property
    def measured(self) -> Measured:
        """The estimator of the state."""
        return cast(Measured, self.state.estimator)


class Answer(NamedTuple):
    """A mean policy, with the scale of observations that it was learnt with."""

    theta: Float[Array, " d"]
    scale: Normaliser | None


class Generations(Protocol):
    """A generation in two halves: what comes of the population, and the update from it."""

    def sample(self, carry: Carry, batch: Batch) -> Tree:
        """What `tell` has to know of the episodes of this population."""
        ...

    def tell(self, carry: Carry, batch: Batch, sample: Tree) -> tuple[Carry, Report]:
        """The update."""
        ...

    def close(self) -> None:
        """Let go of workers."""
        ...


class GenerationStep(NamedTuple):
    """The functions of a run: begin; then ask, sample, tell make a generation."""

    settings: Settings
    env: Rollouts
    key: PRNGKeyArray

    def begin(self, policy: Policy, theta: Float[Array, " d"]) -> Carry:
        """The carry before the first generation."""
        q = IsotropicGaussian(theta, self.settings.sigma[0])
        # an estimator without state needs no population to start from: the environment may be one
        # that cannot be traced
        state = self.strategy(None, Genotype()).init(q)
        learner = Measured.of(
            self.settings.estimator,
            self.settings.mirrored,
            Trajectories(policy, self.env),
            state.q,
            _shapes(self.env),
        )
        # arrays that were made from Python numbers have weak types, and would be other types to the
        # compiled loop than what it returns
        return jax.tree.map(
            lambda leaf: jnp.asarray(leaf, leaf.dtype) if eqx.is_array(leaf) else leaf,
            Carry(
                state._replace(estimator=learner),
                policy,
                Idle.start(self.settings.bonus or 0),
                self._together(policy),
            ),
        )

    def _together(self, policy: Policy) -> Together | None:
        """What is known of observations, where directions of search follow them."""
        linear = isinstance(policy.net, MLP) and len(policy.net.layers) == 1
        spaces = self.env.spaces
        if not (self.settings.together and linear and spaces.obs_dim <= MOST):
            return None
        return Together.start(spaces.obs_dim, spaces.lopsided)

    def ask(self, carry: Carry) -> Batch:
        """The population; the first pair of all is idle, where that is to be known."""
        batch = self.strategy(None).ask(self.key, carry.state)
        if carry.together is not None:
            # mean(w (theta - m)) is the natural gradient whatever the covariance of theta
            xi = carry.together.directions(batch.xi, carry.policy.head.outputs)
            batch = batch._replace(theta=jax.vmap(carry.state.q.push)(xi), xi=xi)
        if not self.settings.widen:
            return batch
        rows = jnp.arange(self.settings.popsize) % (self.settings.popsize // 2)
        still = (rows == 0) & (carry.state.generation == 0)
        return batch._replace(
            theta=jnp.where(still[:, None], carry.state.q.mean[None], batch.theta),
            xi=jnp.where(still[:, None], 0.0, batch.xi),
        )

    def sample(self, carry: Carry, batch: Batch) -> Trajectory:
        """Its episodes."""
        keys = generation_keys(self.key, carry.state.generation)
        return self.law(carry).sample_all(keys.x, batch.theta)

    def tell(self, carry: Carry, batch: Batch, sample: Trajectory) -> tuple[Carry, Report]:
        """The update."""
        steps, dtype = length(sample), carry.state.q.mean.dtype
        f = jnp.asarray(total(sample), dtype)
        idle = self._known(carry, sample, f)
        seen = f - idle.bonus.astype(dtype) * steps.astype(dtype)
        if self.settings.widen:
            idle, found = widened(idle, best_step(sample).astype(dtype), f, sample.ended)
            seen = jnp.where(found | ~jnp.isfinite(f), seen, 0.0)  # equal values are no step
        state, info = self.strategy(self.law(carry)).tell(
            carry.state, batch._replace(x=sample, f=seen)
        )
        if self.settings.widen:
            spread = self.settings.sigma[0] * idle.width
            state = state._replace(q=state.q.with_std(spread.astype(dtype)))
        together = carry.together
        if together is not None:
            together = together.update(sample.obs, sample.mask, sample.ended)
        after = Carry(state, carry.policy.observe(sample.obs, sample.mask), idle, together)
        return after, report(_of_returns(info, f), jnp.sum(steps, dtype=jnp.int32), after.measured)

    def _known(self, carry: Carry, x: Trajectory, f: Float[Array, " n"]) -> Idle:
        """What the first generation says of doing nothing."""
        first, idle, s = carry.state.generation == 0, carry.idle, self.settings
        if s.bonus is None:
            bonus = survival(x).astype(idle.bonus.dtype)
            idle = idle._replace(bonus=jnp.where(first, bonus, idle.bonus))
        if s.widen:
            half = s.popsize // 2
            best = best_step(x)
            value = jnp.maximum(best[0], best[half]).astype(idle.value.dtype)
            # that is NaN where a reward was, and nothing is more than NaN
            most = jnp.maximum(f[0], f[half]).astype(idle.total.dtype)
            idle = idle._replace(
                value=jnp.where(first, value, idle.value),
                total=jnp.where(first, most, idle.total),
            )
        return idle

    def once(self, carry: Carry) -> tuple[Carry, Report]:
        """ask, sample and tell, where the environment can be compiled with them."""
        batch = self.ask(carry)
        return self.tell(carry, batch, self.sample(carry, batch))

    def law(self, carry: Carry) -> Trajectories:
        """p of this generation, with the action noise that it has."""
        s, policy = self.settings, carry.policy
        if s.action_noise is None and isinstance(policy.head, GaussianHead):
            policy = policy.with_head(policy.head.with_std(jnp.exp(carry.state.q.log_std)))
        return Trajectories(policy, self.env, s.mirrored, s.deterministic, s.alike)

    def strategy(self, p: Trajectories | None, estimator: ByTrajectory | None = None) -> Strategy:
        """The strategy of Algorithm 2, for this p."""
        s = self.settings
        return es(
            p,  # pyright: ignore[reportArgumentType]
            s.estimator if estimator is None else estimator,
            s.weighting,
            optax.sgd(s.rate) if s.natural else optax.adam(s.rate),
            s.popsize,
            metric=metric.natural if s.natural else metric.plain,
            std=None if s.widen else s.spread(),
            mirrored=s.mirrored,
        )

    def close(self) -> None:
        """Nothing is held."""


def _of_returns(info: Info, f: Float[Array, " n"]) -> Info:
    """What is reported of a generation, of the returns themselves."""
    finite = jnp.isfinite(f)
    return info._replace(
        f_mean=jnp.sum(jnp.where(finite, f, 0.0)) / jnp.sum(finite, dtype=f.dtype),
        f_best=jnp.max(jnp.where(finite, f, -jnp.inf)),
    )


def report(info: Info, steps: Int[Array, ""], measured: Measured) -> Report:
    """The report of one generation."""
    return Report(info.f_mean, info.f_best, steps, info.failed, info.skipped, *measured.signal)


def _shapes(env: Rollouts) -> Batch:
    """A batch of nothing, with the shapes that an estimator may ask for."""
    obs = jax.ShapeDtypeStruct((1, env.spaces.limit, env.spaces.obs_dim), jnp.result_type(float))
    return Batch(None, Trajectory(*cast("list[Array]", [obs, None, None, None, None, None])))


def _draw(
    policy: Policy, theta: Float[Array, " d"], obs: Float[Array, " o"], key: PRNGKeyArray
) -> Array:
    """An action that is drawn, as the environment takes it."""
    return policy.head.to_env(policy.head.sample(key, policy.output(theta, obs)))


class NetworkPolicy:
    """theta: the mean of the search, with which `policy` acts in environments of these spaces."""

    kind = "network"

    def __init__(self, policy: Policy, theta: Float[np.ndarray, " d"], spaces: Spaces):
        self.policy, self.theta, self.spaces = policy, theta, spaces
        self.draw = eqx.filter_jit(_draw)

    def predict(
        self, obs: Observation, name: str, rng: np.random.Generator | None = None
    ) -> Action:
        """See `Readout.predict`."""
        flat, theta = self._read(obs, name), jnp.asarray(self.theta)
        if rng is None:
            action = best(self.policy, theta, flat[None])[1][0]
        else:
            key = jax.random.key(int(rng.integers(2**32)))
            action = np.asarray(self.draw(self.policy, theta, jnp.asarray(flat), key))
        if self.spaces.acts is not None:
            return self.spaces.acts.writer()(action)
        return int(action) if self.spaces.n is not None else action

    def _read(self, obs: Observation, name: str) -> np.ndarray:
        """The vector that the network sees, by the layout by which rollouts read as well."""
        layout, size = self.spaces.observes, self.spaces.obs_dim
        if layout is not None and layout.kind not in ("box", "multibinary"):
            layout.check(obs, f"obs, as {name} gives it,")
        elif np.size(obs) != size:
            raise ValueError(
                f"obs must have {size} numbers, as {name} gives them, got shape {np.shape(obs)}"
            )
        read = np.ravel if layout is None else layout.reader()
        return np.asarray(read(obs), float)

    def returns(
        self, env: World, options: Options, episodes: int, seed: int, workers: Workers
    ) -> np.ndarray:
        """See `Readout.returns`."""
        play = rollouts.load(env, workers=workers, **options)
        try:
            self._check(play.spaces)
            theta, key = jnp.asarray(self.theta), jax.random.key(seed)
            return added(best_actions(play, self.policy, theta, key, episodes))
        finally:
            play.close()

    def _check(self, spaces: Spaces) -> None:
        """Refuse another environment than one with these observations and actions."""
        mine, others = (
            (each.obs_dim, each.n, each.sizes, each.action_dim) for each in (self.spaces, spaces)
        )
        if mine != others:
            raise ValueError(
                f"the policy is for the observations and actions of {self.spaces.name}, and those"
                f" of {spaces.name} are others"
            )

    def arrays(self) -> dict[str, np.ndarray]:
        """See `Readout.arrays`."""
        scale = {} if self.policy.scale is None else vars(self.policy.scale)
        return {
            "theta": self.theta,
            **{f"scale.{name}": np.asarray(value) for name, value in scale.items()},
        }

    def described(self) -> dict[str, object]:
        """See `Readout.described`."""
        bounds = {name: _listed(getattr(self.spaces, name)) for name in ("low", "high")}
        kept = {
            name: None if layout is None else layout.described()
            for name, layout in (("observes", self.spaces.observes), ("acts", self.spaces.acts))
        }
        return {"spaces": {**self.spaces._asdict(), **bounds, **kept}}


class Kept(NamedTuple):
    """What the file of a policy says of it; hidden: None for a network of the user's own."""

    spaces: Spaces
    head: Head
    scale: Normaliser | None
    theta: Float[np.ndarray, " d"]
    hidden: tuple[int, ...] | None
    bias: float


def kept(described: dict[str, Any], about: dict[str, Any], arrays: dict[str, np.ndarray]) -> Kept:
    """What `described` and `arrays` say, checked: sizes before anything of their size is made."""
    spaces = _spaces(described["spaces"])
    head = head_for(spaces, about["settings"]["action_noise"] or 1.0)
    theta, hidden = arrays["theta"], about["settings"]["hidden"]
    # files of before there was a choice have a constant
    bias = constant(about["settings"].get("bias", 1.0))
    if hidden is not None:
        if not isinstance(hidden, list | tuple):
            raise ValueError(f"hidden must be widths of layers, got {hidden!r}")
        hidden = tuple(_validate.count("hidden", width) for width in hidden)
        widths = (spaces.obs_dim, *hidden, head.outputs)
        size = sum((a + (bias > 0)) * b for a, b in itertools.pairwise(widths))
        _validate.shape("theta", theta, (size,), f"layers of {widths}")
    _check_numbers("theta", theta)
    return Kept(spaces, head, _scale(arrays, spaces.obs_dim), theta, hidden, bias)


def restored(kept: Kept, network: Network | None, path: str | Path) -> NetworkPolicy:
    """The policy of what the file at `path` holds. network: one that the user supplied."""
    if network is None and kept.hidden is None:
        raise ValueError(
            f"{path} was trained with a network of your own: give it to load as network"
        )
    if network is None:
        assert kept.hidden is not None
        network = MLP(
            jax.random.key(0),
            kept.spaces.obs_dim,
            kept.head.outputs,
            kept.hidden,
            bias=kept.bias,
        )
    policy, theta = from_network(network, kept.head, kept.scale)
    if theta.size != kept.theta.size:
        raise ValueError(
            f"network must have the {kept.theta.size} parameters of {path}, got {theta.size}"
        )
    return NetworkPolicy(policy, kept.theta, kept.spaces)


def _spaces(given: dict[str, Any]) -> Spaces:
    low, high = (_bounds(given[name]) for name in ("low", "high"))
    # files of before observations were kept as they are have neither of these
    read = {name: from_described(given.get(name)) for name in ("observes", "acts")}
    sizes = given.get("sizes")
    if sizes is not None:
        sizes = tuple(_validate.count("sizes", size) for size in sizes)
    spaces = Spaces(**{**given, "low": low, "high": high, "sizes": sizes, **read})
    _validate.count("obs_dim", spaces.obs_dim)
    if spaces.obs_dim > LARGEST:
        raise ValueError(f"obs_dim must be at most {LARGEST}, got {spaces.obs_dim}")
    _validate.count("limit", spaces.limit)
    if spaces.observes is not None and spaces.observes.size != spaces.obs_dim:
        raise ValueError(f"observes has {spaces.observes.size} numbers, not {spaces.obs_dim}")
    bounded = low is not None and high is not None and low.shape == high.shape
    if not (bounded or (spaces.discrete and low is None and high is None)):
        raise ValueError("low must be a bound of each action and high another where n is None")
    if spaces.acts is not None and not _written(spaces.acts, spaces):
        raise ValueError(f"acts describes other actions, {spaces.acts.described()}")
    return spaces


def _written(acts: Layout, spaces: Spaces) -> bool:
    """Whether a layout is that of the actions of these spaces."""
    if spaces.n is not None:
        return acts.kind == "discrete" and acts.sizes == (spaces.n,)
    reals = 0 if spaces.low is None else spaces.low.size
    return acts.choices == (spaces.sizes or ()) and acts.reals == reals


def _scale(arrays: dict[str, np.ndarray], obs_dim: int) -> Normaliser | None:
    if "scale.mean" not in arrays:
        return None
    shapes = {"count": (), "mean": (obs_dim,), "var": (obs_dim,)}
    for name, shape in shapes.items():
        _validate.shape(f"scale.{name}", arrays[f"scale.{name}"], shape, "obs_dim")
        _check_numbers(f"scale.{name}", arrays[f"scale.{name}"])
    _validate.signs("scale.var", arrays["scale.var"], strict=False)
    return Normaliser(*(jnp.asarray(arrays[f"scale.{name}"]) for name in shapes))


def _check_numbers(name: str, array: np.ndarray) -> None:
    if array.dtype.kind != "f" or array.ndim > 1:
        raise ValueError(f"{name} must be a vector of real numbers, got {array.dtype}")
    _validate.finite(name, array)


def best_actions(
    env: Rollouts, policy: Policy, theta: Float[Array, " d"], key: PRNGKeyArray, episodes: int
) -> Trajectory:
    """Episodes of one theta with its best actions."""
    law = Trajectories(policy, env, deterministic=True)
    return law.sample_all(key, jnp.broadcast_to(theta[None], (episodes, theta.size)))


def _listed(bounds: np.ndarray | None) -> list[float | str] | None:
    """JSON has no infinity: as text."""
    if bounds is None:
        return None
    return [float(b) if np.isfinite(b) else str(b) for b in bounds]


def _bounds(listed: list[float | str] | None) -> np.ndarray | None:
    return None if listed is None else np.array([float(b) for b in listed])


class NetworkProblem:
    """A training of the network `policy` from theta on, see `Problem`.

    generations: what makes the halves of a generation where the environment is not compiled; the
    step itself unless given.
    """

    keeps_best = True

    def __init__(
        self,
        step: GenerationStep,
        policy: Policy,
        theta: Float[Array, " d"],
        generations: Generations | None = None,
    ):
        self.step, self.policy, self.theta = step, policy, theta
        self.chunk = step.settings.every
        self.generations: Generations = step if generations is None else generations
        self.stream = jax.random.fold_in(step.key, EVALUATION)
        self.some = self._compiled() if step.env.compiled else self._in_halves()

    def begin(self) -> Carry:
        """See `Problem.begin`."""
        return self.step.begin(self.policy, self.theta)

    def advance(self, carry: Carry, n: int) -> Advanced[Carry]:
        """See `Problem.advance`. The last of them is followed by a look at the mean policy."""
        carry, reports = self.some(carry, n)
        generation = int(carry.state.generation)
        return Advanced(
            carry, reports, [(generation, self.look(self.answer(carry), generation, LOOKS))]
        )

    def answer(self, carry: Carry) -> Answer:
        """See `Problem.answer`."""
        return Answer(carry.state.q.mean, carry.policy.scale)

    def prove(self, answer: Answer, generation: int) -> float:
        """See `Problem.prove`."""
        return self.look(answer, generation, PROOF)

    def look(self, answer: Answer, generation: int, episodes: int) -> float:
        """Mean return with the best actions; which episodes, depends on the generation alone."""
        env, policy = self.step.env, self.policy.with_scale(answer.scale)
        keys = jax.random.split(jax.random.fold_in(self.stream, generation), episodes // LOOKS)
        if not env.compiled:
            return float(np.mean(added(best_actions(env, policy, answer.theta, keys[0], episodes))))
        # one small compiled program for looks and proofs
        return float(np.mean([_few(env, key, policy, answer.theta) for key in keys]))

    def readout(self, answer: Answer, carry: Carry, curve: Curve) -> NetworkPolicy:
        """See `Problem.readout`."""
        policy = carry.policy.with_scale(answer.scale)
        return NetworkPolicy(policy, np.asarray(answer.theta), self.step.env.spaces)

    def close(self) -> None:
        """See `Problem.close`."""
        self.generations.close()
        self.step.env.close()

    def _compiled(self) -> Callable[[Carry, int], tuple[Carry, list[Report]]]:
        """n generations as one program.

        Programs are found by settings and environment, which are compared by value: another seed,
        or more generations, need no other.
        """
        step = self.step._replace(settings=dataclasses.replace(self.step.settings, generations=1))

        def some(carry: Carry, n: int) -> tuple[Carry, list[Report]]:
            carry, reports = _scanned(step, carry, n)
            return carry, [jax.tree.map(np.asarray, reports)]

        return some

    def _in_halves(self) -> Callable[[Carry, int], tuple[Carry, list[Report]]]:
        """Python around an environment that is not compiled."""
        ask = eqx.filter_jit(lambda carry: self.step.ask(carry))
        tell = eqx.filter_jit(
            lambda carry, batch, sample: self.generations.tell(carry, batch, sample)
        )

        def some(carry: Carry, n: int) -> tuple[Carry, list[Report]]:
            reports = []
            for _ in range(n):
                batch = ask(carry)
                sample = _on_device(self.generations.sample(carry, batch), batch.theta.dtype)
                carry, report = tell(carry, batch, sample)
                reports.append(jax.tree.map(np.asarray, report))
            return carry, reports

        return some


def _on_device(x: Tree, dtype: DTypeLike) -> Tree:
    """NumPy arrays of any precision as JAX arrays of one."""

    def put(leaf: ArrayLike) -> Array:
        real = np.issubdtype(np.asarray(leaf).dtype, np.floating)
        return jnp.asarray(leaf, dtype if real else None)

    return jax.tree.map(put, x)


@eqx.filter_jit
def _scanned(step: GenerationStep, carry: Carry, n: int) -> tuple[Carry, Report]:
    """n generations as one program."""
    return scanned(step.once, carry, n)


@eqx.filter_jit
def _few(env: Rollouts, key: PRNGKeyArray, policy: Policy, theta: Float[Array, " d"]) -> Array:
    """Returns of a look: the same program for all estimators."""
    return total(best_actions(env, policy, theta, key, LOOKS))
