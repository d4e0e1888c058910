"""A lab over several weeks, with named parameters."""

import numpy as np
import pytest

import phenes
from phenes import Choice, Integer, Log, Real, Space

SPACE = Space(
    width=Real(0, 10, unit="mm", noise=0.2),
    feed=Log(0.01, 1, noise=0.05),
    turns=Integer(1, 9),
    alloy=Choice("A", "B"),
)


def measured(point, rng):
    x = dict(point)
    x["width"] += 0.2 * rng.standard_normal()
    x["feed"] *= np.exp(0.05 * rng.standard_normal())
    return x


def cost(x):
    return (x["width"] - 4) ** 2 + np.log(x["feed"] / 0.1) ** 2 + (x["turns"] - 3) ** 2


def rounds(opt, rng, n):
    for _ in range(n):
        theta = opt.ask()
        x = [measured(each, rng) for each in theta]
        opt.tell(theta, [cost(each) for each in x], realised=x)
    return opt


@pytest.mark.parametrize("engine", [pytest.param("gp", marks=pytest.mark.tier("runs")), "adaptive"])
def test_saved_and_loaded_it_goes_on_bit_for_bit(tmp_path, engine):
    path = tmp_path / "lab.phenes"
    options = {"batch": 4, "budget": 32, "engine": engine, "seed": 0}
    whole = rounds(phenes.Optimizer(SPACE, **options), np.random.default_rng(1), 5)
    rng = np.random.default_rng(1)
    first = rounds(phenes.Optimizer(SPACE, **options), rng, 3)
    first.save(path)
    again = rounds(phenes.Optimizer.load(path), rng, 2)
    assert again.space.described() == SPACE.described()
    assert dict(again.mean) == dict(whole.mean)
    assert again.result.fun == whole.result.fun
    assert again.ask() == whole.ask()


def test_what_is_pending_has_names():
    opt = phenes.Optimizer(SPACE, batch=3, budget=20, seed=0)
    theta = opt.ask()
    assert opt.pending == theta
    opt.withdraw(theta[:1])
    assert opt.pending == theta[1:]
    with pytest.raises(ValueError, match="theta must be pending"):
        opt.withdraw(theta[:1])


def test_it_shows_itself_by_name():
    opt = rounds(phenes.Optimizer(SPACE, batch=4, budget=20, seed=0), np.random.default_rng(0), 2)
    for text in (str(opt), opt._repr_html_()):
        assert "width" in text
        assert "mm" in text
        assert "alloy" in text
    assert "8 of 20" in repr(opt)
    figure = opt.plot()
    shown = {ax.get_xlabel() for ax in figure.axes} | {ax.get_title() for ax in figure.axes}
    assert any("width, mm" in each for each in shown), shown
