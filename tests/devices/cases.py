"""Random clusters and claims for tests/devices/run."""

import random
import re

API = "resource.k8s.io/v1"
GPU, NIC = "gpu.example", "nic.example"
SELECTORS = ["device.attributes['gpu.example'].model == 'H200'", "device.driver == 'gpu.example'",
             "device.attributes['gpu.example'].index < 3", "device.capacity['gpu.example'].memory.isGreaterThan(quantity('30Gi'))",
             "'ok' in device.attributes['gpu.example'] && device.attributes['gpu.example'].ok",
             "device.allowMultipleAllocations || device.attributes['gpu.example'].group == 0"]
FAILING = "device.attributes['gpu.example'].absent == 'x'"
ON_LISTS = "0 in device.attributes['gpu.example'].numa"


def chance(rng, part):
    return rng.random() < part


def taint(rng):
    return {"key": rng.choice(["a", "b"]), "value": rng.choice(["", "1"]),
            "effect": rng.choice(["NoSchedule", "NoExecute", "None"])}


def policy(rng, value):
    """A request policy for a capacity of so many GiB, as the API server accepts it."""
    kind = rng.randrange(4)
    if kind == 0:
        return {"default": f"{rng.choice([5, 10, value])}Gi"}
    if kind == 1:
        values = sorted(rng.sample([5, 8, 10, 16, 20], rng.randrange(1, 5)))
        return {"default": f"{rng.choice(values)}Gi", "validValues": [f"{one}Gi" for one in values]}
    least, step = rng.choice([1, 4, 5]), rng.choice([2, 3, 5])
    limits = {"min": f"{least}Gi"}
    if kind == 3:
        limits["step"] = f"{step}Gi"
    steps = rng.randrange((value - least) // step + 1)
    if chance(rng, 0.5):
        limits["max"] = f"{least + steps * step}Gi"
    return {"default": f"{least + rng.randrange(steps + 1) * step}Gi", "validRange": limits}


def capacity(rng, shared):
    value = rng.choice([20, 40, 80])
    memory = {"value": f"{value}Gi"}
    if shared and chance(rng, 0.7):
        memory["requestPolicy"] = policy(rng, value)
    parts = {"memory": memory}
    if shared and chance(rng, 0.4):
        parts["cores"] = {"value": rng.choice(["4", "2", "2500m"])}
        if chance(rng, 0.8):
            parts["cores"]["requestPolicy"] = {"default": rng.choice(["1", "500m"])}
    return {} if shared and chance(rng, 0.1) else parts


def numa(rng):
    """An attribute that is a list, or one value that may be in one."""
    return rng.choice([{"ints": [0, 1]}, {"ints": [0]}, {"ints": [1, 2]}, {"int": 0}, {"int": 1}])


def device(rng, driver, number, pool_of):
    attributes = {"index": {"int": number}, "model": {"string": rng.choice(["H200", "H200", "A100"])},
                  "group": {"int": rng.randrange(2)}, "version": {"version": rng.choice(["1.0.0", "2.1.0"])}}
    if driver == NIC:
        attributes["gpu.example/group"] = attributes.pop("group")
    if chance(rng, 0.5):
        attributes["ok"] = {"bool": chance(rng, 0.7)}
    if chance(rng, 0.05):
        attributes.pop("group", None)
    if pool_of["lists"]:
        attributes["numa"] = numa(rng)
    shared = pool_of["shared"] and chance(rng, 0.85)
    one = {"name": f"d{number}", "attributes": attributes}
    if parts := capacity(rng, shared):
        one["capacity"] = parts
    if shared:
        one["allowMultipleAllocations"] = True
    if chance(rng, 0.12):
        one["taints"] = [taint(rng)]
    if pool_of["counters"] and chance(rng, 0.8):
        one["consumesCounters"] = [{"counterSet": "set", "counters": {"units": {"value": rng.choice(["1", "2", "1500m"])}}}]
    if pool_of["conditions"] and chance(rng, 0.5):
        one["bindingConditions"] = ["ready"]
        one["bindingFailureConditions"] = ["failed"]
    return one


def reach(rng):
    return rng.choice([{"nodeName": "n1"}, {"nodeName": "n1"}, {"nodeName": "n1"}, {"nodeName": "n2"}, {"allNodes": True},
                       {"nodeSelector": {"nodeSelectorTerms": [{"matchExpressions": [
                           {"key": "zone", "operator": "In", "values": [rng.choice(["east", "east", "west"])]}]}]}}])


def pool(rng, driver, name, lists):
    """The slices of a pool."""
    pool_of = {"counters": chance(rng, 0.2), "shared": chance(rng, 0.4), "conditions": chance(rng, 0.08),
               "lists": lists and chance(rng, 0.7)}
    counters = pool_of["counters"]
    where = reach(rng)
    per_device = not counters and chance(rng, 0.12)
    groups = rng.choice([1, 1, 2])
    told = groups + counters + (1 if chance(rng, 0.05) else 0)
    generation = rng.randrange(1, 3)
    head = {"driver": driver, "pool": {"name": name, "generation": generation, "resourceSliceCount": told}}
    most = 40 if chance(rng, 0.04) else 7
    number = 0
    for group in range(groups):
        devices = []
        for _ in range(most if most > 7 else rng.randrange(2, most)):
            one = device(rng, driver, number, pool_of)
            number += 1
            if per_device:
                one.update(reach(rng))
            devices.append(one)
        spec = head | {"devices": devices} | ({"perDeviceNodeSelection": True} if per_device else where)
        yield {"apiVersion": API, "kind": "ResourceSlice", "metadata": {"name": f"{name}-{driver}-{group}"}, "spec": spec}
    if counters:
        sets = [{"name": "set", "counters": {"units": {"value": rng.choice(["3", "4", "6"])}}}]
        yield {"apiVersion": API, "kind": "ResourceSlice", "metadata": {"name": f"{name}-{driver}-c"},
               "spec": head | {"sharedCounters": sets} | where}
    if chance(rng, 0.06):
        old = {"driver": driver, "pool": {"name": name, "generation": 0, "resourceSliceCount": 1},
               "devices": [device(rng, driver, 50, pool_of | {"counters": False})]}
        yield {"apiVersion": API, "kind": "ResourceSlice", "metadata": {"name": f"{name}-{driver}-old"}, "spec": old | where}


def ask(rng, lists):
    one = {"deviceClassName": rng.choice(["gpu", "gpu", "gpu", "nic", "any"]), "allocationMode": "ExactCount", "count": 1}
    if chance(rng, 0.1):
        one["allocationMode"] = "All"
        del one["count"]
    elif chance(rng, 0.25):
        one["count"] = rng.choice([2, 2, 2, 3, 3, 33])
    if chance(rng, 0.25):
        expression = rng.choice(SELECTORS)
        if lists and chance(rng, 0.2):
            expression = ON_LISTS
        one["selectors"] = [{"cel": {"expression": FAILING if chance(rng, 0.08) else expression}}]
    if chance(rng, 0.3):
        one["tolerations"] = [{"operator": "Exists"}] if chance(rng, 0.5) else [
            {"key": "a", "operator": "Equal", "value": "1", "effect": "NoSchedule"}]
    if chance(rng, 0.25):
        wanted = {"memory": rng.choice(["1Gi", "5Gi", "6Gi", "9Gi", "10Gi", "15Gi", "30Gi", "5000000001"])}
        if chance(rng, 0.15):
            wanted["cores"] = rng.choice(["1", "500m", "1500m"])
        one["capacity"] = {"requests": wanted}
    return one


def takes_one_each(requests):
    """One device for each request: how far Kubernetes 1.36 compares all of them."""
    asks = [each for one in requests for each in one.get("firstAvailable", [one.get("exactly")])]
    return all(each.get("count") == 1 for each in asks)


def constrain(rng, devices, lists, alone):
    requests = devices["requests"]
    exact = [one["exactly"] for one in requests if "exactly" in one]
    count = sum(one.get("count", 99) for one in exact) if len(exact) == len(requests) else 0
    # On its way back, Kubernetes 1.36 forgets what a list had in common with devices that are no longer chosen.
    if lists and alone and count == 2 and chance(rng, 0.8):
        devices["constraints"] = [{"matchAttribute": "gpu.example/numa"}]
    elif lists and takes_one_each(requests) and len(requests) > 1 and chance(rng, 0.6):
        devices["constraints"] = [{"distinctAttribute": "gpu.example/numa"}]
    elif not takes_one_each(requests) and chance(rng, 0.15):
        # Here Kubernetes 1.36 compares with the last device of each request alone: see breaks_own_constraint().
        devices["constraints"] = [{"distinctAttribute": rng.choice(["gpu.example/index", "gpu.example/group", "gpu.example/model"])}]
    elif takes_one_each(requests) and chance(rng, 0.25 if len(requests) > 1 else 0.05):
        devices["constraints"] = [{"distinctAttribute": rng.choice(["gpu.example/index", "gpu.example/group"])}]
    elif chance(rng, 0.2):
        devices["constraints"] = [{"matchAttribute": rng.choice(["gpu.example/group", "gpu.example/group", "gpu.example/model"])}]
        if len(requests) > 1 and chance(rng, 0.5):
            devices["constraints"][0]["requests"] = ["r0", "r1"]


def claim(rng, name, lists, alone):
    requests = []
    for number in range(rng.choice([1, 1, 1, 2, 2, 3])):
        request = {"name": f"r{number}"}
        if chance(rng, 0.2):
            request["firstAvailable"] = [dict(ask(rng, lists), name=f"s{i}") for i in range(rng.randrange(1, 4))]
        else:
            request["exactly"] = ask(rng, lists)
            if chance(rng, 0.08):
                request["exactly"]["adminAccess"] = True
        requests.append(request)
    devices = {"requests": requests}
    constrain(rng, devices, lists, alone)
    return {"apiVersion": API, "kind": "ResourceClaim", "metadata": {"name": name, "namespace": "default"},
            "spec": {"devices": devices}}


def share(rng, one):
    """What a share of the device takes, when others have some of it."""
    if "capacity" not in one:
        return {}
    taken = {"memory": rng.choice(["5Gi", "10Gi", "20Gi"])}
    if "cores" in one["capacity"]:
        taken["cores"] = rng.choice(["1", "500m"])
    return {"consumedCapacity": taken}


def results_of(rng, slices):
    """Devices that other claims have."""
    number = 0
    for one in slices:
        for each in one["spec"].get("devices", []):
            result = {"request": "r", "driver": one["spec"]["driver"], "pool": one["spec"]["pool"]["name"], "device": each["name"]}
            if each.get("allowMultipleAllocations") and chance(rng, 0.3):
                for _ in range(rng.choice([1, 1, 2])):
                    number += 1
                    yield result | {"shareID": f"00000000-0000-4000-8000-{number:012d}"} | share(rng, each)
            elif chance(rng, 0.08):
                yield result | ({"adminAccess": True} if chance(rng, 0.1) else {})


def case(rng, gates):
    lists = gates == "all" and chance(rng, 0.5)
    objects = [{"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": {"zone": "east"}}}
               for name in ("n1", "n2")]
    for name, selectors in (("gpu", ["device.driver == 'gpu.example'"]), ("nic", ["device.driver == 'nic.example'"]),
                            ("any", [])):
        objects.append({"apiVersion": API, "kind": "DeviceClass", "metadata": {"name": name},
                        "spec": {"selectors": [{"cel": {"expression": one}} for one in selectors]}})
    slices = [one for name in range(rng.randrange(1, 5))
              for one in pool(rng, GPU if name == 0 else rng.choice([GPU, NIC]), f"p{name}", lists)]
    objects += slices
    held = list(results_of(rng, slices))
    if held:
        objects.append({"apiVersion": API, "kind": "ResourceClaim", "metadata": {"name": "held", "namespace": "default"},
                        "spec": {"devices": {"requests": [{"name": "r", "exactly": {"deviceClassName": "any"}}]}},
                        "status": {"allocation": {"devices": {"results": held}}}})
    claims = rng.choice([1, 1, 2])
    objects += [claim(rng, f"claim-{i}", lists, claims == 1) for i in range(claims)]
    return {"objects": objects, "node": "n1", "gates": gates}


def attributes_by_device(request):
    """By driver, pool and name: those of the newest generation of each pool."""
    found = {}
    for one in sorted((one["spec"] for one in request["objects"] if one["kind"] == "ResourceSlice"),
                      key=lambda spec: spec["pool"]["generation"]):
        for each in one.get("devices", []):
            found[one["driver"], one["pool"]["name"], each["name"]] = each["attributes"]
    return found


def breaks_own_constraint(request, answer):
    """Have two devices the same, which the claim wants to be different? Compared pair by pair, as the API describes it."""
    claims = [one for one in request["objects"] if one["kind"] == "ResourceClaim" and "status" not in one]
    known = attributes_by_device(request)
    for number, one in enumerate(claims):
        for wanted in one["spec"]["devices"].get("constraints", []):
            name = wanted.get("distinctAttribute", "")
            values = []
            for claim, _, driver, pool, device, *_ in answer.get("results", []):
                if claim == number:
                    has = known[driver, pool, device]
                    values.append(has.get(name) or (has.get(name.split("/")[1]) if driver == name.split("/")[0] else None))
            if name and any(value in values[:at] for at, value in enumerate(values)):
                return True
    return False


def asks_of(request):
    """All requests of claims that are to be met."""
    for one in request["objects"]:
        if one["kind"] == "ResourceClaim" and "status" not in one:
            yield [each for wanted in one["spec"]["devices"]["requests"]
                   for each in wanted.get("firstAvailable", [wanted.get("exactly")])]


def has_two_classes(request, _):
    return any(len({each["deviceClassName"] for each in asks}) > 1 for asks in asks_of(request))


def is_distinct_of_several(request, _):
    return any("distinctAttribute" in constraint and not takes_one_each(one["spec"]["devices"]["requests"])
               for one in request["objects"] if one["kind"] == "ResourceClaim"
               for constraint in one["spec"]["devices"].get("constraints", []))


def is_incomplete(request, _):
    slices = [one["spec"] for one in request["objects"] if one["kind"] == "ResourceSlice"]
    return any(one["pool"]["resourceSliceCount"] > sum(one["pool"] == other["pool"] and one["driver"] == other["driver"]
                                                       for other in slices) for one in slices)


def has_default_alone(_, words):
    return re.search(r'"requestPolicy": {"default": "[^"]*"}', words)


def has(text):
    return lambda _, words: text in words


# What is counted, and of which gates.
FEATURES = {
    "selectors in requests": has('"selectors": [{"cel": {"expression": "device.a'), "ExactCount": has('"ExactCount"'),
    "All": has('"All"'), "exactly": has('"exactly": {"deviceClassName": "gpu"'), "firstAvailable": has("firstAvailable"),
    "several classes": has_two_classes, "several devices": has('"count": 2'), "matchAttribute": has("matchAttribute"),
    "distinctAttribute": has("distinctAttribute"), "distinctAttribute of several devices": is_distinct_of_several, "taint NoSchedule": has('"effect": "NoSchedule"}]'),
    "taint NoExecute": has('"effect": "NoExecute"}]'), "tolerations": has("tolerations"), "nodeName": has("nodeName"),
    "nodeSelector": has("nodeSelector"), "allNodes": has("allNodes"), "perDeviceNodeSelection": has("perDeviceNodeSelection"),
    "sharedCounters": has("sharedCounters"), "allowMultipleAllocations": has("allowMultipleAllocations"),
    "capacity requests": has('"capacity": {"requests"'), "requestPolicy default alone": has_default_alone,
    "validValues": has("validValues"), "validRange": has("validRange"), "step": has('"step"'), "shares held": has("shareID"),
    "devices held": has('"held"'), "adminAccess": has("adminAccess"), "binding conditions": has("bindingConditions"),
    "several claims": has('"claim-1"'), "incomplete pools": is_incomplete, "older generations": has("-old"),
    "a pool of 40 devices": has('"d39"'),
}
WITH_ALL_GATES = {"lists as attributes": has('"ints"'), "constraints on lists": has('Attribute": "gpu.example/numa"')}


def cases(seed, count):
    rng = random.Random(f"devices {seed}")
    for number in range(count):
        yield case(rng, "all" if number % 2 else "default")
