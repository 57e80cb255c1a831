/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cel/test/expressions.h"

static void texts_are_counted_in_characters(void **state)
{
    (void)state;
    EXPECT_ALL_TRUE(
        "text.size() == 5", "text.charAt(3) == '\xc3\xa4'", "text.indexOf('t', 1) == 4",
        "'abab'.lastIndexOf('ab') == 2", "'abab'.lastIndexOf('ab', 1) == 0", "text.substring(3, 4) == '\xc3\xa4'",
        "'a,b'.split(',') == ['a', 'b']", "'abc'.split('') == ['a', 'b', 'c']", "'a,b,c'.split(',', 2) == ['a', 'b,c']",
        "['a', 'b'].join('-') == 'a-b'", "'aaa'.replace('a', 'b', 2) == 'bba'", "'ab'.replace('', '-') == '-a-b-'",
        "' a\\t'.trim() == 'a'", "'aB'.lowerAscii() == 'ab'", "'aB'.upperAscii() == 'AB'",
        "strings.quote('a\\n') == '\"a\\\\n\"'", "'%s %d %.2f %x'.format(['a', 1, 2.5, 255]) == 'a 1 2.50 ff'",
        "'%s'.format([[1, 2]]) == '[1, 2]'", "'%s'.format([{'b': 1, 'a': 2}]) == '{\"a\": 2, \"b\": 1}'");
    expect_outcome("text.charAt(9)", CEL_RANGE);
    expect_outcome("text.substring(4, 2)", CEL_RANGE);
}

static void regular_expressions_find_what_they_match(void **state)
{
    (void)state;
    EXPECT_ALL_TRUE("'abc'.matches('b')", "!'abc'.matches('^b')", "'a1b22'.find('[0-9]+') == '1'",
                    "'a1b22'.findAll('[0-9]+') == ['1', '22']", "'aaa'.findAll('a', 2) == ['a', 'a']",
                    "'abc'.find('x') == ''", "'ab'.findAll('') == ['', '', '']", "!text.matches(text + '$x')");
    expect_outcome("'a'.matches('(' + text)", CEL_FAILED);
}

static void lists_and_sets_do_what_they_say(void **state)
{
    (void)state;
    EXPECT_ALL_TRUE("[3, 1, 2].sort() == [1, 2, 3]", "[1, 2].isSorted()", "[1, 2].sum() == 3", "[1, 5, 2].max() == 5",
                    "[2, 1].min() == 1", "[1, 2, 1].indexOf(1) == 0", "[1, 2, 1].lastIndexOf(1) == 2",
                    "[1, 1, 2].distinct() == [1, 2]", "[[1], [2, 3]].flatten() == [1, 2, 3]",
                    "[1, 2, 3].slice(1, 2) == [2]", "[1, 2].reverse() == [2, 1]", "lists.range(3) == [0, 1, 2]",
                    "sets.contains([1, 2], [2])", "sets.equivalent([1, 2], [2, 1, 1])", "!sets.intersects([1], [2])",
                    "1 in [1, 2]", "'a' in {'a': 1}");
    expect_outcome("[1].slice(0, 2)", CEL_RANGE);
    expect_outcome("[1].filter(x, x > 1).max() == 1", CEL_FAILED);
}

static void quantities_and_versions_are_ordered(void **state)
{
    (void)state;
    EXPECT_ALL_TRUE("quantity('1Gi') == quantity('1024Mi')", "quantity('1.5').isLessThan(quantity('1501m'))",
                    "quantity('2Ki').asInteger() == 2048", "!quantity('0.5').isInteger()",
                    "quantity('3').sub(1).compareTo(quantity('2')) == 0", "sign(quantity('-1')) == -1",
                    "!isQuantity('1x')", "semver('1.2.3') == semver('1.2.3+build')",
                    "semver('1.2.3-rc.1').isLessThan(semver('1.2.3'))",
                    "semver('1.2.3-rc.2').isLessThan(semver('1.2.3-rc.10'))", "semver('1.10.0').minor() == 10",
                    "!isSemver('1.2')", "semver('v1.2', true).patch() == 0");
    expect_outcome("quantity(text) == quantity('1')", CEL_FAILED);
    expect_outcome("semver(text).major() == 1", CEL_FAILED);
}

static void times_follow_the_calendar(void **state)
{
    (void)state;
    EXPECT_ALL_TRUE("timestamp('2024-02-29T12:30:45Z').getDayOfYear() == 59",
                    "timestamp('2024-02-28T23:00:00Z') + duration('1h') == timestamp('2024-02-29T00:00:00Z')",
                    "timestamp('2024-02-29T12:30:45Z').getHours('+02:00') == 14",
                    "duration('1h30m').getMinutes() == 90", "string(duration('1.5s')) == '1.5s'",
                    "string(timestamp(0)) == '1970-01-01T00:00:00Z'",
                    "timestamp('0001-01-01T00:00:00Z') < timestamp('9999-12-31T23:59:59Z')");
}

static void addresses_urls_and_formats_are_read(void **state)
{
    (void)state;
    EXPECT_ALL_TRUE(
        "ip('10.0.0.1').family() == 4", "isIP('::1')", "!isIP('1.2.3')", "cidr('10.0.0.0/8').containsIP('10.1.2.3')",
        "cidr('10.0.0.0/8').containsCIDR('10.1.0.0/16')", "cidr('10.1.2.3/8').masked() == cidr('10.0.0.0/8')",
        "url('https://a.example:80/p?q=1').getHostname() == 'a.example'",
        "url('https://a/p?q=1&q=2').getQuery()['q'] == ['1', '2']", "!isURL('a b')",
        "!format.dns1123Label().validate('a-b').hasValue()", "format.named('uuid').value().validate('x').hasValue()");
}

static void bytes_are_texts_when_they_are_utf8(void **state)
{
    (void)state;
    EXPECT_ALL_TRUE("string(b'\\x00a\\x00').size() == 3", "string(b'\\xc3\\xa4') == '\xc3\xa4'",
                    "bytes('\xc3\xa4').size() == 2");
    expect_outcome("string(any == 7 ? b'\\xc3' : b'')", CEL_FAILED);
    expect_outcome("string(any == 7 ? b'abcd\\xff' : b'')", CEL_FAILED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_are_counted_in_characters),
        cmocka_unit_test(regular_expressions_find_what_they_match),
        cmocka_unit_test(lists_and_sets_do_what_they_say),
        cmocka_unit_test(quantities_and_versions_are_ordered),
        cmocka_unit_test(times_follow_the_calendar),
        cmocka_unit_test(addresses_urls_and_formats_are_read),
        cmocka_unit_test(bytes_are_texts_when_they_are_utf8),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
