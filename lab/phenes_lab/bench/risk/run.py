"""`run(settings, out, resume=, progress=)`."""

from pathlib import Path
from typing import Any

from phenes_lab import driver
from phenes_lab.bench.risk import RISK
from phenes_lab.bench.risk.contenders import check_installed
from phenes_lab.bench.risk.settings import RiskSettings


def run(settings: RiskSettings, out: Path, **options: Any) -> driver.Outcome:
    """As `driver.run`; nothing is run if a contender is not installed."""
    check_installed(settings.contenders)
    return driver.run(RISK, settings, out, **options)
