"""Bad input: a ValueError of one sentence that names what was given and what was expected."""

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

import phenes
from phenes import Batch, estimators, inputs, metric, search, weightings

P, Q = inputs.GaussianNoise(0.1), search.Gaussian(np.zeros(2), np.eye(2))


def make(
    estimator=estimators.phenotype,
    weighting=weightings.standardise,
    optimiser=None,
    popsize=10,
    **options,
):
    return phenes.es(P, estimator, weighting, optimiser or optax.sgd(0.1), popsize, **options)


def told(p, q, x=None, estimator=estimators.phenotype):
    x = np.zeros((4, 2)) if x is None else x
    return estimator(
        p, q, Batch(theta=jnp.zeros((4, 2)), x=jnp.asarray(x), key=jax.random.key(0)), jnp.ones(4)
    )


CASES = {
    "mean with NaN": (
        lambda: search.Gaussian([0.0, np.nan], np.eye(2)),
        "mean must be finite, got",
    ),
    "mean as text": (
        lambda: search.Gaussian("zero", np.eye(2)),
        "mean must be a number or an array of numbers, got 'zero'",
    ),
    "mean a matrix": (
        lambda: search.Gaussian(np.zeros((2, 2)), np.eye(2)),
        r"mean must be a vector .* got shape \(2, 2\)",
    ),
    "mean empty": (lambda: search.IsotropicGaussian([], 1.0), "at least one coordinate"),
    "cov of another size": (
        lambda: search.Gaussian(np.zeros(2), np.eye(3)),
        r"cov must have shape \(2, 2\) to match the mean, got \(3, 3\)",
    ),
    "cov not square": (
        lambda: search.Gaussian(np.zeros(2), np.ones((2, 3))),
        r"cov must be a square matrix, got shape \(2, 3\)",
    ),
    "cov not symmetric": (
        lambda: search.Gaussian(np.zeros(2), [[1.0, 0.5], [0.0, 1.0]]),
        "cov must be symmetric, got asymmetry 0.5",
    ),
    "cov not PSD": (
        lambda: search.Gaussian(np.zeros(2), [[1.0, 2.0], [2.0, 1.0]]),
        "cov must be positive semidefinite, got smallest eigenvalue -1",
    ),
    "std negative": (
        lambda: search.IsotropicGaussian(np.zeros(2), -1.0),
        "std must be positive, got -1.0",
    ),
    "std zero": (lambda: search.DiagonalGaussian(np.zeros(2), [1.0, 0.0]), "std must be positive"),
    "std of another size": (
        lambda: search.DiagonalGaussian(np.zeros(2), np.ones(3)),
        r"std must have shape \(2,\) to match the mean, got \(3,\)",
    ),
    "std a vector": (
        lambda: search.IsotropicGaussian(np.zeros(2), np.ones(2)),
        r"std must have shape \(\) to match an isotropic law, got \(2,\)",
    ),
    "alpha negative": (lambda: search.Dirichlet([1.0, -1.0]), "alpha must be positive"),
    "alpha a scalar": (lambda: search.Dirichlet(1.0), r"alpha must have shape \[..., K\]"),
    "Beta shapes": (
        lambda: search.Beta([1.0, 2.0], [1.0]),
        r"b must have shape \(2,\) to match a, got \(1,\)",
    ),
    "Gamma zero": (lambda: search.Gamma(0.0, 1.0), "k must be positive, got 0.0"),
    "nu negative": (
        lambda: search.Conjugate(0.3, -1.0, jax.nn.softplus),
        "nu must be positive, got -1.0",
    ),
    "vector phi without B": (
        lambda: search.Conjugate([0.3, 0.2], 1.0, jnp.sum),
        "B and sampler must be given for a vector theta",
    ),
    "A not a function": (
        lambda: search.Conjugate(0.3, 1.0, "softplus"),
        "A must be a function such as jax.nn.softplus, got 'softplus'",
    ),
    "gate not a function": (lambda: search.Gate(3, lambda key: key), "logits must be a function"),
    "noise negative": (lambda: inputs.GaussianNoise(-0.1), "scale must be positive, got -0.1"),
    "noise NaN": (lambda: inputs.GaussianNoise(np.nan), "scale must be finite, got nan"),
    "noise not PSD": (
        lambda: inputs.GaussianNoise([[1.0, 2.0], [2.0, 1.0]]),
        "scale must be positive semidefinite",
    ),
    "noise of rank 3": (
        lambda: inputs.GaussianNoise(np.ones((2, 2, 2))),
        r"scale must be a scalar, a vector or a covariance matrix, got shape \(2, 2, 2\)",
    ),
    "noise of another size": (
        lambda: told(inputs.GaussianNoise([0.1, 0.2, 0.3]), Q),
        "scale must have 2 coordinates to match the mean, got 3",
    ),
    "bias of another size": (
        lambda: told(inputs.GaussianNoise(0.1, bias=np.ones(3)), Q),
        "bias must have 2 coordinates to match the mean, got 3",
    ),
    "gain of another size": (
        lambda: told(inputs.GaussianNoise(0.1, gain=np.eye(3)), Q),
        "gain must have 2 columns to match the mean, got 3",
    ),
    "gain a vector": (
        lambda: inputs.GaussianNoise(0.1, gain=np.ones(3)),
        r"gain must be a matrix \[outputs, inputs\], got shape \(3,\)",
    ),
    "shared errors": (
        lambda: inputs.shared_errors(0.1, np.ones(3)),
        r"factor must be a matrix \[d, k\], got shape \(3,\)",
    ),
    "mixture lengths": (
        lambda: inputs.GaussianMixtureNoise([0.5, 0.5], [0.1]),
        "weights, scales and biases must be of one length",
    ),
    "mixture kinds": (
        lambda: inputs.GaussianMixtureNoise([0.5, 0.5], [0.1, np.eye(2)]),
        "scales must be all scalars, all vectors or all matrices",
    ),
    "stops crossed": (
        lambda: inputs.SaturatingNoise(0.1, 1.0, -1.0),
        "low must be below high, got 1.0 and -1.0",
    ),
    "width zero": (lambda: inputs.UniformNoise(0.0), "width must be positive, got 0.0"),
    "step zero": (lambda: inputs.RoundingNoise(0.0), "step must be positive, got 0.0"),
    "df zero": (lambda: inputs.StudentTNoise(1.0, 0.0), "df must be positive, got 0.0"),
    "draws zero": (
        lambda: inputs.Multinomial(0),
        "draws must be a whole number of at least 1, got 0",
    ),
    "trials a float": (
        lambda: inputs.Bernoulli(2.5),
        "trials must be a whole number of at least 1, got 2.5",
    ),
    "repeats zero": (
        lambda: inputs.Repeated(P, 0),
        "repeats must be a whole number of at least 1, got 0",
    ),
    "popsize zero": (
        lambda: make(popsize=0),
        "popsize must be a whole number of at least 1, got 0",
    ),
    "popsize not whole": (
        lambda: make(popsize=10.5),
        "popsize must be a whole number of at least 1, got 10.5",
    ),
    "popsize true": (lambda: make(popsize=True), "popsize must be a whole number"),
    "popsize odd": (
        lambda: make(popsize=11, mirrored=True),
        "popsize must be even for mirrored pairs, got 11",
    ),
    "estimator by name": (
        lambda: make("phenotype"),
        "estimator must be a function such as phenes.estimators.phenotype, got 'phenotype'",
    ),
    "weighting by name": (
        lambda: make(weighting="ranks"),
        "weighting must be a function such as phenes.weightings.standardise, got 'ranks'",
    ),
    "metric by name": (
        lambda: make(metric="natural"),
        "metric must be a function such as phenes.metric.natural, got 'natural'",
    ),
    "optimiser by name": (
        lambda: make(optimiser="adam"),
        r"optimiser must be an optax transformation such as optax.sgd\(0.1\), got 'adam'",
    ),
    "std for counts": (
        lambda: make(std=0.1).init(search.Beta(1.0, 1.0)),
        "std can be set for Gaussian search only, got Beta",
    ),
    "pairs of counts": (
        lambda: make(mirrored=True).ask(jax.random.key(0), make().init(search.Beta(1.0, 1.0))),
        "mirrored pairs need a Gaussian search law, got Beta",
    ),
    "steps zero": (
        lambda: phenes.run(jax.random.key(0), phenes.OIU(P, jnp.sum), make(), Q, 0),
        "steps must be a whole number of at least 1, got 0",
    ),
    "f not a function": (lambda: phenes.OIU(P, 3), "f must be a function"),
    "p not a law": (lambda: phenes.OIU(0.1, jnp.sum), "p must have sample and log_prob"),
    "no closed form": (
        lambda: told(inputs.LaplaceNoise(0.1), Q),
        (
            "LaplaceNoise has a closed-form marginal under DiagonalGaussian or IsotropicGaussian,"
            " got Gaussian"
        ),
    ),
    "wrong conjugate": (
        lambda: told(inputs.Poisson(), Q),
        (
            "Poisson has a closed-form marginal under Gamma, got Gaussian: use"
            " estimators.information_mix"
        ),
    ),
    "no marginal": (
        lambda: told(inputs.HeteroscedasticNoise(jnp.abs), Q),
        "HeteroscedasticNoise has no marginal in closed form",
    ),
    "no statistic": (
        lambda: told(inputs.Repeated(inputs.LaplaceNoise(0.1), 2), Q, np.zeros((4, 2, 2))),
        "LaplaceNoise has no sufficient statistic",
    ),
    "mirrored RB": (
        lambda: told(inputs.LaplaceNoise(0.1), Q, None, estimators.mirrored_phenotype),
        "mirrored_phenotype needs GaussianNoise, got LaplaceNoise",
    ),
    "coordinates of a full law": (
        lambda: told(P, Q, None, estimators.exchangeable_coordinates(3)),
        "q must have independent coordinates, got Gaussian",
    ),
    "auxiliaries zero": (
        lambda: estimators.exchangeable(0),
        "auxiliaries must be a whole number of at least 1, got 0",
    ),
    "order three": (lambda: estimators.information_mix(order=3), "order must be 1 or 2, got 3"),
    "mix without a past": (
        lambda: told(P, Q, None, estimators.information_mix()),
        "information_mix must see a past generation first",
    ),
    "no Fisher": (
        lambda: metric.natural(P, search.Gate(lambda c: c, lambda key: key), None),
        "Gate has no Fisher information in closed form: use metric.plain",
    ),
    "no Fisher of x": (
        lambda: metric.natural_marginal(inputs.LaplaceNoise(0.1), Q, None),
        "LaplaceNoise has no Fisher information of x in closed form",
    ),
    "exponential of a diagonal": (
        lambda: search.exponential(search.IsotropicGaussian(np.zeros(2), 1.0), None),
        "IsotropicGaussian has a matrix-exponential step under Gaussian",
    ),
}


@pytest.mark.parametrize(("call", "message"), CASES.values(), ids=CASES)
def test_one_sentence(call, message):
    with pytest.raises(ValueError, match=message) as caught:
        call()
    assert "\n" not in str(caught.value)


def test_values_are_not_looked_at_under_jit():
    """Inside a compiled function numbers are unknown: shapes are checked, values are not."""
    q = jax.jit(lambda s: search.IsotropicGaussian(jnp.zeros(2), s))(-1.0)
    assert np.isnan(q.log_std)
    with pytest.raises(ValueError, match="must have shape"):
        jax.jit(lambda c: search.Gaussian(jnp.zeros(2), c))(jnp.eye(3))


def test_rounding_in_a_covariance_is_forgiven():
    a = np.random.default_rng(0).normal(size=(5, 3))
    search.Gaussian(np.zeros(5), a @ a.T)  # singular, its smallest eigenvalue about -1e-16
