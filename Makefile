# Octavo: two commands do all set-up on a fresh machine.
#
#   make demo [INPUT=path/to/output_00080]   build, run a blast on two meshes, convert, verify, draw
#   make test                                all tests, under 25 minutes on 2 cores
#
#   make install-library PREFIX=DIR          the C, C++ and Fortran library, for other programs
#   make demo SETUP=check                    prints what is there and what would be installed (also: test, test-long)
#   make wheel                               packages that pip installs anywhere, into dist/
#   make try-ramses RAMSES=TREE              a real code, built by you, restarts from Octavo's files
#
# and: make (build only), make test-long, make golden, make bench, make format, make lint, make clean.

JOBS   ?= $(shell nproc)
BUILD  := build/release
PYTHON := .venv/bin/python
SITE    = $(shell $(PYTHON) -c 'import sysconfig; print(sysconfig.get_path("platlib"))')

# Open MPI refuses root and more ranks than cores unless told otherwise; tests run both.
export OMPI_ALLOW_RUN_AS_ROOT := 1
export OMPI_ALLOW_RUN_AS_ROOT_CONFIRM := 1
export OMPI_MCA_rmaps_base_oversubscribe := 1
export OMPI_MCA_btl_vader_single_copy_mechanism := none

# Packages come without compiled files (scripts/setup), so the first import of a module has to leave one: without, each start
# of the command reads NumPy's sources again, which takes three times as long.
unexport PYTHONDONTWRITEBYTECODE

ifeq ($(SETUP),check)
# Only prints what is there, and what would be installed.
export SETUP
.PHONY: all demo test test-long
all demo:
	@scripts/setup run
test:
	@scripts/setup run test
test-long:
	@scripts/setup run test long
else

.PHONY: all demo test test-long golden bench bench-engine format lint clean setup-run setup-test setup-long build-tests
all: setup-run install

setup-run:
	@scripts/setup run
setup-test:
	@scripts/setup run test
setup-long:
	@scripts/setup run test long

build_run   = scripts/build --preset release -DOCTAVO_PYTHON=ON -DOCTAVO_TESTS=OFF --
install_run = cmake --install $(BUILD) --component python --prefix $(SITE)/octavo >/dev/null && scripts/install-package

# The command and the package, into .venv.
.PHONY: install
install: setup-run
	@$(build_run) octavo_python
	@$(install_run)

# The library alone, for programs of users.
.PHONY: install-library
install-library: setup-run
	@test -n "$(PREFIX)" || { echo "make install-library PREFIX=DIR" >&2; exit 2; }
	@$(build_run) octavo_library
	@cmake --install $(BUILD) --component library --prefix "$(PREFIX)" >/dev/null

# The sample, or INPUT: pictures come before the engine and the simulation are compiled. Then a blast that changes its mesh
# half way (where there are MPI and p4est).
demo: setup-run
	@$(build_run) _core
	@$(install_run)
	@scripts/demo $(INPUT)
	@$(build_run) octavo_demo
	@$(install_run)
	@scripts/demo-sedov

# Packages for PyPI into dist/: a wheel with all libraries but MPI inside, its source package, the independent reader.
.PHONY: wheel
wheel:
	@scripts/setup run wheel
	@scripts/wheel

# The pages as a searchable site, with a reference made from the code: build/site/html.
.PHONY: site
site: install
	@scripts/setup run docs
	@$(PYTHON) scripts/site

# Trials with real codes that you have built (docs/compatibility.md): RAMSES=TREE, AMREX=TREE, FLASH=FOLDER, TELEMAC=TREE.
# Without programs they print a line SKIP. Runs stand in build/try, or in $OCTAVO_TRY.
TRIALS := try-ramses try-ramses-adapter try-amrex try-amrex-adapter try-nyx-adapter try-flash try-flash-adapter try-telemac try-telemac-adapter
.PHONY: try $(TRIALS)
try: $(TRIALS)
$(TRIALS): try-%: install
	@$(PYTHON) scripts/try/$(subst -,_,$*).py

build-tests: setup-test
	@scripts/build --preset release -DOCTAVO_PYTHON=ON -DOCTAVO_TESTS=ON -DOCTAVO_BENCH=ON -- all
	@$(install_run)

# Ranks that wait give up their core: with more ranks than cores a test takes a third of the time. Open MPI is told what it
# takes on one machine, or each start looks for networks for 0.2 s; and not to pause for 1 or 2 s where a rank fails.
test test-long: export OMPI_MCA_mpi_yield_when_idle := 1
test test-long: export OMPI_MCA_pml := ob1
test test-long: export OMPI_MCA_odls_base_sigkill_timeout := 0

test: build-tests
	@scripts/test

test-long: setup-long build-tests
	@scripts/test --long

# The chunks and stores in tests/golden, made anew: only for a format that no release has written yet.
golden: build-tests
	rm -rf tests/golden/codec tests/golden/v2.0-*
	cd $(BUILD) && OCTAVO_CODEC_SAMPLES=$(CURDIR)/tests/golden/codec ./octavo_codec_test --gtest_filter='Golden.samples*'
	cd $(BUILD) && OCTAVO_NEW_GOLDEN=v2.0 ./octavo_store_test --gtest_also_run_disabled_tests --gtest_filter='Golden.*new_store'

bench: setup-long build-tests
	@$(PYTHON) bench/run.py
bench-engine: setup-long build-tests
	@$(PYTHON) bench/run.py engine

format:
	clang-format -i $$(git ls-files '*.cpp' '*.hpp')
	.venv/bin/ruff format python tests bench scripts
lint: build-tests
	@scripts/lint

clean:
	rm -rf build demo

endif
