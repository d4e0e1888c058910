"""Packages that only some parts of the library need."""


def install_hint(extra: str) -> str:
    """The command that installs an extra, for a sentence that ends with it.

    A clone is installed from its own folder.
    """
    return (
        f"pip install -e '.[{extra}]' in a clone of phenes, pip install 'phenes[{extra}]' elsewhere"
    )
