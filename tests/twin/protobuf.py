"""Objects as Kubernetes' protobuf form, by the program's own table of types: the real server reads what it says."""

import base64
import pathlib
import re
import struct
from datetime import datetime, timezone

TABLE = pathlib.Path(__file__).resolve().parent.parent.parent / "src" / "local" / "wire" / "types_table.inc"
MEDIA_TYPE = "application/vnd.kubernetes.protobuf"
VARINT, FIXED64, BYTES = 0, 1, 2
PLAIN = {"TYPE_STRING", "TYPE_BOOL", "TYPE_INT32", "TYPE_INT64", "TYPE_DOUBLE", "TYPE_BYTES"}


class NotEncodable(Exception):
    """The object has a value that no Go struct of its kind could hold."""


def read_table():
    text = TABLE.read_text()
    names = dict(re.findall(r'X\((\w+), "([^"]*)"\)', text))
    section = {name: re.search(rf"{name}\[\] = \{{(.*?)^\}};", text, re.S | re.M).group(1)
               for name in ("packages", "rows", "types")}
    packages = [(names[group], names[version])
                for group, version in re.findall(r"G\(\w+, (\w+), (\w+)\)", section["packages"])]
    rows = [{"name": names[name], "number": int(number), "flags": set(flags.split("|")), "type": kind.strip()}
            for name, number, flags, kind in re.findall(
                r"F\((\w+), \w+, (\d+), ([\w|]+), ([^)]+)\)", section["rows"])]
    structs = []
    for name, package, first, count, _ in re.findall(r"T\((\w+), (\d+), (\d+), (\d+), (\w+)\)", section["types"]):
        structs.append({"name": names[name], "package": packages[int(package)],
                        "rows": rows[int(first):int(first) + int(count)]})
    return structs


STRUCTS = read_table()


def find(group, version, kind):
    for one in STRUCTS:
        if one["name"] == kind and one["package"] in ((group, version), ("meta.k8s.io", "v1")):
            return one
    raise NotEncodable(f"no struct for {group}/{version} {kind}")


def varint(value):
    value &= (1 << 64) - 1
    data = bytearray()
    while value > 0x7f:
        data.append(value & 0x7f | 0x80)
        value >>= 7
    data.append(value)
    return bytes(data)


def tagged(number, wire, data):
    return varint(number << 3 | wire) + data


def block(number, data):
    return tagged(number, BYTES, varint(len(data)) + data)


def need(value, *types):
    if not isinstance(value, types) or isinstance(value, bool) and bool not in types:
        raise NotEncodable(f"{value!r} is no {types[0].__name__}")
    return value


def seconds(text):
    """A time as seconds and nanoseconds."""
    found = re.fullmatch(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(\.\d+)?Z", need(text, str))
    if not found:
        raise NotEncodable(f"{text!r} is no time")
    moment = datetime.fromisoformat(found.group(1)).replace(tzinfo=timezone.utc)
    return int(moment.timestamp()), int(float(found.group(2) or 0) * 1e9)


def int_or_string(value):
    if isinstance(value, int) and not isinstance(value, bool):
        return tagged(1, VARINT, varint(0)) + tagged(2, VARINT, varint(value)) + block(3, b"")
    return tagged(1, VARINT, varint(1)) + tagged(2, VARINT, varint(0)) + block(3, need(value, str).encode())


def moment_of(text):
    whole, nanos = seconds(text)
    return tagged(1, VARINT, varint(whole)) + tagged(2, VARINT, varint(nanos))


def quantity(value):
    return block(1, str(need(value, str, int)).encode())


MESSAGES = {"TYPE_QUANTITY": quantity, "TYPE_INT_OR_STRING": int_or_string, "TYPE_TIME": moment_of,
            "TYPE_MICRO_TIME": moment_of}


def field(number, kind, value):
    if kind == "TYPE_STRING":
        return block(number, need(value, str).encode())
    if kind == "TYPE_BOOL":
        return tagged(number, VARINT, varint(int(need(value, bool))))
    if kind in ("TYPE_INT32", "TYPE_INT64"):
        return tagged(number, VARINT, varint(need(value, int)))
    if kind == "TYPE_DOUBLE":
        return tagged(number, FIXED64, struct.pack("<d", need(value, int, float)))
    if kind == "TYPE_BYTES":
        try:
            return block(number, base64.b64decode(need(value, str), validate=True))
        except ValueError as error:
            raise NotEncodable(f"{value!r} is not base64") from error
    if kind in MESSAGES:
        return block(number, MESSAGES[kind](value))
    if kind.startswith("TYPE_MESSAGE + "):
        return block(number, message(STRUCTS[int(kind.split("+")[1])], value))
    raise NotEncodable(f"{kind} is not written")


def member(row, value):
    """A member of an object, which may be a list or a map."""
    if "L" in row["flags"]:
        return b"".join(field(row["number"], row["type"], item) for item in need(value, list))
    if "M" in row["flags"]:
        return b"".join(block(row["number"], block(1, key.encode()) + field(2, row["type"], item))
                        for key, item in sorted(need(value, dict).items()))
    return field(row["number"], row["type"], value)


def message(shape, value):
    left = dict(need(value, dict))
    data = b""
    for row in shape["rows"]:
        if "I" in row["flags"]:
            inner = STRUCTS[int(row["type"].split("+")[1])]
            own = {one["name"]: left.pop(one["name"]) for one in inner["rows"] if one["name"] in left}
            data += block(row["number"], message(inner, own))
        elif row["name"] in left:
            item = left.pop(row["name"])
            data += member(row, item) if item is not None else b""
    if left:
        raise NotEncodable(f"{shape['name']} has no {sorted(left)}")
    return data


def encode(group, version, kind, value):
    """The envelope of an object; NotEncodable when a Go program could not have made it."""
    api_version = f"{group}/{version}" if group else version
    if value.get("kind", kind) != kind or value.get("apiVersion", api_version) != api_version:
        raise NotEncodable("another kind")
    inner = message(find(group, version, kind), {k: v for k, v in value.items() if k not in ("kind", "apiVersion")})
    about = block(1, api_version.encode()) + block(2, kind.encode())
    return b"k8s\0" + block(1, about) + block(2, inner) + block(3, b"") + block(4, b"")
