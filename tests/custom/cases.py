"""Custom kinds and objects of them: what is sent to the API server, which answers as facts.json has it.

A schema is that of `spec`, an object is a spec. Definitions are those that are refused, or that show a default.
"""

GROUP = "facts.example.com"


def definition(plural, spec_schema, **more):
    """A CustomResourceDefinition with one version; `more` replaces members of the version."""
    kind = plural.capitalize()
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": {
        "type": "object", "properties": {"spec": spec_schema, "status": {
            "type": "object", "x-kubernetes-preserve-unknown-fields": True}}}}}
    version.update(more)
    return {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "metadata": {"name": f"{plural}.{GROUP}"},
            "spec": {"group": GROUP, "scope": "Namespaced", "names": {"plural": plural, "kind": kind},
                     "versions": [version]}}


def properties(**members):
    return {"type": "object", "properties": members}


TEXT = {"type": "string"}
WHOLE = {"type": "integer"}
NUMBER = {"type": "number"}
ANY = {"x-kubernetes-preserve-unknown-fields": True}
PAIR = properties(name=TEXT, port=WHOLE, value=TEXT)

# Plural, the schema of spec, and specs.
SCHEMAS = [
    ("types", properties(text=TEXT, whole=WHOLE, number=NUMBER, flag={"type": "boolean"}, list={
        "type": "array", "items": TEXT}, map={"type": "object", "additionalProperties": WHOLE}, sub=properties(a=TEXT)), [
            {"text": "a", "whole": 1, "number": 1.5, "flag": True, "list": ["a"], "map": {"k": 1}, "sub": {"a": "b"}},
            {"text": 1}, {"text": None}, {"whole": "1"}, {"whole": 1.5}, {"whole": 2.0}, {"number": "1"}, {"number": 3},
            {"flag": "yes"}, {"list": "a"}, {"list": [1]}, {"list": [None]}, {"map": {"k": "v"}}, {"map": []}, {"sub": "x"}, {"sub": None},
            {"sub": {"a": 1, "b": 2}}, {"unknown": 1, "sub": {"other": {"deep": 1}}}, [], None, {"map": {"a.b/c": "x"}},
            {"text": True}, {"whole": True}, {"list": [["a"]]}, {"text": {"a": 1}}, {"whole": 9007199254740993}, {"number": 1e300},
            {"list": ["a", 1, True]}, {"text": 1.5}, {"text": []}, {"flag": 1}, {"flag": None}]),
    ("nullables", properties(text={**TEXT, "nullable": True}, list={"type": "array", "nullable": True, "items": {
        **TEXT, "nullable": True}}, sub={**properties(a=TEXT), "nullable": True},
        fixed={**TEXT, "default": "x"}, loose={**TEXT, "default": "x", "nullable": True}), [
            {"text": None, "list": None, "sub": None}, {"list": [None, "a"]}, {"fixed": None, "loose": None}, {}, {"list": [1]}]),
    ("requireds", {**properties(a=TEXT, b=properties(c=TEXT)), "required": ["a", "b"]}, [
        {}, {"a": "x"}, {"a": "x", "b": {}}, {"b": {"c": "d"}}]),
    ("enums", properties(text={**TEXT, "enum": ["a", "b"]}, whole={**WHOLE, "enum": [1, 2]}, one={**TEXT, "enum": ["only"]},
                         back={**TEXT, "enum": ["b", "a", ""]}, mixed={"x-kubernetes-preserve-unknown-fields": True, "enum": [{"a": 1}, "b"]}), [
        {"text": "a"}, {"text": "c"}, {"whole": 2}, {"whole": 3}, {"one": "x"}, {"back": "c"}, {"mixed": {"a": 1}}, {"mixed": {"a": 2}}]),
    ("patterns", properties(name={**TEXT, "pattern": "^[a-z]+(-[a-z0-9]+)*$"}, part={**TEXT, "pattern": "b+"},
                            end={**TEXT, "pattern": "a$"}, dot={**TEXT, "pattern": "^a.c$"}, word={**TEXT, "pattern": r"^\w+\d$"},
                            class_={**TEXT, "pattern": "^[[:alpha:]_]{2,3}$"}, fold={**TEXT, "pattern": "(?i)^abc$"},
                            uni={**TEXT, "pattern": r"^\pL+$"}, alt={**TEXT, "pattern": "^(|[a-z]+)$"}), [
        {"name": "abc-1"}, {"name": "A"}, {"part": "abbc"}, {"part": "ac"}, {"end": "a\n"}, {"end": "ba"}, {"dot": "a\nc"},
        {"dot": "aéc"}, {"word": "ab1"}, {"word": "é1"}, {"class_": "a_b"}, {"class_": "abcd"}, {"fold": "ABC"}, {"uni": "é"},
        {"uni": "1"}, {"alt": ""}, {"alt": "1"}]),
    ("formats", properties(**{name.replace("-", "_").replace("32", "x").replace("64", "y"): {
        "type": kind, "format": name} for kind, name in (
            ("string", "date-time"), ("string", "date"), ("string", "duration"), ("string", "email"), ("string", "ipv4"),
            ("string", "ipv6"), ("string", "cidr"), ("string", "uri"), ("string", "uuid"), ("string", "byte"), ("string", "hostname"),
            ("string", "mac"), ("integer", "int32"), ("integer", "int64"), ("string", "uuid4"), ("string", "hexcolor"),
            ("string", "k8s-short-name"), ("string", "password"), ("string", "bsonobjectid"), ("string", "creditcard"),
            ("string", "isbn"), ("string", "ssn"), ("string", "rgbcolor"), ("string", "made-up"), ("number", "float"), ("number", "double"))}), [
        {"date_time": "2026-01-01T00:00:00Z"}, {"date_time": "2026-01-01"}, {"date_time": "2026-13-01T00:00:00Z"}, {"date_time": "2026-01-01 00:00:00Z"},
        {"date_time": "2026-01-01T00:00:00.123+01:00"}, {"date_time": "2026-01-01T00:00:00"}, {"date_time": "2026-01-01t00:00:00z"}, {"date_time": "now"},
        {"date": "2026-01-31"}, {"date": "2026-02-30"}, {"date": "x"}, {"duration": "1h30m"}, {"duration": "1 day"}, {"duration": "10"}, {"duration": "2 weeks"}, {"duration": "1d"}, {"duration": "abc"},
        {"email": "a@b.c"}, {"email": "Ann <a@b.c>"}, {"email": "ab"}, {"ipv4": "10.0.0.1"}, {"ipv4": "::1"}, {"ipv4": "10.0.0.256"}, {"ipv6": "::1"}, {"ipv6": "10.0.0.1"},
        {"cidr": "10.0.0.0/8"}, {"cidr": "10.0.0.0"}, {"cidr": "::/0"}, {"uri": "https://a/b?c"}, {"uri": "a b"}, {"uri": "/a"}, {"uri": "x:y"}, {"uuid": "123e4567-e89b-12d3-a456-426614174000"}, {"uuid": "123"},
        {"uuid": "123e4567e89b12d3a456426614174000"}, {"uuid4": "123e4567-e89b-12d3-a456-426614174000"}, {"uuid4": "123e4567-e89b-42d3-a456-426614174000"},
        {"byte": "aGFsbG8="}, {"byte": "a b"}, {"byte": "aGFsbG8"}, {"byte": ""}, {"hostname": "a.b"}, {"hostname": "a_b"}, {"hostname": "-a"}, {"hostname": "a.1"}, {"hostname": "é.de"}, {"mac": "00:11:22:33:44:55"}, {"mac": "x"}, {"mac": "0011.2233.4455"},
        {"intx": 2147483647}, {"intx": 2147483648}, {"intx": -2147483649}, {"inty": 9223372036854775807}, {"inty": 9.3e18}, {"hexcolor": "#fff"}, {"hexcolor": "fff"}, {"hexcolor": "#ggg"},
        {"k8s_short_name": "a-b"}, {"k8s_short_name": "A"}, {"password": "x"}, {"made_up": "x"}, {"float": 1e39}, {"float": 1.5}, {"bsonobjectid": "x"}, {"bsonobjectid": "507f1f77bcf86cd799439011"},
        {"creditcard": "4111111111111111"}, {"creditcard": "1"}, {"isbn": "978-3-16-148410-0"}, {"isbn": "1"}, {"ssn": "123-45-6789"}, {"ssn": "1"}, {"rgbcolor": "rgb(1,2,3)"}, {"rgbcolor": "rgb(256,2,3)"}]),
    ("limits", properties(
        low={**WHOLE, "minimum": 2}, high={**WHOLE, "maximum": 5}, above={**NUMBER, "minimum": 2.5, "exclusiveMinimum": True},
        below={**NUMBER, "maximum": 5, "exclusiveMaximum": True}, multiple={**WHOLE, "multipleOf": 3}, part={**NUMBER, "multipleOf": 0.01},
        short={**TEXT, "maxLength": 3}, long={**TEXT, "minLength": 2}, few={"type": "array", "maxItems": 2, "items": TEXT},
        many={"type": "array", "minItems": 2, "items": TEXT}, less={"type": "object", "maxProperties": 1, "additionalProperties": TEXT},
        more={"type": "object", "minProperties": 2, "additionalProperties": TEXT}, big={**NUMBER, "minimum": 1e6}), [
        {"low": 1}, {"low": 2}, {"high": 6}, {"above": 2.5}, {"above": 2.6}, {"below": 5}, {"below": 4.9}, {"multiple": 4}, {"multiple": 6},
        {"part": 0.07}, {"part": 1.005}, {"short": "ééé"}, {"short": "abcd"}, {"long": "é"}, {"few": ["a", "b", "c"]}, {"many": ["a"]}, {"less": {"a": "b", "c": "d"}},
        {"more": {"a": "b"}}, {"low": 1, "high": 6, "short": "abcd"}, {"big": 5}, {"many": []}, {"more": {}}]),
    ("combined", properties(
        any_={
            "x-kubernetes-int-or-string": True, "anyOf": [{"type": "integer"}, {"type": "string"}], "pattern": "^[0-9]+%?$"},
        plain={"x-kubernetes-int-or-string": True},
        one={**properties(a=TEXT, b=TEXT), "oneOf": [{"required": ["a"]}, {"required": ["b"]}]},
        some={**properties(a=TEXT, b=TEXT), "anyOf": [{"required": ["a"]}, {"required": ["b"]}]},
        every={**properties(a=WHOLE, b=TEXT), "allOf": [{"required": ["a"]}, {"properties": {"a": {"minimum": 3}}}]},
        never={**properties(a=TEXT), "not": {"required": ["a"]}},
        unwanted={**TEXT, "not": {"enum": ["bad"]}}), [
        {"any_": 1}, {"any_": "5%"}, {"any_": "x"}, {"any_": 1.5}, {"any_": True}, {"plain": "x"}, {"plain": 4}, {"plain": 1.5}, {"plain": {}}, {"one": {"a": "x"}}, {"one": {"a": "x", "b": "y"}}, {"one": {}},
        {"some": {}}, {"some": {"a": "x", "b": "y"}}, {"every": {}}, {"every": {"a": 2}}, {"every": {"a": 3}}, {"never": {}}, {"never": {"a": "x"}}, {"unwanted": "bad"}, {"unwanted": "good"}]),
    ("lists", properties(
        set={"type": "array", "items": TEXT, "x-kubernetes-list-type": "set"},
        numbers={"type": "array", "items": NUMBER, "x-kubernetes-list-type": "set"},
        map={"type": "array", "items": {**PAIR, "required": ["name"]}, "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"]},
        two={"type": "array", "items": {**properties(port=WHOLE, protocol={**TEXT, "default": "TCP"}), "required": ["port"]},
             "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["port", "protocol"]},
        atomic={"type": "array", "items": TEXT, "x-kubernetes-list-type": "atomic"},
        ), [
        {"set": ["a", "b"]}, {"set": ["a", "b", "a"]}, {"set": ["a", "a", "a"]}, {"numbers": [1, 1.0]}, {"map": [{"name": "a"}, {"name": "a", "value": "x"}]}, {"map": [{"name": "a"}, {"name": "b"}]}, {"map": [{"value": "x"}]},
        {"two": [{"port": 1}, {"port": 1, "protocol": "UDP"}]}, {"two": [{"port": 1}, {"port": 1, "protocol": "TCP"}]}, {"atomic": ["a", "a"]}]),
    ("defaults", properties(
        a={**TEXT, "default": "x"}, sub={**properties(b={**WHOLE, "default": 3}), "default": {}}, bare=properties(b={**WHOLE, "default": 3}),
        list={"type": "array", "items": properties(c={**TEXT, "default": "y"})}, map={"type": "object", "additionalProperties": properties(
            d={"type": "boolean", "default": False})}, whole={"type": "array", "items": TEXT, "default": ["p", "q"]},
        deep={**properties(e=properties(f={**TEXT, "default": "z"})), "default": {"e": {}}}), [
        {}, {"a": "own"}, {"bare": {}}, {"list": [{}, {"c": "own"}]}, {"map": {"k": {}}}, {"sub": {"b": 4}}, {"a": ""}, {"whole": []}, {"a": None}, {"list": [None]}]),
    ("kept", properties(
        any=ANY, object={"type": "object", **ANY}, typed={**properties(a=TEXT), **ANY}, nested={**properties(sub=properties(a=TEXT)), **ANY},
        resource={"type": "object", "x-kubernetes-embedded-resource": True, "properties": {"spec": properties(a=TEXT)}},
        whole={"type": "object", "x-kubernetes-embedded-resource": True, **ANY}), [
        {"any": {"x": [1, {"y": None}]}}, {"any": None}, {"object": {"x": 1}}, {"object": 1}, {"typed": {"a": "x", "b": 1}}, {"typed": {"a": 1}}, {"nested": {"sub": {"b": 1}, "other": 2}},
        {"resource": {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a", "foo": 1}, "spec": {"a": "b", "c": 1}, "other": 1}},
        {"resource": {"kind": "Pod"}}, {"resource": {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "A_"}}}, {"whole": {"apiVersion": "v1", "kind": "Pod", "any": 1}}, {"resource": {}}, {"resource": {"apiVersion": "a/b/c", "kind": "Pod"}},
        {"resource": {"apiVersion": "v1", "kind": "Pod", "metadata": 3}}]),
    ("topos", properties(levels={
        "type": "array", "items": {**properties(nodeLabel={**TEXT, "maxLength": 64}, alias=TEXT), "required": ["nodeLabel"]}, "x-kubernetes-list-type": "atomic", "maxItems": 16,
        "x-kubernetes-validations": [
            {"rule": "self.map(l, l.nodeLabel) == oldSelf.map(l, l.nodeLabel)", "message": "nodeLabel structure is immutable; only aliases may be edited"},
            {"rule": "size(self.filter(i, size(self.filter(j, j.nodeLabel == i.nodeLabel)) > 1)) == 0", "message": "nodeLabel must be unique"},
            {"rule": "size(self.filter(i, i.nodeLabel == 'kubernetes.io/hostname')) == 0 || self[size(self) - 1].nodeLabel == 'kubernetes.io/hostname'"}]}), [
        {"levels": [{"nodeLabel": "a"}, {"nodeLabel": "b"}]}, {"levels": [{"nodeLabel": "a"}, {"nodeLabel": "a"}]},
        {"levels": [{"nodeLabel": "kubernetes.io/hostname"}, {"nodeLabel": "a"}, {"nodeLabel": "a"}]}, {"levels": [{"nodeLabel": "a"}, {"nodeLabel": "kubernetes.io/hostname"}]},
        {"levels": [{"alias": "x"}, {"alias": "x"}]}]),
]


def changed(plural, change):
    """A definition that differs from a good one by what `change` does with it."""
    made = definition(plural, properties(a=TEXT))
    change(made)
    return made


def with_schema(plural, schema):
    return definition(plural, schema)


def put(path, value):
    """Sets a member, which is named by its path; None removes it."""
    *way, last = path.split(".")

    def change(made):
        at = made
        for step in way:
            at = at[int(step) if isinstance(at, list) else step]
        if isinstance(at, list):
            at[int(last)] = value
        elif value is None:
            at.pop(last, None)
        else:
            at[last] = value
    return change


VERSION = "spec.versions.0."
SPEC_SCHEMA = VERSION + "schema.openAPIV3Schema.properties.spec"

# A title and a definition. Those that are taken show their defaults.
DEFINITIONS = [
    ("defaults", changed("goods", lambda made: None)),
    ("all names", changed("fulls", put("spec.names", {"plural": "fulls", "kind": "Full", "singular": "one", "listKind": "Fulls", "shortNames": ["fu"], "categories": ["all"]}))),
    ("name differs", changed("wrongs", put("metadata.name", "other.facts.example.com"))),
    ("no group", changed("wrongs", put("spec.group", None))),
    ("bad group", changed("wrongs", put("spec.group", "Bad_Group"))),
    ("group without dot", changed("wrongs", put("spec.group", "plain"))),
    ("no scope", changed("wrongs", put("spec.scope", None))),
    ("bad scope", changed("wrongs", put("spec.scope", "Everywhere"))),
    ("no names", changed("wrongs", put("spec.names", None))),
    ("no kind", changed("wrongs", put("spec.names.kind", None))),
    ("bad kind", changed("wrongs", put("spec.names.kind", "a_b"))),
    ("bad plural", changed("wrongs", put("spec.names.plural", "Wrongs"))),
    ("bad singular", changed("wrongs", put("spec.names.singular", "W-"))),
    ("listKind is kind", changed("wrongs", put("spec.names.listKind", "Wrongs"))),
    ("bad short name", changed("wrongs", put("spec.names.shortNames", ["A"]))),
    ("bad category", changed("wrongs", put("spec.names.categories", ["A_"]))),
    ("no versions", changed("wrongs", put("spec.versions", []))),
    ("versions missing", changed("wrongs", put("spec.versions", None))),
    ("no storage version", changed("wrongs", put(VERSION + "storage", False))),
    ("two storage versions", changed("wrongs", lambda made: made["spec"]["versions"].append({**made["spec"]["versions"][0], "name": "v2"}))),
    ("same version twice", changed("wrongs", lambda made: made["spec"]["versions"].append({**made["spec"]["versions"][0], "storage": False}))),
    ("bad version name", changed("wrongs", put(VERSION + "name", "V_1"))),
    ("nothing served", changed("unserved", put(VERSION + "served", False))),
    ("no schema", changed("wrongs", put(VERSION + "schema", None))),
    ("empty schema", changed("wrongs", put(VERSION + "schema", {}))),
    ("schema without type", changed("wrongs", put(SPEC_SCHEMA, {"properties": {"a": TEXT}}))),
    ("array without items", changed("wrongs", put(SPEC_SCHEMA, {"type": "array"}))),
    ("unknown type", changed("wrongs", put(SPEC_SCHEMA, {"type": "text"}))),
    ("properties and additionalProperties", changed("wrongs", put(SPEC_SCHEMA, {**properties(a=TEXT), "additionalProperties": TEXT}))),
    ("additionalProperties false", changed("wrongs", put(SPEC_SCHEMA, {**properties(a=TEXT), "additionalProperties": False}))),
    ("uniqueItems", changed("wrongs", put(SPEC_SCHEMA, {"type": "array", "items": TEXT, "uniqueItems": True}))),
    ("bad pattern", changed("wrongs", put(SPEC_SCHEMA, {"type": "string", "pattern": "("}))),
    ("look-ahead", changed("wrongs", put(SPEC_SCHEMA, {"type": "string", "pattern": "(?=a)"}))),
    ("back reference", changed("wrongs", put(SPEC_SCHEMA, {"type": "string", "pattern": r"(a)\1"}))),
    ("possessive", changed("wrongs", put(SPEC_SCHEMA, {"type": "string", "pattern": r"a*+"}))),
    ("repeat too large", changed("wrongs", put(SPEC_SCHEMA, {"type": "string", "pattern": r"a{1001}"}))),
    ("bad default", changed("wrongs", put(SPEC_SCHEMA, {"type": "string", "default": 1}))),
    ("default with unknown", changed("wrongs", put(SPEC_SCHEMA, {**properties(a=TEXT), "default": {"b": 1}}))),
    ("list type of text", changed("wrongs", put(SPEC_SCHEMA, {"type": "string", "x-kubernetes-list-type": "set"}))),
    ("unknown list type", changed("wrongs", put(SPEC_SCHEMA, {"type": "array", "items": TEXT, "x-kubernetes-list-type": "bag"}))),
    ("map without keys", changed("wrongs", put(SPEC_SCHEMA, {"type": "array", "items": PAIR, "x-kubernetes-list-type": "map"}))),
    ("map with optional key", changed("wrongs", put(SPEC_SCHEMA, {"type": "array", "items": PAIR, "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"]}))),
    ("map with unknown key", changed("wrongs", put(SPEC_SCHEMA, {"type": "array", "items": PAIR, "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["other"]}))),
    ("map of texts", changed("wrongs", put(SPEC_SCHEMA, {"type": "array", "items": TEXT, "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["a"]}))),
    ("keys without map", changed("wrongs", put(SPEC_SCHEMA, {"type": "array", "items": PAIR, "x-kubernetes-list-map-keys": ["name"]}))),
    ("set of objects", changed("wrongs", put(SPEC_SCHEMA, {"type": "array", "items": PAIR, "x-kubernetes-list-type": "set"}))),
    ("unknown map type", changed("wrongs", put(SPEC_SCHEMA, {**properties(a=TEXT), "x-kubernetes-map-type": "x"}))),
    ("map type of text", changed("wrongs", put(SPEC_SCHEMA, {**TEXT, "x-kubernetes-map-type": "atomic"}))),
    ("preserve false", changed("wrongs", put(SPEC_SCHEMA, {"type": "object", "x-kubernetes-preserve-unknown-fields": False}))),
    ("int or string with type", changed("mixedtypes", put(SPEC_SCHEMA, {"type": "string", "x-kubernetes-int-or-string": True}))),
    ("embedded without object", changed("wrongs", put(SPEC_SCHEMA, {"type": "string", "x-kubernetes-embedded-resource": True}))),
    ("embedded without properties", changed("wrongs", put(SPEC_SCHEMA, {"type": "object", "x-kubernetes-embedded-resource": True}))),
    ("type in anyOf", changed("wrongs", put(SPEC_SCHEMA, {**TEXT, "anyOf": [{"type": "string"}]}))),
    ("unspecified in allOf", changed("unspecs", put(SPEC_SCHEMA, {**properties(a=TEXT), "allOf": [{"properties": {"b": {"minLength": 1}}}]}))),
    ("default in not", changed("wrongs", put(SPEC_SCHEMA, {**properties(a=TEXT), "not": {"properties": {"a": {"default": "x"}}}}))),
    ("metadata specified", changed("wrongs", put(VERSION + "schema.openAPIV3Schema.properties.metadata", properties(labels={"type": "object"})))),
    ("metadata name limited", changed("named", put(VERSION + "schema.openAPIV3Schema.properties.metadata", properties(name={**TEXT, "maxLength": 3})))),
    ("root is no object", changed("wrongs", put(VERSION + "schema.openAPIV3Schema", {"type": "string"}))),
    ("column without path", changed("wrongs", put(VERSION + "additionalPrinterColumns", [{"name": "A", "type": "string"}]))),
    ("column of unknown type", changed("wrongs", put(VERSION + "additionalPrinterColumns", [{"name": "A", "type": "text", "jsonPath": ".spec.a"}]))),
    ("column with bad path", changed("wrongs", put(VERSION + "additionalPrinterColumns", [{"name": "A", "type": "string", "jsonPath": "spec.a"}]))),
    ("column without name", changed("wrongs", put(VERSION + "additionalPrinterColumns", [{"type": "string", "jsonPath": ".spec.a"}]))),
    ("scale without paths", changed("wrongs", put(VERSION + "subresources", {"scale": {}}))),
    ("scale outside of spec", changed("wrongs", put(VERSION + "subresources", {"scale": {"specReplicasPath": ".status.a", "statusReplicasPath": ".spec.b", "labelSelectorPath": ".metadata.c"}}))),
    ("scale with list", changed("listscales", put(VERSION + "subresources", {"scale": {"specReplicasPath": ".spec.a[0]", "statusReplicasPath": ".status.b"}}))),
    ("selectable field", changed("selects", put(VERSION + "selectableFields", [{"jsonPath": ".spec.a"}]))),
    ("selectable field without dot", changed("wrongs", put(VERSION + "selectableFields", [{"jsonPath": "spec.a"}]))),
    ("selectable field unknown", changed("wrongs", put(VERSION + "selectableFields", [{"jsonPath": ".spec.b"}]))),
    ("selectable field twice", changed("wrongs", put(VERSION + "selectableFields", [{"jsonPath": ".spec.a"}, {"jsonPath": ".spec.a"}]))),
    ("selectable metadata", changed("wrongs", put(VERSION + "selectableFields", [{"jsonPath": ".metadata.name"}]))),
    ("webhook without client", changed("wrongs", put("spec.conversion", {"strategy": "Webhook"}))),
    ("unknown conversion", changed("wrongs", put("spec.conversion", {"strategy": "Magic"}))),
    ("preserveUnknownFields", changed("wrongs", put("spec.preserveUnknownFields", True))),
    ("deprecation warning alone", changed("wrongs", put(VERSION + "deprecationWarning", "old"))),
    ("unknown format", changed("formatted", put(SPEC_SCHEMA, properties(a={**TEXT, "format": "made-up"})))),
    ("$ref", changed("wrongs", put(SPEC_SCHEMA, {"$ref": "#/definitions/a"}))),
    ("required unknown", changed("requires", put(SPEC_SCHEMA, {**properties(a=TEXT), "required": ["z"]}))),
    ("enum of a wrong type", changed("enumed", put(SPEC_SCHEMA, properties(a={**TEXT, "enum": [1]})))),
    ("two versions, one bad", changed("wrongs", lambda made: made["spec"]["versions"].append({"name": "v2", "served": True, "storage": False, "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": {"type": "array"}}}}, "additionalPrinterColumns": [{"name": "A", "type": "x", "jsonPath": ".a"}], "subresources": {"scale": {}}}))),
    ("two versions", changed("twins", lambda made: made["spec"]["versions"].append({**made["spec"]["versions"][0], "name": "v1beta1", "storage": False, "deprecated": True}))),
    ("columns", changed("columned", put(VERSION + "additionalPrinterColumns", [{"name": "A", "type": "string", "jsonPath": ".spec.a"}, {"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp", "priority": 1}]))),
    ("scale", changed("scaled", put(VERSION + "subresources", {"status": {}, "scale": {"specReplicasPath": ".spec.a", "statusReplicasPath": ".status.b", "labelSelectorPath": ".status.c"}}))),
    ("additionalProperties alone false", changed("wrongs", put(SPEC_SCHEMA, {"type": "object", "additionalProperties": False}))),
    ("root without type", changed("wrongs", put(VERSION + "schema.openAPIV3Schema", {"properties": {}}))),
    ("items without type", changed("wrongs", put(SPEC_SCHEMA, {"type": "array", "items": {"properties": {}}}))),
    ("additional without type", changed("wrongs", put(SPEC_SCHEMA, {"type": "object", "additionalProperties": {"minimum": 1}}))),
    ("nullable in anyOf", changed("wrongs", put(SPEC_SCHEMA, {**TEXT, "anyOf": [{"nullable": True}]}))),
    ("description in anyOf", changed("wrongs", put(SPEC_SCHEMA, {**TEXT, "anyOf": [{"description": "x", "title": "y"}]}))),
    ("extensions in anyOf", changed("wrongs", put(SPEC_SCHEMA, {**TEXT, "anyOf": [{"x-kubernetes-preserve-unknown-fields": True, "x-kubernetes-list-type": "set", "x-kubernetes-int-or-string": True}]}))),
    ("items as array", changed("wrongs", put(SPEC_SCHEMA, {"type": "array", "items": [TEXT]}))),
    ("key of type object", changed("wrongs", put(SPEC_SCHEMA, {"type": "array", "items": {**properties(a=properties(b=TEXT)), "required": ["a"]}, "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["a"]}))),
    ("pattern of a range", changed("wrongs", put(SPEC_SCHEMA, {**TEXT, "pattern": "[b-a]"}))),
    ("open class", changed("wrongs", put(SPEC_SCHEMA, {**TEXT, "pattern": "[a"}))),
    ("closing bracket", changed("wrongs", put(SPEC_SCHEMA, {**TEXT, "pattern": "a)"}))),
    ("nothing to repeat", changed("wrongs", put(SPEC_SCHEMA, {**TEXT, "pattern": "*a"}))),
    ("name too long", changed("wrongs", put("spec.names.plural", "w" * 64))),
    ("bad rule", changed("wrongs", put(SPEC_SCHEMA, {**properties(a=TEXT), "x-kubernetes-validations": [{"rule": "self.b == 1"}]}))),
    ("protected group", changed("wrongs", put("spec.group", "x.k8s.io"))),
]
