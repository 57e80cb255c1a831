"""The manifests that the documentation shows, the examples, and those that install Muster in a cluster, unchanged."""

import re

import desk
from suite import Suite, expect, expect_in

SUITE = Suite()
ROOT = desk.machine.ROOT
BLOCK = re.compile(r"^```(?:yaml|sh)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
# A manifest inside of a command.
HERE_DOCUMENT = re.compile(r"kubectl apply -f - <<('?)(\w+)'?\n(.*?)^\2$", re.MULTILINE | re.DOTALL)


def manifests():
    """[(page, text)] of all manifests in the documentation; documents of the console (muster/v1) are not for kubectl."""
    found = []
    for page in sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]):
        for block in BLOCK.findall(page.read_text()):
            # The shell takes backslashes away, unless the word behind << is quoted.
            inner = [text if quote else re.sub(r"\\([$`\\])", r"\1", text)
                     for quote, _, text in HERE_DOCUMENT.findall(block)]
            found += [(page.relative_to(ROOT), text) for text in inner or [block] if re.match(r"\s*apiVersion: (?!muster/)", text)]
    return found


@SUITE.test("every manifest of the documentation is accepted, and its pods run")
def _(here):
    found = manifests()
    expect(len(found) >= 5, True, f"{len(found)} manifests")
    for number, (page, text) in enumerate(found):
        with here.namespace(f"page-{number}") as place:
            place.kubectl("apply", "-f", "-", feed=text)
            expect("created" in place.kubectl("apply", "-f", "-", feed=text), False, f"{page}: created again")
            for name in place.names("pods"):
                place.kubectl("wait", "--for=condition=Ready", f"pod/{name}", f"--timeout={desk.SECONDS}s")
            place.kubectl("delete", "-f", "-", feed=text)


@SUITE.test("the examples are accepted, once and again, and deleted")
def _(here):
    # What is owned by objects of a given UID is the picture of a cluster, for simulations, and nothing to apply.
    files = sorted(path for path in (ROOT / "examples").rglob("*.yaml")
                   if re.search(r"^apiVersion:", path.read_text(), re.M) and "ownerReferences" not in path.read_text())
    expect(len(files) >= 10, True, f"{len(files)} files")
    spaces = {name for path in files for name in re.findall(r"namespace: ([\w-]+)", path.read_text())}
    for name in spaces:
        here.kubectl("create", "namespace", name)
    for path in files:
        here.kubectl("apply", "-f", path)
        expect(" created" in here.kubectl("apply", "-f", path), False, f"{path}: created again")
        here.kubectl("delete", "--force", "--wait=false", "-f", path)
    for name in spaces:
        here.kubectl("delete", "namespace", name, "--wait=false")
    for name in spaces:
        here.wait_gone(f"/api/v1/namespaces/{name}", desk.SECONDS)


@SUITE.test("the manifests that install Muster's services are accepted")
def _(here):
    for name in ("namespaces.yaml", "crds", "rbac", "webhooks.yaml"):
        expect_in("serverside-applied" if name == "crds" else "created", here.kubectl(
            "apply", *(("--server-side", "--force-conflicts") if name == "crds" else ()), "-f", ROOT / "deploy" / name))
    for name in ("webhooks.yaml", "rbac", "namespaces.yaml"):
        here.kubectl("delete", "--wait=false", "-f", ROOT / "deploy" / name)
