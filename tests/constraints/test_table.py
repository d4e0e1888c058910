"""The table of constraints: by name, as text, and what it says of all."""

import pytest

from phenes.constraints import Constraints, Held

STRESS = Held("stress", 0.98, 0.92, 50, 1, -0.3, 0.991, binding=True)
GAP = Held("gap", 1.0, 0.94, 50, 0, -2.0, 1.0)
ALL = Held("all", 0.98, 0.92, 50, 1, -0.3, 0.991, 0.9, True, True, True, 29)
TABLE = Constraints((STRESS, GAP), ALL)


def test_a_row_by_name_and_all():
    assert list(TABLE) == ["stress", "gap"]
    assert TABLE["gap"] is GAP
    assert TABLE["all"] is TABLE.all
    with pytest.raises(KeyError):
        TABLE["other"]
    assert TABLE.met
    assert TABLE.confirmed
    assert not Constraints((STRESS, GAP), ALL._replace(met=False)).met
    assert not Constraints((STRESS, GAP), ALL._replace(confirmed=False)).confirmed


def test_text_and_html_have_every_row():
    text = str(TABLE)
    assert text.splitlines()[1].split()[:4] == ["stress", "98.0000%", "92.0000%", "50,"]
    assert "binding" in text
    assert text.splitlines()[-1].startswith("all")
    assert Constraints((STRESS._replace(name="<b>"),), ALL)._repr_html_().count("&lt;b&gt;") == 1
