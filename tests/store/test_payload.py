"""Arrays as bytes and back, never pickled objects."""

import io
import pickle
import tracemalloc
import zipfile

import numpy as np
import pytest
from numpy.lib import format as npy

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


def archive(members, kind=zipfile.ZIP_DEFLATED):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", kind) as written:
        for name, content in members.items():
            written.writestr(name, content)
    return file.getvalue()


def header(shape, descr="<f8"):
    file = io.BytesIO()
    npy.write_array_header_1_0(file, {"shape": shape, "fortran_order": False, "descr": descr})
    return file.getvalue()


@pytest.fixture(scope="module")
def hostile():
    zeros = header((2**22,)) + bytes(2**25)
    return {
        "a zip bomb": (archive({f"{k}.npy": zeros for k in range(2)}), "would grow to"),
        "more than there is": (
            archive({"f.npy": header((10**11,)) + bytes(80)}),
            "declares 800000000128 bytes and has 208",
        ),
        "less than there is": (archive({"f.npy": header((1,)) + bytes(80)}), "declares 136 bytes"),
        "a negative size": (archive({"f.npy": header((-1,)) + bytes(8)}), "declares 120 bytes"),
        "another compression": (archive({"f.npy": header((0,))}, zipfile.ZIP_LZMA), "another way"),
        "another format": (archive({"f.npy": b"\x93NUMPY\x09\x00" + bytes(9)}), "version"),
        "text": (archive({"f.npy": b"hello"}), "damaged"),
        "a long header": (archive({"f.npy": header((1,) * 10_000)}), "damaged"),
    }


def test_sizes_are_looked_at_before_anything_is_unpacked(hostile, monkeypatch):
    """At most what it takes to read the payloads themselves, at once."""
    monkeypatch.setattr("phenes.store.payload.LARGEST", 2**25)
    tracemalloc.start()
    try:
        for name, (payload, message) in hostile.items():
            tracemalloc.reset_peak()
            before = tracemalloc.get_traced_memory()[0]
            with pytest.raises(ValueError, match=f"the part is damaged: .*{message}|{message}"):
                unpack(payload, "the part")
            assert tracemalloc.get_traced_memory()[1] - before < 10_000_000 + len(payload), name
    finally:
        tracemalloc.stop()


def test_what_is_large_by_itself_is_read(monkeypatch):
    """Only growing is refused: large parts are written as they are."""
    monkeypatch.setattr("phenes.store.payload.LARGEST", 1000)
    zeros = np.zeros(1000)
    np.testing.assert_array_equal(unpack(pack({"f": zeros}), "part")["f"], zeros)
    with pytest.raises(ValueError, match="would grow"):
        unpack(archive({"f.npy": header((1000,)) + bytes(8000)}), "part")
