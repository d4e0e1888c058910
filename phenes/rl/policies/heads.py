"""From the output of a network to an action: pi(action | output).

`factor(out)` is L with L L' = the Fisher information of the action in output space. `to_env` is
what the environment gets: scaling and clipping come after the action whose log pi is taken, so that
the score is that of the action before clipping (erratum 20).
"""

from collections.abc import Sequence
from typing import Protocol

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import numpy.typing as npt
from jaxtyping import Array, ArrayLike, Float, Int, PRNGKeyArray

from phenes import _arrays, _validate


class Head(Protocol):
    """From the output of a network to an action, of one state: pi(action | out)."""

    @property
    def outputs(self) -> int:
        """k, the number of outputs it takes."""
        ...

    def sample(self, key: PRNGKeyArray, out: Float[Array, " k"]) -> Array:
        """An action that is drawn from pi."""
        ...

    def mode(self, out: Float[Array, " k"]) -> Array:
        """The best action.

        Parameters
        ----------
        out : array, shape (k,)
            Output of the network for one state.

        Returns
        -------
        array
            An action, as `sample` draws it.
        """
        ...

    def log_prob(self, out: Float[Array, " k"], action: Array) -> Float[Array, ""]:
        """log pi(action | out)."""
        ...

    def factor(self, out: Float[Array, " k"]) -> Float[Array, "k r"]:
        """L with L L' the Fisher information of the action in output space.

        Parameters
        ----------
        out : array, shape (k,)
            Output of the network for one state.

        Returns
        -------
        array, shape (k, r)
            L.
        """
        ...

    def to_env(self, action: Array) -> Array:
        """The action as the environment takes it.

        Parameters
        ----------
        action : array
            The action as it was drawn.

        Returns
        -------
        array
            Scaled and clipped where that is needed.
        """
        ...


class Softmax(eqx.Module):
    """One of several choices; the output holds their logits.

    Parameters
    ----------
    actions : int
        How many choices there are, at least 2.
    """

    actions: int = eqx.field(static=True)

    def __init__(self, actions: int):
        self.actions = _validate.count("actions", actions, 2)

    @property
    def outputs(self) -> int:
        """The number of actions."""
        return self.actions

    def sample(self, key: PRNGKeyArray, out: Float[Array, " k"]) -> Int[Array, ""]:
        return jax.random.categorical(key, out)

    def mode(self, out: Float[Array, " k"]) -> Int[Array, ""]:
        """The most likely action, the first of equals.

        Parameters
        ----------
        out : array, shape (k,)
            Output of the network for one state.

        Returns
        -------
        array of int, shape ()
            The action.
        """
        return jnp.argmax(out, axis=-1)

    def log_prob(self, out: Float[Array, " k"], action: Int[Array, ""]) -> Float[Array, ""]:
        chosen = jax.nn.one_hot(action, self.actions, dtype=out.dtype)
        return jnp.sum(chosen * jax.nn.log_softmax(out))

    def factor(self, out: Float[Array, " k"]) -> Float[Array, "k r"]:
        """diag(sqrt pi) - pi sqrt(pi)'.

        For two actions one column, sqrt(p (1-p)) (-1, 1)'.

        Parameters
        ----------
        out : array, shape (k,)
            Output of the network for one state.

        Returns
        -------
        array, shape (k, r)
            L, with L L' the Fisher information.
        """
        if self.actions == 2:
            root = jnp.sqrt(jax.nn.softmax(out))
            return jnp.prod(root) * jnp.asarray([[-1.0], [1.0]], out.dtype)
        return _softmax_factor(out)

    def to_env(self, action: Int[Array, " *n"]) -> Int[Array, " *n"]:
        """The action itself.

        Parameters
        ----------
        action : array
            The action as it was drawn.

        Returns
        -------
        array of int
            The same.
        """
        return action


class Choices(eqx.Module):
    """Several choices at once, independent given the state; the output holds all their logits.

    Parameters
    ----------
    sizes : tuple of int
        How many alternatives each choice has. One that has no alternative is made all the same.
    """

    sizes: tuple[int, ...] = eqx.field(static=True)

    def __init__(self, sizes: Sequence[int]):
        self.sizes = tuple(_validate.count("sizes", size) for size in sizes)
        if sum(self.sizes) <= len(self.sizes):
            raise ValueError(f"sizes must leave something to choose, got {self.sizes}")

    @property
    def outputs(self) -> int:
        """The number of all alternatives."""
        return sum(self.sizes)

    def _each(self, out: Float[Array, " k"]) -> list[Float[Array, " c"]]:
        return jnp.split(out, np.cumsum(self.sizes)[:-1])

    def sample(self, key: PRNGKeyArray, out: Float[Array, " k"]) -> Int[Array, " c"]:
        keys = jax.random.split(key, len(self.sizes))
        return jnp.stack(
            [jax.random.categorical(k, o) for k, o in zip(keys, self._each(out), strict=True)]
        )

    def mode(self, out: Float[Array, " k"]) -> Int[Array, " c"]:
        """The most likely alternative of each, the first of equals.

        Parameters
        ----------
        out : array, shape (k,)
            Output of the network for one state.

        Returns
        -------
        array of int, shape (c,)
            The action.
        """
        return jnp.stack([jnp.argmax(each) for each in self._each(out)])

    def log_prob(self, out: Float[Array, " k"], action: Int[Array, " c"]) -> Float[Array, ""]:
        chosen = [
            jax.nn.one_hot(a, each.size, dtype=out.dtype) @ jax.nn.log_softmax(each)
            for a, each in zip(action, self._each(out), strict=True)
        ]
        return jnp.sum(jnp.stack(chosen))

    def factor(self, out: Float[Array, " k"]) -> Float[Array, "k k"]:
        """That of `Softmax` for each choice, in blocks.

        Parameters
        ----------
        out : array, shape (k,)
            Output of the network for one state.

        Returns
        -------
        array, shape (k, k)
            L, with L L' the Fisher information.
        """
        return jax.scipy.linalg.block_diag(*(_softmax_factor(each) for each in self._each(out)))

    def to_env(self, action: Int[Array, " *n c"]) -> Int[Array, " *n c"]:
        """The action itself.

        Parameters
        ----------
        action : array
            The action as it was drawn.

        Returns
        -------
        array of int, shape (..., c)
            The same.
        """
        return action


def _softmax_factor(out: Float[Array, " k"]) -> Float[Array, "k k"]:
    pi = jax.nn.softmax(out)
    root = jnp.sqrt(pi)
    return jnp.diag(root) - pi[:, None] * root[None]


class GaussianHead(eqx.Module):
    """N(out, std^2) in units of the action space: +-1 are its bounds, where it has them.

    Parameters
    ----------
    std : array_like, shape () or (a,)
        Of the action noise; it has nothing to do with the spread of the search in theta.
    low, high : array_like, shape (a,)
        Bounds of the actions; they may be infinite.
    """

    std: Float[Array, " a"]
    low: Float[Array, " a"]
    high: Float[Array, " a"]

    def __init__(self, std: ArrayLike, low: npt.ArrayLike, high: npt.ArrayLike):
        low, high = (np.atleast_1d(np.asarray(bound, float)) for bound in (low, high))
        if low.shape != high.shape or low.ndim != 1 or not np.all(low < high):
            raise ValueError(f"low and high must be vectors with low < high, got {low} and {high}")
        std = _arrays.positive("std", std)
        if std.ndim:
            _validate.shape("std", std, low.shape, "the bounds of the actions")
        self.std = jnp.broadcast_to(std, low.shape)
        self.low, self.high = jnp.asarray(low, self.std.dtype), jnp.asarray(high, self.std.dtype)

    @property
    def outputs(self) -> int:
        """The number of coordinates of an action."""
        return self.std.shape[0]

    def sample(self, key: PRNGKeyArray, out: Float[Array, " a"]) -> Float[Array, " a"]:
        return out + self.std * jax.random.normal(key, out.shape, out.dtype)

    def mode(self, out: Float[Array, " a"]) -> Float[Array, " a"]:
        """The mean action.

        Parameters
        ----------
        out : array, shape (k,)
            Output of the network for one state.

        Returns
        -------
        array, shape (a,)
            The output itself.
        """
        return out

    def log_prob(self, out: Float[Array, " a"], action: Float[Array, " a"]) -> Float[Array, ""]:
        z = (action - out) / self.std
        return jnp.sum(-0.5 * z * z - jnp.log(self.std) - 0.5 * jnp.log(2 * jnp.pi))

    def factor(self, out: Float[Array, " a"]) -> Float[Array, "a a"]:
        """diag(1 / std).

        Parameters
        ----------
        out : array, shape (k,)
            Output of the network for one state.

        Returns
        -------
        array, shape (a, a)
            L, with L L' the Fisher information.
        """
        return jnp.diag(1 / self.std)

    def to_env(self, action: Float[Array, " *n a"]) -> Float[Array, " *n a"]:
        """The action, scaled to the box and clipped.

        Where a bound is missing it is taken as it is.

        Parameters
        ----------
        action : array
            The action as it was drawn.

        Returns
        -------
        array, shape (..., a)
            The action as the environment takes it.
        """
        # the largest numbers there are stand for none: their range is not one in single precision
        bounded = jnp.isfinite((self.high - self.low).astype(jnp.float32))
        low, high = jnp.where(bounded, self.low, -1.0), jnp.where(bounded, self.high, 1.0)
        shape = (1,) * (action.ndim - 1) + low.shape
        middle, half = ((high + low) / 2).reshape(shape), ((high - low) / 2).reshape(shape)
        return jnp.clip(middle + half * action, self.low.reshape(shape), self.high.reshape(shape))

    def with_std(self, std: ArrayLike) -> "GaussianHead":
        return eqx.tree_at(
            lambda m: m.std,
            self,
            jnp.broadcast_to(jnp.asarray(std, self.std.dtype), self.std.shape),
        )


class Mixed(eqx.Module):
    """Choices and real numbers at once, independent given the state; the choices come first.

    Parameters
    ----------
    choices : Choices
        Of the first outputs, and of the first numbers of an action.
    reals : GaussianHead
        Of the rest.
    """

    choices: Choices
    reals: GaussianHead

    @property
    def outputs(self) -> int:
        """Those of both."""
        return self.choices.outputs + self.reals.outputs

    def sample(self, key: PRNGKeyArray, out: Float[Array, " k"]) -> Float[Array, " a"]:
        first, last = jax.random.split(key)
        chosen, real = self._outputs(out)
        return self._joined(self.choices.sample(first, chosen), self.reals.sample(last, real))

    def mode(self, out: Float[Array, " k"]) -> Float[Array, " a"]:
        """The most likely alternatives and the mean of the real numbers.

        Parameters
        ----------
        out : array, shape (k,)
            Output of the network for one state.

        Returns
        -------
        array, shape (a,)
            The action.
        """
        chosen, real = self._outputs(out)
        return self._joined(self.choices.mode(chosen), self.reals.mode(real))

    def log_prob(self, out: Float[Array, " k"], action: Float[Array, " a"]) -> Float[Array, ""]:
        (chosen, real), (which, numbers) = self._outputs(out), self._parts(action)
        return self.choices.log_prob(chosen, which) + self.reals.log_prob(real, numbers)

    def factor(self, out: Float[Array, " k"]) -> Float[Array, "k k"]:
        """Those of both, in blocks.

        Parameters
        ----------
        out : array, shape (k,)
            Output of the network for one state.

        Returns
        -------
        array, shape (k, k)
            L, with L L' the Fisher information.
        """
        chosen, real = self._outputs(out)
        return jax.scipy.linalg.block_diag(self.choices.factor(chosen), self.reals.factor(real))

    def to_env(self, action: Float[Array, " *n a"]) -> Float[Array, " *n a"]:
        """The choices themselves, and the real numbers scaled to their box and clipped.

        Parameters
        ----------
        action : array
            The action as it was drawn.

        Returns
        -------
        array, shape (..., a)
            The action as the environment takes it.
        """
        which, numbers = self._parts(action)
        return self._joined(which, self.reals.to_env(numbers))

    def _outputs(self, out: Array) -> list[Array]:
        return jnp.split(out, [self.choices.outputs])

    def _parts(self, action: Array) -> tuple[Array, Array]:
        which, numbers = jnp.split(action, [len(self.choices.sizes)], axis=-1)
        return which.astype(int), numbers

    def _joined(self, which: Array, numbers: Array) -> Array:
        return jnp.concatenate([which.astype(numbers.dtype), numbers], axis=-1)
