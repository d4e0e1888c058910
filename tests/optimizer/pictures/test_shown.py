"""What an Optimizer says of itself."""

import numpy as np
import pytest

import phenes


def make(**changes):
    options = {"batch": 4, "budget": 20, "engine": "adaptive"} | changes
    return phenes.Optimizer(np.zeros(2), 0.5, 0.1, **options)


def test_before_anything_was_told():
    opt = make()
    assert repr(opt) == "Optimizer(d=2, engine='adaptive': 0 of 20, 20 left)"
    names = [line.split("  ")[-2].strip() for line in str(opt).splitlines()]
    assert names == ["evaluations", "x now", "asks", "E f(x)"]
    assert "not known yet" in str(opt)


def test_used_pending_and_left():
    opt = make()
    theta = opt.ask()
    x = theta + 0.1
    opt.tell(theta[:3], [1.0, 2.0, None], realised=x[:3])
    assert "3 of 20, 1 without a value, 1 under way, 16 left" in str(opt)
    assert "evolution strategy, search; 4 at once" in str(opt)


def test_at_the_end():
    opt = make()
    while not opt.stop():
        theta = opt.ask()
        opt.tell(theta, np.sum((theta - 0.5) ** 2, axis=1), realised=theta)
    assert "20 of 20, 0 left" in str(opt)
    assert f"{opt.result.fun:.6g} ± {opt.result.fun_se:.2g}" in str(opt)
    assert np.array2string(opt.result.x, precision=5) in str(opt)
    assert str(opt).splitlines()[-1].split() == ["stop", "budget"]


@pytest.mark.parametrize("dim", [1, 30])
def test_notebooks_show_a_table(dim):
    opt = phenes.Optimizer(np.zeros(dim), 0.5, 0.1, batch=4, budget=20, engine="adaptive")
    theta = opt.ask()
    page = opt._repr_html_()
    assert "0 of 20, 4 under way, 16 left" in page
    assert f"{theta[:, 0].min():.4g} to {theta[:, 0].max():.4g}" in page
    assert page.count("<tr>") == 1 + min(dim, 12)
    assert ("18 coordinates are not shown" in page) == (dim == 30)


def test_terminals_of_ipython_show_what_print_shows():
    class Printer:
        def text(self, text):
            self.said = text

    printer, opt = Printer(), make()
    opt._repr_pretty_(printer, False)
    assert printer.said == str(opt)
