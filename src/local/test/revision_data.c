/* SPDX-License-Identifier: Apache-2.0 */
#include "local/workloads/revision_data.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* What is stored of a template, as text. */
static char *data_of(const char *template)
{
    yyjson_doc *doc = yyjson_read(template, strlen(template), 0);
    yyjson_mut_doc *made = yyjson_mut_doc_new(NULL);
    yyjson_mut_doc_set_root(made, revision_data(made, yyjson_doc_get_root(doc)));
    char *text = yyjson_mut_write(made, 0, NULL);

    yyjson_doc_free(doc);
    yyjson_mut_doc_free(made);
    return text;
}

static void writes(const char *template, const char *wanted)
{
    char *text = data_of(template);

    assert_string_equal(text, wanted);
    free(text);
}

static void test_order(void **state)
{
    (void)state;
    writes("{\"spec\":{\"b\":1,\"a\":[{\"d\":null,\"c\":true}]},\"metadata\":{}}",
           "{\"spec\":{\"template\":{\"$patch\":\"replace\",\"metadata\":{},"
           "\"spec\":{\"a\":[{\"c\":true,\"d\":null}],\"b\":1}}}}");
    writes("{}", "{\"spec\":{\"template\":{\"$patch\":\"replace\"}}}");
}

static void test_escapes(void **state)
{
    (void)state;
    writes("{\"spec\":\"a && b < c > d \\u2028\\u2029 \xe2\x82\xac \\\"\"}",
           "{\"spec\":{\"template\":{\"$patch\":\"replace\","
           "\"spec\":\"a \\u0026\\u0026 b \\u003c c \\u003e d \\u2028\\u2029 \xe2\x82\xac \\\"\"}}}");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_escapes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
