"""A policy in a network, as it comes out of a training."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from phenes.rl import rollouts
from phenes.rl.policies import MLP, Normaliser, Policy, from_network, head_for
from phenes.rl.policies.policy import Network
from phenes.rl.rollouts.backends import Rollouts, Workers
from phenes.rl.rollouts.spaces import Action, Observation, Options, Spaces, flattener
from phenes.rl.rollouts.trajectory import total
from phenes.rl.trajectories import Trajectories

if TYPE_CHECKING:
    from gymnasium import Space


class NetworkPolicy:
    """theta: the mean of the search, with which `policy` acts in environments of these spaces."""

    kind = "network"

    def __init__(self, policy: Policy, theta: Float[np.ndarray, " d"], spaces: Spaces):
        self.policy, self.theta, self.spaces = policy, theta, spaces
        self.act = eqx.filter_jit(
            lambda policy, theta, obs: policy.head.to_env(
                policy.head.mode(policy.output(theta, obs))
            )
        )

    def predict(self, obs: Observation, name: str) -> Action:
        """See `Readout.predict`."""
        flat = np.ravel(np.asarray(obs, float))
        if flat.shape != (self.spaces.obs_dim,):
            raise ValueError(
                f"obs must have {self.spaces.obs_dim} numbers, as {name} gives them, got shape"
                f" {np.shape(obs)}"
            )
        action = np.asarray(self.act(self.policy, jnp.asarray(self.theta), jnp.asarray(flat)))
        return int(action) if self.spaces.n is not None else action

    def observation(self, space: "Space", obs: Observation) -> np.ndarray:
        """See `Readout.observation`."""
        return flattener(space)(obs)

    def returns(
        self, name: str, options: Options, episodes: int, seed: int, workers: Workers
    ) -> np.ndarray:
        """See `Readout.returns`."""
        env = rollouts.load(name, workers=workers, **options)
        try:
            theta, key = jnp.asarray(self.theta), jax.random.key(seed)
            return np.asarray(totals(env, self.policy, theta, key, episodes), float)
        finally:
            env.close()

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
        return {"spaces": {**self.spaces._asdict(), **bounds}}


def restored(
    described: dict[str, Any],
    about: dict[str, Any],
    arrays: dict[str, np.ndarray],
    network: Network | None,
    path: str | Path,
) -> NetworkPolicy:
    """The policy of `arrays` and `described`. network: one that the user supplied."""
    given = described["spaces"]
    spaces = Spaces(**{**given, **{name: _bounds(given[name]) for name in ("low", "high")}})
    hidden = about["settings"]["hidden"]
    if network is None and hidden is None:
        raise ValueError(
            f"{path} was trained with a network of your own: give it to load as network"
        )
    head = head_for(spaces, about["settings"]["action_noise"] or 1.0)
    scale = None
    if "scale.mean" in arrays:
        names = ("count", "mean", "var")
        scale = Normaliser(*(jnp.asarray(arrays[f"scale.{name}"]) for name in names))
    if network is None:
        network = MLP(jax.random.key(0), spaces.obs_dim, head.outputs, hidden)
    policy, theta = from_network(network, head, scale)
    if theta.size != arrays["theta"].size:
        raise ValueError(
            f"network must have the {arrays['theta'].size} parameters of {path}, got {theta.size}"
        )
    return NetworkPolicy(policy, arrays["theta"], spaces)


def totals(
    env: Rollouts, policy: Policy, theta: Float[Array, " d"], key: PRNGKeyArray, episodes: int
) -> Array:
    """Returns of one theta with its best actions, [episodes]."""
    law = Trajectories(policy, env, deterministic=True)
    return total(law.sample_all(key, jnp.broadcast_to(theta[None], (episodes, theta.size))))


def _listed(bounds: np.ndarray | None) -> list[float | str] | None:
    """JSON has no infinity: as text."""
    if bounds is None:
        return None
    return [float(b) if np.isfinite(b) else str(b) for b in bounds]


def _bounds(listed: list[float | str] | None) -> np.ndarray | None:
    return None if listed is None else np.array([float(b) for b in listed])
