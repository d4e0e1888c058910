"""How the documentation is built: `make docs`.

Figures are drawn first, by docs/figures; nothing is fetched from the network.
"""

import os
import re
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
    "sphinx.ext.napoleon",  # numpydoc sections
    "sphinx-mathjax-offline",  # MathJax as files of a package, not from a server
    "drawing",
]
suppress_warnings = ["ref.python"]  # words in types that are names of several things
exclude_patterns = ["_build", "_figures", "figures", "tools"]

myst_enable_extensions = ["amsmath", "colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
default_role = "literal"  # `x` in a docstring is code
napoleon_google_docstring = False
napoleon_use_ivar = True
napoleon_use_rtype = False
napoleon_preprocess_types = False
python_maximum_signature_line_length = 100
add_module_names = False

html_theme = "furo"
html_title = "phenes"
html_copy_source = False
html_show_sourcelink = False
html_show_copyright = False


def plain_types(app, what, name, obj, options, signature, returns):
    """Types as they are written in the library, not as jaxtyping resolves them."""

    def plain(text):
        key = (
            r"[\w.~]*Key\[Array, ''\] \| [\w.~]*UInt32\[Array, '2'\] \| [\w.~]*UInt32\[Array, '4'\]"
        )
        return re.sub(key, "PRNGKeyArray", text.replace("jaxlib._jax.Array", "Array"))

    return signature and plain(signature), returns and plain(returns)


def skip_fields(app, what, name, obj, skip, options):
    """Fields of named tuples are described as parameters of their class."""
    return True if str(getattr(obj, "__doc__", "")).startswith("Alias for field number") else None


def setup(app):
    app.connect("autodoc-process-signature", plain_types)
    app.connect("autodoc-skip-member", skip_fields)
