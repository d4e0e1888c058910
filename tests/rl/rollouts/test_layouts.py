"""Observations as vectors and actions as environments take them, by plain data."""

import json

import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.spaces.utils import flatdim, flatten

from phenes.rl.rollouts.layouts import from_described, of_space

BOX = spaces.Box(-1, 1, (2, 3), np.float32)
SPACES = {
    "box": BOX,
    "wide": spaces.Box(-np.inf, np.inf, (4,), np.float64),
    "discrete": spaces.Discrete(5, start=-2),
    "multidiscrete": spaces.MultiDiscrete([2, 5, 3], start=[1, -1, 0]),
    "grid": spaces.MultiDiscrete([[2, 3], [4, 2]]),
    "multibinary": spaces.MultiBinary([2, 2]),
    "tuple": spaces.Tuple((spaces.Discrete(32), spaces.Discrete(11), spaces.Discrete(2))),
    "dict": spaces.Dict(b=BOX, a=spaces.Dict(inner=spaces.MultiBinary(3)), c=spaces.Discrete(2)),
    "mixed": spaces.Tuple((BOX, spaces.Dict(x=spaces.Tuple((spaces.Discrete(3),))))),
}


@pytest.mark.parametrize("name", SPACES)
def test_read_as_gymnasium_flattens(name):
    """To the last bit, also after the way through a file."""
    space = SPACES[name]
    space.seed(1)
    layout = of_space(space)
    again = from_described(json.loads(json.dumps(layout.described())))
    assert again == layout
    assert layout.size == flatdim(space)
    for _ in range(20):
        obs = space.sample()
        layout.check(obs, "obs")
        np.testing.assert_array_equal(again.reader()(obs), flatten(space, obs))


def test_pixels_are_scaled():
    layout = of_space(spaces.Box(0, 255, (2, 2, 1), np.uint8))
    obs = np.array([0, 51, 102, 255], np.uint8).reshape(2, 2, 1)
    np.testing.assert_allclose(layout.reader()(obs), [0, 0.2, 0.4, 1], rtol=1e-15)
    assert from_described(layout.described()).pixels
    bytes_of_something = of_space(spaces.Box(0, 9, (2,), np.uint8))
    np.testing.assert_array_equal(bytes_of_something.reader()(np.array([3, 9], np.uint8)), [3, 9])


@pytest.mark.parametrize("name", ["box", "discrete", "multidiscrete", "grid", "multibinary"])
def test_actions_are_in_their_space(name):
    space, layout = SPACES[name], of_space(SPACES[name])
    own = np.zeros(len(layout.sizes)) if layout.sizes else np.zeros(int(np.prod(layout.shape)))
    action = layout.writer()(own[0] if name == "discrete" else own)
    assert space.contains(action)
    if layout.sizes:
        last = np.array(layout.sizes) - 1
        assert space.contains(layout.writer()(last[0] if name == "discrete" else last))
        over = np.array(layout.sizes)
        assert not space.contains(layout.writer()(over[0] if name == "discrete" else over))


def test_actions_in_containers():
    """Choices of all parts come first, then all real numbers, and each part gets its own."""
    space = spaces.Dict(
        push=spaces.Box(-9, 9, (2,), np.float64),
        inner=spaces.Tuple((spaces.Discrete(3, start=-1), spaces.Box(-9, 9, (), np.float32))),
        bits=spaces.MultiBinary((1, 2)),
    )
    layout = of_space(space)
    assert (layout.choices, layout.reals) == ((3, 2, 2), 3)
    action = layout.writer()([2.0, 0.0, 1.0, 0.5, -0.5, 4.0])
    assert space.contains(action)
    assert action["inner"][0] == 1
    assert action["inner"][1] == 4
    np.testing.assert_array_equal(action["push"], [0.5, -0.5])
    np.testing.assert_array_equal(action["bits"], [[0, 1]])


def test_kinds_without_a_layout():
    assert of_space(spaces.Text(5)) is None
    assert of_space(spaces.Tuple((BOX, spaces.Text(5)))) is None
    assert from_described(None) is None


@pytest.mark.parametrize(
    ("name", "obs", "said"),
    [
        ("discrete", 3, "obs must be a whole number from -2 to 2, got 3"),
        ("discrete", 0.5, "obs must be a whole number from -2 to 2"),
        ("discrete", [0], "obs must be a whole number from -2 to 2"),
        ("multidiscrete", [1, 4, 0], r"obs must be whole numbers of shape \(3,\)"),
        ("box", np.zeros(6), r"obs must be numbers of shape \(2, 3\)"),
        ("box", np.full((2, 3), "a"), r"obs must be numbers of shape \(2, 3\)"),
        ("tuple", (1, 2), "obs must be a tuple of 3, got"),
        ("tuple", (1, 2, 2), r"obs\[2\] must be a whole number from 0 to 1, got 2"),
        ("dict", {"a": 1}, "obs must be a mapping with b, a, c, got"),
        ("dict", 7, "obs must be a mapping with b, a, c, got 7"),
    ],
)
def test_what_is_no_observation_is_refused(name, obs, said):
    with pytest.raises(ValueError, match=said):
        of_space(SPACES[name]).check(obs, "obs")


@pytest.mark.parametrize(
    "data",
    [
        7,
        {},
        {"kind": "graph"},
        {"kind": "discrete"},
        {"kind": "discrete", "sizes": [3]},
        {"kind": "box", "shape": [-1]},
        {"kind": "box", "shape": "ab"},
        {"kind": "dict", "names": ["a"], "parts": []},
        {"kind": "tuple", "parts": [None]},
    ],
)
def test_damaged_descriptions_are_refused(data):
    with pytest.raises(ValueError, match=r"space"):
        from_described(data)
