/* SPDX-License-Identifier: Apache-2.0 */
#include "kube/client/split.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/err.h"

struct got {
    struct strbuf text;  // objects with a bar behind each
    int answer;
};

static int on_object(void *arg, const char *text, size_t len)
{
    struct got *got = arg;

    if (text)
        strbuf_add(&got->text, text, len);
    else
        strbuf_addstr(&got->text, "TOO LARGE");
    strbuf_addch(&got->text, '|');
    return got->answer;
}

/* Feeds the text in pieces of `size`, and holds what comes out to `expected`. Returns what the end of it says. */
static int feed(enum split_mode mode, const char *text, size_t size, const char *expected, const char *envelope)
{
    struct split split;
    struct got got = {0};
    int r = 0;

    strbuf_init(&got.text, 100000);
    split_init(&split, mode, 40, 200);
    for (size_t at = 0; at < strlen(text) && r == 0; at += size) {
        /* On the heap and as large as needed, so that the sanitizer sees a read behind the end. */
        size_t len = MIN(size, strlen(text) - at);
        char *piece = malloc(len);

        memcpy(piece, text + at, len);
        r = split_feed(&split, piece, len, on_object, &got, NULL);
        free(piece);
    }
    if (r == 0)
        r = split_end(&split, NULL);
    assert_string_equal(got.text.text, expected);
    if (envelope)
        assert_string_equal(split.envelope.text, envelope);
    strbuf_done(&got.text);
    split_done(&split);
    return r;
}

static void feed_all_ways(enum split_mode mode, const char *text, const char *expected, const char *envelope, int r)
{
    for (size_t size = 1; size <= strlen(text) + 1; size++)
        assert_int_equal(feed(mode, text, size, expected, envelope), r);
}

static void a_stream_is_cut_into_objects(void **state)
{
    (void)state;
    feed_all_ways(SPLIT_STREAM, "", "", NULL, 0);
    feed_all_ways(SPLIT_STREAM, " \n", "", NULL, 0);
    feed_all_ways(SPLIT_STREAM, "{\"a\":1}\n{\"b\":[{},{}]}\r\n{}", "{\"a\":1}|{\"b\":[{},{}]}|{}|", NULL, 0);
}

static void brackets_and_quotes_in_strings_are_text(void **state)
{
    (void)state;
    feed_all_ways(SPLIT_STREAM, "{\"a}{\":\"]\\\"}\\\\\"}{\"\\\\\":\"\\\"{\"}",
                  "{\"a}{\":\"]\\\"}\\\\\"}|{\"\\\\\":\"\\\"{\"}|", NULL, 0);
}

static void a_stream_that_is_cut_keeps_what_was_whole(void **state)
{
    (void)state;
    feed_all_ways(SPLIT_STREAM, "{\"a\":1}{\"b\":", "{\"a\":1}|", NULL, -EBADMSG);
    feed_all_ways(SPLIT_STREAM, "{\"a\":1}{\"b", "{\"a\":1}|", NULL, -EBADMSG);
}

static void what_is_no_object_ends_the_stream(void **state)
{
    (void)state;
    feed_all_ways(SPLIT_STREAM, "{}nonsense{}", "{}|", NULL, -EBADMSG);
    feed_all_ways(SPLIT_STREAM, "[{}]", "", NULL, -EBADMSG);
    feed_all_ways(SPLIT_LIST, "[{}]", "", NULL, -EBADMSG);
}

static void an_object_that_is_too_large_is_left_out(void **state)
{
    (void)state;
    feed_all_ways(SPLIT_STREAM, "{\"a\":1}{\"b\":\"0123456789012345678901234567890123456789\"}{\"c\":2}",
                  "{\"a\":1}|TOO LARGE|{\"c\":2}|", NULL, 0);
}

static void a_list_is_cut_into_its_items(void **state)
{
    (void)state;
    feed_all_ways(
        SPLIT_LIST, "{\"kind\":\"PodList\",\"metadata\":{\"continue\":\"x\"},\"items\":[{\"a\":[{}]}, {\"b\":2}]}\n",
        "{\"a\":[{}]}|{\"b\":2}|", "{\"kind\":\"PodList\",\"metadata\":{\"continue\":\"x\"},\"items\":[]}", 0);
    feed_all_ways(SPLIT_LIST, "{\"items\":[{}],\"metadata\":{}}", "{}|", "{\"items\":[],\"metadata\":{}}", 0);
    feed_all_ways(SPLIT_LIST, "{\"items\":[]}", "", "{\"items\":[]}", 0);
    feed_all_ways(SPLIT_LIST, "{\"items\":null}", "", "{\"items\":null}", 0);
}

static void only_the_items_of_the_list_itself_are_cut_out(void **state)
{
    (void)state;
    feed_all_ways(
        SPLIT_LIST, "{\"a\":{\"items\":[{}]},\"items2\":[{}],\"b\":\"items\",\"c\":[1],\"items\":[{\"items\":[{}]}]}",
        "{\"items\":[{}]}|", "{\"a\":{\"items\":[{}]},\"items2\":[{}],\"b\":\"items\",\"c\":[1],\"items\":[]}", 0);
    feed_all_ways(SPLIT_LIST, "{\"items\":[1]}", "", NULL, -EBADMSG);
    feed_all_ways(SPLIT_LIST, "{\"items\":[]}{}", "", NULL, -EBADMSG);
}

static void a_list_that_is_cut_is_not_whole(void **state)
{
    (void)state;
    const char *text = "{\"items\":[{\"a\":1}],\"x\":\"}\"}";

    for (size_t len = 0; len < strlen(text); len++) {
        char part[64];

        (void)snprintf(part, sizeof part, "%.*s", (int)len, text);
        assert_int_equal(feed(SPLIT_LIST, part, 3, len >= 17 ? "{\"a\":1}|" : "", NULL), -EBADMSG);
    }
}

static void what_surrounds_the_items_has_a_limit(void **state)
{
    (void)state;
    char text[1000];

    (void)snprintf(text, sizeof text, "{\"x\":\"%0300d\",\"items\":[]}", 0);
    feed_all_ways(SPLIT_LIST, text, "", NULL, -EFBIG);
}

static void a_reader_can_end_it_and_it_can_start_anew(void **state)
{
    (void)state;
    struct split split;
    struct got got = {.answer = -ECANCELED};

    strbuf_init(&got.text, 1000);
    split_init(&split, SPLIT_STREAM, 40, 40);
    assert_int_equal(split_feed(&split, "{}{}{", 5, on_object, &got, NULL), -ECANCELED);
    assert_string_equal(got.text.text, "{}|");
    split_clear(&split);
    got.answer = 0;
    assert_int_equal(split_feed(&split, "{\"n\":1}", 7, on_object, &got, NULL), 0);
    assert_string_equal(got.text.text, "{}|{\"n\":1}|");
    assert_int_equal(split_end(&split, NULL), 0);
    strbuf_done(&got.text);
    split_done(&split);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_stream_is_cut_into_objects),
        cmocka_unit_test(brackets_and_quotes_in_strings_are_text),
        cmocka_unit_test(a_stream_that_is_cut_keeps_what_was_whole),
        cmocka_unit_test(what_is_no_object_ends_the_stream),
        cmocka_unit_test(an_object_that_is_too_large_is_left_out),
        cmocka_unit_test(a_list_is_cut_into_its_items),
        cmocka_unit_test(only_the_items_of_the_list_itself_are_cut_out),
        cmocka_unit_test(a_list_that_is_cut_is_not_whole),
        cmocka_unit_test(what_surrounds_the_items_has_a_limit),
        cmocka_unit_test(a_reader_can_end_it_and_it_can_start_anew),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
