"""What users give: NumPy's numbers are taken everywhere, and what is wrong is one sentence.

The sentence names what was given and what was expected, and comes before anything is evaluated.
"""

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

import phenes
from phenes import Batch, _validate, estimators, inputs, metric, search, weightings

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
    "mixture weights": (
        lambda: inputs.GaussianMixtureNoise([0.5, 0.6], [0.1, 0.2]),
        r"weights must sum to one, got \[0.5 0.6\]",
    ),
    "mixture of one scale": (
        lambda: inputs.GaussianMixtureNoise([0.5, 0.5], 0.1),
        "scales must be a list with the scale of each part, got 0.1",
    ),
    "repeated numbers": (
        lambda: inputs.Repeated(0.1, 2),
        "base must have sample and log_prob, such as .*, got 0.1",
    ),
    "exposures": (lambda: inputs.Poisson([1.0, 2.0]), "exposure must be a positive number, got"),
    "complex": (
        lambda: inputs.SaturatingNoise(0.1, 1j, 1.0),
        "low must be a number or an array of numbers, got 1j",
    ),
    "too large for any array": (
        lambda: inputs.GaussianNoise(10**30),
        "scale must be a number or an array of numbers, got 1000",
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
    "std a class": (
        lambda: make(std=phenes.inputs.GaussianNoise),
        "std must be a positive number or a schedule, got <class",
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
    "estimator and weighting swapped": (
        lambda: make(weightings.standardise, estimators.phenotype),
        r"estimator must be a function of \(p, q, batch, w\), got standardise\(f.*\).*:"
        " estimator comes before weighting",
    ),
    "an estimator twice": (
        lambda: make(estimators.phenotype, estimators.phenotype),
        r"weighting must be a function of \(f\), got phenotype\(p",
    ),
    "q0 not a law": (
        lambda: run(q0=np.zeros(2)),
        r"q0 must have draw and push and log_prob and move, such as phenes.search.* got array",
    ),
    "q0 an input law": (lambda: make().init(P), "q0 must have draw .* got GaussianNoise"),
    "q0 a class": (lambda: make().init(search.Gaussian), "q0 must have draw .* got <class"),
    "f a vector": (
        lambda: run(problem=phenes.OIU(P, lambda x: x**2)),
        r"f must return one number for one x, got shape \(2,\)",
    ),
    "f nothing": (
        lambda: run(problem=phenes.OIU(P, lambda x: None)),
        "f must return one number for one x, got None",
    ),
    "f a pair": (
        lambda: run(problem=phenes.OIU(P, lambda x: (x[0], x))),
        r"f must return one number for one x, got \('shape \(\)', 'shape \(2,\)'\)",
    ),
    "f a vector on the host": (
        lambda: host(lambda x: x**2),
        "f must return one number for one x, got array",
    ),
    "f text on the host": (
        lambda: host(lambda x: "good"),
        "f must return one number for one x, got 'good'",
    ),
    "another p": (
        lambda: run(problem=phenes.OIU(inputs.GaussianNoise(0.2), jnp.sum)),
        "p must be the same in OIU and es, got GaussianNoise.* and GaussianNoise",
    ),
    "p of another kind": (
        lambda: run(problem=phenes.OIU(inputs.LaplaceNoise(0.1), jnp.sum)),
        "p must be the same in OIU and es, got LaplaceNoise.* and GaussianNoise",
    ),
    "p repeated": (
        lambda: run(problem=phenes.OIU(inputs.Repeated(P, 2), jnp.sum)),
        "p must be the same in OIU and es, got Repeated",
    ),
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


def optimizer(**changes):
    return phenes.Optimizer(**({"x0": np.zeros(3), "sigma0": 1.0, "noise": 0.1} | changes))


MISUSE = {
    "NaN x0": (lambda: optimizer(x0=[0.0, np.nan, 0.0]), "x0 must be finite"),
    "x0 a matrix": (
        lambda: optimizer(x0=np.zeros((2, 2))),
        r"x0 must be a vector .* got shape \(2, 2\)",
    ),
    "x0 a word": (
        lambda: optimizer(x0="zero"),
        "x0 must be a number or an array of numbers, got 'zero'",
    ),
    "sigma0 zero": (lambda: optimizer(sigma0=0), "sigma0 must be positive, got 0"),
    "sigma0 of another length": (
        lambda: optimizer(sigma0=[1.0, 1.0]),
        r"sigma0 must be one number or have shape \(3,\)",
    ),
    "popsize 0": (
        lambda: optimizer(popsize=0),
        "popsize must be a whole number of at least 2, got 0",
    ),
    "budget negative": (
        lambda: optimizer(budget=-1),
        "budget must be a whole number of at least 1, got -1",
    ),
    "budget a word": (
        lambda: optimizer(budget="many"),
        "budget must be a whole number of at least 1, got 'many'",
    ),
    "seed negative": (
        lambda: optimizer(seed=-1),
        "seed must be a whole number of at least 0, got -1",
    ),
    "noise negative": (lambda: optimizer(noise=-0.1), "noise must be non-negative, got -0.1"),
    "noise without a mean": (
        lambda: optimizer(noise=inputs.StudentTNoise(0.1, 1.0)),
        "noise must have a mean, got StudentTNoise with df = 1: give a df above 1",
    ),
    "noise of several coordinates without a mean": (
        lambda: optimizer(noise=inputs.MultivariateTNoise(0.1, 0.5)),
        "noise must have a mean, got MultivariateTNoise with df = 0.5",
    ),
    "noise too large": (lambda: optimizer(noise=1e200), r"noise must be at most 1e\+100"),
    "sigma0 too small": (lambda: optimizer(sigma0=1e-200), "sigma0 must be between 1e-100 and"),
    "bounds of bounds": (lambda: optimizer(bounds=np.ones((2, 2, 3))), "bounds must be"),
    "noise a word": (
        lambda: optimizer(noise="some"),
        "noise must be a number, .* or 'learn', got 'some'",
    ),
    "noise of another length": (
        lambda: optimizer(noise=[0.1, 0.1]),
        "noise must have 3 coordinates to match x0, got 2",
    ),
    "noise not PSD": (lambda: optimizer(noise=-np.eye(3)), "noise must be positive semidefinite"),
    "noise repeated": (
        lambda: optimizer(noise=inputs.Repeated(inputs.GaussianNoise(0.1), 3)),
        "got Repeated",
    ),
    "noise with a wide gain": (
        lambda: optimizer(noise=inputs.GaussianNoise(0.1, gain=np.ones((2, 3)))),
        r"invertible gain of shape \(3, 3\)",
    ),
    "noise of other coordinates": (
        lambda: optimizer(noise=inputs.Law(lambda key, theta: theta[:1], lambda x, theta: 0.0)),
        "noise must realise x in the coordinates of theta",
    ),
    "bounds crossed": (lambda: optimizer(bounds=(1, -1)), "bounds must have low below high"),
    "bounds without x0": (lambda: optimizer(bounds=(1, 2)), "x0 must lie within bounds"),
    "bounds of another length": (
        lambda: optimizer(bounds=[(0, 1)] * 4),
        "bounds must be .* 3 pairs to match x0",
    ),
    "bounds a number": (lambda: optimizer(bounds=3), "bounds must be"),
    "target NaN": (lambda: optimizer(target=np.nan), "target must be a finite number"),
    "theta too short": (
        lambda: optimizer().tell(np.zeros((2, 2)), [1, 2]),
        r"theta must have shape \[n, 3\], got \(2, 2\)",
    ),
    "values too few": (
        lambda: optimizer().tell(np.zeros((2, 3)), [1]),
        "f must have one value for each of the 2 theta",
    ),
    "theta NaN": (lambda: optimizer().tell([[0, 0, np.nan]], [1]), "theta must be finite"),
    "x of another shape": (
        lambda: optimizer().tell(np.zeros((2, 3)), [1, 2], np.zeros((3, 3))),
        "realised must have the shape of theta",
    ),
    "f no function": (lambda: phenes.minimize(3, np.zeros(2), 1.0), "f must be a function such as"),
    "learn without x": (
        lambda: phenes.minimize(np.sum, np.zeros(2), 1.0, "learn"),
        "give realises=True",
    ),
    "workers 0": (
        lambda: phenes.minimize(np.sum, np.zeros(2), 1.0, workers=0),
        "workers must be a number of processes",
    ),
    "workers and vectorized": (
        lambda: phenes.minimize(np.sum, np.zeros(2), 1.0, workers=2, vectorized=True),
        "exclude each other",
    ),
    "wrong shape of values": (
        lambda: phenes.minimize(lambda x: np.zeros(1), np.zeros(2), 1.0, vectorized=True),
        "f must return one value for each of the",
    ),
}


@pytest.mark.parametrize(("call", "message"), (CASES | MISUSE).values(), ids=CASES | MISUSE)
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


@pytest.mark.parametrize(
    "bounds",
    [(0, 1), ([0, 0, 0], [1, 1, 1]), [(0, 1), (0, 1), (0, 1)], (0, np.ones(3)), [[0, 1]] * 3],
    ids=["numbers", "vectors", "pairs", "mixed", "lists"],
)
def test_bounds_as_people_write_them(bounds):
    lower, upper = _validate.bounds(bounds, np.full(3, 0.5))
    np.testing.assert_array_equal(lower, np.zeros(3))
    np.testing.assert_array_equal(upper, np.ones(3))


def test_in_two_dimensions_arrays_are_sides_and_lists_are_pairs():
    np.testing.assert_array_equal(
        _validate.bounds((np.zeros(2), np.ones(2)), np.full(2, 0.5))[1], [1, 1]
    )
    np.testing.assert_array_equal(_validate.bounds([(0, 1), (0, 2)], np.full(2, 0.5))[1], [1, 2])


def test_open_bounds_and_two_dimensions():
    lower, upper = _validate.bounds([(0, None), (None, 4)], np.ones(2))
    np.testing.assert_array_equal(lower, [0, -np.inf])
    np.testing.assert_array_equal(upper, [np.inf, 4])


def test_bounds_of_scipy():
    from scipy.optimize import Bounds

    lower, upper = _validate.bounds(Bounds([0, -1], [2, np.inf]), np.ones(2))
    np.testing.assert_array_equal(lower, [0, -1])
    np.testing.assert_array_equal(upper, [2, np.inf])


def never(x):
    raise AssertionError("nothing may be evaluated before the arguments are validated")


def minimize(**changes):
    return phenes.minimize(**({"f": never, "x0": np.zeros(2), "sigma0": 1.0} | changes))


def es(**changes):
    options = {"popsize": 10, "weighting": weightings.standardise, "optimiser": optax.sgd(0.1)}
    return phenes.es(P, **({"estimator": estimators.phenotype} | options | changes))


def run(**changes):
    options = {"steps": 1, "strategy": make(), "q0": Q, "problem": phenes.OIU(P, jnp.sum)}
    return phenes.run(jax.random.key(0), **(options | changes))


def host(f, **changes):
    return phenes.run_host(jax.random.key(0), phenes.OIU(P, f), make(), Q, 3, **changes)


def train(**changes):
    return phenes.rl.train("CartPole-v1", **changes)


def evaluate(**changes):
    return phenes.execution.Evaluate(**({"f": never} | changes))


class Word:
    """A class that was not called."""


WHOLE = [np.inf, np.nan, True, "3", Word, 2.5, [3], -1]
REAL = [np.inf, np.nan, True, "3", Word, [1.0, 2.0]]
POSITIVE = [*REAL, 0, -1.0]
VECTOR = [np.nan, [np.inf, 0.0], True, "zero", ["1", "2"], Word, np.zeros((2, 2)), []]
FLAG = ["yes", 1, None, Word]
CALLABLE = ["name", 3, Word]
NOISE = [np.nan, np.inf, True, "some", inputs.GaussianNoise, -0.1, [0.1, 0.1, 0.1], -np.eye(2)]
BOUNDS = [3, "wide", (1, -1), (np.nan, 1), (True, False), [(0, 1)] * 3, Word]
WORKERS = [0, -1, np.inf, np.nan, True, "spark", Word, 1.5, 10**9]
PATHS = [3, True, "", "a\0b", Word, b"run.db"]

WRONG = {
    minimize: {
        "f": CALLABLE,
        "x0": VECTOR,
        "sigma0": [*POSITIVE[:5], 0, [1.0, 0.0]],
        "noise": NOISE,
        "bounds": BOUNDS,
        "budget": [*WHOLE, 0],
        "target": REAL,
        "popsize": [*WHOLE, 1],
        "verify": WHOLE,
        "workers": WORKERS,
        "timeout": POSITIVE,
        "max_attempts": [*WHOLE, 0],
        "asynchronous": FLAG,
        "vectorized": FLAG,
        "realises": FLAG,
        "callback": CALLABLE,
        "progress": FLAG,
        "checkpoint": PATHS,
        "resume": FLAG,
        "seed": WHOLE,
    },
    optimizer: {
        "x0": VECTOR,
        "sigma0": [*POSITIVE[:5], [1.0, 2.0]],
        "noise": NOISE[:6],
        "budget": [*WHOLE, 0],
        "target": REAL,
        "popsize": [*WHOLE, 1],
        "verify": WHOLE,
        "maximize": FLAG,
        "seed": WHOLE,
    },
    evaluate: {
        "f": CALLABLE,
        "workers": WORKERS,
        "timeout": POSITIVE,
        "max_attempts": [*WHOLE, 0],
        "realises": FLAG,
        "vectorized": FLAG,
    },
    es: {
        "popsize": [*WHOLE, 0],
        "estimator": CALLABLE,
        "weighting": CALLABLE,
        "metric": CALLABLE,
        "optimiser": [*CALLABLE, optax.GradientTransformation],
        "std": [*POSITIVE[:4], 0, -1.0],
    },
    run: {"steps": [*WHOLE, 0]},
    phenes.OIU: {"p": [0.1, inputs.GaussianNoise], "f": CALLABLE},
    estimators.exchangeable: {"auxiliaries": [*WHOLE, 0]},
    inputs.Multinomial: {"draws": [*WHOLE, 0]},
    inputs.GaussianNoise: {"scale": [np.nan, np.inf, True, "some", Word, -0.1]},
    train: {"seed": WHOLE, "generations": [*WHOLE, 0], "popsize": [*WHOLE, 0]},
}
GIVEN = [
    pytest.param(call, name, value, id=f"{call.__name__}-{name}-{_validate.quote(value)[:30]}")
    for call, arguments in WRONG.items()
    for name, values in arguments.items()
    for value in values
]


@pytest.mark.parametrize(("call", "name", "value"), GIVEN)
def test_a_wrong_argument_is_refused_before_anything_is_evaluated(call, name, value):
    other = {"p": P, "f": jnp.sum} if call is phenes.OIU else {}
    with pytest.raises(ValueError, match=rf"\b{name}\b.* must |^theta|exclude") as caught:
        call(**(other | {name: value}))
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 500


THREES = (
    3,
    3.0,
    np.int8(3),
    np.int64(3),
    np.uint32(3),
    np.float32(3),
    np.array(3),
    jnp.int32(3),
    np.longdouble(3),
)


@pytest.mark.parametrize("three", THREES)
def test_a_whole_number_may_be_written_in_many_ways(three):
    assert _validate.count("n", three) == 3
    assert type(_validate.count("n", three)) is int
    assert optimizer(popsize=three, budget=three, seed=three, verify=0).popsize == 3
    batch = es(popsize=three).ask(jax.random.key(0), es(popsize=three).init(Q))
    assert batch.theta.shape == (3, 2)
    assert phenes.inputs.Multinomial(three).draws == 3


def test_generations_may_be_a_whole_float():
    state, info = run(steps=np.float64(3))
    assert int(state.generation) == len(info.f_mean) == 3


@pytest.mark.parametrize("half", [0.5, np.float32(0.5), np.float64(0.5), np.array(0.5)])
def test_a_real_number_may_be_written_in_many_ways(half):
    opt = optimizer(sigma0=half, target=half, noise=half)
    assert opt.target == 0.5
    np.testing.assert_array_equal(opt.noise_std, 0.5)
    assert evaluate(timeout=half).timeout == 0.5


def test_large_seeds_and_values_that_cannot_be_printed():
    assert _validate.count("seed", 10**30) == 10**30

    class Broken:
        def __repr__(self):
            raise RuntimeError

    assert _validate.quote(Broken()) == "an object of Broken"
    assert len(_validate.quote("x" * 1000)) < 210
    assert _validate.describe(np.arange(7.0)) == "an array of shape (7,) from 0.0 to 6.0"


def test_values_may_be_missing_or_true_and_false_but_theta_may_not():
    theta, f, x = _validate.told([[0, 1]], [None], [[None, 2.0]], 2)
    assert np.isnan(f[0])
    np.testing.assert_array_equal(x, [[np.nan, 2.0]])
    assert _validate.told(theta, [True], None, 2)[1] == [1.0]


@pytest.mark.parametrize("flag", [True, False, np.True_, np.False_])
def test_flags(flag):
    assert _validate.flag("progress", flag) is bool(flag)
