"""A learnt policy to look at: the learning curve, and an episode."""

import gymnasium
import numpy as np
import pytest

import phenes
from phenes.rl.curve import Curve
from tests.rl.rollouts import worlds
from tests.rl.training.small import as_optax_needs_it, short, table  # noqa: F401


@pytest.fixture(scope="module")
def network():
    return short(seed=3)


@pytest.fixture(scope="module")
def lake():
    return table(seed=1, generations=50, popsize=100, options={"is_slippery": False})


def drawn(ax):
    return {line.get_label(): line for line in ax.get_lines()}


def test_a_network_is_drawn_with_its_spread_looks_and_signal(network):
    left, right = network.plot().axes
    lines = drawn(left)
    curve = network.curve
    np.testing.assert_array_equal(lines["mean of the population"].get_ydata(), curve.mean)
    looks = lines["mean policy, best actions"]
    np.testing.assert_array_equal(looks.get_xdata(), 6 * curve.at)
    np.testing.assert_array_equal(looks.get_ydata(), curve.deterministic)
    (band,) = left.collections
    assert band.get_label() == "up to its best"
    edge = band.get_paths()[0].vertices
    assert curve.best[0] > curve.mean[0]
    assert set(edge[edge[:, 0] == 6, 1]) == {curve.mean[0], curve.best[0]}  # one generation
    np.testing.assert_array_equal(right.get_lines()[0].get_ydata(), curve.signal())


def test_a_table_is_drawn_on_its_map_whoever_made_the_environment(lake):
    left, map_ = lake.plot().axes
    assert drawn(left)["best possible"].get_ydata()[0] == 1.0
    assert "".join(text.get_text() for text in map_.texts).count("H") == 4
    env = gymnasium.make("FrozenLake-v1", is_slippery=False)
    made = phenes.rl.train(env, generations=2, popsize=10)
    assert len(made.plot().axes) == 2


def test_nothing_learnt_is_nothing_to_plot(network):
    none = type(network)(network.readout, Curve.start(), network.about)
    with pytest.raises(ValueError, match="nothing to plot"):
        none.plot()


def test_an_episode_as_pictures_and_as_a_file(network, lake, tmp_path):
    assert len(lake.render().pictures) == 7  # six steps to the goal, and the start
    path = lake.render(tmp_path / "lake.gif")
    assert path.read_bytes()[:6] == b"GIF89a"
    pictures = network.render(seed=2).pictures
    assert np.any(pictures[0] != pictures[-1])


def test_an_episode_in_a_window(lake, monkeypatch):
    """The environment draws by itself; without a screen, on SDL's own dummy."""
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    assert lake.render(human=True) == 1.0


def test_a_film_that_cannot_be_is_said_in_one_sentence(lake, tmp_path):
    with pytest.raises(ValueError, match=r"a film must be a \.gif or \.mp4"):
        lake.render(tmp_path / "lake.png")
    with pytest.raises(ValueError, match="path must be None"):
        lake.render(tmp_path / "lake.gif", human=True)
    with pytest.raises(ValueError, match="seed must be"):
        lake.render(seed=-1)


@pytest.mark.tier("rl")
def test_an_environment_that_cannot_be_drawn_is_said_in_one_sentence():
    walk = phenes.rl.train("tests/Walk-v0", generations=1, popsize=4, preset="paper-es")
    with pytest.raises(ValueError, match=r"Walk-v0 cannot render .* it has no way of rendering"):
        walk.render()
    with pytest.raises(ValueError, match="cannot render an episode as 'human'"):
        walk.render(human=True)
    made = phenes.rl.train(gymnasium.make("FrozenLake-v1"), generations=1, popsize=4)
    with pytest.raises(
        ValueError, match=r"made with render_mode=None, .* needs render_mode='rgb_a"
    ):
        made.render()


class Broken(worlds.Walk):
    metadata = {"render_modes": ["rgb_array"]}  # noqa: RUF012
    render_mode = "rgb_array"

    def render(self):
        raise OSError("no\nscreen")


@pytest.mark.tier("rl")
def test_trouble_while_drawing_is_one_sentence():
    broken = gymnasium.wrappers.TimeLimit(Broken(), 20)
    walk = phenes.rl.train(broken, generations=1, popsize=4, preset="paper-es")
    with pytest.raises(ValueError, match="Broken could not render a picture: no screen"):
        walk.render()
