/* SPDX-License-Identifier: Apache-2.0 */
#include "local/builtin/event_forms.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/strbuf.h"
#include "local/api/kinds.h"
#include "local/builtin/builtin.h"

#define OLDER                                                                                                         \
    "{\"apiVersion\":\"v1\",\"metadata\":{\"namespace\":\"n\"},\"involvedObject\":{\"kind\":\"Pod\",\"namespace\":"   \
    "\"n\"},\"reason\":\"R\",\"message\":\"m\",\"source\":{\"component\":\"c\"},\"firstTimestamp\":\"2024-01-02T03:0" \
    "4:05Z\",\"lastTimestamp\":null,\"count\":2,\"type\":\"Normal\",\"eventTime\":null,\"reportingComponent\":\"\","  \
    "\"reportingInstance\":\"\"}"
#define OLDER_BY_OTHER                                                                                              \
    "{\"apiVersion\":\"events.k8s.io/v1\",\"metadata\":{\"namespace\":\"n\"},\"regarding\":{\"kind\":\"Pod\","      \
    "\"namespace\":\"n\"},\"reason\":\"R\",\"note\":\"m\",\"deprecatedSource\":{\"component\":\"c\"},"              \
    "\"deprecatedFirstTimestamp\":\"2024-01-02T03:04:05Z\",\"deprecatedLastTimestamp\":null,\"deprecatedCount\":2," \
    "\"type\":\"Normal\",\"eventTime\":null}"
#define NEWER                                                                                                    \
    "{\"metadata\":{\"namespace\":\"n\"},\"regarding\":{\"namespace\":\"n\"},\"reason\":\"R\",\"note\":\"m\","   \
    "\"type\":\"Normal\",\"eventTime\":\"2024-01-02T03:04:05.000000Z\",\"action\":\"A\",\"reportingController\"" \
    ":\"c\",\"reportingInstance\":\"i\"}"

static const struct api_kind *core(void)
{
    return builtin_kind_find("", "v1", "events");
}

static const struct api_kind *other(void)
{
    return builtin_kind_find("events.k8s.io", "v1", "events");
}

static yyjson_mut_doc *doc_of(const char *text)
{
    yyjson_doc *read = yyjson_read(text, strlen(text), 0);
    yyjson_mut_doc *doc = yyjson_doc_mut_copy(read, NULL);

    assert_non_null(doc);
    yyjson_doc_free(read);
    return doc;
}

static void expect_doc(yyjson_mut_doc *doc, const char *expected)
{
    yyjson_mut_doc *wanted = doc_of(expected);

    assert_true(yyjson_mut_equals(yyjson_mut_doc_get_root(doc), yyjson_mut_doc_get_root(wanted)));
    yyjson_mut_doc_free(wanted);
}

static void events_are_the_same_in_both_forms(void **state)
{
    yyjson_mut_doc *doc = doc_of(OLDER);

    (void)state;
    event_form_enter(other(), doc);
    expect_doc(doc, OLDER_BY_OTHER);
    event_form_enter(other(), doc);
    expect_doc(doc, OLDER_BY_OTHER);
    event_form_store(other(), doc);
    expect_doc(doc, OLDER);
    event_form_store(other(), doc);
    expect_doc(doc, OLDER);
    event_form_enter(core(), doc);
    expect_doc(doc, OLDER);
    yyjson_mut_doc_free(doc);
}

static void all_kinds_but_one_are_stored_as_they_are(void **state)
{
    const struct api_kind *kind;

    (void)state;
    for (size_t i = 0; (kind = builtin_kind_at(i)); i++)
        assert_ptr_equal(api_kind_stored(kind), kind == other() ? core() : kind);
}

static void fields_are_selected_by_the_names_of_the_stored_form(void **state)
{
    (void)state;
    assert_string_equal(event_form_field(other(), "regarding.kind"), "involvedObject.kind");
    assert_string_equal(event_form_field(other(), "reportingController"), "reportingComponent");
    assert_string_equal(event_form_field(other(), "type"), "type");
    assert_string_equal(event_form_field(core(), "regarding.kind"), "regarding.kind");
}

/* What validation says of an object, with members of another one put into it. */
static void expect_problems(const struct api_kind *kind, const char *text, const char *more, const char *before,
                            const char *expected)
{
    yyjson_mut_doc *doc = doc_of(text), *patch = doc_of(more), *old = before ? doc_of(before) : NULL;
    yyjson_mut_obj_iter iter = yyjson_mut_obj_iter_with(yyjson_mut_doc_get_root(patch));
    struct problems problems = {0};
    struct strbuf told;

    for (yyjson_mut_val *key; (key = yyjson_mut_obj_iter_next(&iter));)
        (void)yyjson_mut_obj_put(yyjson_mut_doc_get_root(doc), yyjson_mut_strcpy(doc, yyjson_mut_get_str(key)),
                                 yyjson_mut_val_mut_copy(doc, yyjson_mut_obj_iter_get_val(key)));
    assert_int_equal(builtin_check_fields(kind, doc, NULL, NULL), 0);
    if (old)
        assert_int_equal(builtin_check_fields(kind, old, NULL, NULL), 0);
    builtin_validate(kind, doc, old, &problems);
    strbuf_init(&told, 4096);
    vec_foreach (&problems.list, problem)
        strbuf_addf(&told, "%s%s: %s", told.len ? "; " : "", problem->field, problem->message);
    assert_string_equal(told.text, expected);
    strbuf_done(&told);
    problems_done(&problems);
    yyjson_mut_doc_free(doc);
    yyjson_mut_doc_free(patch);
    yyjson_mut_doc_free(old);
}

static void new_events_of_the_other_group_are_of_the_newer_sort(void **state)
{
    (void)state;
    expect_problems(other(), NEWER, "{}", NULL, "");
    expect_problems(core(), OLDER, "{}", NULL, "");
    expect_problems(other(), NEWER, "{\"eventTime\":null}", NULL, "eventTime: Required value");
    expect_problems(other(), NEWER, "{\"action\":\"\",\"reason\":\"\",\"reportingInstance\":\"\"}", NULL,
                    "reportingInstance: Required value; action: Required value; reason: Required value");
    expect_problems(other(), NEWER, "{\"type\":\"Odd\"}", NULL, "type: Invalid value: \"\": has invalid value: Odd");
    expect_problems(other(), NEWER, "{\"deprecatedCount\":1,\"deprecatedSource\":{\"host\":\"h\"}}", NULL,
                    "count: Invalid value: \"\": needs to be unset; source: Invalid value: \"\": needs to be unset");
    expect_problems(other(), NEWER, "{\"series\":{\"count\":1}}", NULL,
                    "series.count: Invalid value: \"\": should be at least 2; series.lastObservedTime: Required value");
    expect_problems(core(), OLDER, "{\"involvedObject\":{}}", NULL,
                    "involvedObject.namespace: Invalid value: \"\": does not match event.namespace");
}

static void only_the_series_changes_by_the_other_group(void **state)
{
    (void)state;
    expect_problems(other(), NEWER, "{\"series\":{\"count\":2,\"lastObservedTime\":\"2024-01-02T03:04:05.000000Z\"}}",
                    NEWER, "");
    expect_problems(other(), NEWER, "{\"note\":\"other\"}", NEWER,
                    "message: Invalid value: \"other\": field is immutable");
    expect_problems(other(), NEWER, "{\"deprecatedSource\":{\"host\":\"h\"}}", NEWER,
                    "source: Invalid value: {\"Component\":\"\",\"Host\":\"h\"}: field is immutable");
    expect_problems(core(), OLDER, "{\"message\":\"other\"}", OLDER, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(events_are_the_same_in_both_forms),
        cmocka_unit_test(all_kinds_but_one_are_stored_as_they_are),
        cmocka_unit_test(fields_are_selected_by_the_names_of_the_stored_form),
        cmocka_unit_test(new_events_of_the_other_group_are_of_the_newer_sort),
        cmocka_unit_test(only_the_series_changes_by_the_other_group),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
