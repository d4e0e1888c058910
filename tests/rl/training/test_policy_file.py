"""Files of policies: written whole or not at all, damaged ones one ValueError, and data only."""

import errno
import json
import os
import sys
import time
import zipfile

import numpy as np
import pytest

import phenes
from phenes import _files
from phenes.rl.training import policy_file
from tests.rl.training.small import (  # noqa: F401
    as_optax_needs_it,
    resaved,
    same,
    short,
    table,
)


@pytest.fixture(scope="module")
def network():
    return short(seed=3)


@pytest.fixture(scope="module")
def lake():
    return table(seed=3)


def test_a_full_disk_leaves_the_old_policy_and_nothing_else(network, lake, tmp_path, monkeypatch):
    path = network.save(tmp_path / "policy.phenes")

    def full(descriptor):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(_files.os, "fsync", full)
        with pytest.raises(OSError, match="No space left"):
            lake.save(path)
    same(network, phenes.rl.load(path))
    assert [file.name for file in tmp_path.iterdir()] == ["policy.phenes"]


def test_what_is_written_is_on_disk_before_it_has_the_name(network, tmp_path, monkeypatch):
    done = []
    for name in ("fsync", "replace"):
        real = getattr(os, name)
        monkeypatch.setattr(
            _files.os, name, lambda *a, name=name, real=real: (done.append(name), real(*a))[1]
        )
    network.save(tmp_path / "p")
    assert done[:2] == ["fsync", "replace"]


def test_the_file_has_the_permissions_of_other_files_and_a_link_stays_one(network, tmp_path):
    (tmp_path / "other").touch()
    path = network.save(tmp_path / "p")
    assert path.stat().st_mode == (tmp_path / "other").stat().st_mode
    (tmp_path / "link").symlink_to("p")
    network.save(tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    same(network, phenes.rl.load(path))


@pytest.mark.parametrize("kind", ["network", "lake"])
def test_a_damaged_file_is_one_value_error_or_the_same_policy(kind, request, tmp_path):
    """Cut short, overwritten and with single bytes changed, at places drawn from one seed."""
    trained, rng = request.getfixturevalue(kind), np.random.default_rng(8)
    whole, path = trained.save(tmp_path / "p").read_bytes(), tmp_path / "damaged"
    said = []
    for trial in range(100):
        damaged = bytearray(whole)
        at = int(rng.integers(len(whole)))
        if trial % 3 == 0:
            del damaged[at:]
        elif trial % 3 == 1:
            damaged[at : at + 20] = rng.bytes(20)
        else:
            damaged[at] ^= 1 << int(rng.integers(8))
        path.write_bytes(damaged)
        try:
            same(trained, phenes.rl.load(path))
        except ValueError as error:
            said.append(str(error))
    assert len(said) > 60
    assert all(f"{path} is not a policy" in sentence for sentence in said)


def changed(*keys, to):
    """A change of what the file says at about[key][key]..."""

    def change(about, arrays):
        inner = about
        for key in keys[:-1]:
            inner = inner[key]
        inner[keys[-1]] = to
        return about, arrays

    return change


def with_actions(n):
    def change(about, arrays):
        about["readout"]["spaces"] |= {"n": n, "acts": None}
        return about, arrays

    return change


def with_array(name, make):
    return lambda about, arrays: (about, arrays | {name: np.asarray(make(arrays.get(name)))})


OF_NETWORKS = {
    "NaN in theta": (with_array("theta", lambda a: a * np.nan), "theta must be finite"),
    "text in theta": (with_array("theta", lambda a: a.astype(str)), "theta must be"),
    "a matrix": (with_array("theta", lambda a: a[None]), "theta must have shape"),
    "a parameter more": (with_array("theta", lambda a: np.append(a, 1.0)), "theta must have"),
    "NaN in the scale": (with_array("scale.var", lambda a: a * np.nan), "scale.var must be"),
    "another scale": (with_array("scale.mean", lambda a: a[:-1]), "scale.mean must have shape"),
    "1e9 observations": (changed("readout", "spaces", "obs_dim", to=10**9), "obs_dim must be"),
    "other actions": (changed("readout", "spaces", "n", to=3), "acts describes other actions"),
    "1e9 actions": (with_actions(10**9), "theta must have"),
    "a space of no kind": (changed("readout", "spaces", "acts", to={"kind": "x"}), "a space by"),
    "other observations": (
        changed("readout", "spaces", "observes", to={"kind": "box", "shape": [3]}),
        "observes has 3 numbers, not 4",
    ),
    "a wide layer": (changed("about", "settings", "hidden", to=[10**9]), "theta must have"),
    "hidden in words": (changed("about", "settings", "hidden", to="wide"), "hidden must be"),
    "no actions": (changed("readout", "spaces", "n", to=None), "low must be"),
    "no name": (changed("about", "name", to=None), "name must be"),
    "options as a list": (changed("about", "options", to=[1]), "options must be"),
    "no episodes": (changed("about", "popsize", to="many"), "popsize must be"),
    "a short curve": (with_array("curve.best", lambda a: a[:-1]), "curve.best must have shape"),
    "a curve in words": (with_array("curve.mean", lambda a: a.astype(str)), "curve.mean must be"),
    "no dictionary": (lambda about, arrays: ([1], arrays), "is not a policy"),
    "no kind": (changed("kind", to="forest"), "its kind is 'forest'"),
}
OF_TABLES = {
    "NaN": (with_array("probabilities", lambda a: a * np.nan), "probabilities must be finite"),
    "no axis": (with_array("probabilities", lambda a: a[0]), "probabilities must have"),
    "not one": (with_array("probabilities", lambda a: 2 * a), "must sum to one"),
    "a score in words": (changed("readout", "score", "greedy", to="good"), "greedy must be"),
    "no limit": (changed("readout", "score", "limit", to=0), "limit must be"),
}


@pytest.mark.parametrize(
    ("kind", "change", "said"),
    [
        *(pytest.param("network", *case, id=name) for name, case in OF_NETWORKS.items()),
        *(pytest.param("lake", *case, id=f"table {n}") for n, case in OF_TABLES.items()),
    ],
)
def test_contents_that_make_no_policy_are_refused_at_once(kind, change, said, request, tmp_path):
    path = resaved(request.getfixturevalue(kind).save(tmp_path / "p"), change)
    began = time.process_time()
    with pytest.raises(ValueError, match=said) as raised:
        phenes.rl.load(path)
    assert f"{path} is not a policy" in str(raised.value)
    assert time.process_time() - began < 1


def test_sizes_are_checked_before_anything_is_unpacked(tmp_path, monkeypatch):
    """Megabytes of zeros in a few kilobytes, and a header that speaks of 745 GiB."""
    bomb, header = tmp_path / "bomb", tmp_path / "header"
    monkeypatch.setattr(policy_file, "LARGEST", 2**20)
    with bomb.open("wb") as file:
        np.savez_compressed(file, theta=np.zeros(2**20))
    assert bomb.stat().st_size < 2**14
    with pytest.raises(ValueError, match=rf"would grow to {2**23 + 128} bytes"):
        phenes.rl.load(bomb)
    with zipfile.ZipFile(header, "w") as file, file.open("theta.npy", "w") as member:
        shape = {"descr": "<f8", "fortran_order": False, "shape": (10**11,)}
        np.lib.format.write_array_header_1_0(member, shape)
    with pytest.raises(ValueError, match="declares 800000000128 bytes and has 128"):
        phenes.rl.load(header)


def test_a_file_imports_nothing(network, lake, tmp_path, monkeypatch):
    """Gymnasium imports the module of module:Id-v0. Only the caller may name one."""
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "evil.py").write_text("raise SystemExit('imported')")
    for trained in (network, lake):
        name = f"evil:{trained.name}"
        path = resaved(trained.save(tmp_path / "p"), changed("about", "name", to=name))
        with pytest.raises(ValueError, match=rf"load\(path, env='{name}'\)"):
            phenes.rl.load(path)
        options = {"env_id": [name]}
        path = resaved(trained.save(tmp_path / "p"), changed("about", "options", to=options))
        with pytest.raises(ValueError, match="options"):
            phenes.rl.load(path)
    assert "evil" not in sys.modules
    (tmp_path / "evil.py").write_text("")
    path = resaved(network.save(tmp_path / "p"), changed("about", "name", to="evil:CartPole-v1"))
    again = phenes.rl.load(path, env="evil:CartPole-v1")
    assert again.name == "evil:CartPole-v1"
    np.testing.assert_array_equal(
        again.evaluate(20, seed=5).returns, network.evaluate(20, seed=5).returns
    )
    assert "evil" in sys.modules
    with pytest.raises(ValueError, match="env must be the id of an environment"):
        phenes.rl.load(path, env=3)


def test_files_that_are_not_there_are_said_to_be(tmp_path):
    with pytest.raises(FileNotFoundError):
        phenes.rl.load(tmp_path / "nowhere")


def test_nothing_in_the_file_is_lost(network, tmp_path):
    again = phenes.rl.load(network.save(tmp_path / "p"))
    assert json.dumps(again.about) == json.dumps(dict(network.about))


def test_a_file_from_before_layers_could_be_without_a_bias_loads(network, tmp_path):
    def older(about, arrays):
        settings = about["about"]["settings"]
        for name in ("bias", "natural", "bonus", "widen", "every"):
            del settings[name]
        return about, arrays

    path = resaved(network.save(tmp_path / "p"), older)
    np.testing.assert_array_equal(phenes.rl.load(path).theta, network.theta)


def test_a_file_from_when_a_bias_was_there_or_not_loads(network, tmp_path):
    def older(about, arrays):
        about["about"]["settings"]["bias"] = True
        return about, arrays

    path = resaved(network.save(tmp_path / "p"), older)
    np.testing.assert_array_equal(phenes.rl.load(path).theta, network.theta)
