#pragma once
/// Plotfiles and checkpoints of codes on AMReX, written in the background by Octavo, and restarts on any number of
/// ranks. It takes AMReX's own types: MultiFabs of cells, faces or nodes, with ghosts or without, and particle
/// containers of any layout, in 2-D and 3-D. README.md shows the few lines that a code needs.
///
///     octavo::amrex::WritePlotfile("plt00010", nlevels, mf, names, geom, time, steps, ratio);
///     octavo::amrex::WriteCheckpoint("run.octavo", nlevels, {{"phi", phi}}, geom, time, steps, dt, ratio);
///     octavo::amrex::Restart from("run.octavo");
///
/// A name that ends in ".octavo" is a store, which takes all steps. Any other name is a directory in AMReX's own
/// layout. All calls are collective and throw octavo::base::Error on all ranks. An error of the background is thrown by
/// the next call, by Wait() or Close(). amrex::Finalize() closes all outputs.
#include "particles.hpp"
#include "restart.hpp"
#include "write.hpp"
