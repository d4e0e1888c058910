"""PPO of Stable-Baselines3 with the settings of its zoo: episodes and steps to a return.

A program of its own: it needs torch and Stable-Baselines3 (`pip install torch` of the CPU, then
`pip install -e './lab[ppo]'`), not phenes, and runs in an environment that has them:

    python -m phenes_lab.reproduce.control.ppo HalfCheetah-v5 --seeds 1 --minutes 12

A run looks as those of `phenes reproduce untuned` do: the deterministic policy, the mean of 10
episodes that are not among those it learns from, about every 100 episodes or 20,000 steps. It
ends where the last target is there, or when it has used its minutes of one core, whatever else runs
beside it.
"""

# torch and Stable-Baselines3 come with an extra
# pyright: reportMissingImports=false

import argparse
import importlib.metadata
import json
import time
from collections.abc import Callable
from typing import Any, NamedTuple

# episodes, or steps, between two looks, whichever is there first: all of the zoo's training on
# MountainCarContinuous-v0 is 20 episodes
LOOK, STEPS = 100, 20_000
EPISODES = 10  # of a look


class Zoo(NamedTuple):
    """What the zoo sets for an environment; what it leaves alone is the default of PPO.

    targets: returns, those of `phenes reproduce`. log_std: of the first policy; with it go two
    layers of 256 rectifiers for MuJoCo, and no orthogonal weights.
    """

    targets: tuple[float, ...]
    ppo: dict[str, Any]
    envs: int = 1
    normalise: bool = True
    log_std: float | None = None
    wide: bool = False


# typed by hand from hyperparams/ppo.yml of rl-baselines3-zoo, where LunarLanderContinuous has
# version 2 and the MuJoCo tasks have version 3
ZOO = {
    "Pendulum-v1": Zoo(
        (-200.0,),
        {
            "n_steps": 1024,
            "gae_lambda": 0.95,
            "gamma": 0.9,
            "n_epochs": 10,
            "ent_coef": 0.0,
            "learning_rate": 1e-3,
            "clip_range": 0.2,
            "use_sde": True,
            "sde_sample_freq": 4,
        },
        envs=4,
        normalise=False,
    ),
    "MountainCarContinuous-v0": Zoo(
        (90.0,),
        {
            "batch_size": 256,
            "n_steps": 8,
            "gamma": 0.9999,
            "learning_rate": 7.77e-5,
            "ent_coef": 0.00429,
            "clip_range": 0.1,
            "n_epochs": 10,
            "gae_lambda": 0.9,
            "max_grad_norm": 5,
            "vf_coef": 0.19,
            "use_sde": True,
        },
        log_std=-3.29,
    ),
    "LunarLanderContinuous-v3": Zoo(
        (200.0,),
        {
            "n_steps": 1024,
            "batch_size": 64,
            "gae_lambda": 0.98,
            "gamma": 0.999,
            "n_epochs": 4,
            "ent_coef": 0.01,
        },
        envs=16,
        normalise=False,
    ),
    "InvertedPendulum-v5": Zoo(
        (950.0,),
        {
            "batch_size": 64,
            "n_steps": 32,
            "gamma": 0.999,
            "learning_rate": 0.000222425,
            "ent_coef": 1.37976e-07,
            "clip_range": 0.4,
            "n_epochs": 5,
            "gae_lambda": 0.9,
            "max_grad_norm": 0.3,
            "vf_coef": 0.19816,
        },
    ),
    "InvertedDoublePendulum-v5": Zoo(
        (9000.0,),
        {
            "batch_size": 512,
            "n_steps": 128,
            "gamma": 0.98,
            "learning_rate": 0.000155454,
            "ent_coef": 1.05057e-06,
            "clip_range": 0.4,
            "n_epochs": 10,
            "gae_lambda": 0.8,
            "max_grad_norm": 0.5,
            "vf_coef": 0.695929,
        },
    ),
    "Swimmer-v5": Zoo((325.0,), {"gamma": 0.9999}),
    "Walker2d-v5": Zoo(
        (1000.0,),
        {
            "batch_size": 32,
            "n_steps": 512,
            "gamma": 0.99,
            "learning_rate": 5.05041e-05,
            "ent_coef": 0.000585045,
            "clip_range": 0.1,
            "n_epochs": 20,
            "gae_lambda": 0.95,
            "max_grad_norm": 1,
            "vf_coef": 0.871923,
        },
    ),
    "HalfCheetah-v5": Zoo(
        (1500.0, 3000.0),
        {
            "batch_size": 64,
            "n_steps": 512,
            "gamma": 0.98,
            "learning_rate": 2.0633e-5,
            "ent_coef": 0.000401762,
            "clip_range": 0.1,
            "n_epochs": 20,
            "gae_lambda": 0.92,
            "max_grad_norm": 0.8,
            "vf_coef": 0.58096,
        },
        log_std=-2,
        wide=True,
    ),
    "Hopper-v5": Zoo(
        (1000.0, 2500.0),
        {
            "batch_size": 32,
            "n_steps": 512,
            "gamma": 0.999,
            "learning_rate": 9.80828e-5,
            "ent_coef": 0.00229519,
            "clip_range": 0.2,
            "n_epochs": 5,
            "gae_lambda": 0.99,
            "max_grad_norm": 0.7,
            "vf_coef": 0.835671,
        },
        log_std=-2,
        wide=True,
    ),
}


class Look(NamedTuple):
    """What the deterministic policy returns, after so much; seconds of CPU, of learning alone."""

    episodes: int
    steps: int
    seconds: float
    value: float


def made(name: str, zoo: Zoo, seed: int) -> Any:
    """The learner, one process and one thread."""
    import torch
    from stable_baselines3 import PPO
    from stable_baselines3.common.env_util import make_vec_env
    from stable_baselines3.common.vec_env import VecNormalize

    torch.set_num_threads(1)
    env = make_vec_env(name, zoo.envs, seed=seed)
    if zoo.normalise:
        env = VecNormalize(env, gamma=zoo.ppo["gamma"])
    kwargs: dict[str, Any] = {}
    if zoo.log_std is not None:
        kwargs |= {"log_std_init": zoo.log_std, "ortho_init": False}
    if zoo.wide:
        layers = [256, 256]
        kwargs |= {"activation_fn": torch.nn.ReLU, "net_arch": {"pi": layers, "vf": layers}}
    return PPO("MlpPolicy", env, seed=seed, device="cpu", policy_kwargs=kwargs, **zoo.ppo)


def look(model: Any, env: Any) -> float:
    """The mean return of the deterministic policy; env is apart from those it learns in."""
    normaliser, summed = model.get_vec_normalize_env(), 0.0
    for _ in range(EPISODES):
        obs, over = env.reset()[0], False
        while not over:
            seen = obs if normaliser is None else normaliser.normalize_obs(obs)
            obs, reward, ended, cut, _ = env.step(model.predict(seen, deterministic=True)[0])
            summed, over = summed + float(reward), ended or cut
    return summed / EPISODES


def looking(name: str, zoo: Zoo, seed: int, seconds: float, looks: list[Look]) -> Callable:
    """A callback of `learn`: False where the last target is there or the time is over."""
    import gymnasium

    env, started, episodes, spent = gymnasium.make(name), time.process_time(), 0, 0.0
    env.reset(seed=10_000 + seed)

    def on_step(now: dict[str, Any], _: Any) -> bool:
        nonlocal episodes, spent
        episodes += int(now["dones"].sum())
        before = time.process_time()
        if before - started > seconds:
            return False
        steps = now["self"].num_timesteps
        last = looks[-1] if looks else Look(0, 0, 0.0, 0.0)
        if episodes < last.episodes + LOOK and steps < last.steps + STEPS:
            return True
        value = look(now["self"], env)
        looks.append(Look(episodes, steps, before - started - spent, value))
        spent += time.process_time() - before
        return value < max(zoo.targets)

    return on_step


def learn(name: str, seed: int, seconds: float) -> dict[str, Any]:
    """One run: the looks, and for each target the first of them that has it."""
    zoo, looks, started = ZOO[name], list[Look](), time.process_time()
    model = made(name, zoo, seed)
    model.learn(10**9, callback=looking(name, zoo, seed, seconds, looks))
    first = {
        f"{target:g}": next((x._asdict() for x in looks if x.value >= target), None)
        for target in zoo.targets
    }
    return {
        "environment": name,
        "seed": seed,
        "steps": model.num_timesteps,
        "seconds": round(time.process_time() - started, 1),
        "first": first,
        "looks": [round(x.value, 1) for x in looks],
    }


def main() -> None:
    """A line of JSON for each run, after one with the versions."""
    about = argparse.ArgumentParser(description=__doc__, prog="phenes_lab.reproduce.control.ppo")
    about.add_argument("environment", choices=ZOO)
    about.add_argument("--seeds", type=int, default=1)
    about.add_argument("--seed", type=int, default=5000, help="of the first run")
    about.add_argument("--minutes", type=float, default=12.0, help="of CPU, at most, of a run")
    given = about.parse_args()
    names = ("stable-baselines3", "torch", "gymnasium", "mujoco")
    print(json.dumps({each: importlib.metadata.version(each) for each in names}), flush=True)
    for k in range(given.seeds):
        run = learn(given.environment, given.seed + k, given.minutes * 60)
        print(json.dumps(run), flush=True)


if __name__ == "__main__":
    main()
