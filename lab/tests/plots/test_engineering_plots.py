"""Pictures of designs: everything that was given is in them, and misuse is named."""

import numpy as np
import pytest
from phenes_lab.plots import engineering

from phenes.problems.engineering import COATING_SHARED, ENGINEERING

DEAR = ("launch", "coating", "coating-shared")


@pytest.mark.parametrize(
    "name",
    [pytest.param(n, marks=pytest.mark.tier("lab") if n in DEAR else ()) for n in ENGINEERING],
)
def test_pictures_show_the_designs_by_name(name):
    problem = ENGINEERING[name]
    designs = {"on paper": problem.nominal, "for builds": problem.optimum}
    draw = engineering.PICTURES[name]
    figure = engineering.spectra(designs, problem) if draw is engineering.spectra else draw(designs)
    texts = [
        text.get_text()
        for ax in figure.axes
        for text in (ax.title, *(ax.get_legend().get_texts() if ax.get_legend() else []))
    ]
    titles = " ".join(t for t in texts + [ax.get_title(loc="left") for ax in figure.axes])
    assert "on paper" in titles
    assert "for builds" in titles
    assert figure._repr_png_()[:4] == b"\x89PNG"


def test_the_yield_in_the_title_is_that_of_the_problem():
    problem = ENGINEERING["filter"]
    figure = engineering.response({"minimax": problem.nominal})
    assert f"{problem.assess(problem.nominal).share:.1%} pass" in figure.axes[0].get_title(
        loc="left"
    )


def test_misuse_is_named():
    with pytest.raises(ValueError, match=r"designs must be theta by name, .* got none"):
        engineering.response({})
    with pytest.raises(
        ValueError,
        match=(
            r"the design 'mine' must have shape \(33,\) for the mirror coating, shared errors, got"
            r" \(3,\)"
        ),
    ):
        engineering.spectra({"mine": np.zeros(3)}, COATING_SHARED)
