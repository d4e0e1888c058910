"""The declared noise as data for a file, and back.

Numbers and Gaussian laws are their covariance, bias and gain. Other laws of the library are the
name of a class of this list and its arrays: no code comes from a file. A law of the user's own is
not stored; it is known again by its mean and covariance at x0.
"""

# many signatures of JAX and equinox are typed in part only
# pyright: reportUnknownMemberType=false

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np

from phenes import _validate
from phenes._validate import FloatArray
from phenes.optimizer.noise.model import (
    GaussianNoiseModel,
    LearntNoiseModel,
    Moments,
    NoiseModel,
    SampledNoiseModel,
)
from phenes.optimizer.records.plain import from_plain, to_plain

LEARN = "learn"
# laws whose parameters are arrays of the size of theta: none of them can be made to draw much
LAWS = (
    "GaussianMixtureNoise",
    "GaussianNoise",
    "LaplaceNoise",
    "MultivariateTNoise",
    "RoundingNoise",
    "SaturatingNoise",
    "StudentTNoise",
    "UniformNoise",
)
COVARIANCES = ("Dense", "Diagonal", "LowRank")
# Draws with the same seed agree to rounding errors.
CLOSE = 1e-6

Data = dict[str, Any]


class _NotData(Exception):
    """The law is more than arrays."""


def encode(model: NoiseModel, at_start: Moments) -> Data:
    """The noise as JSON has it. at_start: its moments at x0."""
    if isinstance(model, LearntNoiseModel):
        return {"kind": LEARN}
    if isinstance(model, GaussianNoiseModel):
        gain = None if model.gain is None else to_plain(model.gain)
        parts = {"cov": to_plain(model.cov), "bias": to_plain(model.bias), "gain": gain}
        return {"kind": "gaussian"} | parts
    assert isinstance(model, SampledNoiseModel)
    moments = {"cov": to_plain(at_start.cov), "bias": to_plain(at_start.bias)}
    try:
        parts = {"law": _fields(model.law)}
    except _NotData:
        return {"kind": "own", "name": type(model.law).__name__} | moments
    return {"kind": "law"} | parts | moments


def decode(data: Mapping[str, Any], dim: int) -> Any:
    """What `Optimizer` takes for noise; None for a law of the user's own."""
    kind = data["kind"]
    if kind == LEARN:
        return LEARN
    if kind == "gaussian":
        cov, bias = _array(data["cov"]), _array(data["bias"])
        gain = None if data["gain"] is None else _array(data["gain"])
        ends = (dim,) if cov.ndim == 1 else (dim, dim)
        _validate.shape("cov", cov, ends, "x0")
        _validate.shape("bias", bias, (dim,), "x0")
        if gain is not None:
            _validate.shape("gain", gain, (dim, dim), "x0")
        eps = float(np.finfo(np.float64).eps)
        _validate.semidefinite("cov", np.diag(cov) if cov.ndim == 1 else cov, eps)
        return GaussianNoiseModel(cov, bias, gain)
    if kind == "law":
        return _law(data["law"])
    if kind == "own":
        return None
    raise ValueError(f"noise of kind {_validate.quote(kind)} is not known")


def differs(stored: Mapping[str, Any], given: Mapping[str, Any]) -> str:
    """How two declarations differ, in words; empty if they mean the same."""
    names = {*stored, *given} & {"cov", "bias", "gain"}
    kinds = {"own", "law"}  # told apart by what they do
    same = stored["kind"] == given["kind"] or {stored["kind"], given["kind"]} <= kinds
    if same and all(_close(stored.get(name), given.get(name)) for name in names):
        return ""
    return f"was {_words(stored)} and is now {_words(given)}"


def _words(data: Mapping[str, Any]) -> str:
    if data["kind"] == LEARN:
        return "learnt"
    cov = _array(data["cov"])
    deviations = np.sqrt(np.diag(cov) if cov.ndim == 2 else cov)
    more = "".join(
        f", {name} {_validate.describe(_array(data[name]))}"
        for name in ("bias", "gain")
        if data.get(name) is not None and np.any(_array(data[name]))
    )
    correlated = " and correlations" if cov.ndim == 2 else ""
    return f"standard deviations {_validate.describe(deviations)}{correlated}{more}"


def _close(a: Any, b: Any) -> bool:
    if a is None or b is None:
        return a is b
    one, other = _array(a), _array(b)
    return one.shape == other.shape and bool(np.allclose(one, other, rtol=CLOSE, atol=0))


def _array(value: Any) -> FloatArray:
    array = from_plain("noise", value)
    _validate.finite("noise", array)
    return array


def _classes() -> dict[str, type]:
    from phenes import covariance, inputs

    laws: dict[str, type] = {name: getattr(inputs, name) for name in LAWS}
    return laws | {name: getattr(covariance, name) for name in COVARIANCES}


def _fields(value: Any) -> Any:
    """A law as nested dictionaries of numbers."""
    if value is None:
        return None
    name = type(value).__name__
    if type(value) is _classes().get(name):
        names = [each.name for each in dataclasses.fields(value)]
        return {"of": name, "fields": {each: _fields(getattr(value, each)) for each in names}}
    array: Any = np.asarray(value)
    if array.dtype.kind != "f" or callable(value):
        raise _NotData
    return {"type": array.dtype.name, "values": to_plain(array)}


def _law(data: Any) -> Any:
    """The reverse, in the precision that it had."""
    import jax

    if data is None:
        return None
    if "of" not in data:
        if data["type"] not in ("float32", "float64"):
            raise ValueError(f"numbers of type {_validate.quote(data['type'])} are not known")
        values = _array(data["values"])
        with jax.enable_x64(True):
            return jax.numpy.asarray(values, dtype=data["type"])
    found = _classes().get(data["of"])
    if found is None:
        raise ValueError(f"a law {_validate.quote(data['of'])} is not known")
    names = {each.name for each in dataclasses.fields(found)}
    if names != set(data["fields"]):
        raise ValueError(f"the parts of a {data['of']} are {', '.join(sorted(names))}")
    return _made(found, {name: _law(data["fields"][name]) for name in names})


def _made(kind: type[Any], fields: Mapping[str, Any]) -> Any:
    """An object with these fields, as JAX makes it of its leaves; nothing of it is called."""
    law: object = object.__new__(kind)
    for name, value in fields.items():
        object.__setattr__(law, name, value)
    return law
