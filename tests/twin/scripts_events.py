"""Events, which two groups have in two forms: the same objects by both."""

JSON = "application/json"
TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"
PARTIAL = "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io"
MERGE, PATCH, STRATEGIC = (f"application/{name}+json" for name in ("merge-patch", "json-patch", "strategic-merge-patch"))
APPLY = "application/apply-patch+yaml"

OLD = "/api/v1/namespaces/twin-events/events"
NEW = "/apis/events.k8s.io/v1/namespaces/twin-events/events"
TIME, LATER = "2024-01-02T03:04:05.000006Z", "2024-01-02T03:05:05.000000Z"
ABOUT = {"kind": "Pod", "namespace": "twin-events", "name": "p", "uid": "u"}


def old(name, **more):
    return {"apiVersion": "v1", "kind": "Event", "metadata": {"name": name}, "involvedObject": ABOUT, "reason": "Began",
            "message": "m", "type": "Normal", "source": {"component": "c", "host": "h"}, "count": 2,
            "firstTimestamp": "2024-01-02T03:04:05Z", "lastTimestamp": "2024-01-02T03:04:06Z", **more}


def new(name, **more):
    return {"apiVersion": "events.k8s.io/v1", "kind": "Event", "metadata": {"name": name, "labels": {"a": "b"}}, "regarding": ABOUT,
            "eventTime": TIME, "note": "n", "action": "Do", "reason": "Test", "type": "Normal",
            "reportingController": "example.com/tester", "reportingInstance": "tester-1", **more}


def without(thing, *members):
    return {key: value for key, value in thing.items() if key not in members}


REFUSED = [
    *(("POST", NEW, without(new("bad"), member)) for member in
      ("eventTime", "note", "action", "reason", "type", "reportingController", "reportingInstance", "regarding")),
    *(("POST", NEW, new("bad", **{member: value})) for member, value in (
        ("type", "Odd"), ("action", "a" * 129), ("reason", "r" * 129), ("note", "n" * 1025), ("reportingInstance", "i" * 129),
        ("reportingController", "a b"), ("series", {"count": 1}), ("series", {"count": 2}), ("deprecatedCount", 1),
        ("deprecatedSource", {"component": "c"}), ("deprecatedFirstTimestamp", "2024-01-02T03:04:05Z"),
        ("deprecatedLastTimestamp", "2024-01-02T03:04:05Z"), ("regarding", {"kind": "Node", "name": "n"}))),
    ("POST", NEW, old("bad")), ("POST", OLD, new("bad")),
    ("POST", NEW, new("Bad")), ("POST", NEW + "?fieldValidation=Strict", new("bad", message="m")),
    ("POST", OLD, old("bad", eventTime=TIME)), ("POST", OLD, old("bad", involvedObject={"kind": "Node", "name": "n"})),
    ("POST", OLD, old("bad", involvedObject={"kind": "Node", "name": "n"}, eventTime=TIME, action="a", reportingComponent="r",
                      reportingInstance="i")),
]

READ = [
    ("GET", "/apis/events.k8s.io"),
    ("POST", "/api/v1/namespaces", {"metadata": {"name": "twin-events"}}),
    ("POST", OLD, old("a")), ("POST", NEW, new("b")), ("POST", NEW, new("b")),
    ("POST", NEW, without(new("c", related={"kind": "Node", "name": "n"}, series={"count": 3, "lastObservedTime": TIME}), "apiVersion", "kind")),
    ("POST", OLD, {"metadata": {"name": "d"}, "involvedObject": {"namespace": "twin-events"}}),
    ("POST", NEW + "?dryRun=All", new("dry")), ("POST", NEW + "?dryRun=All", new("dry"), JSON, TABLE),
    *(("GET", f"{group}/{name}") for group in (OLD, NEW) for name in "abcd"),
    ("GET", OLD), ("GET", NEW), ("GET", NEW + "?limit=2"),
    ("GET", "/apis/events.k8s.io/v1/events?fieldSelector=metadata.namespace=twin-events"),
    ("GET", NEW + "/a", None, JSON, PARTIAL),
    *(("GET", f"{OLD}?fieldSelector={field}") for field in (
        "source=c", "source=example.com/tester", "source=x", "reportingComponent=example.com/tester", "involvedObject.uid=u", "regarding.uid=u",
        "reportingController=c")),
    *(("GET", f"{NEW}?fieldSelector={field}") for field in (
        "reportingController=example.com/tester", "reportingController!=example.com/tester", "regarding.kind=Pod", "regarding.name=p,type=Normal",
        "regarding.uid=x", "regarding.namespace=twin-events", "regarding.apiVersion=v1", "regarding.resourceVersion=1",
        "regarding.fieldPath=x", "reason=Test", "source=c", "involvedObject.kind=Pod", "reportingComponent=c", "note=n")),
    ("GET", NEW + "?labelSelector=a=b"),
]

CHANGES = [
    ("PATCH", NEW + "/b", {"note": "other"}, STRATEGIC), ("PATCH", NEW + "/b", {"note": "other"}, MERGE),
    ("PATCH", NEW + "/b", {"series": {"count": 3, "lastObservedTime": LATER}}, STRATEGIC),
    ("PATCH", NEW + "/b", {"series": {"count": 1}}, MERGE), ("PATCH", NEW + "/b", {"metadata": {"labels": {"x": "y"}}}, MERGE),
    ("PATCH", NEW + "/b", {"metadata": {"name": "other"}}, MERGE),
    ("PATCH", NEW + "/b", [{"op": "replace", "path": "/regarding/kind", "value": "Node"}], PATCH),
    ("PATCH", NEW + "/b", {"reason": "R", "type": "Warning", "action": "A", "reportingController": "x", "reportingInstance": "y",
                           "deprecatedCount": 2, "deprecatedSource": {"host": "h"}, "related": {"kind": "Node"},
                           "eventTime": LATER}, MERGE),
    ("PATCH", NEW + "/b", {"deprecatedFirstTimestamp": "2024-01-02T03:04:05Z", "deprecatedLastTimestamp": "2024-01-02T03:04:05Z"}, MERGE),
    ("PATCH", OLD + "/b", {"message": "by the core"}, STRATEGIC), ("PATCH", OLD + "/b", {"note": "x"}, MERGE),
    ("GET", NEW + "/b"),
    ("PATCH", NEW + "/a", {"deprecatedCount": 5}, MERGE), ("PATCH", NEW + "/a", {"metadata": {"annotations": {"a": "b"}}}, MERGE),
    ("PUT", NEW + "/b", new("b", note="by the core", series={"count": 9, "lastObservedTime": LATER})), ("GET", OLD + "/b"),
    ("PUT", NEW + "/put", new("put")), ("PUT", OLD + "/old-put", old("old-put")), ("GET", NEW + "/old-put"),
    ("PATCH", NEW + "/applied?fieldManager=m", without(new("applied")), APPLY),
    ("GET", OLD + "/applied"),
    ("PATCH", NEW + "/applied?fieldManager=m", new("applied", series={"count": 2, "lastObservedTime": LATER}), APPLY),
    ("PATCH", OLD + "/applied?fieldManager=o", {"apiVersion": "v1", "kind": "Event", "metadata": {"name": "applied"}, "message": "o"}, APPLY),
    ("PATCH", OLD + "/applied?fieldManager=o&force=true",
     {"apiVersion": "v1", "kind": "Event", "metadata": {"name": "applied"}, "message": "o"}, APPLY),
    ("GET", NEW + "/applied"),
    ("GET", OLD, None, JSON, TABLE), ("GET", NEW, None, JSON, TABLE), ("GET", NEW + "?includeObject=Object", None, JSON, TABLE),
    ("DELETE", NEW + "/a"), ("DELETE", NEW + "/a"), ("GET", OLD + "/a"), ("DELETE", OLD + "/put"), ("GET", NEW + "/put"),
    ("DELETE", NEW + "?labelSelector=a=b"), ("GET", NEW), ("DELETE", OLD), ("GET", NEW),
]

EVENTS = READ + REFUSED + CHANGES
