"""Device selectors to be held against Kubernetes: written ones, and random ones by a seed."""

import random
import re

DOMAIN = "gpu.example.com"

DEVICES = [
    {
        "driver": DOMAIN,
        "attributes": {
            "model": {"string": "H200"},
            "cores": {"int": 132},
            "mig": {"bool": False},
            "version": {"version": "12.4.1-rc.1"},
            "other.example.com/zone": {"string": "zone-ä"},
            "empty": {"string": ""},
        },
        "capacity": {"memory": {"value": "141Gi"}, "other.example.com/slots": {"value": "7"}},
        "allowMultipleAllocations": True,
    },
    {
        "driver": DOMAIN,
        "attributes": {"model": {"string": "A100"}, "mig": {"bool": True}, "version": {"version": "1.2.3"}, "cores": {"int": -1}},
        "capacity": {"memory": {"value": "40Gi"}},
    },
    {"driver": "nic.example.com"},
]

# Where attributes may be lists.
LIST_DEVICES = [
    {
        "driver": DOMAIN,
        "attributes": {
            "model": {"string": "H200"}, "numa": {"ints": [0, 1]}, "links": {"strings": ["a", "b", "a"]}, "flags": {"bools": [True, False]},
            "firmware": {"versions": ["1.2.3", "2.0.0-rc.1"]}, "one": {"ints": [7]}, "cores": {"int": 132}, "mig": {"bool": False},
        },
        "capacity": {"memory": {"value": "141Gi"}},
    },
    {"driver": DOMAIN, "attributes": {"numa": {"int": 1}, "links": {"string": "a"}, "firmware": {"version": "1.2.3"}, "model": {"string": "A100"},
                                      "flags": {"bool": True}}, "capacity": {"memory": {"value": "40Gi"}}},
]

A = f"device.attributes['{DOMAIN}']"
C = f"device.capacity['{DOMAIN}']"

# Members of devices.
MEMBERS = [
    "true", "false", "!true", "!!true", "device.driver == 'gpu.example.com'", f"{A}.model == 'H200'", f"{A}.model != 'H200'",
    f"{A}.cores >= 100", f"{A}.cores < 100.5", f"{A}.cores > 1u", f"{A}.mig", f"!{A}.mig", f"{A}.model", f"{A}.cores",
    f"{A}.version.isGreaterThan(semver('12.0.0'))", f"{A}.version.major() == 12", f"{A}.version == semver('1.2.3')",
    f"semver('1.2.3') == {A}.version", f"{A}.version == '1.2.3'", f"'1.2.3' == {A}.version", f"{A}.version != 1",
    f"{A}.version in ['1.2.3']", f"{A}.model in ['H200', 'A100']", f"{A}.model in []", f"{A}.cores in [132, 4]",
    f"{A}.cores in [132.0]", f"{A}.cores in [132u]", f"{A}.missing == 1", f"has({A}.model)", f"has({A}.missing)",
    "has(device.attributes.nothing)", "has(device.attributes.nothing.more)", "has(device.driver)", "has(device.missing)",
    "device.missing", "device.attributes['x'].y == 1", "'x' in device.attributes", f"'{DOMAIN}' in device.attributes",
    f"'model' in {A}", f"size({A}) > 2", "device.attributes.size() == 2", f"{A}['model'] == 'H200'", f"{A}[1] == 1",
    f"{A}.?model.orValue('none') == 'H200'", f"{A}.?missing.orValue('none') == 'none'", f"{A}[?'model'].hasValue()",
    f"{A}.?missing.?deeper.hasValue()", f"{A}.?model.optMap(m, m + '!').value() == 'H200!'",
    f"{A}.?missing.optMap(m, m + '!').hasValue()", f"{A}.?model.optFlatMap(m, optional.of(m)).hasValue()",
    f"{C}.memory.compareTo(quantity('80Gi')) >= 0", f"{C}.memory.isGreaterThan(quantity('80Gi'))",
    f"{C}.memory == quantity('141Gi')", f"{C}.memory.add(quantity('1Gi')) == quantity('142Gi')",
    f"quantity('142Gi') == {C}.memory.add(quantity('1Gi'))", f"{C}.memory.asInteger() == 151397597184",
    f"{C}.memory.sub(1).asInteger() > 0", f"sign({C}.memory) == 1", f"{C}.memory.isInteger()", f"{C}.memory > 1",
    f"{C}.memory == 1", f"1 == {C}.memory", f"{C}.memory != 1", f"{C}.missing == quantity('1')", "device.allowMultipleAllocations",
    "device.capacity['other.example.com'].slots.asApproximateFloat() == 7.0",
    f"cel.bind(d, {A}, d.model == 'H200' && d.cores > 100)", f"cel.bind(d, {A}.missing, true)", f"cel.bind(d, {A}.missing, d == 1)",
    f"cel.bind(a, 1, cel.bind(b, a + 1, a + b == 3))", f"{A}.all(k, k.size() > 2)",
    f"{A}.cores + 1 == 133", f"{A}.cores + 'x' == 'y'",
    f"{A}.model + 'x' == 'H200x'", f"{A}.model.startsWith('H')", f"{A}.cores.startsWith('H')", f"{A}.model.matches('^[AH][0-9]+$')",
    f"{A}.model.lowerAscii() == 'h200'", f"{A}.mig ? {A}.cores > 0 : {A}.model == 'H200'", f"({A}.mig ? {A} : {A}).model == 'H200'",
    f"{A}.model == 'H200' || {A}.missing", f"{A}.missing || {A}.model == 'H200'", f"{A}.missing && false", f"false && {A}.missing",
    f"{A}.missing && true", f"{A}.cores && true", f"{A}.cores || true", f"{A}.cores ? true : false", "device", "device.driver",
    "dyn(device).driver == 'x'", "dyn(device)['driver'] == 'gpu.example.com'", "type(device) == map", "undefined == 1", "undefined.x",
    f"{A}.empty == ''", f"optional.ofNonZeroValue({A}.empty).hasValue()", "device.attributes['other.example.com'].zone.size() == 6",
    f"has({A}.model) && {A}.model.size() == 4", f"{A}.model.includes('H200')", "['a', 'b'].includes('b')", "[1, 2].includes(3)",
]

# Attributes that may be lists.
LISTS = [
    f"{A}.numa.includes(0)", f"{A}.numa.includes(1)", f"{A}.numa.includes('x')", f"{A}.numa.includes({A}.numa)", f"0 in {A}.numa", f"{A}.numa[0] == 0",
    f"{A}.numa.exists(n, n == 1)", f"{A}.numa.all(n, n < 2)", f"{A}.numa.size() == 2", f"size({A}.numa) > 1", f"{A}.numa == [0, 1]", f"[0, 1] == {A}.numa",
    f"{A}.numa != 1", f"{A}.links.includes('b')", f"{A}.links.exists_one(l, l == 'b')", f"{A}.links.distinct().size() == 2", f"{A}.links.join(',') == 'a,b,a'",
    f"{A}.links.filter(l, l != 'a') == ['b']", f"{A}.links.map(l, l + '!')[2] == 'a!'", f"{A}.flags.includes(false)", f"{A}.flags[0]", f"{A}.flags", f"{A}.mig", f"!{A}.mig",
    f"{A}.firmware.includes(semver('1.2.3'))", f"{A}.firmware.exists(v, v.major() == 2)", f"{A}.firmware.all(v, v.isGreaterThan(semver('1.0.0')))", f"{A}.one == [7]",
    f"{A}.numa.sum() == 1", f"{A}.numa.max() == 1", f"{A}.links.sort() == ['a', 'a', 'b']", f"{A}.numa + [2] == [0, 1, 2]", f"sets.contains({A}.numa, [1])",
    f"sets.intersects([1, 5], {A}.numa)", f"{A}.numa.indexOf(1) == 1", f"type({A}.numa) == list", f"{A}.cores", f"{A}.missing", f"has({A}.numa)", "dyn(true)",
    f"{A}.?numa.orValue([]).includes(1)", f"{A}.?none.orValue([]).size() == 0", "device", "device.driver.includes('gpu.example.com')", "lists.range(60).includes(3)",
    "lists.range(60).includes(70)", "[[1], [2]].includes([2])", f"{A}.model == 'H200' && {A}.numa.includes(1)", f"{A}.numa.exists(n, {A}.links.exists(l, l.size() == n))",
    f"cel.bind(d, {A}, d.numa.all(n, n in d.numa))", f"{A}.model.startsWith('H')", f"{A}.numa.startsWith('H')", f"{A}.numa < 3", f"{A}.cores + 1 > 3",
]

# Expressions whose values are compared; each pair is put around ==.
PAIRS = [
    ("1 + 2", "3"), ("1u + 2u", "3u"), ("1.5 + 2.0", "3.5"), ("'a' + 'b'", "'ab'"), ("b'a' + b'b'", "b'ab'"), ("[1] + [2]", "[1, 2]"),
    ("9223372036854775807 + 1", "0"), ("-9223372036854775808 - 1", "0"), ("9223372036854775807 * 2", "0"), ("1u - 2u", "0u"),
    ("18446744073709551615u + 1u", "0u"), ("-(-9223372036854775808)", "0"), ("1 / 0", "0"), ("1 % 0", "0"), ("1u / 0u", "0u"),
    ("-7 / 2", "-3"), ("-7 % 2", "-1"), ("1.0 / 0.0", "1.0"), ("-9223372036854775808 / -1", "1"), ("1", "1.0"), ("1u", "1"), ("dyn(1)", "1u"),
    ("dyn(1)", "dyn(1.0)"), ("dyn(1)", "dyn('1')"), ("null", "null"), ("dyn(null)", "1"), ("[1, 2]", "[1, 2.0]"), ("{'a': 1}", "{'a': 1}"),
    ("{'a': 1, 'b': 2}.size()", "2"), ("{1: 'a'}[1]", "'a'"), ("{1: 'a'}[2]", "'a'"), ("[1, 2][1]", "2"), ("[1, 2][2]", "2"), ("[1, 2][-1]", "2"),
    ("dyn([1, 2])[1.0]", "2"), ("dyn([1, 2])['x']", "2"), ("dyn({'x': 1}).x", "1"), ("dyn(1).x", "1"), ("int('12')", "12"), ("int('x')", "1"),
    ("int(1.9)", "1"), ("int(-1.9)", "-1"), ("int(1e30)", "1"), ("int(18446744073709551615u)", "1"), ("uint(-1)", "1u"), ("uint(1.9)", "1u"),
    ("uint('7')", "7u"), ("double('1.5')", "1.5"), ("double(3)", "3.0"), ("double('x')", "1.0"), ("string(1.5)", "'1.5'"), ("string(1e6)", "'1e+06'"),
    ("string(123456.75)", "'123456.75'"), ("string(1e-5)", "'1e-05'"), ("string(0.0001)", "'0.0001'"), ("string(1234567.0)", "'1.234567e+06'"), ("string(-5)", "'-5'"), ("string(5u)", "'5'"), ("string(true)", "'true'"),
    ("string(b'ab')", "'ab'"), ("string(b'\\xff')", "'x'"), ("bytes('ä')", "b'\\xc3\\xa4'"), ("bool('true')", "true"), ("bool('x')", "true"),
    ("type(1)", "int"), ("type('a')", "string"), ("type([1])", "list"), ("type({})", "map"), ("type(null)", "null_type"), ("type(int)", "type"),
    ("type(1) == type(2)", "true"), ("type(duration('1s'))", "google.protobuf.Duration"), ("type(quantity('1'))", "kubernetes.Quantity"),
    ("size('äöü')", "3"), ("size(b'ä')", "2"), ("'abc'.size()", "3"), ("[1, 2, 3].size()", "3"), ("'äbc'.charAt(0)", "'ä'"), ("'abc'.charAt(3)", "''"),
    ("'abc'.charAt(4)", "''"), ("'abc'.charAt(-1)", "''"), ("'abcabc'.indexOf('c')", "2"), ("'abcabc'.indexOf('c', 3)", "5"), ("'äbc'.indexOf('c')", "2"),
    ("'abc'.indexOf('')", "0"), ("'abc'.indexOf('', 9)", "3"), ("'abc'.indexOf('x')", "-1"), ("'abc'.indexOf('a', -1)", "0"), ("'abcabc'.lastIndexOf('b')", "4"),
    ("'abcabc'.lastIndexOf('b', 3)", "1"), ("'abc'.lastIndexOf('')", "3"), ("'abc'.lastIndexOf('c', 9)", "-1"), ("'ABc'.lowerAscii()", "'abc'"), ("'aäb'.upperAscii()", "'AäB'"),
    ("'abc'.substring(1)", "'bc'"), ("'abc'.substring(1, 2)", "'b'"), ("'abc'.substring(2, 1)", "''"), ("'abc'.substring(4)", "''"), ("'äbc'.substring(0, 1)", "'ä'"), ("'  a b '.trim()", "'a b'"),
    ("'a b a'.replace('a', 'xx')", "'xx b xx'"), ("'aaa'.replace('a', 'b', 2)", "'bba'"), ("'ab'.replace('', '-')", "'-a-b-'"), ("'aaa'.replace('a', 'b', 0)", "'aaa'"), ("'a,b,c'.split(',')", "['a', 'b', 'c']"),
    ("'a,b,c'.split(',', 2)", "['a', 'b,c']"), ("'abc'.split('')", "['a', 'b', 'c']"), ("'abc'.split(',', 0)", "[]"), ("''.split(',')", "['']"), ("['a', 'b'].join()", "'ab'"), ("['a', 'b'].join('-')", "'a-b'"),
    ("strings.quote('a\"b')", "'\"a\\\\\"b\"'"), ("'%s %d'.format(['a', 1])", "'a 1'"), ("'%d%%'.format([5])", "'5%'"), ("'%x %X %o %b'.format([255, 255, 8, 5])", "'ff FF 10 101'"), ("'%s'.format([[1, 2]])", "'[1, 2]'"),
    ("'%s'.format([1.5])", "'1.5'"), ("'%s'.format([true])", "'true'"), ("'%d'.format(['a'])", "'a'"), ("'%d %d'.format([1])", "'1'"), ("'%s'.format([1, 2])", "'1'"), ("'%z'.format([1])", "'1'"), ("'%s'.format([null])", "'null'"),
    ("'abc'.contains('b')", "true"), ("'abc'.startsWith('ab')", "true"), ("'abc'.endsWith('bc')", "true"), ("'abc'.matches('b+')", "true"), ("matches('abc', '^b')", "false"), ("'abc'.matches('(')", "true"), ("'abc'.matches(device.driver)", "false"),
    ("'a1b22'.find('[0-9]+')", "'1'"), ("'a1b22'.findAll('[0-9]+')", "['1', '22']"), ("'a1b22'.findAll('[0-9]+', 1)", "['1']"), ("'abc'.find('x')", "''"), ("'abc'.findAll('x*')", "['', '', '', '']"), ("'foobar'.find('o|oo')", "'o'"),
    ("[1, 2, 3].all(x, x > 0)", "true"), ("[1, 2, 3].exists(x, x > 2)", "true"), ("[1, 2, 3].exists_one(x, x > 2)", "true"), ("[1, 2, 3].map(x, x * 2)", "[2, 4, 6]"), ("[1, 2, 3].map(x, x > 1, x * 2)", "[4, 6]"), ("[1, 2, 3].filter(x, x > 1)", "[2, 3]"),
    ("[1, 0].all(x, 1 / x > 0)", "false"), ("[0, 1].exists(x, 1 / x > 0)", "true"), ("[0, 2].exists(x, 1 / x > 5)", "false"), ("[[1], [2]].map(x, x.map(y, y + 1))", "[[2], [3]]"), ("{'a': 1}.map(k, k)", "['a']"), ("1.map(x, x)", "[1]"), ("dyn(1).map(x, x)", "[1]"),
    ("[1, 2].all(i, v, v > i)", "true"), ("[1, 2].exists(i, v, v == i)", "false"), ("[1, 2].existsOne(i, v, v == 2)", "true"), ("[1, 2].transformList(i, v, i * v)", "[0, 2]"), ("[1, 2].transformList(i, v, v > 1, i * v)", "[2]"), ("{'a': 1}.transformMap(k, v, v + 1)", "{'a': 2}"),
    ("{'a': 1}.transformMap(k, v, v > 1, v + 1)", "{}"), ("{'a': 'b'}.transformMapEntry(k, v, {v: k})", "{'b': 'a'}"), ("[1, 2].transformMapEntry(i, v, {'x': v})", "{'x': 1}"), ("[3, 1, 2].sort()", "[1, 2, 3]"), ("['b', 'a'].sort()", "['a', 'b']"), ("[3, 1, 2].sortBy(x, -x)", "[3, 2, 1]"),
    ("[1, 1, 2].distinct()", "[1, 2]"), ("[[1], [2, 3]].flatten()", "[1, 2, 3]"), ("[[[1]], [[2]]].flatten(2)", "[1, 2]"), ("[1].flatten(-1)", "[1]"), ("[1, 2, 3].reverse()", "[3, 2, 1]"), ("[1, 2, 3].slice(1, 2)", "[2]"), ("[1, 2, 3].slice(2, 1)", "[2]"), ("[1].slice(0, 5)", "[1]"),
    ("lists.range(3)", "[0, 1, 2]"), ("lists.range(-1)", "[0]"), ("lists.range(2000000).size()", "2"), ("[1, 2].first().value()", "1"), ("[1, 2].last().value()", "2"), ("[].first().hasValue()", "false"), ("[1, 2, 3].sum()", "6"), ("[1.5, 2.5].sum()", "4.0"), ("[].sum()", "0"), ("[9223372036854775807, 1].sum()", "0"),
    ("[1, 3, 2].max()", "3"), ("[1, 3, 2].min()", "1"), ("['a', 'b'].max()", "'b'"), ("[1, 2].isSorted()", "true"), ("[2, 1].isSorted()", "false"), ("[1, 2, 1].indexOf(1)", "0"), ("[1, 2, 1].lastIndexOf(1)", "2"), ("[1].indexOf(5)", "-1"),
    ("sets.contains([1, 2, 3], [2])", "true"), ("sets.equivalent([1, 2], [2, 1, 1])", "true"), ("sets.intersects([1, 2], [2, 3])", "true"), ("sets.contains([1], ['a'])", "true"), ("1 in [1, 2]", "true"), ("'a' in {'a': 1}", "true"), ("1 in {'a': 1}", "true"), ("3 in [1, 2].map(x, x + 1)", "true"),
    ("optional.of(1).value()", "1"), ("optional.none().hasValue()", "false"), ("optional.none().value()", "1"), ("optional.of(1).or(optional.of(2)).value()", "1"), ("optional.none().or(optional.of(2)).value()", "2"), ("optional.of(1)", "optional.of(1)"), ("optional.none()", "optional.of(1)"),
    ("[?optional.of(1), ?optional.none()]", "[1]"), ("{?'a': optional.of(1), ?'b': optional.none()}", "{'a': 1}"), ("[1, 2][?0].value()", "1"), ("[1, 2][?5].hasValue()", "false"), ("{'a': {'b': 1}}.?a.?b.value()", "1"), ("{'a': {'b': 1}}.?a.b.value()", "1"), ("{'a': {'b': 1}}.?x.b.hasValue()", "false"),
    ("optional.of({'a': 1}).a.value()", "1"), ("optional.unwrap([optional.of(1), optional.none()])", "[1]"), ("[optional.of(1), optional.none()].unwrapOpt()", "[1]"), ("optional.ofNonZeroValue(0).hasValue()", "false"), ("[?1]", "[1]"),
    ("quantity('1Ki').asInteger()", "1024"), ("quantity('100m').isInteger()", "false"), ("quantity('100m').asInteger()", "1"), ("quantity('1.5').asApproximateFloat()", "1.5"), ("quantity('x')", "quantity('1')"), ("isQuantity('1Gi')", "true"), ("isQuantity('1gi')", "false"), ("isQuantity('.5')", "true"), ("isQuantity('1e3')", "true"), ("isQuantity('')", "false"), ("isQuantity('-')", "true"), ("isQuantity('.')", "true"), ("quantity('-Ki')", "quantity('0')"), ("isQuantity('e')", "false"), ("quantity('1e3') == quantity('1k')", "true"),
    ("quantity('1').compareTo(quantity('2'))", "-1"), ("quantity('-1').isLessThan(quantity('0'))", "true"), ("sign(quantity('-1'))", "-1"), ("quantity('1').add(2).asInteger()", "3"), ("quantity('0.1n').isInteger()", "false"), ("quantity('1Ei').isInteger()", "true"), ("quantity('100E').isInteger()", "false"),
    ("semver('1.2.3').major()", "1"), ("semver('1.2.3').minor()", "2"), ("semver('1.2.3').patch()", "3"), ("isSemver('1.2.3')", "true"), ("isSemver('1.2')", "false"), ("isSemver('v1.2', true)", "true"), ("isSemver('01.2.3')", "false"), ("isSemver('01.2.3', true)", "true"), ("isSemver('1.2.3-a.01')", "false"), ("isSemver('1.2.3-')", "false"), ("isSemver('1.2.3+b')", "true"), ("isSemver('1.2-a', true)", "false"),
    ("semver('1.2.3-a.1').compareTo(semver('1.2.3-a.2'))", "-1"), ("semver('1.2.3-a').isLessThan(semver('1.2.3'))", "true"), ("semver('1.2.3-1').isLessThan(semver('1.2.3-a'))", "true"), ("semver('1.2.3+a') == semver('1.2.3+b')", "true"), ("semver('x')", "semver('1.2.3')"), ("semver('v1', true) == semver('1.0.0')", "true"),
    ("ip('127.0.0.1').isLoopback()", "true"), ("ip('::1').family()", "6"), ("ip('1.2.3.4').family()", "4"), ("isIP('1.2.3.4')", "true"), ("isIP('1.2.3')", "false"), ("isIP('01.2.3.4')", "false"), ("isIP('::ffff:1.2.3.4')", "false"), ("isIP('fe80::1%eth0')", "false"), ("ip('x')", "ip('1.2.3.4')"), ("ip.isCanonical('::0001')", "false"), ("ip.isCanonical('::1')", "true"),
    ("ip('0.0.0.0').isUnspecified()", "true"), ("ip('224.0.0.1').isLinkLocalMulticast()", "true"), ("ip('169.254.1.1').isLinkLocalUnicast()", "true"), ("ip('8.8.8.8').isGlobalUnicast()", "true"), ("string(ip('::1'))", "'::1'"), ("cidr('10.0.0.0/8').containsIP('10.1.2.3')", "true"), ("cidr('10.0.0.0/8').containsIP(ip('11.1.2.3'))", "false"), ("cidr('10.0.0.0/8').containsIP('x')", "false"),
    ("cidr('10.0.0.0/8').containsCIDR('10.1.0.0/16')", "true"), ("cidr('10.0.0.0/8').containsCIDR(cidr('0.0.0.0/0'))", "false"), ("cidr('10.1.2.3/8').masked() == cidr('10.0.0.0/8')", "true"), ("cidr('10.1.2.3/8').prefixLength()", "8"), ("cidr('10.1.2.3/8').ip() == ip('10.1.2.3')", "true"), ("isCIDR('10.0.0.0/33')", "false"), ("isCIDR('::/0')", "true"), ("string(cidr('10.0.0.0/8'))", "'10.0.0.0/8'"), ("cidr('x')", "cidr('::/0')"), ("cidr('10.0.0.0/8').containsCIDR('x')", "false"),
    ("isURL('https://example.com/a')", "true"), ("isURL('../a')", "false"), ("isURL('/a')", "true"), ("url('https://example.com:80/a?b=c').getHost()", "'example.com:80'"), ("url('https://example.com:80/a').getHostname()", "'example.com'"), ("url('https://example.com:80/a').getPort()", "'80'"), ("url('https://[::1]:80/a').getHostname()", "'::1'"), ("url('HTTPS://example.com').getScheme()", "'https'"), ("url('https://example.com/a b').getEscapedPath()", "'/a%20b'"), ("url('https://example.com/?a=1&a=2&b=%20').getQuery()", "{'a': ['1', '2'], 'b': [' ']}"), ("url('x')", "url('/')"),
    ("format.dns1123Label().validate('abc').hasValue()", "false"), ("format.dns1123Label().validate('Abc').hasValue()", "true"), ("format.named('uuid').value().validate('x').hasValue()", "true"), ("format.named('nothing').hasValue()", "false"), ("format.dns1123Subdomain().validate('a.b-c').hasValue()", "false"), ("format.labelValue().validate('a_B.1').hasValue()", "false"), ("format.qualifiedName().validate('example.com/name').hasValue()", "false"), ("format.qualifiedName().validate('a/b/c').hasValue()", "true"), ("format.date().validate('2024-02-30').hasValue()", "true"), ("format.datetime().validate('2024-02-01T10:00:00Z').hasValue()", "false"), ("format.byte().validate('YWJj').hasValue()", "false"), ("format.uri().validate('/x').hasValue()", "false"), ("format.uuid().validate('123e4567-e89b-12d3-a456-426614174000').hasValue()", "false"), ("format.dns1035Label().validate('1a').hasValue()", "true"), ("format.dns1123LabelPrefix().validate('a-').hasValue()", "false"),
    ("duration('1h30m').getMinutes()", "90"), ("duration('1h') + duration('1m')", "duration('3660s')"), ("duration('1.5s').getMilliseconds()", "1500"), ("duration('x')", "duration('1s')"), ("string(duration('90m'))", "'5400s'"), ("duration('-1s') < duration('1s')", "true"), ("timestamp('2024-02-29T12:30:45Z').getFullYear()", "2024"), ("timestamp('2024-02-29T12:30:45Z').getMonth()", "1"), ("timestamp('2024-02-29T12:30:45Z').getDate()", "29"), ("timestamp('2024-02-29T12:30:45Z').getDayOfMonth()", "28"), ("timestamp('2024-02-29T12:30:45Z').getDayOfYear()", "59"), ("timestamp('2024-02-29T12:30:45Z').getDayOfWeek()", "4"), ("timestamp('2024-02-29T12:30:45Z').getHours('+02:00')", "14"), ("timestamp('2024-02-29T12:30:45.5Z').getMilliseconds()", "500"),
    ("timestamp('2024-01-01T00:00:00Z') + duration('24h')", "timestamp('2024-01-02T00:00:00Z')"), ("timestamp('2024-01-02T00:00:00Z') - timestamp('2024-01-01T00:00:00Z')", "duration('24h')"), ("string(timestamp('2024-01-01T00:00:00.5Z'))", "'2024-01-01T00:00:00.5Z'"), ("timestamp(0)", "timestamp('1970-01-01T00:00:00Z')"), ("timestamp('2024-13-01T00:00:00Z')", "timestamp(0)"), ("timestamp('9999-12-31T23:59:59Z') + duration('1s')", "timestamp(0)"), ("int(timestamp('1970-01-01T00:01:00Z'))", "60"),
    ("has({'a': 1}.a)", "true"), ("has({'a': 1}.b)", "false"), ("has(1.a)", "true"), ("has('a')", "true"), ("true ? 1 : 2", "1"), ("false ? 1 : 'a'", "1"), ("1 < 2", "true"), ("1 < 2.5", "true"), ("1u < 2", "true"), ("'a' < 'b'", "true"), ("b'a' < b'b'", "true"), ("true > false", "true"), ("dyn(1) < 'a'", "true"), ("dyn(1) < dyn(2.5)", "true"), ("[1] < [2]", "true"), ("double('NaN') < 1.0", "true"), ("double('NaN') == double('NaN')", "true"),
    ("0x1F", "31"), ("-0x1F", "-31"), ("1e3", "1000.0"), (".5", "0.5"), ("'\\x41\\u00e4\\101'", "'AäA'"), ("r'a\\b'", "'a\\\\b'"), ("'''a'b'''", "\"a'b\""), ("b'\\xff'", "b'\\377'"), ("'\\ud800'", "'a'"), ("'\\z'", "'a'"), ("1 + ", "1"), ("(1", "1"), ("[1, 2,]", "[1, 2]"), ("{'a': 1,}", "{'a': 1}"), ("[1, 'a']", "[1]"), ("{'a': 1, 'b': 'c'}", "{}"), ("[1, dyn('a')]", "[1]"), ("if", "1"), ("a.b.c", "1"), ("'a'.unknown()", "1"), ("unknown('a')", "1"), ("size(1)", "1"), ("1 + 'a'", "1"), ("1 + 1.0", "2"), ("--1", "1"), ("- 1", "-1"), ("!1", "true"), ("cel.bind(x, 1, x)", "1"), ("cel.bind(1, 1, 1)", "1"), ("[1].map(1, 1)", "[1]"), ("// nothing\n1", "1"), ("1 /* x */", "1"), ("99999999999999999999", "1"), ("'a\nb'", "'a'"), ("\"\"\"a\nb\"\"\"", "'a\\nb'"),
]

# What costs much. Lists are short enough for the reference, which goes over all values so far at each step.
COSTLY = [
    "lists.range(1000).all(x, x >= 0)", "lists.range(10000).all(x, x >= 0)", "lists.range(1000000).all(x, x >= 0)",
    "lists.range(1000).map(x, x + 1).size() == 1000", "lists.range(10000).map(x, x + 1).size() == 10000",
    "lists.range(300).all(x, lists.range(300).all(y, x + y >= 0))", "lists.range(2000).all(x, lists.range(2000).all(y, x + y >= 0))",
    "lists.range(1000).distinct().size() == 1000", "lists.range(500).sort().size() == 500", "lists.range(500).reverse().size() == 500",
    "'" + "a" * 500 + "'.matches('" + "a*" * 100 + "')", "lists.range(500).map(x, 'abc').join('').size() == 1500",
    "sets.contains(lists.range(900), lists.range(900))", "sets.equivalent(lists.range(900), lists.range(900))",
    "lists.range(5000).filter(x, x % 2 == 0).size() == 2500", "lists.range(100).exists_one(x, x == 5)",
    "lists.range(50).map(x, lists.range(50)).flatten().size() == 2500",
    "lists.range(3000).distinct().size() == 3000", "lists.range(3000).sort().size() == 3000", "lists.range(3000).sortBy(x, -x).size() == 3000",
    "sets.contains(lists.range(3000), lists.range(3000))", "sets.intersects(lists.range(3000), lists.range(3000))",
    "sets.contains(lists.range(900), lists.range(900)) && sets.contains(lists.range(900), lists.range(900))",
    "lists.range(3000).transformMap(i, v, v + i).size() == 3000", "lists.range(300).transformMapEntry(i, v, {v: i, v + 1000: i}).size() == 600", "lists.range(1000).map(x, [x, x]) == lists.range(1000).map(x, [x, x])",
    "cel.bind(a, [1, 1], cel.bind(b, [a, a], cel.bind(c, [b, b], cel.bind(d, [c, c], d == [c, c]))))",
    "cel.bind(a, 'abcdefgh', cel.bind(b, a + a + a + a, cel.bind(c, b + b + b + b, lists.range(100).all(i, c.charAt(i) != 'z' && c.size() == 128))))",
]


def written():
    for expression in MEMBERS + COSTLY:
        yield expression
    for left, right in PAIRS:
        yield f"{left} == {right}"
        yield f"{left} != {right}"


class Random:
    """Expressions of a wanted type, mostly right."""

    more = ()

    def __init__(self, seed):
        self.pick = random.Random(seed)
        self.names = []

    def one(self, *choices):
        return self.pick.choice(choices)

    def any_type(self):
        return self.one("int", "string", "bool", "list", "double", "uint", *self.more)

    def make(self, kind, depth):
        if self.pick.random() < 0.03:
            kind = self.any_type()
        if self.names and self.pick.random() < 0.25:
            return self.pick.choice(self.names)
        if depth <= 0:
            return self.leaf(kind)
        return getattr(self, "make_" + kind)(depth - 1)

    def leaf(self, kind):
        leaves = {
            "int": ["0", "1", "2", "-3", "132", "9223372036854775807", f"{A}.cores", "size(device.driver)"],
            "uint": ["0u", "1u", "7u", "18446744073709551615u"],
            "double": ["0.5", "1.0", "-2.5", "1e10"],
            "string": ["''", "'a'", "'H200'", "'äö'", "'a,b'", f"{A}.model", "device.driver", f"{A}.missing", "device.attributes['other.example.com'].zone"],
            "bool": ["true", "false", f"{A}.mig", "device.allowMultipleAllocations", f"has({A}.missing)"],
            "list": ["[]", "[1, 2, 3]", "[3, 1]", "lists.range(4)"],
        }
        return self.pick.choice(leaves[kind])

    def make_int(self, depth):
        a, b = self.make("int", depth), self.make("int", depth)
        return self.one(f"({a} + {b})", f"({a} - {b})", f"({a} * {b})", f"({a} / {b})", f"({a} % {b})", f"size({self.make('string', depth)})",
                        f"{self.make('list', depth)}.size()", f"{self.make('list', depth)}[{a}]", f"{self.make('list', depth)}.sum()",
                        f"({self.make('bool', depth)} ? {a} : {b})", f"{self.make('string', depth)}.indexOf({self.make('string', depth)})",
                        f"{self.make('list', depth)}[?{a}].orValue({b})", f"int({self.make('double', depth)})", f"int({self.make('uint', depth)})")

    def make_uint(self, depth):
        a, b = self.make("uint", depth), self.make("uint", depth)
        return self.one(f"({a} + {b})", f"({a} * {b})", f"({a} - {b})", f"uint({self.make('int', depth)})")

    def make_double(self, depth):
        a, b = self.make("double", depth), self.make("double", depth)
        return self.one(f"({a} + {b})", f"({a} * {b})", f"({a} / {b})", f"double({self.make('int', depth)})")

    def make_string(self, depth):
        a, b = self.make("string", depth), self.make("string", depth)
        return self.one(f"({a} + {b})", f"{a}.lowerAscii()", f"{a}.replace({b}, 'x')", f"{a}.substring({self.make('int', depth)})", f"string({self.make('int', depth)})",
                        f"{a}.trim()", f"{a}.charAt({self.make('int', depth)})", f"{a}.split({b}).join('-')", f"({self.make('bool', depth)} ? {a} : {b})",
                        f"{A}.?model.orValue({a})", f"{a}.find('[a-z]+')")

    def make_bool(self, depth):
        kind = self.any_type()
        a, b = self.make(kind, depth), self.make(kind, depth)
        name = f"v{len(self.names)}"
        form = self.pick.randrange(12)
        if form < 4:
            return f"({a} {self.one('==', '!=')} {b})"
        if form == 4:
            return f"({self.make('int', depth)} {self.one('<', '<=', '>', '>=')} {self.make(self.one('int', 'double', 'uint'), depth)})"
        if form == 5:
            return f"({self.make('bool', depth)} && {self.make('bool', depth)})"
        if form == 6:
            return f"({self.make('bool', depth)} || {self.make('bool', depth)})"
        if form == 7:
            return f"!{self.make('bool', depth)}"
        if form == 8:
            return f"({self.make('int', depth)} in {self.make('list', depth)})"
        if form == 9:
            return f"{self.make('string', depth)}.{self.one('contains', 'startsWith', 'endsWith', 'matches')}({self.make('string', depth)})"
        source = self.make("list", depth)
        self.names.append(name)
        body = self.make("bool", depth)
        self.names.pop()
        if form == 10:
            return f"{source}.{self.one('all', 'exists', 'exists_one')}({name}, {body})"
        return f"cel.bind({name}, {self.make('int', depth)}, {body})"

    def make_list(self, depth):
        a, b = self.make("list", depth), self.make("list", depth)
        name = f"v{len(self.names)}"
        self.names.append(name)
        item, test = self.make("int", depth), self.make("bool", depth)
        self.names.pop()
        return self.one(f"({a} + {b})", f"[{self.make('int', depth)}, {self.make('int', depth)}]", f"{a}.map({name}, {item})", f"{a}.filter({name}, {test})",
                        f"{a}.reverse()", f"{a}.distinct()", f"{a}.sort()", f"{a}.slice(0, {self.make('int', depth)})", f"[{a}, {b}].flatten()")

    def expression(self):
        return self.make("bool", self.pick.randrange(1, 5))


class Wide(Random):
    """The types that Kubernetes adds, maps and optionals too. In a form, <int> is an expression of that type, and <*> any."""

    more = ("quantity", "semver", "map", "duration", "optional", "address")
    leaves = {
        "quantity": ["quantity('1Gi')", "quantity('500m')", "quantity('-3')", "quantity('1e3')", f"{C}.memory", f"{C}.missing"],
        "semver": ["semver('1.2.3')", "semver('12.4.1-rc.1')", "semver('v2', true)", f"{A}.version", "semver('x')"],
        "map": ["{}", "{'a': 1}", "{'a': 1, 'b': 2}", A, "{1: 2}"],
        "duration": ["duration('90s')", "duration('-1h')", "timestamp('2024-02-29T12:30:45Z') - timestamp('2024-01-01T00:00:00Z')"],
        "optional": ["optional.none()", "optional.of(1)", f"{A}.?cores", f"{A}.?missing", "optional.ofNonZeroValue(0)"],
        "address": ["ip('10.1.2.3')", "ip('::1')", "cidr('10.0.0.0/8').ip()", "ip('x')"],
    }
    forms = {
        "quantity": ["<quantity>.add(<quantity>)", "<quantity>.sub(<quantity>)", "<quantity>.add(<int>)", "quantity(<string>)",
                     "(<bool> ? <quantity> : <quantity>)"],
        "semver": ["semver(<string>)", "semver(string(<int>) + '.0.1')", "(<bool> ? <semver> : <semver>)"],
        "map": ["{<string>: <int>}", "(<bool> ? <map> : {'z': <int>})", "<list>.transformMap(i, v, i + v)", "<map>.transformMap(k, v, k)", "{?'o': <optional>}"],
        "duration": ["(<duration> + <duration>)", "(<duration> - <duration>)", "duration(<string>)", "duration(string(<int>) + 's')"],
        "optional": ["<optional>.or(<optional>)", "optional.of(<int>)", "<optional>.optMap(o, o)", "<map>[?'a']", "<list>[?<int>]", "<map>.?b"],
        "address": ["ip(<string>)", "ip(string(<address>))", "(<bool> ? <address> : <address>)"],
        "int": ["<quantity>.compareTo(<quantity>)", "<quantity>.asInteger()", "sign(<quantity>)", "<semver>.major()", "<semver>.minor()", "<semver>.patch()",
                "<semver>.compareTo(<semver>)", "size(<map>)", "<map>.a", "<duration>.getSeconds()", "<optional>.orValue(<int>)", "<optional>.value()",
                "<address>.family()"],
        "string": ["string(<duration>)", "string(<address>)", "'%s'.format([<*>])", "(type(<*>) == type(1) ? 'i' : 'o')", "<string>.upperAscii()",
                   "<string>.findAll('[a-z]').join('')"],
        "bool": ["<quantity>.isLessThan(<quantity>)", "<quantity>.isGreaterThan(<quantity>)", "<quantity>.isInteger()", "<semver>.isLessThan(<semver>)",
                 "<semver>.isGreaterThan(<semver>)", "isQuantity(<string>)", "isSemver(<string>)", "<optional>.hasValue()", "('a' in <map>)", "<map>.exists(k, <bool>)",
                 "(<duration> < <duration>)", "cidr('10.0.0.0/8').containsIP(<address>)", "isIP(<string>)", "<list>.includes(<int>)", "sets.contains(<list>, <list>)",
                 "sets.intersects(<list>, <list>)", "sets.equivalent(<list>, <list>)", "<list>.all(i, v, <bool>)", "(<*> == <*>)"],
    }

    def leaf(self, kind):
        return self.pick.choice(self.leaves[kind]) if kind in self.leaves else super().leaf(kind)

    def fill(self, kind, depth):
        form = self.pick.choice(self.forms[kind])
        return re.sub(r"<(\w+|\*)>", lambda found: self.make(self.any_type() if found[1] == "*" else found[1], depth), form)

    def make(self, kind, depth):
        if depth > 0 and kind in self.forms and kind not in self.leaves and self.pick.random() < 0.5:
            return self.fill(kind, depth - 1)
        return super().make(kind, depth if kind in self.leaves else min(depth, 1))


for new_kind in Wide.more:
    setattr(Wide, f"make_{new_kind}", lambda self, depth, kind=new_kind: self.fill(kind, depth))


class Listed(Wide):
    """Where attributes may be lists."""

    def leaf(self, kind):
        if self.pick.random() < 0.3:
            leaves = {"list": [f"{A}.numa", f"{A}.one", f"{A}.links"], "int": [f"{A}.numa[0]", f"{A}.numa.size()"], "string": [f"{A}.links[1]"],
                      "bool": [f"{A}.flags[0]", f"{A}.numa.includes(1)"], "semver": [f"{A}.firmware[0]", f"{A}.firmware"]}
            if kind in leaves:
                return self.pick.choice(leaves[kind])
        return super().leaf(kind)


def requests(seed, count):
    """All written expressions on each device, and `count` random ones."""
    for expression in written():
        for device in DEVICES:
            yield {"expression": expression, "device": device}
    for expression in LISTS:
        for device in LIST_DEVICES:
            yield {"expression": expression, "device": device, "lists": True}
    for number in range(count):
        kind, devices = ((Random, DEVICES), (Wide, DEVICES), (Wide, DEVICES), (Listed, LIST_DEVICES))[number % 4]
        source = kind(f"{seed}-{number}")
        yield {"expression": source.expression(), "device": source.pick.choice(devices), "lists": kind is Listed}
