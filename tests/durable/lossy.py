"""What a disk could have kept of the files of a killed program: see lossy_disk.c, which writes the notes."""

import pathlib
import struct
import subprocess

HERE = pathlib.Path(__file__).resolve().parent
HEAD = struct.Struct("=IIQQQQ")
WRITE, CUT, SYNC = 1, 2, 3
SECTOR = 512


def build(folder):
    """The library to load before the C library."""
    library = folder / "lossy_disk.so"
    subprocess.run(["cc", "-O1", "-shared", "-fPIC", "-o", str(library), str(HERE / "lossy_disk.c"), "-ldl"], check=True)
    return library


def preload(program, library):
    """The libraries that have to come first: a sanitizer wants to be the very first."""
    linked = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
    words = [line.split() for line in linked.splitlines()]
    return " ".join([word[2] for word in words if word[0].startswith("libasan.")] + [str(library)])


def read_notes(journal):
    """Of each file, the changes since its last sync, oldest first. The last note of a killed program may be cut short."""
    data, at, changes = journal.read_bytes(), 0, {}
    while at + HEAD.size <= len(data):
        what, path_len, offset, old_size, old_len, new_len = HEAD.unpack_from(data, at)
        at += HEAD.size
        if at + path_len + old_len + new_len > len(data):
            break
        path = data[at:at + path_len].decode()
        old = data[at + path_len:at + path_len + old_len]
        new = data[at + path_len + old_len:at + path_len + old_len + new_len]
        at += path_len + old_len + new_len
        if what == SYNC:
            changes[path] = []
        else:
            changes.setdefault(path, []).append((what, offset, old_size, old, new))
    return changes


def undo(text, changes):
    """The contents at the last sync."""
    for _, offset, old_size, old, _ in reversed(changes):
        text[offset:offset + len(old)] = old
        del text[old_size:]
        text.extend(bytes(old_size - len(text)))
    return text


def redo(text, changes, chance):
    """Some of the sectors that were written since; a cut happens or not. All that is kept is kept in its order."""
    for what, offset, _, _, new in changes:
        if what == CUT:
            if chance.random() < 0.5:
                del text[offset:]
            continue
        at = 0
        while at < len(new):
            end = min(len(new), (offset + at) // SECTOR * SECTOR + SECTOR - offset)
            if chance.random() < 0.5:
                text.extend(bytes(max(0, offset + end - len(text))))
                text[offset + at:offset + end] = new[at:end]
            at = end
    return text


def lose(journal, chance):
    """Makes the files what a power cut could have left of them. Returns how many changes had not been synced."""
    if not journal.exists():
        return 0
    unsynced = 0
    for name, changes in read_notes(journal).items():
        path = pathlib.Path(name)
        if changes and path.exists():
            unsynced += len(changes)
            path.write_bytes(redo(undo(bytearray(path.read_bytes()), changes), changes, chance))
    journal.unlink()
    return unsynced
