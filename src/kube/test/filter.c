/* SPDX-License-Identifier: Apache-2.0 */
#include "kube/follow/filter.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/macros.h"

static const char pod[] = "{\"metadata\":{\"name\":\"a\",\"labels\":{\"app\":\"x\",\"pool\":\"p\"}},"
                          "\"spec\":{\"schedulerName\":\"kai\",\"nodeName\":\"n\"},\"status\":{\"phase\":\"Failed\"}}";

static bool matches(const char *labels, const char *fields)
{
    yyjson_doc *doc = yyjson_read(pod, strlen(pod), 0);
    struct filter filter;

    assert_true(filter_parse(&filter, labels, fields));
    bool is_match = filter_matches(&filter, yyjson_doc_get_root(doc));
    filter_done(&filter);
    yyjson_doc_free(doc);
    return is_match;
}

static void selectors_mean_what_they_mean_to_the_server(void **state)
{
    (void)state;
    assert_true(matches(NULL, NULL));
    assert_true(matches("", ""));
    assert_true(matches("app=x", "spec.schedulerName=kai,spec.nodeName=n"));
    assert_true(matches("app==x,pool", "status.phase!=Succeeded"));
    assert_true(matches("!other,app!=y,other!=z", NULL));
    assert_true(matches(NULL, "spec.nothing=,spec.nodeName!="));
    assert_false(matches("app=y", NULL));
    assert_false(matches("!app", NULL));
    assert_false(matches("other", NULL));
    assert_false(matches(NULL, "status.phase!=Succeeded,status.phase!=Failed"));
    assert_false(matches(NULL, "spec.schedulerName=other"));
    assert_false(matches(NULL, "spec.schedulerName.more=kai"));
}

static void what_is_not_understood_is_left_to_the_server(void **state)
{
    (void)state;
    static const char *const labels[] = {"app in (a,b)", "app notin (a)", "app=a\\,b", ",", "app=x,",
                                         "=x",           "!app=x",        "a!b"};
    static const char *const fields[] = {"metadata.name=a", "spec.nodeName", "spec.nodeName~n", "=x"};
    struct filter filter;

    for (size_t i = 0; i < ARRAY_LEN(labels); i++) {
        assert_false(filter_parse(&filter, labels[i], NULL));
        filter_done(&filter);
    }
    for (size_t i = 0; i < ARRAY_LEN(fields); i++) {
        assert_false(filter_parse(&filter, NULL, fields[i]));
        filter_done(&filter);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(selectors_mean_what_they_mean_to_the_server),
        cmocka_unit_test(what_is_not_understood_is_left_to_the_server),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
