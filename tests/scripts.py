"""Runs scripts one after the other in this process, as `python SCRIPT` would each: what they print.

python -m tests.scripts FILE...    # JSON: for each file what it printed, and its error
"""

import contextlib
import io
import json
import runpy
import sys
import traceback


def run(path: str) -> dict[str, str]:
    """The text on stdout and stderr, and the traceback if it failed."""
    out, err, failed = io.StringIO(), io.StringIO(), ""
    sys.argv = [path]
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            runpy.run_path(path, run_name="__main__")
        except Exception:
            failed = traceback.format_exc()
    return {"out": out.getvalue(), "err": err.getvalue(), "failed": failed}


if __name__ == "__main__":
    print(json.dumps({path: run(path) for path in sys.argv[1:]}))
