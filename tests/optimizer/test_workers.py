"""How f is evaluated, in one argument."""

import inspect
import warnings

import numpy as np
import pytest

import phenes
from phenes.optimizer import KeywordWarning
from phenes.optimizer.workers import Workers, make_workers


def sphere(x):
    return float(np.sum(x**2))


def test_one_argument_says_it_all():
    given = Workers(2, timeout=60, max_attempts=1, asynchronous=True)
    assert make_workers(given, {}, "minimize") is given
    assert make_workers("ray", {}, "minimize") == Workers("ray")
    assert make_workers(None, {}, "minimize") == Workers()


def test_old_keywords_work_on_with_one_sentence_of_advice():
    with pytest.warns(KeywordWarning) as said:
        old = phenes.minimize(sphere, np.ones(2), 0.5, budget=20, timeout=60, max_attempts=2)
    assert [str(each.message) for each in said] == [
        "timeout, max_attempts now ride in one argument:"
        " workers=phenes.Workers(timeout=60, max_attempts=2)"
    ]
    assert said[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        new = phenes.minimize(
            sphere, np.ones(2), 0.5, budget=20, workers=Workers(timeout=60, max_attempts=2)
        )
    assert np.array_equal(old.x, new.x)


def test_the_signature_is_shorter_and_unknown_keywords_are_refused_by_name():
    parameters = inspect.signature(phenes.minimize).parameters
    assert len(parameters) <= 22  # 20, and what is wanted: objective and constraints
    assert not {"timeout", "max_attempts", "asynchronous"} & set(parameters)
    with pytest.raises(TypeError, match=r"minimize\(\) got an unexpected keyword argument 'sigma'"):
        phenes.minimize(sphere, np.ones(2), sigma=0.5)
    with pytest.raises(TypeError, match=r"maximize\(\) got an unexpected keyword"):
        phenes.maximize(sphere, np.ones(2), sigma=0.5)
    with pytest.raises(TypeError, match=r"argument 'args': let f know them: lambda x: f\(x, ...\)"):
        phenes.minimize(sphere, np.ones(2), args=(1,))
    with pytest.raises(TypeError, match=r"argument 'nosie'$"):
        phenes.minimize(sphere, np.ones(2), nosie=0.1)


def test_what_is_wrong_is_said_as_before():
    with pytest.raises(ValueError, match="timeout must be given in Workers"):
        phenes.minimize(sphere, np.ones(2), 0.5, workers=Workers(), timeout=3)
    with pytest.raises(ValueError, match="asynchronous must be True or False, got 3"):
        Workers(asynchronous=3)
    with pytest.raises(ValueError, match="timeout must be a positive number of seconds, got -1"):
        phenes.minimize(sphere, np.ones(2), 0.5, workers=Workers(timeout=-1))
