"""The names of the room, and those that they replaced."""

import pytest

from phenes import contexts

RENAMED = {
    "Answered": contexts.Answer,
    "Hear": contexts.HiddenExpert,
    "Leaning": contexts.AnswerLogits,
    "Said": contexts.ExpertAnswer,
    "as_it_is": contexts.raw,
    "right": contexts.is_correct,
    "seen": contexts.visible,
    "within": contexts.per_context,
}


@pytest.mark.parametrize("old", RENAMED)
def test_old_names_work_and_say_the_new_one(old):
    new = RENAMED[old].__name__
    sentence = f"^phenes.contexts.{old} is now called phenes.contexts.{new}$"
    with pytest.warns(DeprecationWarning, match=sentence) as warned:
        assert getattr(contexts, old) is RENAMED[old]
    assert warned[0].filename == __file__


def test_other_names_are_refused():
    with pytest.raises(AttributeError, match=r"'phenes\.contexts' has no attribute 'nothing'"):
        _ = contexts.nothing


def test_old_names_are_not_listed():
    assert not set(RENAMED) & set(contexts.__all__)
