"""scripts/pack_kernel.py   Makes octavo/engine/device/pack_kernel_ptx.cpp of pack_kernel.h, with NVRTC.

NVRTC is libnvrtc.so.12 of a CUDA toolkit, or of the package nvidia-cuda-nvrtc-cu12 if the Python that runs this has it.
The result is kept, so that neither a build nor a user needs NVRTC: docs/decisions/0084-the-device-packs.md.
"""

from __future__ import annotations

import ctypes
import hashlib
import re
import sys
from importlib.util import find_spec
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[1] / "octavo/engine/device"
SOURCE, KEPT = FOLDER / "pack_kernel.h", FOLDER / "pack_kernel_ptx.cpp"
# The oldest devices that NVRTC 12 knows; any later one takes their PTX. The kernel needs nothing of later PTX than that
# of CUDA 9.0, so the driver may be as old.
ARCHITECTURE, VERSION = "50", "6.0"


def nvrtc() -> ctypes.CDLL:
    """NVRTC; OSError if this machine has none."""
    name = "libnvrtc.so.12"
    spec = find_spec("nvidia.cuda_nvrtc") if find_spec("nvidia") else None
    places = [Path(place) / "lib" / name for place in spec.submodule_search_locations or ()] if spec else []
    return ctypes.CDLL(str(next((path for path in places if path.exists()), name)))


def _text(library: ctypes.CDLL, program: ctypes.c_void_p, what: str) -> str:
    size = ctypes.c_size_t()
    getattr(library, f"nvrtcGet{what}Size")(program, ctypes.byref(size))
    text = ctypes.create_string_buffer(size.value)
    getattr(library, f"nvrtcGet{what}")(program, text)
    return text.value.decode()


def compiled(library: ctypes.CDLL, architecture: str) -> str:
    """The kernel as PTX for compute capability ARCHITECTURE ("80"); RuntimeError with the compiler's words."""
    program = ctypes.c_void_p()
    library.nvrtcCreateProgram(ctypes.byref(program), SOURCE.read_bytes(), SOURCE.name.encode(), 0, None, None)
    words = (f"--gpu-architecture=compute_{architecture}", "-DOCTAVO_DEVICE_CODE", "--std=c++14")
    options = (ctypes.c_char_p * len(words))(*(word.encode() for word in words))
    result = library.nvrtcCompileProgram(program, len(words), options)
    if result != 0:
        raise RuntimeError(f"NVRTC failed ({result}) on {SOURCE.name}: {_text(library, program, 'ProgramLog')}")
    return _text(library, program, "PTX")


def older(ptx: str) -> str:
    """The same without comments and empty lines, for drivers from CUDA 9.0 on."""
    lines = (re.sub(r"\s+", " ", re.sub(r"//.*", "", line)).strip() for line in ptx.splitlines())
    text = "\n".join(line for line in lines if line) + "\n"
    return re.sub(r"^\.version .*$", f".version {VERSION}", text, flags=re.MULTILINE)


def sum_of_source() -> str:
    return hashlib.sha256(SOURCE.read_bytes()).hexdigest()


def kept_ptx() -> str:
    """The PTX that KEPT holds."""
    return "".join(line + "\n" for line in re.findall(r'^ +"(.*)\\n"', KEPT.read_text(), re.MULTILINE))


def main() -> None:
    library = nvrtc()
    major, minor = ctypes.c_int(), ctypes.c_int()
    library.nvrtcVersion(ctypes.byref(major), ctypes.byref(minor))
    ptx = older(compiled(library, ARCHITECTURE))
    lines = "\n".join(f'    "{line}\\n"' for line in ptx.splitlines())
    KEPT.write_text(f"""\
// scripts/pack_kernel.py made this of pack_kernel.h, with NVRTC {major.value}.{minor.value}. SHA-256 of that text:
// {sum_of_source()}
#include "octavo/engine/device/cuda.hpp"

namespace octavo::engine::device {{

const char* const cuda::pack_kernel_ptx =
{lines};

}}  // namespace octavo::engine::device
""")


if __name__ == "__main__":
    try:
        main()
    except (OSError, RuntimeError) as error:
        sys.exit(f"scripts/pack_kernel.py: {error}")
