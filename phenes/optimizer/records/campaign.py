"""What a run over several weeks needs beside ask and tell: what is pending, and a file."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from phenes import _validate, risk
from phenes._validate import FloatArray
from phenes.constraints.wanted import from_described
from phenes.optimizer.ask_tell import AskTell
from phenes.optimizer.noise import data as noise_data
from phenes.optimizer.noise.state import NoiseState, NoiseWarning
from phenes.optimizer.records import saved
from phenes.optimizer.records.appending import Appending
from phenes.optimizer.records.journal import ASK, BUDGET, MOST_ROWS, VERIFY, WITHDRAW, Call, Journal
from phenes.optimizer.records.plain import from_plain, to_plain
from phenes.space import Space

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from phenes.optimizer.options import Noise

LARGEST_BATCH = 100_000  # evaluations at once that a file may ask for: more take memory, not time


class Settings(NamedTuple):
    """What a run was begun with, as it was understood."""

    x0: FloatArray
    sigma0: FloatArray
    lower: FloatArray
    upper: FloatArray
    batch: int | None
    popsize: int | None
    budget: int
    target: float | None
    maximize: bool
    verify: int | None
    engine: str
    seed: int
    space: dict[str, Any] | None = None
    constraints: dict[str, Any] | None = None
    objective: dict[str, Any] | None = None  # None: the mean

    def plain(self) -> dict[str, Any]:
        """As JSON has them; files of runs without constraints are as they always were."""
        return {
            name: to_plain(value) if isinstance(value, np.ndarray) else value
            for name, value in self._asdict().items()
            if name != "constraints" or value is not None
        }


class Campaign:
    """The part of `Optimizer` that knows what is pending, and keeps a run in a file."""

    dim: int
    _state: AskTell
    _noise: NoiseState
    _journal: Journal
    _settings: Settings
    _declared: dict[str, Any] | None = None  # the noise as data, once that was asked for

    @property
    def pending(self) -> Any:
        """Theta that were handed out and not told yet, as `ask` gave them, the oldest first.

        What is told is known by its theta: the very numbers that `ask` gave.
        """
        return self._named(self._journal.pending)

    def withdraw(self, theta: ArrayLike) -> None:
        """Give up theta that were handed out and will never be told.

        For experiments that were not made, or whose results were lost: told as failures they would
        count as bad places.

        Parameters
        ----------
        theta : array_like, shape (n, d)
            Rows of `pending`.

        Raises
        ------
        ValueError
            If one of them is not pending.
        """
        given = self._vectors(theta)
        rows, _, _ = _validate.told(given, np.zeros(len(np.atleast_2d(given))), None, self.dim)
        left = self._journal.pending.tolist()
        for row in rows.tolist():
            if row not in left:
                raise ValueError(f"theta must be pending, got {_validate.quote(row)}, which is not")
            left.remove(row)
        self._journal.withdraw(rows)
        self._state.search.withdraw(rows)

    def save(self, path: str | Path) -> None:
        """Write the run to a file, from which `load` goes on bit for bit.

        The file holds data only, as lines of JSON. It is replaced as a whole: if that fails, the
        old one is intact.

        Parameters
        ----------
        path : str or pathlib.Path
            The file.

        Raises
        ------
        ValueError
            If it cannot be written, or if the run has more than 50,000 evaluations, which only
            `checkpoint` keeps.
        """
        if not self._journal.complete:
            raise ValueError(
                f"a run of more than {MOST_ROWS} evaluations cannot be saved afterwards: begin it"
                " with checkpoint="
            )
        saved.write(Path(path).resolve(), self._described(), self._journal.calls)

    @classmethod
    def load(cls, path: str | Path, noise: Noise = None) -> Self:
        """Go on with a run that was saved, or with what a checkpoint has.

        Parameters
        ----------
        path : str or pathlib.Path
            The file of `save` or of `checkpoint`; it is only read.
        noise : input law, optional
            The law of x, if it was one of your own: files hold no code.

        Returns
        -------
        Optimizer
            In the state in which it was saved, with the same theta pending.

        Raises
        ------
        ValueError
            If the file is damaged, or not of this kind; or if it needs the law of x.

        Warns
        -----
        UserWarning
            If other arithmetic (another machine or version) asks for other theta: the run then goes
            on from the same data, but not bit for bit.
        """
        place = Path(path).resolve()
        found = saved.read(place)
        options = _options(place, found.settings, noise)
        # whatever the arithmetic makes of a foreign file, it is the file that is wrong
        try:
            opt = cls(**options)
        except Exception as error:
            raise ValueError(f"{place} is damaged: {error}") from error
        opt._check_noise(place, found)
        opt._replay(place, found)
        return opt

    def _keep(self, path: str | Path, budget: int) -> None:
        """Keep every call in a file from now on, after those that it holds already."""
        place = Path(path).resolve()
        file = Appending(place)
        try:
            if file.known is None:
                file.begin(self._described())
            else:
                self._check_same(place, file.known)
                self._begin_with(file.known.settings["budget"])
                self._replay(place, file.known)
        except BaseException:
            file.close()
            raise
        self._journal.sink = file
        if file.known is not None and budget != file.known.settings["budget"]:
            self._change_budget(budget)

    def _replay(self, path: Path, found: saved.Saved) -> None:
        """Make the calls of a file again."""
        same = True
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", NoiseWarning)  # it was given when it was due
                for call in found.calls:
                    same &= self._again(call)
        except Exception as error:
            raise ValueError(f"{path} cannot be gone on with: {error}") from error
        if not same:
            warnings.warn(
                f"{path} was written by phenes {found.version} with other arithmetic: all that was"
                " told is here, but the run does not go on bit for bit",
                stacklevel=4,
            )

    def _again(self, call: Call) -> bool:
        """Make a call again; whether it went as it did then."""
        if call.kind == BUDGET:
            self._change_budget(call.number)
        elif call.kind == ASK:
            theta = self._hand_out_again(call.theta, call.number)
            self._journal.ask(call.theta, call.number)
            return np.array_equal(theta, call.theta)
        elif call.kind == VERIFY:
            self._place(call.theta[0])
            self._journal.verify(call.theta)
        elif call.kind == WITHDRAW:
            self._journal.withdraw(call.theta)
            self._state.search.withdraw(call.theta)
        else:
            held = None
            if call.c is not None:
                held = dict(zip(call.names, call.c.T, strict=True))
            self.tell_vectors(call.theta, call.f, call.x, held)
        return True

    def _described(self) -> dict[str, Any]:
        """The settings and the noise as JSON has them."""
        return self._settings.plain() | {"noise": self._declared_noise()}

    def _declared_noise(self) -> dict[str, Any]:
        if self._declared is None:
            self._declared = noise_data.encode(self._noise.model, self._noise.declared)
        return self._declared

    def _check_noise(self, path: Path, found: saved.Saved) -> None:
        try:
            difference = noise_data.differs(found.settings["noise"], self._declared_noise())
        except (KeyError, TypeError, ValueError) as error:
            raise ValueError(f"{path} is damaged: the noise is no law ({error})") from error
        if difference:
            raise ValueError(f"the run in {path} has other noise: noise {difference}")

    def _check_same(self, path: Path, found: saved.Saved) -> None:
        """Refuse to go on with a run of other settings; the budget may change."""
        stored, given = found.settings, self._settings.plain()
        given = {"constraints": None} | given
        names = [name for name in given if name != "budget" and stored.get(name) != given[name]]
        said = [
            f"{name} was {_validate.quote(stored.get(name))} and is now"
            f" {_validate.quote(given[name])}"
            for name in names
        ]
        if said:
            raise ValueError(
                f"the run in {path} has other settings and cannot be gone on with:"
                f" {'; '.join(said)}"
            )
        self._check_noise(path, found)
        _validate.count("budget", stored.get("budget"))

    @abstractmethod
    def _named(self, rows: FloatArray) -> Any:
        """Rows (n, d) as users have them: by name, in a space."""

    @abstractmethod
    def _vectors(self, theta: Any) -> Any:
        """The reverse."""

    @abstractmethod
    def tell_vectors(
        self,
        theta: ArrayLike,
        f: ArrayLike,
        realised: ArrayLike | None = None,
        constraints: Any = None,
    ) -> None:
        """`tell`, with vectors."""

    @abstractmethod
    def _begin_with(self, budget: int) -> None:
        """Begin anew, with this budget."""

    @abstractmethod
    def _change_budget(self, budget: int) -> None:
        """Go on with this budget."""

    @abstractmethod
    def _hand_out_again(self, theta: FloatArray, pending: int) -> FloatArray:
        """What `ask` does when it gives these theta; what it would have given."""

    @abstractmethod
    def _place(self, theta: FloatArray) -> None:
        """What `verify` does when theta (d,) is the answer."""

    @abstractmethod
    def tell(self, theta: Any, f: Any, realised: Any = None, constraints: Any = None) -> None:
        """See `Optimizer`."""


def _options(path: Path, settings: dict[str, Any], noise: Any) -> dict[str, Any]:
    """What the constructor takes, of the settings in a file."""
    try:
        dim = len(settings["x0"])
        stored = noise_data.decode(settings["noise"], dim)
        lower, upper = (from_plain("bounds", settings[side], 1) for side in ("lower", "upper"))
        plain = ("budget", "target", "maximize", "verify", "engine", "seed", "batch", "popsize")
        options = {name: settings[name] for name in plain}
        for name in ("batch", "popsize"):
            if options[name] is not None and options[name] > LARGEST_BATCH:
                raise ValueError(f"{name} is {_validate.quote(options[name])}")
        options["objective"] = risk.from_described(settings.get("objective"))
        start, width = (from_plain(name, settings[name], 1) for name in ("x0", "sigma0"))
        options["constraints"] = from_described(settings.get("constraints"))
    except Exception as error:
        raise ValueError(f"{path} is damaged: the settings are not complete ({error})") from error
    if stored is None and noise is None:
        name = _validate.quote(settings["noise"].get("name"))
        raise ValueError(
            f"the noise of the run in {path} is a law of your own, {name}: give it as"
            " load(path, noise=law)"
        )
    given = stored if noise is None else noise
    if settings.get("space") is None:
        return options | {"x0": start, "sigma0": width, "bounds": (lower, upper), "noise": given}
    try:
        space = Space.from_described(settings["space"])
        begin = dict(space.decode(start))
    except Exception as error:
        raise ValueError(f"{path} is damaged: the space is none ({error})") from error
    own = any("noise" in each for each in settings["space"].values())
    return options | {"space": space, "x0": begin, "noise": None if own else given}
