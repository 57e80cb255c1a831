/* SPDX-License-Identifier: Apache-2.0 */
#include "text/csv.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/strbuf.h"

/* Every row as "field|field", one a line; the message when it fails. */
static void reads_as(const char *input, const char *expected)
{
    _cleanup_(freep) char *text = xstrdup(input);
    struct err err = {0};
    struct strbuf found;
    struct csv csv;

    strbuf_init(&found, 10000);
    int r = csv_init(&csv, text, strlen(text), "trace.csv", &err);
    if (r == 0) {
        while ((r = csv_next(&csv, &err)) > 0) {
            for (uint32_t i = 0; i < csv.titles.len; i++)
                strbuf_addf(&found, "%s%s", i ? "|" : "", csv_field(&csv, i));
            strbuf_addch(&found, '\n');
        }
        csv_done(&csv);
    }
    if (r < 0)
        strbuf_addstr(&found, err.text);
    assert_string_equal(found.text, expected);
    strbuf_done(&found);
}

static void rows_are_read_field_by_field(void **state)
{
    (void)state;
    reads_as("a,b\n1,2\n3,4\n", "1|2\n3|4\n");
    reads_as("a,b\r\n1,2\r\n\r\n3,4", "1|2\n3|4\n");
    reads_as("a,b\n,\n", "|\n");
    reads_as("# made by hand\n\na,b\n1,\n", "1|\n");
    reads_as("\xef\xbb\xbf"
             "a\n1\n",
             "1\n");
    reads_as("a,b\n\"x, y\",\"say \"\"hi\"\"\"\n\"two\nlines\",\"\"\n", "x, y|say \"hi\"\ntwo\nlines|\n");
}

static void what_is_wrong_is_named_with_its_line(void **state)
{
    (void)state;
    reads_as("", "trace.csv: is empty, expected a line of column titles");
    reads_as("a,b\n1,2\n3\n", "1|2\ntrace.csv:3: expected 2 fields, found 1");
    reads_as("a,b\n\"x\ny\",2\n1,2,3\n", "x\ny|2\ntrace.csv:4: expected 2 fields, found 3");
    reads_as("a,b\n1,\"x", "trace.csv:2: a quoted field is not closed");
    reads_as("a,b\n\"x\"y,2\n", "trace.csv:2: expected a comma after a quoted field");
}

static void missing_columns_are_named_at_once(void **state)
{
    (void)state;
    char text[] = "Arrival,gpus\n1,2\n";
    struct csv_column columns[] = {{"arrival", true, 0}, {"queue", true, 0}, {"note", false, 0}, {"duration", true, 0}};
    struct err err = {0};
    struct csv csv;

    assert_int_equal(csv_init(&csv, text, strlen(text), "trace.csv", &err), 0);
    assert_int_equal(csv_find_all(&csv, columns, ARRAY_LEN(columns), &err), -EINVAL);
    assert_string_equal(err.text, "trace.csv:1: missing columns: queue, duration (found Arrival, gpus)");
    assert_int_equal(csv_find_all(&csv, columns, 1, &err), 0);
    assert_int_equal(columns[0].index, 0);
    assert_int_equal(csv_find(&csv, "note"), CSV_NO_COLUMN);

    assert_int_equal(csv_next(&csv, &err), 1);
    assert_string_equal(csv_field(&csv, CSV_NO_COLUMN), "");
    assert_int_equal(csv_fail(&csv, 1, &err, "'%s' is not a number", "x"), -EINVAL);
    assert_string_equal(err.text, "trace.csv:2: gpus: 'x' is not a number");
    csv_done(&csv);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_read_field_by_field),
        cmocka_unit_test(what_is_wrong_is_named_with_its_line),
        cmocka_unit_test(missing_columns_are_named_at_once),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
