"""What an environment gives and takes, as plain data.

A layout is made of a space of Gymnasium, and is all that is needed later: it reads an observation
as the vector that policies see, writes what a policy does as the action that `env.step` takes, and
is kept in the file of a policy as JSON. Rollouts and `Trained.predict` share it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from phenes import _validate

if TYPE_CHECKING:
    from gymnasium import Space

Read: TypeAlias = Callable[[Any], np.ndarray]
"""Observation to vector."""

PIXEL = 1 / 255  # pixels are scaled to [0, 1]
DEEPEST = 16  # layers of containers in a file
CONTAINERS = ("tuple", "dict")


@dataclass(frozen=True)
class Layout:
    """A space as plain data.

    Parameters
    ----------
    kind : {"box", "discrete", "multidiscrete", "multibinary", "tuple", "dict"}
        As Gymnasium calls it.
    shape : tuple of int
        Of an array; () for a discrete space and for containers.
    dtype : str
        Of an array.
    sizes, starts : tuple of int
        How many values each number of a discrete or multidiscrete space has, and its first value.
    pixels : bool
        Bytes from 0 to 255, which are read as numbers from 0 to 1.
    names : tuple of str
        Of the parts of a dict.
    parts : tuple of Layout
        Of a tuple or a dict.
    """

    kind: str
    shape: tuple[int, ...] = ()
    dtype: str = ""
    sizes: tuple[int, ...] = ()
    starts: tuple[int, ...] = ()
    pixels: bool = False
    names: tuple[str, ...] = ()
    parts: tuple[Layout, ...] = ()

    @property
    def size(self) -> int:
        """Numbers of the vector that is read."""
        if self.kind in CONTAINERS:
            return sum(part.size for part in self.parts)
        return sum(self.sizes) if self.sizes else math.prod(self.shape)

    @property
    def choices(self) -> tuple[int, ...]:
        """How many alternatives each choice of an action has; none for a box of real numbers."""
        if self.kind in CONTAINERS:
            return sum((part.choices for part in self.parts), ())
        return (2,) * math.prod(self.shape) if self.kind == "multibinary" else self.sizes

    @property
    def reals(self) -> int:
        """Real numbers of an action."""
        if self.kind in CONTAINERS:
            return sum(part.reals for part in self.parts)
        return math.prod(self.shape) if self.kind == "box" else 0

    def leaves(self) -> "list[Layout]":
        """The parts that have none, from left to right; itself if it is one.

        Returns
        -------
        list of Layout
            Boxes and choices.
        """
        if self.kind not in CONTAINERS:
            return [self]
        return [leaf for part in self.parts for leaf in part.leaves()]

    def reader(self) -> Read:
        """A function from observations to vectors, shape (size,).

        Returns
        -------
        callable
            The same numbers as `gymnasium.spaces.utils.flatten`, but for pixels, which are scaled.
        """
        if self.kind == "box":
            return _pixels if self.pixels else np.ravel
        if self.kind == "multibinary":
            return np.ravel
        if self.kind in ("discrete", "multidiscrete"):
            return self._one_hot()
        readers = [part.reader() for part in self.parts]
        if self.kind == "tuple":
            return lambda obs: _joined([read(o) for read, o in zip(readers, obs, strict=True)])
        named = list(zip(self.names, readers, strict=True))
        return lambda obs: _joined([read(obs[name]) for name, read in named])

    def _one_hot(self) -> Read:
        first = np.cumsum((0, *self.sizes))[:-1] - np.array(self.starts)
        size = self.size

        def read(obs: Any) -> np.ndarray:
            out = np.zeros(size)
            chosen = first + np.ravel(obs)
            out[chosen.astype(int)] = 1.0
            return out

        return read

    def check(self, obs: Any, name: str) -> None:
        """Refuse what is no observation of this layout.

        Parameters
        ----------
        obs : object
            What was given.
        name : str
            What it is called in the sentence.

        Raises
        ------
        ValueError
            If shape, range or names are others.
        """
        if self.kind in CONTAINERS:
            self._check_parts(obs, name)
            return
        wanted = () if self.kind == "discrete" else self.shape
        array = np.asarray(obs)
        if array.shape != wanted or array.dtype.kind not in "biuf":
            raise ValueError(f"{name} must be {self._said()}, got {_validate.quote(obs)}")
        if self.sizes:
            value = np.ravel(array) - np.array(self.starts)
            whole = np.all(value == np.floor(value))
            if not (whole and np.all((value >= 0) & (value < self.sizes))):
                raise ValueError(f"{name} must be {self._said()}, got {_validate.quote(obs)}")

    def _check_parts(self, obs: Any, name: str) -> None:
        if self.kind == "tuple":
            if not isinstance(obs, list | tuple) or len(obs) != len(self.parts):
                raise ValueError(f"{name} must be {self._said()}, got {_validate.quote(obs)}")
            for k, (part, value) in enumerate(zip(self.parts, obs, strict=True)):
                part.check(value, f"{name}[{k}]")
            return
        if not isinstance(obs, Mapping) or set(obs) != set(self.names):
            raise ValueError(f"{name} must be {self._said()}, got {_validate.quote(obs)}")
        for key, part in zip(self.names, self.parts, strict=True):
            part.check(obs[key], f"{name}[{key!r}]")

    def _said(self) -> str:
        if self.kind == "tuple":
            return f"a tuple of {len(self.parts)}"
        if self.kind == "dict":
            return f"a mapping with {', '.join(self.names)}"
        if self.kind == "discrete":
            return f"a whole number from {self.starts[0]} to {self.starts[0] + self.sizes[0] - 1}"
        if self.sizes:
            return f"whole numbers of shape {self.shape}, below {self.sizes} from {self.starts} on"
        return f"numbers of shape {self.shape}"

    def writer(self) -> Callable[[Any], Any]:
        """A function from what a policy does to what `env.step` takes.

        Returns
        -------
        callable
            Choices are counted from 0 on the side of the policy, and those of all parts come before
            the real numbers of all parts; arrays get shape and dtype.
        """
        shape = self.shape
        if self.kind in CONTAINERS:
            return self._parts_writer()
        if self.kind == "discrete":
            start = self.starts[0]
            return lambda action: int(np.reshape(action, ())) + start
        dtype = np.dtype(self.dtype)
        starts = np.reshape(self.starts, shape) if self.sizes else 0
        return lambda action: np.asarray(np.reshape(action, shape) + starts, dtype)

    def _parts_writer(self) -> Callable[[Any], Any]:
        leaves = self.leaves()
        order = sorted(range(len(leaves)), key=lambda k: leaves[k].reals > 0)
        ends = np.cumsum([len(leaves[k].choices) + leaves[k].reals for k in order])[:-1]
        writers = [leaf.writer() for leaf in leaves]

        def write(action: Any) -> Any:
            of = dict(zip(order, np.split(np.asarray(action), ends), strict=True))
            return self._filled(iter([each(of[k]) for k, each in enumerate(writers)]))

        return write

    def _filled(self, values: Iterator[Any]) -> Any:
        """The containers around the values of the leaves."""
        if self.kind == "tuple":
            return tuple(part._filled(values) for part in self.parts)
        if self.kind == "dict":
            named = zip(self.names, self.parts, strict=True)
            return {name: part._filled(values) for name, part in named}
        return next(values)

    def described(self) -> dict[str, Any]:
        """As JSON.

        Returns
        -------
        dict
            What `from_described` takes.
        """
        out = {name: value for name, value in vars(self).items() if value not in ((), "", False)}
        if self.parts:
            out["parts"] = [part.described() for part in self.parts]
        return out


def _pixels(obs: Any) -> np.ndarray:
    return np.ravel(obs) * PIXEL


def _joined(parts: list[np.ndarray]) -> np.ndarray:
    return np.concatenate(parts) if parts else np.empty(0)


def of_space(space: Space) -> Layout | None:
    """The layout of a space of Gymnasium; None for kinds that have none."""
    from gymnasium import spaces

    if isinstance(space, spaces.Box):
        pixels = space.dtype == np.uint8 and bool(np.all(space.high == 255))
        return Layout("box", space.shape, str(space.dtype), pixels=pixels)
    if isinstance(space, spaces.Discrete):
        return Layout("discrete", sizes=(int(space.n),), starts=(int(space.start),))
    if isinstance(space, spaces.MultiDiscrete):
        sizes, starts = (tuple(map(int, np.ravel(v))) for v in (space.nvec, space.start))
        return Layout("multidiscrete", space.nvec.shape, str(space.dtype), sizes, starts)
    if isinstance(space, spaces.MultiBinary):
        return Layout("multibinary", tuple(space.shape), str(space.dtype))
    names: tuple[str, ...] = ()
    if isinstance(space, spaces.Dict):
        names, inner = tuple(space.spaces), tuple(space.spaces.values())
    elif isinstance(space, spaces.Tuple):
        inner = tuple(space.spaces)
    else:
        return None
    parts = [of_space(each) for each in inner]
    known = tuple(part for part in parts if part is not None)
    if len(known) < len(parts) or not all(isinstance(name, str) for name in names):
        return None
    return Layout("dict" if names else "tuple", names=names, parts=known)


def both(observed: Space, acted: Space) -> tuple[Read, Callable[[Any], Any]]:
    """How observations are read and actions written, of spaces that `spaces.of` takes."""
    watched, done = of_space(observed), of_space(acted)
    assert watched is not None
    assert done is not None
    return watched.reader(), done.writer()


KINDS = ("box", "discrete", "multidiscrete", "multibinary", *CONTAINERS)


def from_described(data: Any, depth: int = 0) -> Layout | None:
    """The layout of what `described` gave, checked; None stays None."""
    if data is None:
        return None
    if not isinstance(data, dict) or data.get("kind") not in KINDS or depth > DEEPEST:
        raise ValueError(f"it describes a space by {_validate.quote(data)}")
    whole = {name: _whole(name, data.get(name, ())) for name in ("shape", "sizes", "starts")}
    names = tuple(str(name) for name in data.get("names", ()))
    parts = tuple(from_described(part, depth + 1) for part in data.get("parts", ()))
    known = tuple(part for part in parts if part is not None)
    matches = len(whole["sizes"]) == len(whole["starts"])
    matches &= data["kind"] != "dict" or len(names) == len(known)
    matches &= not data["kind"].endswith("discrete") or bool(whole["sizes"])
    if not matches or len(known) < len(parts):
        raise ValueError(f"it describes a space by {_validate.quote(data)}")
    dtype = str(np.dtype(data["dtype"])) if "dtype" in data else ""
    pixels = _validate.flag("pixels", data.get("pixels", False)) is True
    return Layout(data["kind"], dtype=dtype, pixels=pixels, names=names, parts=known, **whole)


def _whole(name: str, values: Any) -> tuple[int, ...]:
    if not isinstance(values, list | tuple):
        raise ValueError(f"{name} of a space must be whole numbers, got {_validate.quote(values)}")
    least = -(2**62) if name == "starts" else 0
    return tuple(_validate.count(f"{name} of a space", value, least) for value in values)
