"""The node in real experiments of Ax: planned, executed, and a client that was loaded again."""

import logging
import re
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("ax")
# warnings inside Ax, of itself and of pandas
pytestmark = pytest.mark.filterwarnings("default")

from ax.api.client import Client  # noqa: E402
from ax.api.configs import ChoiceParameterConfig, RangeParameterConfig  # noqa: E402
from ax.generation_strategy.generation_strategy import GenerationStrategy  # noqa: E402

from phenes.integrations.ax import PhenesNode  # noqa: E402

logging.getLogger("ax").setLevel(logging.ERROR)
NOISE = {"width": 4.0, "feed": 0.05}
PARAMETERS = [
    RangeParameterConfig(name="width", parameter_type="float", bounds=(50.0, 300.0)),
    RangeParameterConfig(name="feed", parameter_type="float", bounds=(1e-3, 10.0), scaling="log"),
    RangeParameterConfig(name="turns", parameter_type="int", bounds=(1, 10)),
    ChoiceParameterConfig(name="alloy", parameter_type="str", values=["A", "B"], is_ordered=False),
]


def begun(node, parameters=PARAMETERS, objective="-cost", executed=("width", "feed")):
    """A client whose trials the node suggests; Ax minimises what has a minus."""
    client = Client(random_seed=0)
    client.configure_experiment(parameters=parameters, name="workshop")
    client.configure_optimization(objective=objective)
    client.configure_tracking_metrics([f"executed_{name}" for name in executed])
    client.set_generation_strategy(GenerationStrategy(nodes=[node]))
    return client


def work(client, trials, rng, at_once=1):
    """Runs them in a workshop that does not hit what is planned."""
    for _ in range(trials // at_once):
        for index, planned in client.get_next_trials(max_trials=at_once).items():
            width = planned["width"] + 4 * rng.standard_normal()
            feed = planned["feed"] * np.exp(0.05 * rng.standard_normal())
            cost = ((width - 210) / 50) ** 2 + (np.log(feed) + 1) ** 2
            cost += ((planned["turns"] - 4) / 2) ** 2 + {"A": 1.0, "B": 0.0}[planned["alloy"]]
            told = {"cost": cost, "executed_width": width, "executed_feed": feed}
            client.complete_trial(index, told)


def make():
    return PhenesNode(noise=NOISE, budget=32, engine="gp", seed=1)


def test_a_client_that_was_saved_is_gone_on_with_by_another_node(tmp_path):
    rng = np.random.default_rng(0)
    client = begun(make())
    work(client, 16, rng, at_once=4)
    client._maybe_generation_strategy = None  # Ax knows how to save its own strategies only
    client.save_to_json_file(str(tmp_path / "client.json"))

    again, node = Client.load_from_json_file(str(tmp_path / "client.json")), make()
    again.set_generation_strategy(GenerationStrategy(nodes=[node]))
    work(again, 16, rng)
    result = node.result(again._experiment)
    assert result.nfev == 32
    assert result.x["width"] == pytest.approx(210, abs=10)
    assert result.x["feed"] == pytest.approx(np.exp(-1), rel=0.2)
    assert (result.x["turns"], result.x["alloy"]) == (4, "B")
    # the last trials verify the answer, by repeating one plan
    assert result.verified >= 8
    width, feed = result.x["width"], result.x["feed"]
    truth = ((width - 210) ** 2 + 4**2) / 50**2 + (np.log(feed) + 1) ** 2 + 0.05**2
    low, high = result.interval
    assert low - 1e-9 <= truth <= high + 1e-9


def test_what_was_executed_is_what_is_told():
    node = PhenesNode(noise="learn", engine="adaptive")
    client = begun(node)
    work(client, 8, np.random.default_rng(3))
    rows = node.result(client._experiment) and node._opt.evaluations
    data = client._experiment.lookup_data().df.set_index(["metric_name", "trial_index"])["mean"]
    assert rows.x["width"].tolist() == data["executed_width"].sort_index().tolist()
    trials = client._experiment.trials.values()
    assert rows.theta["width"] == pytest.approx([t.arms[0].parameters["width"] for t in trials])


def test_maximise_failures_missing_values_and_the_same_seed():
    def run():
        node = PhenesNode(noise={"x": 0.01}, engine="gp", seed=3)
        bounds = RangeParameterConfig(name="x", parameter_type="float", bounds=(-1.0, 1.0))
        client = begun(node, [bounds], objective="gain", executed=("x",))
        for k in range(15):
            ((index, planned),) = client.get_next_trials(max_trials=1).items()
            if planned["x"] > 0.8:
                client.mark_trial_failed(index)
            elif k == 7:
                client.complete_trial(index, {"executed_x": planned["x"]})  # its value is lost
            else:
                gain = 1 - (planned["x"] - 0.5) ** 2
                client.complete_trial(index, {"gain": gain, "executed_x": planned["x"]})
        return node, client

    node, client = run()
    result = node.result(client._experiment)
    assert result.nfev == 14
    assert result.x["x"] == pytest.approx(0.5, abs=0.1)
    assert result.x == run()[0].result(client._experiment).x


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"noise": 0.1}, "noise must be a mapping"),
        ({"budget": 0}, "budget must be"),
        ({"noise": {"depth": 1.0}}, "depth"),
        ({"noise": {"turns": 1.0}}, "noise must be of float parameters, got turns"),
    ],
)
def test_bad_arguments_are_refused(given, words):
    with pytest.raises(ValueError, match=words):
        begun(PhenesNode(**given)).get_next_trials(max_trials=1)


def test_several_objectives_and_constraints_are_refused():
    client = begun(PhenesNode(), objective="-cost, gain")
    with pytest.raises(ValueError, match="one objective without outcome constraints"):
        client.get_next_trials(max_trials=1)


def test_an_answer_without_a_trial_is_refused():
    node = PhenesNode()
    with pytest.raises(ValueError, match="must have a trial that has ended"):
        node.result(begun(node)._experiment)


def test_the_script_of_the_page(capsys):
    """docs/planned.md, with a workshop in place of the reader's."""
    page = (Path(__file__).parents[2] / "docs" / "planned.md").read_text()
    (code,) = re.findall(r"^```py\n(.*?)^```$", page, flags=re.DOTALL | re.MULTILINE)
    rng = np.random.default_rng(0)

    def weigh_and_measure(planned):
        mass = planned + 0.06 * rng.standard_normal()
        return mass, 1 - (mass - 5.3) ** 2

    space = {"weigh_and_measure": weigh_and_measure}
    exec(compile(code, "planned.md", "exec"), space)
    answer = space["node"].result(space["client"]._experiment)
    assert abs(answer.x["mass"] - 5.3) < 0.02
    assert abs(answer.fun - (1 - 0.06**2)) < 3 * answer.fun_se + 1e-3
    assert "mass" in capsys.readouterr().out
