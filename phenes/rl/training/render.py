"""An episode as a film: GIF by Pillow, MP4 by ffmpeg where it is installed."""

import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np

from phenes.rl.rollouts.spaces import flattener, make, to_space
from phenes.rl.training.trained import Trained

KINDS = (".gif", ".mp4")
SLOWEST, FASTEST = 10, 50  # frames per second; viewers of GIFs do not go faster than 50
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


def render(trained: Trained, path: str | Path, seed: int = 0) -> Path:
    """One episode with the best actions, drawn by the environment itself."""
    path = check(path)
    frames, fps = film(trained, seed)
    every = -(-len(frames) // LONGEST) if path.suffix.lower() == ".gif" else 1
    (_gif if path.suffix.lower() == ".gif" else _mp4)(path, frames[::every], fps)
    return path


def film(trained: Trained, seed: int = 0) -> tuple[list[np.ndarray], float]:
    """Frames [h, w, 3] of an episode, and how many make a second."""
    env = make(trained.name, {**trained.about["options"], "render_mode": "rgb_array"})
    try:
        flat, given = flattener(env.observation_space), to_space(env.action_space)
        obs, _ = env.reset(seed=seed)
        frames, over = [_frame(env)], False
        while not over:
            obs, _, terminated, truncated, _ = env.step(given(trained.predict(flat(obs))))
            frames.append(_frame(env))
            over = terminated or truncated
        fps = env.metadata.get("render_fps") or 30
    finally:
        env.close()
    return frames, float(np.clip(fps, SLOWEST, FASTEST))


def _frame(env: Any) -> np.ndarray:
    frame = env.render()
    if not isinstance(frame, np.ndarray) or frame.ndim != 3:
        raise ValueError(f"{env.spec.id} does not render pictures")
    return frame


def _gif(path: Path, frames: list[np.ndarray], fps: float) -> None:
    from PIL import Image

    first, *rest = [Image.fromarray(frame) for frame in frames]
    first.save(path, save_all=True, append_images=rest, duration=round(1000 / fps), loop=0)


def _mp4(path: Path, frames: list[np.ndarray], fps: float) -> None:
    high, wide, _ = frames[0].shape
    size = [
        "-f",
        "rawvideo",
        "-pix_fmt",
        "rgb24",
        "-s",
        f"{wide}x{high}",
        "-r",
        f"{fps:g}",
        "-i",
        "-",
    ]
    # even sides and this pixel format: what every player reads
    how = ["-vf", "crop=trunc(iw/2)*2:trunc(ih/2)*2", "-pix_fmt", "yuv420p", "-loglevel", "error"]
    done = subprocess.run(
        ["ffmpeg", "-y", *size, *how, str(path)],
        input=b"".join(f.tobytes() for f in frames),
        capture_output=True,
    )
    if done.returncode:
        raise RuntimeError(
            f"ffmpeg could not write {path}: {done.stderr.decode(errors='replace').strip()}"
        )
