"""result.plot("pairs"): which evaluations failed, and where a model expects that."""

import io
from dataclasses import replace

import numpy as np
import pytest
from matplotlib.text import Text

import phenes
from phenes.evidence import Evaluations
from phenes.optimizer import Result
from phenes.optimizer.answer.named_result import name_result
from phenes.optimizer.pictures import pairs


def made(d=2, *, n=80, fails=None, stress=None, measured=True):
    rng = np.random.default_rng(0)
    theta = rng.uniform(-1, 1, (n, d))
    x = theta + 0.1 * rng.standard_normal((n, d))
    f = np.sum(x**2, axis=1)
    if fails is not None:
        f = np.where(fails(x), np.nan, f)
    held = {} if stress is None else {"stress": np.where(np.isnan(f), np.nan, stress(x))}
    known = x if measured else np.full_like(x, np.nan)
    return Result(
        x=np.zeros(d),
        fun=0.1,
        fun_se=0.01,
        nfev=n,
        nit=1,
        success=True,
        message="",
        evaluations=Evaluations(theta, known, f, np.full(n, "search"), held),
        history={"nfev": np.array([n])},
        noise_cov=np.full(d, 0.01),
    )


def text(figure):
    figure.savefig(io.BytesIO(), dpi=30)
    found = figure.findobj(Text)
    return " ".join(artist.get_text() for artist in found)


@pytest.mark.parametrize("kind", ["fails", "stress"])
def test_the_region_is_where_evaluations_are_bad(kind):
    """Bad beyond x0 + x1 = 0.6: the model has the sign right away from that line."""
    beyond = {"fails": lambda x: x.sum(axis=1) > 0.6, "stress": lambda x: x.sum(axis=1) - 0.6}
    result = made(**{kind: beyond[kind]})
    failed, held = np.isnan(result.evaluations.f), list(result.evaluations.constraints.values())
    x = np.asarray(result.evaluations.x)
    model = pairs._model(x, failed, held, result.x, np.full(2, 0.1))
    across, up, worst = pairs._region(model, result.x, x, 0, 1)
    total = across[None, :] + up[:, None]
    assert np.mean(worst[total > 1.0] > 0) > 0.9
    assert np.mean(worst[total < 0.2] > 0) < 0.1
    said = text(result.plot("pairs"))
    assert ("failed" if kind == "fails" else "violated a limit") in said
    assert "where the model expects it" in said
    assert "the other parameters" not in said
    others = made(3, **{kind: lambda x: beyond[kind](x[:, :2])})
    assert "the other parameters at the answer" in text(others.plot("pairs"))


def test_the_headline_is_not_cut_off():
    figure = made(3, n=80, fails=lambda x: x[:, 0] > 0.6).plot("pairs")
    narrow = made(2, n=80, fails=lambda x: x[:, 0] > 0.6, stress=lambda x: x[:, 1] - 0.7)
    for out in (figure, narrow.plot("pairs")):
        text(out)
        box = out._suptitle.get_window_extent()
        assert 0 <= box.x0 < box.x1 <= out.bbox.x1


def test_without_failures_there_is_no_region():
    assert "None of 80 evaluations failed" in text(made().plot("pairs"))


def test_of_many_parameters_those_that_matter_are_paired():
    result = made(d=6, n=120, fails=lambda x: x[:, 5] > 0.5)
    figure = result.plot("pairs")
    labels = {ax.get_xlabel() for ax in figure.axes} | {ax.get_ylabel() for ax in figure.axes}
    assert "coordinate 5" in labels
    assert len(labels) == pairs.MOST


def test_what_cannot_be_drawn_is_said():
    assert "x was not measured" in text(made(measured=False).plot("pairs"))
    assert "no pair" in text(made(d=1).plot("pairs"))


def test_names_units_and_logarithms_are_those_of_the_space():
    space = phenes.Space(
        width=phenes.Real(-1, 1, unit="mm", noise=0.1), feed=phenes.Log(0.4, 3.0, noise=0.1)
    )
    result = name_result(replace(made(fails=lambda x: x[:, 0] > 0.5), space=space), space)
    ax = result.plot("pairs").axes[0]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("width, mm", "feed")
    assert ax.get_yscale() == "log"
