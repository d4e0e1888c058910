"""A chemist mixes a buffer: masses on the scale are never the masses that were planned.

Three salts are weighed by hand; the scale says afterwards what is in the flask. The yield of the
reaction depends on pH and salt content. `phenes` is told what was weighed, learns how far off the
hand is, and recommends what to aim at. Sometimes a flask is spilt: there is no value then.
"""

import numpy as np

import phenes

space = phenes.Space(
    acid=phenes.Real(1, 12, unit="g"),
    base=phenes.Real(1, 12, unit="g"),
    salt=phenes.Real(0, 8, unit="g"),
    noise="learn",
)
hand = np.random.default_rng(7)


def lab(planned):
    """What was weighed, and the yield in per cent; None for a flask that was spilt."""
    off = {"acid": 0.25, "base": 0.25, "salt": 0.4}
    weighed = {k: max(v + off[k] * hand.standard_normal(), 0.05) for k, v in planned.items()}
    if hand.random() < 0.04:
        return weighed, None
    ph = 4.8 + np.log10(weighed["base"] / weighed["acid"])
    strength = weighed["acid"] + weighed["base"] + weighed["salt"]
    return weighed, 92 * np.exp(-(((ph - 5.0) / 0.12) ** 2) - ((strength - 12) / 6) ** 2)


if __name__ == "__main__":
    result = phenes.maximize(lab, space, realises=True, budget=90, seed=0)
    print(result)

    # what aiming there gives over many flasks, beside a recipe that is perfect on paper
    paper = {"acid": 2.0, "base": 3.17, "salt": 6.83}
    for name, aim in {"recommended": dict(result.x), "on paper": paper}.items():
        found = [lab(aim)[1] for _ in range(3000)]
        print(f"{name}: {np.mean([y for y in found if y is not None]):.1f} % on average")
