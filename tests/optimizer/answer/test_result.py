"""A result as people meet it: printed, in a notebook, drawn."""

import numpy as np
import pytest
from matplotlib.figure import Figure

import phenes
from phenes.optimizer import Result


@pytest.fixture(scope="module")
def result():
    return phenes.minimize(
        lambda x: np.sum(x**2), x0=np.ones(3), sigma0=0.5, noise=0.1, budget=300, seed=0
    )


def bare(**given):
    return Result(
        **{
            "x": np.zeros(2),
            "fun": 1.0,
            "fun_se": 0.1,
            "nfev": 10,
            "nit": 1,
            "success": True,
            "message": "done",
            **given,
        }
    )


def test_plot_is_a_figure_that_notebooks_show(result):
    figure = result.plot()
    assert isinstance(figure, Figure)
    assert figure.axes[0].get_title(loc="left") == "value"
    assert figure._repr_png_()[:4] == b"\x89PNG"


def test_plot_of_nothing_is_named():
    with pytest.raises(ValueError, match="there is nothing to plot: no values have been told yet"):
        phenes.Optimizer(np.zeros(2), 1.0).result.plot()
    with pytest.raises(ValueError, match="there is nothing to plot"):
        bare().plot()


def test_html_has_the_answer_and_every_coordinate(result):
    html = result._repr_html_()
    assert f"E f(x) = {result.fun:.6g} ± {result.fun_se:.2g}" in html
    assert f"{result.nfev:,} evaluations in all" in html
    assert result.message in html
    assert html.count("<tr>") == 1 + 3
    assert all(f"<td>{value:.6g}</td>" in html for value in result.x)


def test_html_of_many_coordinates_is_short_and_says_so():
    html = bare(x=np.arange(100.0), spread=np.full(100, 0.5))._repr_html_()
    assert html.count("<tr>") == 1 + 20
    assert "80 coordinates are not shown" in html
    assert "<td>99</td>" in html


def test_html_escapes_what_others_wrote():
    html = bare(errors=("<script>alert(1)</script>",), failed=3)._repr_html_()
    assert "<script>" not in html
    assert "&lt;script&gt;" in html
    assert "3 evaluations without a value" in html


def test_print_and_pretty_are_the_same(result):
    class Printer:
        said = ""

        def text(self, words):
            self.said += words

    printer = Printer()
    result._repr_pretty_(printer, False)
    assert printer.said == str(result)
    assert "E f(x)" in str(result)
    assert "\n" in str(result)


def test_a_result_is_what_scipy_makes_of_its_own():
    """All fields that SciPy's optimisers have in common, as attributes and as items."""
    from scipy.optimize import OptimizeResult

    found = phenes.minimize(lambda x: float(np.sum(x**2)), [1.0, 1.0], 0.5, 0.1, budget=20)
    same = OptimizeResult(found)
    for name in ("x", "fun", "success", "status", "message", "nfev", "nit"):
        assert np.array_equal(same[name], getattr(found, name))
        assert np.array_equal(getattr(same, name), found[name])
    assert isinstance(same.status, int)
