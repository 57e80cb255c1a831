"""Whether the tenant library stands in front of all that it has to: names.txt against what it exports, and both against the
vendor's headers, which nobody keeps here. They are looked for in CUDA_HEADERS, a list of folders, or else fetched as Python
packages into the build folder; without a way to have them that part is skipped."""

import os
import pathlib
import re
import subprocess
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
HOOKED = {"charged", "grown", "gated", "followed", "told", "counted", "held", "swapped", "refused"}
OTHERS = {"plain", "order", "built", "host", "managed", "shared"}
# A newer driver may bring names that nobody has looked at yet: the versions are raised when somebody has.
PACKAGES = {"nvidia-cuda-runtime": "13.5.37", "nvidia-cuda-runtime-cu12": "12.9.79", "nvidia-nvml-dev-cu12": "12.9.79",
            "nvidia-nvml-dev": "13.4.92"}


def stem(name):
    """The name without the endings of its variants."""
    return re.sub(r"_v\d+$", "", re.sub(r"_pt[sd]?[sz]$", "", name))


def read_list():
    """What is done with each name."""
    done = {}
    for line in (HERE / "names.txt").read_text().splitlines():
        if line and not line.startswith("#"):
            what, *names = line.split()
            assert what in HOOKED | OTHERS, line
            for name in names:
                assert name not in done, f"{name} is listed twice"
                assert stem(name) == stem(names[0]), line
                done[name] = what
    return done


def exported(library):
    symbols = subprocess.run(["objdump", "-T", library], capture_output=True, text=True, check=True).stdout
    return set(re.findall(r"^[0-9a-f]{16} g.*\.text\S*\s.*\s((?:cu|nvml)[A-Z]\w+)$", symbols, re.MULTILINE))


def headers(build):
    """The folders with the vendor's headers, by version."""
    if os.environ.get("CUDA_HEADERS"):
        return [pathlib.Path(folder) for folder in os.environ["CUDA_HEADERS"].split(":")]
    place = build / "vendor-headers"
    for package, version in PACKAGES.items():
        folder = place / package
        if folder.is_dir():
            continue
        fetched = place / "packages" / package
        try:
            subprocess.run(["python3", "-m", "pip", "download", "-q", "--no-deps", "-d", fetched,
                            f"{package}=={version}"],
                           capture_output=True, check=True, timeout=120)
        except (subprocess.SubprocessError, OSError):
            return []
        for wheel in fetched.glob("*.whl"):
            with zipfile.ZipFile(wheel) as archive:
                for name in archive.namelist():
                    if re.search(r"/include/(cuda|nvml)\.h$", name):
                        folder.mkdir(exist_ok=True)
                        (folder / pathlib.Path(name).name).write_bytes(archive.read(name))
    return [place / package for package in PACKAGES]


def declared(folder):
    """All names of a header, with those that its macros make."""
    names = set()
    for header in folder.glob("*.h"):
        text = re.sub(r"/\*.*?\*/", "", header.read_text(errors="replace"), flags=re.DOTALL)
        names |= set(re.findall(r"CUDAAPI\s+(cu[A-Z]\w+)\s*\(", text))
        names |= set(re.findall(r"DECLDIR\s+(nvml[A-Z]\w+)\s*\(", text))
        for pair in re.findall(r"^#define\s+(cu[A-Z]\w+)\s+(cu[A-Z]\w+)\s*$", text, re.MULTILINE):
            names |= set(pair)
        for ending, name in re.findall(r"__CUDA_API_(PTSZ|PTDS)\((cu\w+)\)", text):
            names |= {name, f"{name}_{ending.lower()}"}
    return names


def compare_sizes(header, work):
    """How many structs and constants a compiler finds in the vendor's header, and which of them differ from ours."""
    said = []
    part = header.stem.upper()
    for name, options in (("ours", [f"-I{HERE.parent.parent / 'src'}"]), ("theirs", ["-DVENDOR", f"-I{header.parent}"])):
        program = work / name
        built = subprocess.run(["cc", "-std=gnu17", "-w", f"-D{part}", *options, "-o", program, HERE / "abi.c"], capture_output=True,
                               text=True, check=False)
        if built.returncode != 0:
            return None, built.stderr
        said.append(subprocess.run([program], capture_output=True, text=True, check=True).stdout.splitlines())
    wrong = [f"{ours} (theirs: {theirs.split()[-1]})" for ours, theirs in zip(*said, strict=True) if ours != theirs]
    return len(said[0]), "; ".join(wrong)


def check(tap, library, build):
    done = read_list()
    ours = exported(library)
    hooked = {name for name, what in done.items() if what in HOOKED}
    tap.result(ours == hooked, f"coverage: {len(hooked)} names of the list are hooked, and no other {sorted(ours ^ hooked)[:5]}")
    stems = {stem(name) for name in hooked}
    halves = [name for name, what in done.items() if what in OTHERS and stem(name) in stems]
    tap.result(not halves, f"coverage: all variants of a hooked name are hooked {halves[:5]}")
    folders = headers(build)
    if not folders:
        tap.skip("coverage: the vendor's headers", "there is no way to have them")
        return
    for folder in folders:
        names = declared(folder)
        # Of NVML only what a tenant is told, in all its versions.
        missing = {name for name in names
                   if name not in done and (name.startswith("cu") or stem(name) in stems)}
        tap.result(len(names) > 100 and not missing,
                   f"coverage: {folder.name}: all of {len(names)} names are in the list {sorted(missing)[:5]}")
        for header in sorted(folder.glob("*.h")):
            count, wrong = compare_sizes(header, build)
            tap.result(count and not wrong,
                       f"coverage: {folder.name}: {count} sizes, places and numbers are as ours {wrong}")
