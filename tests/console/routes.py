"""The rows of the program's table of routes, as its source has them: macros of rows are unfolded."""

import functools
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent / "src" / "console"
FILES = ("rest/routes.c", "assets/kinds.h", "workloads/kinds.h", "templates/reuse.h", "policies/policy.h")
ROW = re.compile(r'\b(?:LARGE_)?ROUTE\(\s*"([A-Z]+)",\s*([^,]+),\s*(\w+),\s*([^,)]+)')


def unquote(text, names):
    """The value of string literals and names of literals beside each other."""
    found = re.findall(r'"([^"]*)"|(\w+)', text)
    return "".join(literal if not name else names[name] for literal, name in found)


@functools.cache
def routes():
    """(method, path, handler, permission) of each row."""
    texts = {name: (ROOT / name).read_text().replace("\\\n", " ") for name in FILES}
    names = {"ROLE_ANYONE": "anyone", "ROLE_SELF": "self", "ROLE_PAGE": "page"}
    macros = {}
    for text in texts.values():
        names |= dict(re.findall(r'^#define (\w+) "([^"]*)"', text, re.MULTILINE))
    for name, parameters, body in re.findall(r"^#define (\w+_ROUTES|PAGE)\(([^)]*)\)(.*)$", texts["rest/routes.c"], re.MULTILINE):
        macros[name] = ([one.strip() for one in parameters.split(",")], body)
    table = texts["rest/routes.c"].split("static const struct rest_route rows[] = {", 1)[1].split("\n};", 1)[0]

    def unfold(match):
        parameters, body = macros[match[1]]
        values = [one.strip() for one in match[2].split(",")]
        for parameter, value in zip(parameters, values):
            body = re.sub(rf"\b{parameter}\b(?=([^\"]*\"[^\"]*\")*[^\"]*$)", value.replace("\\", r"\\"), body)
        return body

    table = re.sub(r"\b(" + "|".join(macros) + r")\(([^()]*)\)", unfold, table)
    return [(method, unquote(path, names), handler, unquote(role, names)) for method, path, handler, role in ROW.findall(table)]
