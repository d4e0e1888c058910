import numpy as np

from phenes.evidence.decay import LEAST, decay


def test_it_is_exp_to_the_last_bit_where_that_does_not_underflow():
    exponent = -np.geomspace(1e-9, -LEAST, 100)
    assert np.array_equal(decay(exponent.copy()), np.exp(exponent))


def test_far_below_it_is_a_normal_number_that_adds_nothing():
    """NumPy's exp takes fifteen times as long where it leaves the normal numbers."""
    far = decay(np.array([-710.0, -1e300, -np.inf]))
    assert np.all((far >= np.finfo(float).tiny) & (1e-200 + far == 1e-200))


def test_it_is_computed_in_place():
    exponent = np.zeros(2)
    assert decay(exponent) is exponent
