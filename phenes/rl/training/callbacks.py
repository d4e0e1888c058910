"""Callbacks, which observe a training while it runs and may end it.

A callback is any function of a `Moment`; one that returns True, or raises StopIteration, ends the
training, as in `phenes.minimize`. What the ready-made ones decide depends on the learning curve
alone, so that a training which is resumed ends where it would have ended.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias, cast

import numpy as np

from phenes import _validate
from phenes.rl.curve import Curve
from phenes.rl.training.loop import Now
from phenes.rl.training.trained import Trained


@dataclass(frozen=True)
class Moment:
    """A training after some of its generations, as callbacks see it.

    Parameters
    ----------
    now : Now
        Where the loop is.
    about : mapping
        What is known of the training so far, see `Trained`.
    world : gymnasium.Env, callable or None
        See `Trained`.
    """

    now: Now = field(repr=False)
    about: dict[str, Any] = field(repr=False)
    world: Any = field(default=None, repr=False)

    @property
    def done(self) -> int:
        """Generations so far."""
        return self.now.done

    @property
    def total(self) -> int:
        """Generations at most."""
        return self.now.total

    @property
    def curve(self) -> Curve:
        """The learning curve so far."""
        return self.now.curve

    @property
    def value(self) -> float:
        """What the mean policy returned when it was last looked at."""
        return float(self.curve.deterministic[-1])

    @property
    def improved(self) -> bool:
        """Whether the mean policy is better than at any look before these last generations."""
        before = self.curve.deterministic[: self.now.looked]
        return self.value > float(np.max(before, initial=-np.inf))

    @property
    def trained(self) -> Trained:
        """The mean policy as it is now: to predict, evaluate, save or plot."""
        end = {"solved": False, "value": self.value, "seconds": float(self.curve.seconds[-1])}
        return Trained(self.now.readout(), self.curve, {**self.about, **end}, self.world)


Callback: TypeAlias = Callable[[Moment], object]


def checked(callback: Callback | Sequence[Callback] | None) -> tuple[Callback, ...]:
    """One, several or none, as several."""
    if callback is None:
        return ()
    several = callback if isinstance(callback, list | tuple) else [cast(Callback, callback)]
    return tuple(
        _validate.function("callback", each, "training.SaveBest('best.phenes')") for each in several
    )


def ends(callbacks: Sequence[Callback], moment: Moment) -> bool:
    """Tell all of them; whether any wants to end the training."""
    return any([_wants_to_end(callback, moment) for callback in callbacks])


def _wants_to_end(callback: Callback, moment: Moment) -> bool:
    try:
        return callback(moment) is True
    except StopIteration:
        return True


class StopAt:
    """End when the mean policy returned so much whenever it was looked at, some times in a row.

    `train(target=...)` is stricter: it asks 100 fresh episodes.

    Parameters
    ----------
    target : float
        The return.
    looks : int
        How many looks in a row.

    Raises
    ------
    ValueError
        If target is not finite or looks not positive.
    """

    def __init__(self, target: float, looks: int = 1):
        self.target = _validate.number("target", target)
        self.looks = _validate.count("looks", looks)

    def __call__(self, moment: Moment) -> bool:
        last = moment.curve.deterministic[-self.looks :]
        return last.size == self.looks and bool(np.all(last >= self.target))


class StopWithoutImprovement:
    """End when the mean policy was not better in some generations than it had been before.

    Parameters
    ----------
    generations : int
        How many to wait.
    least : float
        By how much it has to be better.

    Raises
    ------
    ValueError
        If generations is not positive or least is negative.
    """

    def __init__(self, generations: int = 50, least: float = 0.0):
        self.generations = _validate.count("generations", generations)
        self.least = _validate.number("least", least)
        if self.least < 0:
            raise ValueError(f"least must not be negative, got {least!r}")

    def __call__(self, moment: Moment) -> bool:
        at, looks = moment.curve.at, moment.curve.deterministic
        recent = at > moment.done - self.generations
        if moment.done <= self.generations or np.all(recent):
            return False
        return bool(np.max(looks[recent], initial=-np.inf) <= np.max(looks[~recent]) + self.least)


class SaveBest:
    """Keep the mean policy in a file whenever it returned more than at any look before.

    Parameters
    ----------
    path : str or Path
        The file, as of `Trained.save`; it holds the best policy at any time.

    Raises
    ------
    ValueError
        If the folder is not there.
    """

    def __init__(self, path: str | Path):
        self.path = Path(path)
        if not self.path.parent.is_dir():
            raise ValueError(f"path must be in a folder that is there, got {str(path)!r}")

    def __call__(self, moment: Moment) -> None:
        if moment.improved:
            moment.trained.save(self.path)
