"""The Spack package. `spack repo create`, put this folder's file at packages/octavo/package.py of that repository, and build a
checkout with `spack dev-build octavo@main` in the checkout's folder."""

from spack.package import *
from spack_repo.builtin.build_systems.cmake import CMakePackage


class Octavo(CMakePackage):
    """Input and output for large mesh simulations: RAMSES, AMReX, FLASH, SERAFIN, MED and compact checksummed stores; a C++, C
    and Fortran library for checkpoints in the background."""

    license("Apache-2.0")

    version("main", branch="main")

    variant("mpi", default=True, description="Ranks; without, programs of one process")
    variant("hdf5", default=True, description="FLASH and VTKHDF files")
    variant("metis", default=True, description="Partition by METIS")
    variant("scotch", default=True, description="Partition by Scotch and PT-Scotch")
    variant("python", default=True, description="The Python package and the command")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("zstd")
    depends_on("xxhash")
    depends_on("expat@2.4:")
    depends_on("tomlplusplus", type="build")
    depends_on("mpi", when="+mpi")
    depends_on("hdf5~mpi", when="+hdf5")
    depends_on("metis@5:", when="+metis")
    depends_on("scotch+mpi", when="+scotch+mpi")
    depends_on("scotch~mpi", when="+scotch~mpi")
    depends_on("python@3.11:", type=("build", "run"), when="+python")
    depends_on("py-numpy@1.26:", type=("build", "run"), when="+python")
    depends_on("py-nanobind@2.2:", type="build", when="+python")
    extends("python", when="+python")

    # Older ones were not tried.
    conflicts("%gcc@:11")

    def cmake_args(self):
        return [
            self.define_from_variant("OCTAVO_MPI", "mpi"),
            self.define_from_variant("OCTAVO_HDF5", "hdf5"),
            self.define_from_variant("OCTAVO_METIS", "metis"),
            self.define_from_variant("OCTAVO_SCOTCH", "scotch"),
            self.define_from_variant("OCTAVO_PYTHON", "python"),
            self.define("OCTAVO_EXPAT", True),
            self.define("OCTAVO_MED", False),  # libmedC would be looked for when a MED file is opened, outside of Spack
            self.define("OCTAVO_TESTS", False),
            self.define("OCTAVO_APPS", False),
        ]

    def install(self, spec, prefix):
        build = ["--install", self.build_directory, "--component"]
        cmake = which("cmake", required=True)
        cmake(*build, "library", "--prefix", prefix)
        if spec.satisfies("+python"):
            package = join_path(python_platlib, "octavo")
            cmake(*build, "python", "--prefix", package)
            install_tree(join_path(self.stage.source_path, "python", "octavo"), package)
            mkdirp(prefix.bin)
            command = join_path(prefix.bin, "octavo")
            with open(command, "w") as file:
                file.write(
                    f"#!{spec['python'].command.path}\nimport sys\n\nfrom octavo.cli import main\n\nsys.exit(main())\n"
                )
            set_executable(command)
