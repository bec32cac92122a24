"""The units of a step: those that it was given, else the header's."""

from __future__ import annotations

import numpy as np
import pytest

import octavo

TREE = octavo.Octree([np.array([False])], [np.array([True])])


def test_each_step_has_its_own_units(tmp_path) -> None:
    pytest.importorskip("mpi4py")
    store = tmp_path / "run.octavo"
    given = {1: (2.0, 3e-24, 5e13), 2: None, 3: (4.0, 1.5e-24, 1e14)}
    with octavo.Writer(None, store, octavo.Header(roots=(1, 1, 1)), mode="sync") as writer:
        for step, units in given.items():
            writer.begin_step("analysis", step, step / 4)
            if units:
                writer.put_units(*units)
            writer.put_mesh(TREE)
            writer.put_field("density", np.array([1.0]))
            writer.end_step()
    for step, units in given.items():
        found = octavo.open(store, flow="analysis", step=step).units
        assert (found["length"], found["density"], found["time"]) == (units or (1, 1, 1))


@pytest.mark.parametrize("wrong", [(0.0, 1.0, 1.0), (1.0, -1.0, 1.0), (1.0, 1.0, float("nan"))])
def test_units_that_are_none_are_refused(tmp_path, wrong) -> None:
    pytest.importorskip("mpi4py")
    with octavo.Writer(None, tmp_path / "run.octavo", octavo.Header(roots=(1, 1, 1)), mode="sync") as writer:
        writer.begin_step("checkpoint", 1, 0.0)
        writer.put_units(*wrong)
        writer.put_mesh(TREE)
        writer.put_field("density", np.array([1.0]))
        with pytest.raises(octavo.Error, match="units: expected finite numbers above 0"):
            writer.end_step()
