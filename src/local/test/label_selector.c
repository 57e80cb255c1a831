/* SPDX-License-Identifier: Apache-2.0 */
#include "local/api/label_selector.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/macros.h"
#include "base/strbuf.h"

#define LABELS "{\"app\":\"web\",\"tier\":\"\"}"

static const struct {
    const char *selector;
    bool matches;
    const char *text;  // as a query
} cases[] = {
    {"{}", true, ""},
    {"{\"matchLabels\":{\"app\":\"web\"}}", true, "app=web"},
    {"{\"matchLabels\":{\"app\":\"web\",\"tier\":\"x\"}}", false, "app=web,tier=x"},
    {"{\"matchLabels\":{\"old\":\"\"}}", false, "old="},
    {"{\"matchExpressions\":[{\"key\":\"app\",\"operator\":\"In\",\"values\":[\"db\",\"web\"]}]}", true,
     "app in (db,web)"},
    {"{\"matchExpressions\":[{\"key\":\"app\",\"operator\":\"NotIn\",\"values\":[\"web\"]}]}", false,
     "app notin (web)"},
    {"{\"matchExpressions\":[{\"key\":\"old\",\"operator\":\"NotIn\",\"values\":[\"web\"]}]}", true, "old notin (web)"},
    {"{\"matchExpressions\":[{\"key\":\"tier\",\"operator\":\"Exists\"}]}", true, "tier"},
    {"{\"matchExpressions\":[{\"key\":\"tier\",\"operator\":\"DoesNotExist\"}]}", false, "!tier"},
    {"{\"matchLabels\":{\"app\":\"web\"},\"matchExpressions\":[{\"key\":\"old\",\"operator\":\"DoesNotExist\"}]}", true,
     "app=web,!old"},
};

static void selectors_match_labels_and_become_queries(void **state)
{
    yyjson_doc *labels = yyjson_read(LABELS, strlen(LABELS), 0);

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        yyjson_doc *doc = yyjson_read(cases[i].selector, strlen(cases[i].selector), 0);
        struct strbuf text;

        strbuf_init(&text, 4096);
        assert_int_equal(label_selector_matches(yyjson_doc_get_root(doc), yyjson_doc_get_root(labels)),
                         cases[i].matches);
        label_selector_format(yyjson_doc_get_root(doc), &text);
        assert_string_equal(text.text, cases[i].text);
        strbuf_done(&text);
        yyjson_doc_free(doc);
    }
    yyjson_doc_free(labels);
}

static void an_object_without_labels_matches_only_what_asks_for_none(void **state)
{
    static const char none[] = "{\"matchExpressions\":[{\"key\":\"app\",\"operator\":\"DoesNotExist\"}]}";
    static const char app[] = "{\"matchLabels\":{\"app\":\"web\"}}";
    yyjson_doc *doc = yyjson_read(none, strlen(none), 0), *other = yyjson_read(app, strlen(app), 0);

    (void)state;
    assert_true(label_selector_matches(yyjson_doc_get_root(doc), NULL));
    assert_false(label_selector_matches(yyjson_doc_get_root(other), NULL));
    assert_false(label_map_matches(yyjson_obj_get(yyjson_doc_get_root(other), "matchLabels"), NULL));
    yyjson_doc_free(doc);
    yyjson_doc_free(other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(selectors_match_labels_and_become_queries),
        cmocka_unit_test(an_object_without_labels_matches_only_what_asks_for_none),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
