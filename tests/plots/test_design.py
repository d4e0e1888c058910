"""The picture of a design: that all of it can be read."""

import io

import numpy as np
import pytest

from phenes.plots.design import BARS, Bars, Design, Slice, figure


def data(d=3, slices=3, **changes):
    rng = np.random.default_rng(0)
    grid = np.linspace(-1, 1, 9)
    share = np.arange(1, d + 1) / (d * (d + 1) / 2)
    made = Design(
        "E f(x)",
        1.0,
        (0.9, 1.1),
        rng.chisquare(3, 100),
        False,
        "3.0% of 103 failed (95 %: 0.6% to 8.3%)",
        tuple(
            Slice(f"parameter {k}, mm", grid, grid**2, 0.1 + 0 * grid, 0.0, np.array([-0.1, 0.1]))
            for k in range(slices)
        ),
        "",
        Bars(tuple(f"parameter {k}, mm" for k in range(d)), share, share, 0.1 * share, 0.9),
        "",
    )
    return made._replace(**changes)


def panels(out):
    return [ax for sub in out.subfigs for ax in sub.axes if ax.get_visible()]


@pytest.mark.parametrize(("d", "slices"), [(1, 1), (3, 3), (40, 6)])
def test_nothing_overlaps_or_leaves_the_picture(d, slices):
    out = figure(data(d, slices))
    out.savefig(io.BytesIO(), dpi=50)
    room = out.bbox
    titles = [out._suptitle, out.subfigs[1]._suptitle, out.subfigs[1].legends[0]]
    boxes = [each.get_window_extent() for each in titles]
    boxes += [ax.get_tightbbox() for ax in panels(out)]
    for k, box in enumerate(boxes):
        assert room.x0 - 1 <= box.x0
        assert box.x1 <= room.x1 + 1
        assert room.y0 - 1 <= box.y0
        assert box.y1 <= room.y1 + 1
        assert not any(box.overlaps(other) for other in boxes[:k])


def test_bars_are_sorted_and_the_rest_share_one():
    _, share, cost = figure(data(40)).subfigs[0].axes
    names = [label.get_text() for label in share.get_yticklabels()]
    assert names[0] == "parameter 39, mm"
    assert names[-1] == f"{40 - BARS} others"
    assert sum(bar.get_width() for bar in share.patches) == pytest.approx(100)
    assert sum(bar.get_width() for bar in cost.patches) == pytest.approx(1)


def test_the_claim_is_marked_with_its_interval():
    ax = figure(data()).subfigs[0].axes[0]
    assert ax.lines[0].get_xdata() == [1.0, 1.0]
    assert "3.0% of 103 failed" in ax.get_xlabel()
    band = ax.patches[-1].get_extents().transformed(ax.transData.inverted())
    assert [band.x0, band.x1] == pytest.approx([0.9, 1.1])


def test_wild_values_do_not_squeeze_the_others():
    f = np.concatenate([np.linspace(0, 1, 999), [1e9]])
    ax = figure(data(f=f)).subfigs[0].axes[0]
    assert ax.get_xlim()[1] < 10
    assert "1 values lie beyond" not in ax.get_xlabel()
    assert "1 value lies beyond this range" in ax.get_xlabel()


def test_a_wide_interval_does_not_squeeze_the_histogram():
    f = np.linspace(0, 1, 20)
    ax = figure(data(f=f, value=0.5, interval=(-1e5, 1e5))).subfigs[0].axes[0]
    assert np.ptp(ax.get_xlim()) < 5
    assert "which reaches further" in ax.get_xlabel()
    assert "which reaches further" not in figure(data()).subfigs[0].axes[0].get_xlabel()


def test_one_wild_end_of_a_curve_does_not_squeeze_the_others():
    plain = data(f=np.linspace(0, 1, 20))
    wild = plain.slices[2]._replace(mean=np.where(np.arange(9) == 8, 1e7, plain.slices[2].mean))
    lower = figure(plain._replace(slices=(*plain.slices[:2], wild))).subfigs[1]
    assert np.ptp(lower.axes[0].get_ylim()) < 5
    assert "E f along parameter 2, mm, to 1e+07" in lower._suptitle.get_text()
    assert "Beyond" not in figure(plain).subfigs[1]._suptitle.get_text()


def test_a_parabola_and_one_that_dwarfs_the_others_are_shown_in_full():
    plain = data(f=np.linspace(0, 1, 20))
    steep = plain.slices[2]._replace(mean=1000 * plain.slices[2].mean)
    lower = figure(plain._replace(slices=(*plain.slices[:2], steep))).subfigs[1]
    assert lower.axes[0].get_ylim()[1] > 1000


def test_the_whole_range_of_an_exact_parameter_does_not_squeeze_tolerances():
    """The same curve as above, of a parameter without noise: that it is steep is seen anyway."""
    plain = data(f=np.linspace(0, 1, 20))
    answer = np.array([0.0, 0.0])
    exact = plain.slices[2]._replace(mean=1000 * plain.slices[2].mean, tolerance=answer)
    lower = figure(plain._replace(slices=(*plain.slices[:2], exact))).subfigs[1]
    assert np.ptp(lower.axes[0].get_ylim()) < 5
    assert "E f along parameter 2, mm, to 1e+03" in lower._suptitle.get_text()
