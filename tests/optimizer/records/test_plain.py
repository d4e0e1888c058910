"""Arrays in JSON."""

import contextlib
import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from phenes.optimizer.records.plain import from_plain, to_plain


@given(hnp.arrays(np.float64, hnp.array_shapes(min_dims=0, max_dims=3, max_side=3)))
def test_what_is_written_is_read(array):
    text = json.dumps(to_plain(array), allow_nan=False)
    back = from_plain("a", json.loads(text))
    np.testing.assert_array_equal(back, array)
    finite = np.isfinite(array)
    np.testing.assert_array_equal(np.signbit(back[finite]), np.signbit(array[finite]))


@settings(max_examples=30)
@given(
    st.recursive(
        st.none() | st.booleans() | st.text() | st.floats() | st.integers(),
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=2),
    )
)
def test_anything_else_is_a_value_error(value):
    with contextlib.suppress(ValueError):
        assert from_plain("a", value).dtype == np.float64


@pytest.mark.parametrize("value", [[[[[1.0]]]], "nan", ["infinity"], {"a": 1}, [True], [1, [2]]])
def test_these_are_no_arrays(value):
    with pytest.raises(ValueError, match=r"a must be|nested too deeply"):
        from_plain("a", value)


def test_the_number_of_axes_is_checked():
    with pytest.raises(ValueError, match=r"a must have 2 axes, got shape \(1,\)"):
        from_plain("a", [1.0], 2)
