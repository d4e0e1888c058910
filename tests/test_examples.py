"""Each example runs as a reader would run it, and what it prints is what it promises."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
EXAMPLES = ROOT / "examples"


def numbers(*arguments) -> list[list[float]]:
    """The numbers of each line that Python prints, given these arguments."""
    done = subprocess.run(
        [sys.executable, *arguments], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return [
        [float(n) for n in re.findall(r"-?\d+\.?\d*(?:e-?\d+)?", line)]
        for line in done.stdout.splitlines()
    ]


SCRIPTS = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), flags=re.DOTALL)


def script_with(word: str) -> str:
    (code,) = (script for script in SCRIPTS if word in script)
    return code


def test_minimize_of_the_readme():
    aims = [n for line in numbers("-c", script_with("phenes.minimize")) for n in line][:10]
    assert all(abs(aim) < 0.01 for aim in aims)


def test_optimizer_of_the_readme():
    printed = [n for line in numbers("-c", script_with("phenes.Optimizer")) for n in line]
    assert len(printed) == 11
    assert all(abs(aim - 1) < 0.01 for aim in printed[:10])
    assert abs(printed[10] - 0.1) < 0.005  # 10 x 0.1^2


def test_jax_of_the_readme():
    printed = [n for line in numbers("-c", script_with("phenes.OIU")) for n in line]
    assert len(printed) == 4 * 10 + 4
    assert all(abs(aim) < 0.1 for aim in printed[:40])  # from 2, towards 0


def test_reinforcement_learning_of_the_readme():
    (action,), (mean,) = numbers("-c", script_with("rl.train"))
    assert action == 1  # it leans to the right: push to the right
    assert mean > 475


def test_lab():
    aim, (value, error, *_), _, (evaluations, *_) = numbers(EXAMPLES / "lab.py")[:4]
    # where the average of what is weighed out is best: 0.05 below, since the balances are 0.05 off.
    # Places that 70 draws cannot tell apart differ by 0.003 in E f
    assert sum((a - b) ** 2 for a, b in zip(aim, (1.95, -1.05, 0.45), strict=True)) < 0.005
    assert abs(value - (10 - 0.06)) < 2 * error
    assert evaluations == 1200
    assert error < 0.02


def test_tolerances():
    (sharp, _, poor), (broad, _, good) = numbers(EXAMPLES / "tolerances.py")
    assert abs(sharp - 2) < 0.01
    assert abs(broad + 1) < 0.05
    assert good > 5 * poor


def test_seeds():
    (es, _), (paes, _) = numbers(EXAMPLES / "seeds.py")
    # 1 + (C/S) / (1 + 4/d) = 7.4 in variance, 2.7 in distance
    assert paes < es / 2
    assert es < 0.5


def test_own_law():
    (aim_es, spread_es), (aim, spread) = numbers(EXAMPLES / "own_law.py")
    assert spread < spread_es / 2
    # the same expectation: apart by at most 4 standard errors, 20 seeds of 5 coordinates
    # and the rounding of what was printed
    assert abs(aim_es - aim) < 4 * spread_es / 100**0.5 + 0.01


def test_host_loop():
    aim, (failed, measured) = numbers(EXAMPLES / "host_loop.py")
    assert all(abs(a - 1) < 0.3 for a in aim[:5])
    # 5 % of them, within 4 standard errors
    assert abs(failed / measured - 0.05) < 4 * (0.05 * 0.95 / measured) ** 0.5


def test_router():
    (count, first, rest, last), (new,) = numbers(EXAMPLES / "router.py")
    assert (count, rest) == (20, 200)
    assert first < 0.7  # chance is a third
    assert last > 0.85
    assert new > 0.9


def test_prompt_router():
    (routed,), (single, possible) = numbers(EXAMPLES / "prompt_router.py")
    assert "SIMULATED" in (EXAMPLES / "prompt_router.py").read_text().splitlines()[0]
    # at least three quarters of what there is to gain over always using the same prompt
    assert routed > single + 0.75 * (possible - single)


def test_filter_yield():
    (*_, minimax), (*_, robust) = numbers(EXAMPLES / "filter_yield.py")
    assert abs(minimax - 72) < 1
    assert robust >= 90  # of 92.9 % at best


def test_mirror_coating():
    (nominal, _, _, paper), (robust, *_) = numbers(EXAMPLES / "mirror_coating.py")
    assert abs(paper) < 0.01  # on paper nothing is left to wish for
    assert robust > nominal + 0.5


def test_gravity_assist():
    (*_, nominal, few), (angle, speed, robust, many) = numbers(EXAMPLES / "gravity_assist.py")
    assert abs(angle - 27.9) < 3
    assert abs(speed - 4.79) < 0.05
    assert robust > nominal
    assert many > 3 * few


def test_noisy_actuator():
    (textbook, _), (found, _), (best, _) = numbers(EXAMPLES / "noisy_actuator.py")
    # the quartiles of the bench over 10 seeds are 162.1 and 163.3, and this seed is among the
    # worst: 0.3 of the way at least
    assert best < found < best + 0.7 * (textbook - best)


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.py")), ids=lambda path: path.name)
def test_examples_are_short_and_tested(path):
    assert len(path.read_text().splitlines()) < 40
    assert f"def test_{path.stem}(" in Path(__file__).read_text()
