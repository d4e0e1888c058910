"""How the documentation is built: `make docs`. Figures are drawn first, by docs/figures; nothing is
fetched from the network.
"""

import os
import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "tools"))
# small matrices, many of them: threads only get in each other's way
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import phenes  # noqa: E402

project = "phenes"
author = "the phenes developers"
project_copyright = "the phenes developers"
version = release = phenes.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.mathjax",
    "sphinx-mathjax-offline",  # MathJax as files of a package, not from a server
    "docstrings",
    "drawing",
]
exclude_patterns = ["_build", "_figures", "figures", "tools"]

myst_enable_extensions = ["amsmath", "colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
python_maximum_signature_line_length = 100
add_module_names = False

html_theme = "furo"
html_title = "phenes"
html_copy_source = False
html_show_sourcelink = False
html_show_copyright = False
