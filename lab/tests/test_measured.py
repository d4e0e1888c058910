"""Every figure of docs/measured.md that comes from results/, computed again from what is stored
there: arrays, summary.json, or tables of a report where there is nothing else. The README's table
has no figure that the page has not.

What is not checked here has no file in results/: the speed since commit 7363beb, and the table of
`phenes demo`.
"""

import json
import math
import re
import statistics
from collections.abc import Iterator
from pathlib import Path

import pytest
from phenes_lab import driver
from phenes_lab.bench.constraints import CONSTRAINTS
from phenes_lab.bench.few import FEW
from phenes_lab.bench.regimes import REGIMES
from phenes_lab.bench.risk import RISK
from phenes_lab.check import NAMED
from phenes_lab.report import mean_se
from phenes_lab.reproduce import PACKAGES, experiment

from phenes.store import Store

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "results"
PAGE = (ROOT / "docs" / "measured.md").read_text(encoding="utf-8")
MEASURED = " ".join(re.split(r"\n(?!\n|\||- |#)", PAGE))
SHORT = (ROOT / "README.md").read_text(encoding="utf-8").partition("\n## Measured\n")[2]
SHORT = SHORT.partition("\n## ")[0]
NUMBER = r"-?\d+(?:,\d{3})*(?:\.\d+)?"


def summary(name):
    return json.loads((RESULTS / name / "summary.json").read_text(encoding="utf-8"))


def report(name):
    return (RESULTS / name / "report.md").read_text(encoding="utf-8")


def rows(text: str, first: str) -> Iterator[list[str]]:
    """Cells of the lines of tables that begin so, without emphasis."""
    for line in text.splitlines():
        cells = [cell.strip().replace("**", "") for cell in line.strip().strip("|").split(" | ")]
        if line.startswith("|") and re.fullmatch(first, cells[0]):
            yield cells


def row(text: str, first: str) -> list[str]:
    found = list(rows(text, first))
    assert found, f"no line of a table begins with {first!r}"
    return found[0]


def said(pattern: str) -> list[str]:
    """The groups of a sentence of the page, which must be there once."""
    found = re.findall(pattern.replace("#", f"({NUMBER})"), MEASURED)
    assert len(found) == 1, f"the page says {len(found)} times: {pattern}"
    return [found[0]] if isinstance(found[0], str) else list(found[0])


def numbers(text: str) -> list[str]:
    return re.findall(NUMBER, text)


def same(printed: str, value: float) -> None:
    """`value`, to the digits that are printed."""
    printed = printed.replace(",", "")
    digits = len(printed.partition(".")[2])
    assert abs(float(printed) - value) <= 0.5 * 10.0**-digits * (1 + 1e-6), (
        f"{printed}, not {value}"
    )


def all_same(printed, values) -> None:
    assert len(printed) == len(values), f"{printed} for {values}"
    for one, value in zip(printed, values, strict=True):
        same(one, value)


def sections() -> dict[str, str]:
    """Of the page, by anchor."""
    return {
        re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-"): text
        for title, text in re.findall(r"^## (.*)\n((?:(?!## ).*\n)*)", PAGE, flags=re.MULTILINE)
    }


def test_the_readme_says_nothing_that_the_page_does_not():
    lines = [line for line in SHORT.splitlines() if line.startswith("| [")]
    assert len(lines) >= 7
    for line in lines:
        (anchor,) = re.findall(r"docs/measured\.md#([\w-]+)", line)
        given = set(numbers(line.replace(anchor, "")))
        missing = given - set(numbers(sections()[anchor]))
        assert not missing, f"{anchor}: {sorted(missing)}"


# what each section of the page, and so each row of the README, rests on
BEHIND = {
    "beside-what-people-use-today": ("peers", "peers-d40", "peers-tuning", "peers-noise0"),
    "can-the-answer-be-trusted": ("trust",),
    "beside-what-engineers-have": ("engineering",),
    "chance-constraints": ("constraints",),
    "in-contexts": ("contexts",),
    "reinforcement-learning": ("cartpole", "pendulum", "untuned"),  # and no figure of swimmer
    "the-paper": ("bbob", "frozenlake"),
}


def older(anchor):
    """Commits that the reports of a section name: made before sessions were signed."""
    return {match[1] for name in BEHIND[anchor] if (match := NAMED.search(report(name)))}


def test_what_was_made_before_sessions_were_signed_says_its_commit():
    assert set(sections()) == set(BEHIND)
    for anchor, text in sections().items():
        assert all(commit in text for commit in older(anchor)), anchor
    for line in (line for line in SHORT.splitlines() if line.startswith("| [")):
        (anchor,) = re.findall(r"docs/measured\.md#([\w-]+)", line)
        assert set(re.findall(r"\(commit (\w+)\)", line)) == older(anchor), line


def test_what_has_no_arrays_is_among_them():
    for name in (name for names in BEHIND.values() for name in names):
        assert list((RESULTS / name).glob("*.db")) or NAMED.search(report(name)), name


# beside what people use today


@pytest.mark.parametrize(
    ("line", "name", "problems"),
    [
        (r"0\.01", "peers", "d = 10, sigma = 0.01, held-out instances"),
        (r"0\.1", "peers", "d = 10, sigma = 0.1, held-out instances"),
        (r"0\.5", "peers", "d = 10, sigma = 0.5, held-out instances"),
        (r"0\.1, d = 40 .*", "peers-d40", "d = 40, sigma = 0.1, held-out instances"),
    ],
)
def test_peers(line, name, problems):
    _, counts, speed = row(MEASURED, line)
    stored = row(report(name), re.escape(problems))
    assert numbers(counts) == stored[1:4]
    same(speed, float(stored[5]))


def test_what_is_lost_at_noise_one_tenth():
    (lost,) = re.findall(r"Lost at d = 10, sigma = 0\.1, held-out .*?: (.*)", report("peers"))
    functions = re.findall(r"\b(f\d+) [\w -]+ \((\d\.\d+),", lost)
    named, share = said(
        r"At noise 0\.1 it is lost on ([^,]+(?:, f\d+)* and f\d+), .*needs # of its"
    )
    assert re.findall(r"f\d+", named) == [name for name, _ in functions]
    same(share, float(dict(functions)["f6"]))


def test_the_instance_that_it_was_tuned_on():
    given = said(r"it is # / # / # at noise 0\.1 and # / # / # at 0\.5")
    stored = [
        cells[1:4] for cells in rows(report("peers-tuning"), r"d = 10, sigma = 0\.[15], tuning .*")
    ]
    assert given == [count for counts in stored for count in counts]


def test_without_noise():
    low, high = said(r"it needs # to # times the evaluations of cmaes on the twelve unimodal")
    (line,) = re.findall(r"^(f1 .*)\. Most on", report("peers-noise0"), flags=re.MULTILINE)
    each = [float(value) for value in re.findall(r"f\d+ (\d+\.\d+)", line)]
    assert len(each) == 12
    same(low, min(each))
    same(high, max(each))


def test_each_rival_alone():
    given = said(r"it is # to # wins of 24 at noise 0\.1 and d = 10, with # to # times fewer")
    _, _, after = report("peers").partition("of the others alone, d = 10, sigma = 0.1, held-out")
    alone = list(rows(after.partition("\n## ")[0], r"(pycma|cmaes|evosax).*"))
    assert len(alone) == 11  # "the best of eleven rivals"
    wins, speeds = [int(cells[1]) for cells in alone], [float(cells[4]) for cells in alone]
    all_same(given, [min(wins), max(wins), min(speeds), max(speeds)])


# trust


@pytest.mark.parametrize("budget", [30, 100, 300, 1000])
def test_trust(budget):
    _, after = report("trust").split("### By budget", 1)
    stored = dict(zip(row(after, "budget"), row(after, str(budget)), strict=True))
    names = ("covered", "worse", "failing", "impossible", "wrong", "≤ pycma")
    given = row(MEASURED.partition("Can the answer be trusted")[2], str(budget))[1:]
    all_same(given, [float(stored[name]) for name in names])


def share(chosen):
    """Of rows, in per cent."""
    return 100 * sum(map(bool, chosen)) / len(chosen)


@pytest.mark.parametrize("budget", [30, 100, 300])
def test_trust_of_one_new_instance(budget):
    lines = (RESULTS / "trust" / "seed-70.jsonl").read_text(encoding="utf-8").splitlines()[1:]
    ours, pycma = (
        [each for each in map(json.loads, lines) if (each["contender"], each["budget"]) == who]
        for who in (("phenes", budget), ("pycma", budget))
    )
    assert len(ours) == len(pycma) == 98
    names = ("covered", "worse", "failing", "impossible", "wrong", "success")
    given = row(MEASURED.partition("One new instance of each")[2], str(budget))[1:]
    for name, cell in zip(names, given, strict=True):
        first, *second = numbers(cell)
        same(first, share([each[name] for each in ours]))
        assert bool(second) == (name in ("worse", "failing"))
        for printed in second:
            same(printed, share([each[name] for each in pycma]))


# few evaluations: the table of its own page

FEW_PAGE = (ROOT / "docs" / "few.md").read_text(encoding="utf-8").partition("## How it comp")[2]


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("BoTorch, `InputPerturbation`, told x", "botorch-robust"),
        ("BoTorch, told θ", "botorch"),
        ("Optuna's Gaussian process", "optuna-gp"),
        ("Optuna TPE", "optuna-tpe"),
        ("pycma, told x", "pycma-x"),
        ("Py-BOBYQA", "pybobyqa"),
        ("the evolution strategy of phenes", "phenes-adaptive"),
        ("the best of all rivals in hindsight", "best rival in hindsight"),
    ],
)
def test_few(line, name):
    held_out = report("few").partition("### Held-out problems")[2]
    stored = [cell.partition(" (")[0] for cell in row(held_out, name)[1:]]
    given = [cell.replace("not run", "-") for cell in row(FEW_PAGE, re.escape(line))[1:]]
    assert given == stored


# engineering: rows by what they begin with, the digits of E f or of a share


@pytest.mark.parametrize(
    ("line", "name", "which", "scale"),
    [
        ("LC filter.*", "filter", "share", 100),
        ("mirror coating.*", "coating", "mean", 1),
        ("regulator.*", "regulator", "mean", 1),
        ("gravity-assist launch.*", "launch", "mean", 1),
    ],
)
def test_engineering(line, name, which, scale):
    problem = summary("engineering")["problems"][name]

    def of(contender):
        return [scale * value for value in problem[contender][which]]

    about, nominal, rivals, paper, ours, best = row(MEASURED, line)
    same(numbers(nominal)[0], of("nominal")[1])
    if "best of 15" in nominal:
        same(numbers(nominal)[-1], of("screened")[1])
    libraries = [n for n in problem if n.startswith(("pycma", "cmaes"))]
    assert len(libraries) == 6
    same(numbers(rivals)[0], max(of(n)[1] for n in libraries))
    all_same(numbers(paper), [of("ES")[1], of("PAES")[1]])
    low, middle, high = of("phenes")
    all_same(numbers(ours), [middle, low, high])
    same(numbers(best)[0], of("best known")[1])
    same(numbers(about)[-1], problem["phenes"]["seeds"])


def test_shares_of_the_coating():
    problem = summary("engineering")["problems"]["coating"]
    given = said(r"its yield is lower, # against # %")
    all_same(given, [100 * problem[name]["share"][1] for name in ("screened", "phenes")])


# constraints


def test_constraints():
    answers = summary("constraints")["answers"]

    def met(names, budgets):
        chosen = [a for a in answers if a["contender"] in names and a["budget"] in budgets]
        return (
            sum(p >= a["p"] for a in chosen for p in a["probability"]),
            sum(len(a["probability"]) for a in chosen),
        )

    budgets = {a["budget"] for a in answers if a["contender"] == "phenes"}
    (all_,) = said(r"All # answers meet p")
    assert met({"phenes"}, budgets) == (int(all_), int(all_))
    pycma = {a["contender"] for a in answers} - {"phenes"}
    given = said(r"meets it in # of # runs after 2,000 evaluations")
    assert tuple(map(int, given)) == met(pycma, {2000})


# the paper, contexts, control


def accuracy(method):
    """Median and quartiles on digits, at the best setting."""
    best = max(summary("contexts")["accuracy"]["digits"][method], key=lambda one: one["median"])
    return [best["median"], *best["quartiles"]]


def test_contexts():
    spread = r"# \(# to #\)"
    given = said(
        rf"at its best setting: {spread} with belief weights.*plain gradient of E f {spread}, below"
        rf" Banditron, {spread}\. Epsilon-greedy {spread}, logistic regression .* label {spread}\."
    )
    names = ("phenotype", "phenotype-value", "banditron", "epsilon-greedy", "logistic")
    all_same(given, [value for name in names for value in accuracy(name)])


def test_contexts_beside_others():
    given = said(
        r"ahead of Banditron \(Welch's p = #\) and of epsilon-greedy \(p = #\); on the other two"
        r" data sets epsilon-greedy is level \(p = # and #\)"
    )
    claims = {claim["claim"]: claim for claim in summary("contexts")["claims"]}
    beats = "it beats epsilon-greedy at its best ε and rate"
    (banditron,) = [name for name in claims if name.startswith("digits") and "Banditron at" in name]
    wanted = [banditron, *(f"{name}: {beats}" for name in ("digits", "cells", "wine"))]
    stored = [re.findall(r"p = (\d\.\d+)$", claims[name]["measured"])[0] for name in wanted]
    assert given == stored
    verdicts = [claims[name]["verdict"] for name in wanted]
    assert verdicts == ["holds", "holds", "does not hold", "does not hold"]


def test_the_table_of_the_page_on_contexts():
    text = (ROOT / "docs" / "contexts.md").read_text(encoding="utf-8")
    methods = {
        "phenotype, `belief` weights": "phenotype",
        "information mix, `belief` weights": "mix",
        "the same in a Gaussian search over the weights of the map": "weights-mix",
        "epsilon-greedy": "epsilon-greedy",
        "Banditron": "banditron",
        "phenotype, f minus its running mean": "phenotype-value",
        "genotype, `belief` weights": "genotype",
        "logistic regression": "logistic",
    }
    for name, method in methods.items():
        _, _, middle, spread = row(text, re.escape(name))
        all_same([middle, *numbers(spread)], accuracy(method))


def test_cartpole():
    methods = summary("cartpole")["methods"]
    given = said(
        r"after # episodes and # s \(median of # seeds, without compilation\), evosax's Open_ES,"
        r" the best of five settings, after # and # s; .* its quickest setting takes # s\."
    )
    ours = methods["default"]
    rivals = [m for name, m in methods.items() if name.startswith("evosax")]
    assert len(rivals) == 5
    rival = min(rivals, key=lambda method: method["episodes"] or float("inf"))
    stored = [ours["episodes"], ours["seconds"], ours["seeds"], rival["episodes"], rival["seconds"]]
    quickest = min(method["seconds"] or math.inf for method in rivals)
    all_same(given, [*stored, quickest])


def test_pendulum():
    methods = summary("pendulum")["methods"]
    ours, es, paes = (methods[name] for name in ("default", "ES-paper", "PAES-paper"))
    generations = said(r"Pendulum-v1 is solved with # of # seeds, after # generations of 100")
    all_same(generations, [ours["solved"], ours["seeds"], ours["median_first"]])
    page = (ROOT / "docs" / "reproduction.md").read_text(encoding="utf-8")
    (text,) = re.findall(r"^- \[Pendulum-v1\].*\n(?:  .*\n)*", page, flags=re.MULTILINE)
    touched, of, *first = re.findall(
        r"-200 with (\d) of (\d) seeds, after (\d+) and (\d+) generations", text
    )[0]
    assert [int(n) for n in first] == sorted(n for n in paes["first"] if n is not None)
    assert (int(touched), int(of)) == (paes["reached"], paes["seeds"])
    assert paes["solved"] == es["reached"] == 0
    assert set(paes["generations"]) == set(es["generations"]) == {3000}
    for method, words in ((paes, "its mean policy returns"), (es, "that of ES")):
        (mean, se) = re.findall(rf"{words} (-\d+) ± (\d+)", text)[0]
        all_same([mean, se], mean_se(method["lately"]))
    (claim,) = [c for c in summary("pendulum")["claims"] if c["claim"].startswith("Section 6.3")]
    assert claim["verdict"] == "partly"
    assert f"p = {re.findall(r'p = ([0-9.]+)', text)[0]}" in claim["measured"]


def learnt(environment, method, target):
    """Episodes to a return by seed, infinite where it was not reached."""
    stored = summary("untuned")["environments"][environment][method]["episodes_to"]
    return [math.inf if episodes is None else episodes for episodes in stored[target]]


def untuned():
    """Environment, target, and what is printed of the default and of random search."""
    table = MEASURED.partition("augmented random search")[2]
    lines = list(rows(table, r"[\w]+-v\d \(.*"))
    assert len(lines) == len(summary("untuned")["environments"])
    return [(name.split()[0], target, *ours) for name, target, *ours in lines]


def test_beside_random_search():
    for name, target, *ours in untuned():
        for method, printed in zip(("default", "ARS"), ours, strict=True):
            each = learnt(name, method, target)
            middle = statistics.median(each)
            assert printed.split()[0] == (f"{middle:g}" if middle < math.inf else "never"), name
            failed, of = each.count(math.inf), len(each)
            said_failed = re.findall(r"\((\d) of (\d) seeds never\)", printed)
            assert said_failed == ([(str(failed), str(of))] if failed else []), (name, method)


def test_beside_random_search_in_words():
    words = {"one": 1, "Two": 2, "Seven": 7, "eight": 8}
    medians = {
        name: [statistics.median(learnt(name, method, target)) for method in ("default", "ARS")]
        for name, target, *_ in untuned()
    }
    won, of, level = said_words(r"(\w+) of (\w+) by the median, (\S+) is level, none is lost")
    assert words[of] == len(medians)
    assert words[won] == sum(ours < theirs for ours, theirs in medians.values())
    assert [name for name, (ours, theirs) in medians.items() if ours == theirs] == [level]
    assert not any(ours > theirs for ours, theirs in medians.values())
    fail = {
        name: sum(
            ours == math.inf > theirs
            for ours, theirs in zip(
                learnt(name, "default", target), learnt(name, "ARS", target), strict=True
            )
        )
        for name, target, *_ in untuned()
    }
    count, where = said_words(r"(\w+) runs fail where random search .* does not: (.+?)\. ")
    assert words[count] == sum(fail.values())
    each = {name: words[number] for number, name in re.findall(r"(\w+) of (\S+-v\d)", where)}
    assert each == {name: number for name, number in fail.items() if number}


def said_words(pattern: str) -> tuple[str, ...]:
    """The groups of a sentence of the page, in words."""
    (found,) = re.findall(pattern, MEASURED)
    return found


def test_mountain_car():
    solved, of, within = said(r"reward comes late, is solved by # of # seeds within # episodes")
    each = learnt("MountainCarContinuous-v0", "default", "90")
    assert (int(solved), int(of)) == (sum(map(math.isfinite, each)), len(each))
    same(within, max(each))


def test_bbob():
    score = summary("bbob")["scores"]["PAES against ES"]
    given = said(r"on # of # BBOB functions in 40 dimensions, on # of them")
    all_same(given, [score["wins"], score["n"], len(score["clear_wins"])])
    assert score["clear_losses"] == [6]
    f6 = summary("bbob")["functions"]["f06"]["methods"]
    es, paes = (f6[method]["F_mean"] for method in ("ES", "PAES"))
    share, *given = said(
        r"f6 is lost as clearly, with # % more left of the gap \(# ± # against # ± #, # seeds\)"
    )
    same(share, 100 * (paes[0] / es[0] - 1))
    all_same(given, [*paes, *es, summary("bbob")["settings"]["seeds"]])


def test_frozenlake():
    stored = summary("frozenlake")
    gains = stored["gain"].values()
    all_same(said(r"has # to # times less variance than"), [min(gains), max(gains)])

    def first(method, **setting):
        (found,) = [m["first"] for m in stored["methods"][method] if setting.items() <= m.items()]
        return found

    total, floor, ours, sigma, theirs, p, wide, caption = said(
        r"PAES \(S = #, SGD with a floor of #\) is at the target after # generations and the best"
        r" ES \(σ = #\) after # \(Welch's p = #\), ahead of PAES with the caption's S = # \(#\)"
    )
    same(ours, first("PAES-SGD", total=float(total), floor=float(floor)))
    same(theirs, first("ES", sigma=float(sigma)))
    same(caption, first("PAES-SGD", total=float(wide), floor=float(floor)))
    (claim,) = [
        c for c in stored["claims"] if "faster than ES" in c["claim"] and "best" in c["claim"]
    ]
    same(p, float(re.findall(r"p = (\d\.\d+)", claim["measured"])[0]))
    best = stored["best"]
    assert best["ES"]["sigma"] == float(sigma)
    assert best["PAES-SGD"]["total"] == float(total)


# what is said is what the arrays say


STORES = sorted(RESULTS.glob("*/*.db"))
# whose names are no experiments of `reproduce`
BENCHED = {"constraints": CONSTRAINTS, "few": FEW, "regimes": REGIMES, "risk": RISK}


@pytest.mark.parametrize("path", STORES, ids=lambda path: path.parent.name)
def test_a_summary_is_that_of_the_arrays_beside_it(path):
    name = path.parent.name
    this = experiment(name) if name in PACKAGES else BENCHED[name]
    with Store(path, create=False) as store:
        results = this.module("results").load(store)
        signed = all(session.made for session in driver.all_sessions(store))
    assert signed
    again = json.loads(json.dumps(driver.plain(this.module("report").summary(results))))
    there = {key: value for key, value in summary(name).items() if key != "made"}
    assert again == there
