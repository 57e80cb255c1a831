/* SPDX-License-Identifier: Apache-2.0 */
#include "text/yaml.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/strbuf.h"

static void parse(const char *text, struct yaml_docs *docs)
{
    struct err err = {0};

    if (yaml_parse(text, strlen(text), "test.yaml", docs, &err) < 0)
        fail_msg("%s", err.text);
}

/* Each document as JSON, one a line. */
static void reads_as(const char *text, const char *expected)
{
    struct yaml_docs docs = {0};
    struct strbuf found;

    strbuf_init(&found, 100000);
    parse(text, &docs);
    vec_foreach (&docs, doc) {
        _cleanup_(freep) char *json = yyjson_write(doc->json, 0, NULL);
        strbuf_addf(&found, "%s%s", found.len ? "\n" : "", json);
    }
    assert_string_equal(found.text, expected);
    strbuf_done(&found);
    yaml_docs_done(&docs);
}

static void fails_with(const char *text, const char *expected)
{
    struct yaml_docs docs = {0};
    struct err err = {0};

    assert_int_equal(yaml_parse(text, strlen(text), "test.yaml", &docs, &err), -EINVAL);
    assert_string_equal(err.text, expected);
    assert_int_equal(docs.len, 0);
    yaml_docs_done(&docs);
}

static void plain_scalars_mean_what_kubectl_takes_them_for(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        const char *expected;
    } cases[] = {
        {"[yes, Yes, YES, y, on, On, true, True]", "[true,true,true,true,true,true,true,true]"},
        {"[no, No, n, N, off, OFF, false, FALSE]", "[false,false,false,false,false,false,false,false]"},
        {"[~, null, Null, NULL, ]", "[null,null,null,null]"},
        {"a:\nb: ", "{\"a\":null,\"b\":null}"},
        {"[yES, nULL, oN, tRue, yep]", "[\"yES\",\"nULL\",\"oN\",\"tRue\",\"yep\"]"},
        {"['yes', \"no\", '1', \"~\", '']", "[\"yes\",\"no\",\"1\",\"~\",\"\"]"},
        {"[0, 1, -1, +1, 1_000, -0]", "[0,1,-1,1,1000,0]"},
        {"[010, 0o10, 0x1F, 0b101, -0x10, 0X1f, 00]", "[8,8,31,5,-16,31,0]"},
        {"[08, 0.5, .5, 5., 1e3, 1E-3, -2.5e+2]", "[8.0,0.5,0.5,5.0,1000.0,0.001,-250.0]"},
        {"[9223372036854775807, 18446744073709551615, -9223372036854775808]",
         "[9223372036854775807,18446744073709551615,-9223372036854775808]"},
        {"[18446744073709551616]", "[18446744073709552000.0]"},
        {"[1e400, 0x, 0b12, 1e, 1.2.3, 12:30:45, 2026-03-01, 0.1x, 1Gi, --1, 0x-1, 1 2, \"+\", -, .]",
         "[\"1e400\",\"0x\",\"0b12\",\"1e\",\"1.2.3\",\"12:30:45\",\"2026-03-01\",\"0.1x\",\"1Gi\",\"--1\","
         "\"0x-1\",\"1 2\",\"+\",\"-\",\".\"]"},
        {"[!!str 1, !!int 2, !!float 3, !!bool on, !!null '', !own 4]", "[\"1\",2,3.0,true,null,\"4\"]"},
        {"{yes: 1, 2: 3, 4.5: 6, on: 7x}", NULL},
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        if (cases[i].expected)
            reads_as(cases[i].text, cases[i].expected);
        else
            fails_with(cases[i].text, "test.yaml:1:24: the key 'true' is defined twice in this mapping");
    }
}

static void note_twice(void *arg, const char *key, struct yaml_mark mark)
{
    strbuf_addf(arg, "%s:%u:%u ", key, mark.line, mark.column);
}

static void keys_that_stand_twice_are_told_to_those_who_ask(void **state)
{
    static const char text[] = "a: 1\nb: {c: 2, c: 3}\na: 4\n";
    struct yaml_docs docs = {0};
    struct strbuf told;
    struct err err;

    (void)state;
    strbuf_init(&told, 256);
    assert_int_equal(yaml_parse_twice(text, strlen(text), "test.yaml", note_twice, &told, &docs, &err), 0);
    assert_string_equal(told.text, "c:2:11 a:3:1 ");
    assert_int_equal(yyjson_obj_size(yyjson_doc_get_root(docs.items[0].json)), 3);
    yaml_docs_done(&docs);
    strbuf_done(&told);
}

static void blocks_quotes_and_folds_are_strings(void **state)
{
    (void)state;
    reads_as("a: |\n  x\n  y\nb: >-\n  x\n  y\nc: \"t\\tn\\u00e9\"\n",
             "{\"a\":\"x\\ny\\n\",\"b\":\"x y\",\"c\":\"t\\tn\303\251\"}");
}

static void documents_are_split_and_empty_ones_left_out(void **state)
{
    (void)state;
    reads_as("---\na: 1\n---\n---\n# nothing\n---\nb: 2\n...\n", "{\"a\":1}\n{\"b\":2}");
    reads_as("", "");
    reads_as("# nothing\n", "");
}

static void aliases_and_merge_keys_are_resolved(void **state)
{
    (void)state;
    reads_as("a: &x {k: [1, 2]}\nb: *x\n", "{\"a\":{\"k\":[1,2]},\"b\":{\"k\":[1,2]}}");
    reads_as("a: &x {k: 1, l: 2}\nb:\n  <<: *x\n  k: 3\n", "{\"a\":{\"k\":1,\"l\":2},\"b\":{\"k\":3,\"l\":2}}");
    reads_as("b:\n  k: 3\n  <<: [{k: 1, m: 4}, {m: 5, p: 6}]\n", "{\"b\":{\"k\":3,\"m\":4,\"p\":6}}");
    reads_as("- &k name\n- {*k : 1}\n", "[\"name\",{\"name\":1}]");
    reads_as("'<<': 1\n", "{\"<<\":1}");
    reads_as("a: &x 1\nb: &x 2\nc: *x\n", "{\"a\":1,\"b\":2,\"c\":2}");
}

static void aliases_that_explode_are_refused(void **state)
{
    (void)state;
    struct strbuf bomb;

    strbuf_init(&bomb, 100000);
    strbuf_addstr(&bomb, "a0: &a0 [lol, lol, lol, lol, lol, lol, lol, lol, lol, lol]\n");
    for (int i = 1; i < 10; i++)
        strbuf_addf(&bomb, "a%d: &a%d [*a%d, *a%d, *a%d, *a%d, *a%d, *a%d, *a%d, *a%d, *a%d, *a%d]\n", i, i, i - 1,
                    i - 1, i - 1, i - 1, i - 1, i - 1, i - 1, i - 1, i - 1, i - 1);
    fails_with(bomb.text, "test.yaml:6:30: aliases make more than 16 MiB of this document");
    strbuf_done(&bomb);

    fails_with("a: &a [*a]\n", "test.yaml:1:8: the alias *a refers to the value that contains it");
    fails_with("a: *b\n", "test.yaml:1:4: there is no anchor &b before this alias");
    fails_with("a: &a 1\n---\nb: *a\n", "test.yaml:3:4: there is no anchor &a before this alias");
    fails_with("a: {<<: 1}\n", "test.yaml:1:5: << takes a mapping or a list of mappings");
    fails_with("a: {<<: [1]}\n", "test.yaml:1:5: << takes a mapping or a list of mappings");
}

static void what_is_wrong_is_named_with_line_and_column(void **state)
{
    (void)state;
    fails_with("a: 1\nb:\n\tc: 2\n", "test.yaml:3:1: a tab in the indentation; YAML allows only spaces");
    fails_with("a:\n  b: 1\n  \tc: 2\n", "test.yaml:3:3: a tab in the indentation; YAML allows only spaces");
    fails_with("a: 1\nb: 2\na: 3\n", "test.yaml:3:1: the key 'a' is defined twice in this mapping");
    fails_with("a: [1, 2\n", "test.yaml:2:1: did not find expected ',' or ']' (while parsing a flow sequence)");
    fails_with("a: .inf\n", "test.yaml:1:4: '.inf' is not a number in JSON; quote it to make it a string");
    fails_with("? [1]\n: 2\n", "test.yaml:1:3: a key has to be a string");
    fails_with("a: {{ .Values.x }}\n",
               "test.yaml:1:5: a key has to be a string; a template's {{ }} has to be filled in first");
    fails_with("~: 2\n", "test.yaml:1:1: a key has to be a string");
    fails_with("a: !!int x\n", "test.yaml:1:4: 'x' does not fit its tag tag:yaml.org,2002:int");
    fails_with("ok: 1\n---\na: b: c\n", "test.yaml:3:5: mapping values are not allowed in this context");
}

static void duplicate_keys_are_found_among_many(void **state)
{
    (void)state;
    struct strbuf text;

    strbuf_init(&text, 1000000);
    for (int i = 0; i < 5000; i++)
        strbuf_addf(&text, "key-%d: %d\n", i, i);
    struct yaml_docs docs = {0};
    parse(text.text, &docs);
    assert_int_equal(yyjson_obj_size(yyjson_doc_get_root(docs.items[0].json)), 5000);
    yaml_docs_done(&docs);

    strbuf_addstr(&text, "key-17: again\n");
    fails_with(text.text, "test.yaml:5001:1: the key 'key-17' is defined twice in this mapping");
    strbuf_done(&text);
}

static void deep_nesting_is_refused(void **state)
{
    (void)state;
    struct strbuf text;

    strbuf_init(&text, 10000);
    for (int i = 0; i < 600; i++)
        strbuf_addch(&text, '[');
    fails_with(text.text, "test.yaml:1:513: nested too deeply, expected at most 512 levels");
    strbuf_done(&text);
}

static void values_know_where_they_stand(void **state)
{
    (void)state;
    struct yaml_docs docs = {0};

    parse("a: &x\n  b: 1\nc:\n- *x\n- {<<: *x, d: 2}\ne:\n    <<: {f: 1}\n    g: 5\n", &docs);
    const struct yaml_doc *doc = docs.items;
    static const struct {
        const char *pointer;
        struct yaml_mark mark;
    } cases[] = {
        {"", {1, 1}},       {"/a", {1, 4}},      {"/a/b", {2, 6}},   {"/c", {4, 1}},   {"/c/0", {4, 3}},
        {"/c/0/b", {4, 3}}, {"/c/1/d", {5, 15}}, {"/c/1/b", {5, 4}}, {"/e/g", {8, 8}}, {"/e/f", {7, 5}},
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct yaml_mark mark = yaml_where(doc, yyjson_doc_ptr_get(doc->json, cases[i].pointer));
        if (mark.line != cases[i].mark.line || mark.column != cases[i].mark.column)
            fail_msg("%s: found %u:%u", cases[i].pointer, mark.line, mark.column);
    }
    assert_int_equal(yaml_where(doc, NULL).line, 0);
    yaml_docs_done(&docs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_scalars_mean_what_kubectl_takes_them_for),
        cmocka_unit_test(keys_that_stand_twice_are_told_to_those_who_ask),
        cmocka_unit_test(blocks_quotes_and_folds_are_strings),
        cmocka_unit_test(documents_are_split_and_empty_ones_left_out),
        cmocka_unit_test(aliases_and_merge_keys_are_resolved),
        cmocka_unit_test(aliases_that_explode_are_refused),
        cmocka_unit_test(what_is_wrong_is_named_with_line_and_column),
        cmocka_unit_test(duplicate_keys_are_found_among_many),
        cmocka_unit_test(deep_nesting_is_refused),
        cmocka_unit_test(values_know_where_they_stand),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
