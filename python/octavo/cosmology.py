"""Times of cosmological runs of RAMSES, whose clock is conformal time. NumPy is imported for such runs alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np


def is_cosmological(data: Any) -> bool:
    """Whether the step is of a cosmological run: H0 or the expansion factor differs from 1."""
    known = data.attributes
    return known.get("H0", 1.0) != 1.0 or known.get("aexp", 1.0) != 1.0


def cosmic_facts(data: Any) -> dict[str, float]:
    """`redshift`, and `age` of the universe [code time], of a cosmological run; of others nothing."""
    known = data.attributes
    if not is_cosmological(data) or not {"aexp", "omega_m", "omega_l", "omega_k"} <= known.keys():
        return {}
    return {"redshift": 1 / known["aexp"] - 1, "age": float(time_since(data, float("-inf")))}


def time_since(data: Any, birth: Any) -> Any:
    """[code time], of the shape of `birth`: of a cosmological run the proper time, in the code's unit at the step. Since
    -inf, it is the age of the universe."""
    import numpy as np

    known = data.attributes
    if not is_cosmological(data):
        return data.time - birth
    tau, proper = proper_times(known["omega_m"], known["omega_l"], known["omega_k"])
    # A code unit of time is aexp^2 / H0.
    return (np.interp(data.time, tau, proper) - np.interp(birth, tau, proper)) / known["aexp"] ** 2


def proper_times(omega_m: float, omega_l: float, omega_k: float) -> tuple[np.ndarray, np.ndarray]:
    """The conformal time of RAMSES, d tau = d t / a^2, which is 0 at a = 1, and the proper time since a = 10^-4, both in
    units of 1 / H0, ascending. That is what RAMSES' tables of Friedmann's equation hold (amr/init_time.f90)."""
    import numpy as np

    log_a = np.linspace(np.log(1e-4), np.log(2.0), 400_001)
    a = np.exp(log_a)
    hubble = np.sqrt(omega_m / a**3 + omega_k / a**2 + omega_l)
    tau = _integral(1 / (a**2 * hubble), log_a)
    return tau - np.interp(0.0, log_a, tau), _integral(1 / hubble, log_a)


def _integral(values: np.ndarray, at: np.ndarray) -> np.ndarray:
    import numpy as np

    return np.concatenate([[0.0], np.cumsum((values[1:] + values[:-1]) / 2 * np.diff(at))])
