/* SPDX-License-Identifier: Apache-2.0 */
#include "objects/resource_list.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/macros.h"

static const struct resource_list *read_list(struct resource_lists *lists, const char *text)
{
    yyjson_doc *doc = yyjson_read(text, strlen(text), 0);
    const struct resource_list *list;

    assert_non_null(doc);
    list = resource_list_read(lists, yyjson_doc_get_root(doc), NULL);
    yyjson_doc_free(doc);
    return list;
}

static void assert_patch(const struct resource_lists *lists, const struct resource_list *from,
                         const struct resource_list *to, const char *expected)
{
    yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
    yyjson_mut_val *patch = resource_list_patch(lists, from, to, doc);
    char *text = patch ? yyjson_mut_val_write(patch, 0, NULL) : NULL;

    if (expected)
        assert_string_equal(text, expected);
    else
        assert_null(text);
    free(text);
    yyjson_mut_doc_free(doc);
}

static void equal_lists_are_one(void **state)
{
    (void)state;
    struct resource_lists lists;

    resource_lists_init(&lists);
    const struct resource_list *one = read_list(&lists, "{\"cpu\":\"1500m\",\"memory\":\"1Gi\"}");
    const struct resource_list *same = read_list(&lists, "{\"memory\":\"1024Mi\",\"cpu\":1.5}");
    const struct resource_list *otherwise = read_list(&lists, "{\"memory\":\"1073741824\",\"cpu\":\"1500m\"}");

    assert_ptr_equal(one, same);
    assert_ptr_not_equal(one, otherwise);
    assert_true(resource_list_is_equal(one, otherwise));
    assert_null(read_list(&lists, "{}"));
    assert_null(read_list(&lists, "[1]"));
    assert_false(resource_list_is_equal(one, NULL));
    assert_true(resource_list_is_equal(NULL, NULL));
    resource_list_unref(&lists, one);
    resource_list_unref(&lists, same);
    resource_list_unref(&lists, otherwise);
    resource_lists_done(&lists);
}

static void a_sum_forgets_what_is_taken_away(void **state)
{
    (void)state;
    struct resource_lists lists;
    struct resource_sum sum = {0};

    resource_lists_init(&lists);
    const struct resource_list *small = read_list(&lists, "{\"cpu\":\"100m\",\"memory\":\"500M\"}");
    const struct resource_list *gpu =
        read_list(&lists, "{\"nvidia.com/gpu\":\"0.3\",\"memory\":\"1Gi\",\"cpu\":\"0\"}");

    for (int i = 0; i < 3; i++)
        resource_sum_add(&sum, gpu);
    resource_sum_add(&sum, small);
    const struct resource_list *total = resource_sum_list(&lists, &sum);
    assert_patch(&lists, NULL, total, "{\"cpu\":\"100m\",\"memory\":\"3721225472\",\"nvidia.com/gpu\":\"900m\"}");
    resource_list_unref(&lists, total);

    for (int i = 0; i < 3; i++)
        resource_sum_subtract(&sum, gpu);
    total = resource_sum_list(&lists, &sum);
    assert_patch(&lists, NULL, total, "{\"cpu\":\"100m\",\"memory\":\"500M\"}");
    assert_true(resource_list_is_equal(total, small));
    resource_list_unref(&lists, total);

    resource_sum_subtract(&sum, small);
    assert_null(resource_sum_list(&lists, &sum));
    resource_list_unref(&lists, small);
    resource_list_unref(&lists, gpu);
    resource_sum_done(&sum);
    resource_lists_done(&lists);
}

static void a_patch_names_what_changed_and_what_is_gone(void **state)
{
    (void)state;
    struct resource_lists lists;

    resource_lists_init(&lists);
    const struct resource_list *from = read_list(&lists, "{\"cpu\":\"1\",\"memory\":\"1Gi\",\"nvidia.com/gpu\":\"2\"}");
    const struct resource_list *to = read_list(&lists, "{\"cpu\":\"1000m\",\"memory\":\"2Gi\"}");

    assert_patch(&lists, from, to, "{\"memory\":\"2Gi\",\"nvidia.com/gpu\":null}");
    assert_patch(&lists, from, from, NULL);
    assert_patch(&lists, to, NULL, "null");
    resource_list_unref(&lists, from);
    resource_list_unref(&lists, to);
    resource_lists_done(&lists);
}

static void what_is_no_amount_counts_nothing_and_is_written_anew(void **state)
{
    (void)state;
    struct resource_lists lists;
    struct resource_sum sum = {0};
    struct quantity amount;

    resource_lists_init(&lists);
    const struct resource_list *odd = read_list(&lists, "{\"cpu\":\"-1\",\"memory\":\"lots\",\"x/gpu\":[]}");
    const struct resource_list *good = read_list(&lists, "{\"cpu\":\"1\"}");

    assert_false(resource_list_is_equal(odd, odd));
    assert_false(resource_list_get(&lists, odd, "cpu", &amount));
    assert_false(resource_list_get_suffix(&lists, odd, "/gpu", &amount));
    assert_patch(&lists, odd, good, "{\"cpu\":\"1\",\"memory\":null,\"x/gpu\":null}");
    resource_sum_add(&sum, odd);
    assert_null(resource_sum_list(&lists, &sum));
    resource_sum_subtract(&sum, odd);
    assert_int_equal(sum.totals.len, 0);
    assert_true(resource_list_get(&lists, good, "cpu", &amount));
    assert_true(amount.nano == QUANTITY_NANO_PER_ONE);
    resource_list_unref(&lists, odd);
    resource_list_unref(&lists, good);
    resource_sum_done(&sum);
    resource_lists_done(&lists);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_lists_are_one),
        cmocka_unit_test(a_sum_forgets_what_is_taken_away),
        cmocka_unit_test(a_patch_names_what_changed_and_what_is_gone),
        cmocka_unit_test(what_is_no_amount_counts_nothing_and_is_written_anew),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
