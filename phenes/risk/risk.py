"""What a risk is able to do."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import fields
from typing import Any, ClassVar

from phenes._validate import FloatArray
from phenes.risk.reference import Reference

MOST_UNMET = 0.05  # share of the law of x that no evaluation needs to have met


class Risk(ABC):
    """A functional rho of the law of f(x), small where theta is good.

    Made by the functions of `phenes.risk`. Values are as minimised: of -f where f is maximised.

    Attributes
    ----------
    name : str
        Of the function that makes it.
    """

    name: ClassVar[str]

    @abstractmethod
    def value(self, f: FloatArray, w: FloatArray | None = None) -> float:
        """The risk of a sample.

        Parameters
        ----------
        f : ndarray, shape (n,)
            Values.
        w : ndarray, shape (n,), optional
            Weights, not negative; equal by default.

        Returns
        -------
        float
        """

    @abstractmethod
    def tangent(self, f: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The risk of samples of equally likely values, and its derivatives, for a search.

        Quantiles and probabilities are smoothed, so that there is a slope to follow.

        Parameters
        ----------
        f : ndarray, shape (..., n)
            Values.

        Returns
        -------
        tuple of ndarray, shapes (...) and (..., n)
            rho, and its derivative by each value: where these are fixed, rho changes like the sum
            of the values with these weights.
        """

    @abstractmethod
    def reference(
        self, f: FloatArray, w: FloatArray | None = None, smooth: bool = True
    ) -> Reference:
        """The linearisation at the law of a sample, a function of single values.

        Parameters
        ----------
        f : ndarray, shape (n,)
            Values.
        w : ndarray, shape (n,), optional
            Weights, not negative; equal by default.
        smooth : bool, optional
            For a search, which needs slopes and an order of all values; otherwise exact.

        Returns
        -------
        Reference
            g with E g(f) = rho for this law.
        """

    @abstractmethod
    def label(self, sign: float = 1.0) -> str:
        """What it is, in a few words.

        Parameters
        ----------
        sign : float, optional
            -1 if f is maximised, else 1.

        Returns
        -------
        str
        """

    def bounds(self, f: FloatArray) -> tuple[float, float] | None:
        """An interval of 95 % from independent draws alone, whatever their law is.

        Parameters
        ----------
        f : ndarray, shape (n,)
            Values.

        Returns
        -------
        tuple of float or None
            Infinite where so few draws say nothing; None if no such interval exists.
        """
        return None

    @property
    def tail(self) -> float:
        """Probability of the part of the law that counts; 1 if all of it does."""
        return 1.0

    @property
    def least_draws(self) -> int:
        """Draws below which nothing can be said of the tail from draws alone; 1 if there is none.

        With that many, at most one sample in twenty has no draw of a tail (the rule of three), or
        is no bound of a quantile.
        """
        return 1

    @property
    def moments(self) -> bool:
        """Whether it is made of moments of f, which a quadratic of x may explain altogether."""
        return False

    @property
    def kept_draws(self) -> int:
        """Draws that are kept for the end, if the budget allows them: those that show a tail."""
        return self.least_draws

    @property
    def most_unmet(self) -> float:
        """Share of the law of x beyond all evaluations that a claim may rest on a model for.

        Half of a tail: if it were as large as the tail, all of that might be there.
        """
        return min(self.tail / 2, MOST_UNMET)

    @property
    def ends(self) -> tuple[float, float]:
        """Between which values, as the user sees them, it can lie at all."""
        return -math.inf, math.inf

    def minimised(self, sign: float) -> Risk:
        """The same risk of sign * f, which is what is minimised.

        Parameters
        ----------
        sign : float
            -1 if f is maximised, else 1.

        Returns
        -------
        Risk
        """
        return self

    def shown(self, sign: float) -> tuple[float, float]:
        """Where the user's values lie.

        Parameters
        ----------
        sign : float
            -1 if f is maximised, else 1.

        Returns
        -------
        tuple of float
            a and b: a + b v is what the user sees of a value v as minimised.
        """
        return 0.0, sign

    def described(self) -> dict[str, Any]:
        """As JSON has it.

        Returns
        -------
        dict
            The name, and the parameters by name; `phenes.risk.from_described` is the reverse.
        """
        return {"name": self.name} | self.parameters

    @property
    def parameters(self) -> dict[str, float]:
        """Parameters by name."""
        return {each.name: getattr(self, each.name) for each in fields(self)}  # pyright: ignore[reportArgumentType]

    def __str__(self) -> str:
        given = ", ".join(f"{value:g}" for value in self.parameters.values())
        return f"{self.name}({given})"
