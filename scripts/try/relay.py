"""mpirun -n N python relay.py IN OUT KIND: N ranks restart from IN and write it again from their shares, in the background.

KIND is store, flash, amrex_plotfile or amrex_checkpoint. IN is a checkpoint of any format.
"""

from __future__ import annotations

import sys

import octavo


def relay(source: str, out: str, kind: str) -> None:
    start = octavo.restart(None, source, as_patches=kind.startswith("amrex"))
    target = octavo.Target(kind) if kind != "store" else out
    with octavo.Writer(None, target, start.header) as writer:
        writer.begin_step("checkpoint" if kind == "store" else out, start.step, start.time)
        for name, value in start.attributes.items():
            writer.put_attribute(name, value)
        writer.put_mesh(start.mesh)
        for name, values in start.fields.items():
            writer.put_field(name, values)
        for species, attributes in start.particles.items():
            writer.put_particles(species, attributes)
        writer.end_step()


if __name__ == "__main__":
    relay(*sys.argv[1:])
