"""The mirror coating against the tmm package, and against what is known of stacks without it."""

import numpy as np
import pytest

from phenes.problems.engineering.coating import (
    COATING,
    INDICES,
    LAYERS,
    WAVE,
    WAVES,
    figures,
    spectrum,
    transmission,
)


def test_transmission_and_reflection_are_those_of_tmm():
    tmm = pytest.importorskip("tmm")
    for thickness in np.random.default_rng(0).uniform(20, 400, size=(3, LAYERS)):
        for wave in (*WAVES, 532.0, 1550.0):
            light = tmm.coh_tmm("s", [1.0, *INDICES, 1.45], [np.inf, *thickness, np.inf], 0, wave)
            np.testing.assert_allclose(
                transmission(thickness, wave), (light["T"], light["R"]), rtol=1e-9, atol=1e-12
            )


def test_the_nominal_design_meets_the_specification_on_paper():
    transmitted, first, second = figures(COATING.nominal)
    assert transmitted == pytest.approx(5000, rel=1e-3)  # thicknesses are given to 0.01 nm
    assert max(first, second) < 1
    assert COATING(COATING.nominal) > -0.02
    assert COATING(COATING.x0) == COATING(COATING.nominal)


def test_no_light_is_lost_and_a_spectrum_is_many_wavelengths():
    x = COATING.realise(COATING.nominal, 4, np.random.default_rng(1))
    waves = np.array([650.0, 1064.0, 2000.0])
    both = [transmission(np.exp(x), wave) for wave in waves]
    np.testing.assert_allclose([t + r for t, r in both], 1, atol=1e-10)
    np.testing.assert_allclose(
        spectrum(x, waves), np.stack([r for _, r in both], axis=-1), rtol=1e-12
    )


def test_a_quarter_wave_stack():
    """R = ((1 - Y) / (1 + Y))^2 with Y = n_s (n_H / n_L)^(2 N) for N pairs, and the innermost layer
    is part of the substrate.
    """
    thickness = WAVE / 4 / np.array(INDICES)
    admittance = 1.45 * (1.45 / 2.06) ** 32
    assert transmission(thickness, WAVE)[1] == pytest.approx(
        ((1 - admittance) / (1 + admittance)) ** 2, rel=1e-12
    )
    thicker = thickness.copy()
    thicker[-1] *= 1.3
    np.testing.assert_allclose(
        transmission(thicker, WAVE), transmission(thickness, WAVE), rtol=1e-9
    )


def test_one_requirement_that_fails_fails_the_mirror():
    x = COATING.realise(COATING.nominal, 400, np.random.default_rng(2))
    transmitted, first, second = figures(x)
    expected = (abs(transmitted - 5000) <= 1000) & (first <= 2000) & (second <= 1000)
    np.testing.assert_array_equal(COATING.measure(x).passes, expected)
    assert 0.5 < expected.mean() < 0.9
