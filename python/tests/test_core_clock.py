"""Trials count the core time of a code's calling thread by the code's own timers: scripts/try/core_clock.c stands in the place of the
clocks that they ask."""

from __future__ import annotations

import os
import shutil
import subprocess

import pytest
from test_engine import ENVIRONMENT, ROOT

# Sleeps 0.3 s, works until its core time has grown by 0.05 s, and prints what MPI's clock and Fortran's say of it.
PROGRAM = """
program clocks
  use mpi
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: int64
  implicit none
  interface
    integer(c_int) function usleep(microseconds) bind(c)
      import c_int
      integer(c_int), value :: microseconds
    end function
  end interface
  double precision :: start, wall
  real :: now, begin
  integer(int64) :: ticks, last, rate
  integer :: ignored
  start = MPI_WTIME()
  call system_clock(ticks, rate)
  ignored = usleep(300000)
  call cpu_time(begin)
  do
    call cpu_time(now)
    if (now > begin + 0.05) exit
  end do
  wall = MPI_WTIME() - start
  call system_clock(last)
  print *, wall, dble(last - ticks)/dble(rate)
end program
"""


@pytest.mark.parametrize("preloaded", [False, True])
def test_clocks_count_what_the_thread_works_and_not_what_it_waits(preloaded, tmp_path):
    for program in ("mpif90", "cc"):
        if not shutil.which(program):
            pytest.skip(f"no {program} on this machine")
    (tmp_path / "clocks.f90").write_text(PROGRAM)
    subprocess.run(["mpif90", "clocks.f90", "-o", "clocks"], cwd=tmp_path, check=True, env=ENVIRONMENT)
    library = tmp_path / "core_clock.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-O2", ROOT / "scripts/try/core_clock.c", "-o", library], check=True)
    environment = {**os.environ, **ENVIRONMENT, **({"LD_PRELOAD": str(library)} if preloaded else {})}
    said = subprocess.run([tmp_path / "clocks"], capture_output=True, text=True, check=True, env=environment).stdout
    for seconds in map(float, said.split()):
        assert seconds >= 0.05
        assert (seconds < 0.2) if preloaded else (seconds >= 0.3)
