"""What comes out of `train`: a policy that acts, is evaluated, and is kept in a file of data
only.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from phenes import _validate
from phenes.rl.policies import MLP, Normaliser, Policy, from_network, head_for
from phenes.rl.rollouts.spaces import Spaces
from phenes.rl.rollouts.trajectory import total
from phenes.rl.training.curve import Curve
from phenes.rl.trajectories import Trajectories

FORMAT = "phenes policy 1"


class Evaluation(NamedTuple):
    """Returns of single episodes, their mean and its standard error."""

    returns: Float[np.ndarray, " e"]

    @property
    def mean(self) -> float:
        return float(np.mean(self.returns))

    @property
    def se(self) -> float:
        return (
            float(np.std(self.returns, ddof=1) / np.sqrt(self.returns.size))
            if self.returns.size > 1
            else float("nan")
        )


@dataclass(frozen=True)
class Trained:
    """theta: the mean of the search, which is the policy. curve: see `Curve`. about: id, options,
    seed, settings and how it ended.
    """

    policy: Policy
    theta: Float[np.ndarray, " d"]
    spaces: Spaces
    curve: Curve
    about: Mapping[str, Any]
    _acting: Any = field(default=None, repr=False, compare=False)

    def __post_init__(self):
        act = eqx.filter_jit(
            lambda policy, theta, obs: policy.head.to_env(
                policy.head.mode(policy.output(theta, obs))
            )
        )
        object.__setattr__(self, "_acting", act)

    @property
    def name(self) -> str:
        return self.about["name"]

    @property
    def episodes(self) -> int:
        return self.curve.generations * int(self.about["popsize"])

    def predict(self, obs: Any) -> Any:
        """The best action for an observation (as the environment gives it, flattened if need be),
        as the environment takes it.
        """
        flat = np.ravel(np.asarray(obs, float))
        if flat.shape != (self.spaces.obs_dim,):
            raise ValueError(
                f"obs must have {self.spaces.obs_dim} numbers, as {self.name} gives them, got shape"
                f" {np.shape(obs)}"
            )
        action = np.asarray(self._acting(self.policy, jnp.asarray(self.theta), jnp.asarray(flat)))
        return int(action) if self.spaces.n is not None else action

    def evaluate(
        self, episodes: int = 100, seed: int = 1, workers: int | None = None
    ) -> Evaluation:
        """Fresh episodes with the best actions, on the environment itself."""
        from phenes.rl import rollouts

        episodes = _validate.count("episodes", episodes)
        seed = _validate.count("seed", seed, 0)
        env = rollouts.load(self.name, workers=workers, **self.about["options"])
        try:
            return Evaluation(
                returns(env, self.policy, jnp.asarray(self.theta), jax.random.key(seed), episodes)
            )
        finally:
            env.close()

    def save(self, path: str | Path) -> Path:
        """Data only: arrays in NumPy's npz form, the rest as JSON."""
        spaces = self.spaces._asdict() | {
            name: _listed(getattr(self.spaces, name)) for name in ("low", "high")
        }
        text = json.dumps(
            {"format": FORMAT, "about": dict(self.about), "spaces": spaces}, default=float
        )
        scale = (
            {}
            if self.policy.scale is None
            else {f"scale.{name}": np.asarray(v) for name, v in vars(self.policy.scale).items()}
        )
        curve = {f"curve.{name}": v for name, v in self.curve._asdict().items()}
        with Path(path).open("wb") as file:
            np.savez_compressed(file, about=text, theta=self.theta, **scale, **curve)  # pyright: ignore[reportArgumentType]
        return Path(path)

    @classmethod
    def load(cls, path: str | Path, network: Any = None) -> "Trained":
        """network: for a policy that was trained with one of the user's own, a module of the same
        kind.
        """
        try:
            with np.load(path, allow_pickle=False) as file:
                about = json.loads(str(file["about"]))
                arrays = {name: file[name] for name in file.files if name != "about"}
            if about["format"] != FORMAT:
                raise KeyError("format")
            spaces = Spaces(
                **{**about["spaces"], **{k: _bounds(about["spaces"][k]) for k in ("low", "high")}}
            )
            curve = Curve(**{name: arrays[f"curve.{name}"] for name in Curve._fields})
        except (KeyError, EOFError, ValueError, TypeError) as error:
            raise ValueError(
                f"{path} is not a policy that was saved by this version of phenes: {error}"
            ) from error
        return cls(
            _policy(path, spaces, about["about"], arrays, network),
            arrays["theta"],
            spaces,
            curve,
            about["about"],
        )


def returns(env: Any, policy: Policy, theta: Any, key: Any, episodes: int) -> np.ndarray:
    """Of one theta with its best actions."""
    law = Trajectories(policy, env, deterministic=True)
    return np.asarray(
        total(law.sample_all(key, jnp.broadcast_to(theta[None], (episodes, theta.size)))), float
    )


def _policy(
    path: Any, spaces: Spaces, about: dict[str, Any], arrays: dict[str, np.ndarray], network: Any
) -> Policy:
    hidden = about["settings"]["hidden"]
    if network is None and hidden is None:
        raise ValueError(
            f"{path} was trained with a network of your own: give it to load as network"
        )
    head = head_for(spaces, about["settings"]["action_noise"] or 1.0)
    scale = (
        Normaliser(*(jnp.asarray(arrays[f"scale.{name}"]) for name in ("count", "mean", "var")))
        if "scale.mean" in arrays
        else None
    )
    net = (
        MLP(jax.random.key(0), spaces.obs_dim, head.outputs, hidden) if network is None else network
    )
    policy, theta = from_network(net, head, scale)
    if theta.size != arrays["theta"].size:
        raise ValueError(
            f"network must have the {arrays['theta'].size} parameters of {path}, got {theta.size}"
        )
    return policy


def _listed(bounds: Any) -> Any:
    """JSON has no infinity: as text."""
    return None if bounds is None else [str(b) if not np.isfinite(b) else float(b) for b in bounds]


def _bounds(listed: Any) -> Any:
    return None if listed is None else np.array([float(b) for b in listed])
