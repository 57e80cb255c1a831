#!/usr/bin/env python3
"""The PodResources API of a kubelet on a socket: pod_resources.py --socket PATH --file FILE

FILE is JSON and is read for each question: a list of {"namespace", "name", "containers": [{"cpus": [0, 1], "devices":
[{"resource", "ids", "zones"}], "memory": [{"type", "size", "zones"}]}]}. An object {"status": NUMBER, "message": TEXT} instead of
the list is an error of gRPC, {"bytes": HEX} a message as it stands. Needs grpcio, see scripts/install-deps.
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve()
PYTHON = HERE.parent.parent.parent / ".cache" / "venv" / "bin" / "python"


def command(socket, file):
    """The words that start this program, by a Python that has grpcio."""
    return [PYTHON, HERE, f"--socket={socket}", f"--file={file}"]


def write(file, what):
    """At once, so that nobody reads half of it."""
    fresh = file.with_suffix(".new")
    fresh.write_text(json.dumps(what))
    os.replace(fresh, file)


def varint(number):
    out = bytearray()
    while number > 0x7f:
        out.append(number & 0x7f | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def field(number, value):
    """A field of a message: a number, text, or a message that is encoded already."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    raw = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(raw)) + raw


def fields(number, values):
    return b"".join(field(number, one) for one in values)


def topology(zones):
    return fields(1, [field(1, zone) for zone in zones])


def devices(one):
    return field(1, one["resource"]) + fields(2, one["ids"]) + field(3, topology(one["zones"]))


def memory(one):
    return field(1, one["type"]) + field(2, one["size"]) + field(3, topology(one["zones"]))


def container(one):
    return (field(1, "main") + fields(2, map(devices, one.get("devices", [])))
            + field(3, b"".join(map(varint, one.get("cpus", [])))) + fields(4, map(memory, one.get("memory", []))))


def answer(pods):
    return fields(1, [field(1, pod["name"]) + field(2, pod["namespace"]) + fields(3, map(container, pod["containers"]))
                      for pod in pods])


class Lister:
    """/v1.PodResourcesLister/List"""

    def __init__(self, grpc, file):
        self.grpc, self.file = grpc, file

    def handler(self):
        grpc = self.grpc
        return grpc.method_handlers_generic_handler("v1.PodResourcesLister", {
            "List": grpc.unary_unary_rpc_method_handler(self.list)})

    def list(self, _, context):
        said = json.loads(self.file.read_text())
        if isinstance(said, list):
            return answer(said)
        if "bytes" in said:
            return bytes.fromhex(said["bytes"])
        context.abort(next(one for one in self.grpc.StatusCode if one.value[0] == said["status"]), said["message"])
        return b""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--socket", type=pathlib.Path, required=True)
    parser.add_argument("--file", type=pathlib.Path, required=True)
    chosen = parser.parse_args()
    import grpc  # pylint: disable=import-outside-toplevel  # others need no more than the functions above

    server = grpc.server(concurrent.futures.ThreadPoolExecutor(max_workers=1))
    server.add_generic_rpc_handlers((Lister(grpc, chosen.file).handler(),))
    # Whoever finds the socket is answered: it gets its name when it is served.
    young = chosen.socket.with_suffix(".young")
    server.add_insecure_port(f"unix:{young}")
    server.start()
    os.replace(young, chosen.socket)
    server.wait_for_termination()


if __name__ == "__main__":
    sys.exit(main())
