"""Arrays as bytes and back, never pickled objects."""

import io
import pickle

import numpy as np
import pytest

from phenes.store.payload import pack, unpack


@pytest.mark.parametrize("compress", [True, False])
def test_arrays_come_back_with_their_kind(compress):
    given = {"f": np.arange(3.0), "n": np.array(4), "word": np.array(["a", "bc"]), "list": [1, 2]}
    back = unpack(pack(given, compress), "part")
    assert back.keys() == given.keys()
    for name, value in given.items():
        np.testing.assert_array_equal(back[name], value)
        assert back[name].dtype == np.asarray(value).dtype


def test_objects_are_refused_by_name():
    with pytest.raises(ValueError, match="objects in f, g"):
        pack({"f": np.array([print]), "ok": np.ones(2), "g": [None]})


class Malicious:
    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return open, (str(self.path), "w")


def payloads(proof):
    array = np.empty(1, object)
    array[0] = Malicious(proof)
    archive, single = io.BytesIO(), io.BytesIO()
    np.savez(archive, f=array, allow_pickle=True)
    np.save(single, array, allow_pickle=True)
    return [archive.getvalue(), single.getvalue(), pickle.dumps(Malicious(proof))]


def test_a_malicious_payload_runs_nothing(tmp_path):
    proof = tmp_path / "proof"
    for payload in [*payloads(proof), b"PK", b"", b"PK\x03\x04" + bytes(100)]:
        with pytest.raises(ValueError, match="the part is damaged"):
            unpack(payload, "the part")
    assert not proof.exists()
