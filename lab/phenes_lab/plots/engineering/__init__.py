"""Pictures of designs under their tolerances, as an engineer of the field would draw them. Each
takes designs by name, {"nominal": theta}.

    from phenes.plots import save
    from phenes_lab.plots import engineering
    save(engineering.response({"minimax": FILTER.nominal, "robust": result.x}), Path("filter.png"))

docs/engineering.md shows them.
"""

from phenes_lab.plots.engineering.coating import spectra
from phenes_lab.plots.engineering.filter import response
from phenes_lab.plots.engineering.launch import trajectories
from phenes_lab.plots.engineering.regulator import motions

PICTURES = {
    "filter": response,
    "coating": spectra,
    "coating-shared": spectra,
    "launch": trajectories,
    "regulator": motions,
}

__all__ = ["PICTURES", "motions", "response", "spectra", "trajectories"]
