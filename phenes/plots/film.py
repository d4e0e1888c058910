"""Pictures of an episode as a film: GIF by Pillow, MP4 by ffmpeg where it is installed."""

import shutil
import subprocess
from pathlib import Path

import numpy as np

KINDS = (".gif", ".mp4")
LONGEST = 500  # frames of a GIF: every second or third step of longer episodes


def check(path: str | Path) -> Path:
    """Find out before the training, not after."""
    path = Path(path)
    if path.suffix.lower() not in KINDS:
        raise ValueError(f"a film must be a .gif or .mp4 file, got {path.name!r}")
    if path.suffix.lower() == ".mp4" and shutil.which("ffmpeg") is None:
        raise ValueError(
            f"{path.name} needs the program ffmpeg, which is not installed: a .gif does not"
        )
    return path


def save(pictures: list[np.ndarray], per_second: float, path: str | Path) -> Path:
    """Pictures [h, w, 3], so many per second."""
    path = check(path)
    if path.suffix.lower() == ".gif":
        _gif(path, pictures[:: -(-len(pictures) // LONGEST)], per_second)
    else:
        _mp4(path, pictures, per_second)
    return path


def _gif(path: Path, pictures: list[np.ndarray], per_second: float) -> None:
    from PIL import Image

    first, *rest = [Image.fromarray(picture) for picture in pictures]
    first.save(path, save_all=True, append_images=rest, duration=round(1000 / per_second), loop=0)


def _mp4(path: Path, pictures: list[np.ndarray], per_second: float) -> None:
    high, wide, _ = pictures[0].shape
    source = f"-f rawvideo -pix_fmt rgb24 -s {wide}x{high} -r {per_second:g} -i -"
    # even sides and this pixel format: what every player reads
    how = "-vf crop=trunc(iw/2)*2:trunc(ih/2)*2 -pix_fmt yuv420p -loglevel error"
    done = subprocess.run(
        ["ffmpeg", "-y", *source.split(), *how.split(), str(path)],
        input=b"".join(picture.tobytes() for picture in pictures),
        capture_output=True,
    )
    if done.returncode:
        raise RuntimeError(
            f"ffmpeg could not write {path}: {done.stderr.decode(errors='replace').strip()}"
        )
