"""Results -> report.md, report.html and a summary."""

from pathlib import Path
from typing import Any

import numpy as np

from phenes_lab.report import Document, finite, quartiles, summary_head
from phenes_lab.reproduce.contexts.claims import claims
from phenes_lab.reproduce.contexts.data import ABOUT
from phenes_lab.reproduce.contexts.results import ContextsResults, Curve
from phenes_lab.reproduce.contexts.settings import EXPERIMENT, METHODS

PICTURES = {
    "contexts-accuracy.png": (
        "Accuracy against rounds. Dashed: methods that are not of this library."
    ),
    "contexts-settings.png": "Every setting that was tried on the first data set.",
    "contexts-variance.png": (
        "Variances of genotype and information mix over that of the phenotype estimate, along"
        " training."
    ),
    "contexts-experts.png": "Mixtures of experts.",
    "contexts-regions.png": "Who speaks where in the plane.",
}


def report(results: ContextsResults, out: Path) -> tuple[Path, Path]:
    """Writes both files. Figures that are in `out` are shown in them."""
    document = Document(
        "Contexts: classification with bandit feedback and mixtures of experts (paper, appendix B)"
    )
    _setting(document, results)
    document.claims(claims(results))
    document.heading("All settings")
    for name in results.settings.sets:
        if results.methods(name):
            document.text(f"{name}: {ABOUT[name]}.")
            _table(document, results, name)
    document.figures(out, PICTURES)
    document.sessions(results.sessions)
    return document.write(out)


def _setting(document: Document, results: ContextsResults) -> None:
    s = results.settings
    document.text(
        f"The paper derives these estimators and runs no experiment with them. {s.rounds} rounds"
        f" (wine: {s.rounds_of('wine')}), {s.seeds} seeds, each with its own split into training"
        f" and test set that all methods share. phenes {results.version}, state of the run:"
        f" {results.status}."
    )
    document.text(
        "In a round a context is drawn from the training set, a label is answered, and f is 1 if it"
        " is right, else 0; the right label stays hidden. Accuracy is that of the most likely"
        " answer on the test set. All linear methods see the same features. Every method is tried"
        " at several settings and shown at the one with the highest median test accuracy after the"
        " last round: chosen and judged on the same seeds, for all methods alike."
    )
    document.text(
        "Belief weights are (f - P) / (1 - P) with P the policy's own probability of the answer it"
        " gave: with them the phenotype estimate is the gradient of the likelihood of the feedback,"
        " which is the conditional mean of the gradient that full information would give. It is not"
        " the gradient of E f; the rows with f - mean are."
    )


def _table(document: Document, results: ContextsResults, name: str) -> None:
    rows = []
    for method in results.methods(name):
        best = results.best(method, name)
        for curve in results.curves(method, name):
            low, middle, high = quartiles(curve.final)
            online = np.median(curve.online.mean(axis=1))
            played = "-" if np.isnan(online) or method == "experts-EM" else f"{online:.3f}"
            mark = " (best)" if curve.at == best.at else ""
            texts = [f"{middle:.3f}", f"{low:.3f} to {high:.3f}", played]
            rows.append([METHODS[method].about, curve.label + mark, *texts])
    document.table(
        ["method", "setting", "test accuracy, median", "quartiles", "mean f of all rounds played"],
        rows,
    )


def summary(results: ContextsResults) -> dict[str, Any]:
    """What is worth keeping in a few kilobytes of JSON."""
    sets = results.settings.sets
    return {
        **summary_head(EXPERIMENT, results, claims(results)),
        "accuracy": {
            name: {m: [_numbers(c) for c in results.curves(m, name)] for m in results.methods(name)}
            for name in sets
        },
        "best": {
            name: {m: results.best(m, name).at for m in results.methods(name)} for name in sets
        },
    }


def _numbers(curve: Curve) -> dict[str, Any]:
    rounded = lambda value: finite(round(float(value), 4), 6)  # noqa: E731
    low, middle, high = map(rounded, quartiles(curve.final))
    online = rounded(np.median(curve.online.mean(axis=1)))
    return curve.at | {"median": middle, "quartiles": [low, high], "online": online}
