"""The sampler in real studies of Optuna: in memory, in a database, and gone on with."""

import numpy as np
import pytest

optuna = pytest.importorskip("optuna")

from phenes.integrations.optuna import PhenesSampler  # noqa: E402

optuna.logging.set_verbosity(optuna.logging.ERROR)
NOISE = {"width": 4.0, "feed": 0.05}


def workshop(seed):
    """An objective that realises what is suggested as well as it can."""
    rng = np.random.default_rng(seed)

    def objective(trial):
        width = trial.suggest_float("width", 50, 300)
        feed = trial.suggest_float("feed", 1e-3, 10, log=True)
        turns = trial.suggest_int("turns", 4, 40, step=4)
        alloy = trial.suggest_categorical("alloy", ["A", "B", None])
        made = {
            "width": width + 4 * rng.standard_normal(),
            "feed": feed * np.exp(0.05 * rng.standard_normal()),
        }
        trial.set_user_attr("realised", made)
        cost = ((made["width"] - 210) / 50) ** 2 + (np.log(made["feed"]) + 1) ** 2
        return cost + ((turns - 16) / 8) ** 2 + {"A": 1.0, "B": 0.0, None: 2.0}[alloy]

    return objective


def test_a_study_in_a_database_is_gone_on_with_by_another_sampler(tmp_path):
    storage = f"sqlite:///{tmp_path}/study.db"
    make = lambda: PhenesSampler(noise=NOISE, budget=32, engine="gp", seed=1)  # noqa: E731
    study = optuna.create_study(study_name="a", storage=storage, sampler=make())
    study.optimize(workshop(0), n_trials=16)
    again = optuna.load_study(study_name="a", storage=storage, sampler=make())
    again.optimize(workshop(1), n_trials=16)
    assert len(again.trials) == 32
    result = make().result(again)
    assert result.nfev == 32
    assert result.x["width"] == pytest.approx(210, abs=10)
    assert result.x["feed"] == pytest.approx(np.exp(-1), rel=0.2)
    assert result.x["turns"] == 16
    assert result.x["alloy"] == "B"
    # E f = (4 / 50)^2 + 0.05^2; the last evaluations verify it
    assert result.verified >= 8
    assert result.interval[0] < 0.0089 + 0.03
    assert again.trials[-1].params["alloy"] == "B"
    # what a dashboard reads
    frame = pytest.importorskip("pandas") and again.trials_dataframe()
    assert frame["user_attrs_realised"].notna().all()


def test_what_is_realised_is_what_is_told():
    study = optuna.create_study(sampler=PhenesSampler(noise=NOISE, engine="adaptive"))
    study.optimize(workshop(0), n_trials=12)
    opt = study.sampler._updated(study, study.sampler.infer_relative_search_space(study, None))
    x = opt.evaluations.x["width"]
    assert x.tolist() == [trial.user_attrs["realised"]["width"] for trial in study.trials]
    theta = opt.evaluations.theta["width"]
    assert theta == pytest.approx([trial.params["width"] for trial in study.trials])


def test_maximise_failures_and_the_same_seed():
    def objective(trial):
        x = trial.suggest_float("x", -1, 1)
        if x > 0.8:
            raise ValueError("broken")
        return 1 - (x - 0.5) ** 2

    def run():
        study = optuna.create_study(
            direction="maximize", sampler=PhenesSampler(engine="adaptive", seed=3)
        )
        study.optimize(objective, n_trials=40, catch=ValueError)
        return study

    study = run()
    assert study.best_value > 0.99
    result = study.sampler.result(study)
    assert result.fun == study.best_value
    assert result.failed == sum(t.state.name == "FAIL" for t in study.trials)
    assert [t.params for t in run().trials] == [t.params for t in study.trials]


def test_parameters_that_come_and_go_are_drawn():
    def objective(trial):
        x = trial.suggest_float("x", -1, 1)
        if x > 0:
            x += trial.suggest_float("y", 0, 1)
        trial.suggest_float("one", 2, 2)
        return x**2

    study = optuna.create_study(sampler=PhenesSampler(engine="adaptive"))
    study.optimize(objective, n_trials=20)
    assert study.best_value < 0.05


def test_the_answer_has_values_as_the_study_has_them():
    """Steps, whole numbers and options are not told by their number."""

    def objective(trial):
        grid = trial.suggest_float("grid", 0.1, 0.9, step=0.2)
        turns = trial.suggest_int("turns", 3, 40)
        way = trial.suggest_categorical("way", [None, "None", 2, True])
        return (grid - 0.5) ** 2 + (turns - 17) ** 2 + (way is not True)

    study = optuna.create_study(sampler=PhenesSampler(engine="gp", budget=40))
    study.optimize(objective, n_trials=40)
    result = study.sampler.result(study)
    assert result.x["turns"] == study.best_params["turns"] == 17
    assert result.x["grid"] == study.best_params["grid"] == 0.5
    assert study.best_params["way"] is True
    assert "3 to 40" in str(result)
    frame = result.evaluations.columns()
    assert frame["theta_turns"].tolist() == [trial.params["turns"] for trial in study.trials]


def test_an_option_that_is_not_plain_is_told_as_text():
    def objective(trial):
        return 0.0 if trial.suggest_categorical("way", ["A", None]) is None else 1.0

    study = optuna.create_study(sampler=PhenesSampler(engine="gp", budget=12))
    study.optimize(objective, n_trials=12)
    assert study.sampler.result(study).x["way"] == "None"


def test_several_trials_at_a_time():
    study = optuna.create_study(sampler=PhenesSampler(engine="adaptive", budget=30))
    asked = [study.ask() for _ in range(3)]
    for trial in asked:
        trial.suggest_float("x", -1, 1)
    for trial in asked:
        study.tell(trial, 0.5)
    more = [study.ask() for _ in range(4)]
    values = [trial.suggest_float("x", -1, 1) for trial in more]
    assert len(set(values[1:])) == 3  # the first of a search may be its start


WRONG = {
    "noise": (dict(noise=3), "noise must be a mapping of parameters to standard deviations"),
    "budget": (dict(budget=0), "budget must be a whole number of at least 1"),
    "another name": (dict(noise={"width": 1.0}), "noise must be by the names x, got 'width'"),
}


@pytest.mark.parametrize(("given", "said"), WRONG.values(), ids=WRONG)
def test_bad_input_is_one_sentence(given, said):
    def run():
        study = optuna.create_study(sampler=PhenesSampler(**given))
        study.optimize(lambda trial: trial.suggest_float("x", 0, 1), n_trials=2)

    with pytest.raises(ValueError, match=said):
        run()


def test_one_objective_only():
    study = optuna.create_study(directions=["minimize", "minimize"], sampler=PhenesSampler())
    with pytest.raises(ValueError, match="a study of one objective, got 2"):
        study.optimize(lambda trial: (0.0, 0.0), n_trials=1)
