/* SPDX-License-Identifier: Apache-2.0 */
#include "local/api/selector.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/err.h"
#include "store/object.h"

static const struct store_tag tags[] = {
    {.name = "label:app", .value = "web"},
    {.name = "label:tier", .value = ""},
    {.name = "label:example.com/size", .value = "7"},
    {.name = "field:metadata.name", .value = "pod-1"},
    {.name = "field:status.phase", .value = "Running"},
};
static const struct store_object object = {.tags = tags, .tag_count = sizeof tags / sizeof *tags};

static void expect_labels(const char *text, bool expected)
{
    struct selector selector = {0};
    struct err err = {0};

    if (selector_add_labels(&selector, text, &err) < 0)
        fail_msg("%s", err.text);
    if (selector_matches_object(&selector, &object) != expected)
        fail_msg("\"%s\" matches: %d", text, !expected);
    selector_done(&selector);
}

static void expect_fields(const char *text, bool expected)
{
    struct selector selector = {0};
    struct err err = {0};

    if (selector_add_fields(&selector, text, &err) < 0)
        fail_msg("%s", err.text);
    if (selector_matches_object(&selector, &object) != expected)
        fail_msg("\"%s\" matches: %d", text, !expected);
    selector_done(&selector);
}

static void expect_refusal(int (*add)(struct selector *selector, const char *text, struct err *err), const char *text,
                           const char *expected)
{
    struct selector selector = {0};
    struct err err = {0};

    assert_int_equal(add(&selector, text, &err), -EINVAL);
    if (!strstr(err.text, expected))
        fail_msg("\"%s\" says %s", text, err.text);
    selector_done(&selector);
}

static void labels_are_selected(void **state)
{
    (void)state;
    expect_labels("", true);
    expect_labels("app=web", true);
    expect_labels("app==db", false);
    expect_labels("app!=db", true);
    expect_labels("none!=db", true);
    expect_labels("app in (db, web)", true);
    expect_labels("app notin (db,web)", false);
    expect_labels("none notin (x)", true);
    expect_labels("app", true);
    expect_labels("none", false);
    expect_labels("!none", true);
    expect_labels("! app", false);
    expect_labels("tier=", true);
    expect_labels("tier in (,x)", true);
    expect_labels("none=", false);
    expect_labels("example.com/size>6,example.com/size<8", true);
    expect_labels("example.com/size>7", false);
    expect_labels("app>1", false);
    expect_labels("app=web , tier,!none", true);
    expect_labels("inner", false);
}

static void fields_are_selected(void **state)
{
    (void)state;
    expect_fields("", true);
    expect_fields("metadata.name=pod-1,status.phase!=Failed", true);
    expect_fields("metadata.name==pod-2", false);
    expect_fields("spec.nodeName=", true);
    expect_fields("spec.nodeName!=", false);
    expect_fields("metadata.name=pod\\-1", true);
}

static void what_is_wrong_is_named(void **state)
{
    (void)state;
    expect_refusal(selector_add_labels, "=web", "the name of a label at \"=web\"");
    expect_refusal(selector_add_labels, "app=web,", "the name of a label at \"\"");
    expect_refusal(selector_add_labels, "app in web", "expected \"(\" at \"web\"");
    expect_refusal(selector_add_labels, "app in (web", "expected \",\" or \")\"");
    expect_refusal(selector_add_labels, "app web", "expected \",\" or the end");
    expect_refusal(selector_add_labels, "a/b/c=1", "the name of a label");
    expect_refusal(selector_add_labels, "app=-x", "the value of a label");
    expect_refusal(selector_add_labels, "app>x", "a whole number");
    expect_refusal(selector_add_fields, "metadata.name", "expected \"=\", \"==\" or \"!=\"");
    expect_refusal(selector_add_fields, "=x", "the name of a field");
}

static void the_only_value_is_found(void **state)
{
    struct selector selector = {0};
    struct err err = {0};

    (void)state;
    assert_int_equal(selector_add_fields(&selector, "spec.nodeName=n1,status.phase!=Failed", &err), 0);
    assert_string_equal(selector_only_value(&selector, "field:spec.nodeName"), "n1");
    assert_null(selector_only_value(&selector, "field:status.phase"));
    selector_done(&selector);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(labels_are_selected),
        cmocka_unit_test(fields_are_selected),
        cmocka_unit_test(what_is_wrong_is_named),
        cmocka_unit_test(the_only_value_is_found),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
