/* SPDX-License-Identifier: Apache-2.0 */
#include "net/spdy/spdy.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <zlib.h>

#include "base/err.h"
#include "base/strbuf.h"
#include "net/spdy/dictionary.h"

/* A client: what it sends, and what it has got. */
struct side {
    struct spdy *spdy;
    z_stream deflater;
    struct strbuf sent, got, seen;
};

static void on_open(void *arg, uint32_t stream, const struct spdy_header *headers, size_t count, bool is_last)
{
    struct side *side = arg;

    strbuf_addf(&side->seen, "open %u%s", stream, is_last ? " last" : "");
    for (size_t i = 0; i < count; i++)
        strbuf_addf(&side->seen, " %s=%s", headers[i].name, headers[i].value);
    strbuf_addstr(&side->seen, "\n");
}

static void on_data(void *arg, uint32_t stream, const char *bytes, size_t len, bool is_last)
{
    struct side *side = arg;

    strbuf_addf(&side->seen, "data %u %.*s%s\n", stream, (int)len, bytes, is_last ? " last" : "");
}

static void on_reset(void *arg, uint32_t stream)
{
    strbuf_addf(&((struct side *)arg)->seen, "reset %u\n", stream);
}

static void on_write(void *arg, const char *bytes, size_t len)
{
    strbuf_add(&((struct side *)arg)->got, bytes, len);
}

static int set_up(void **state)
{
    struct side *side = calloc(1, sizeof *side);

    strbuf_init(&side->sent, 1 << 20);
    strbuf_init(&side->got, 1 << 20);
    strbuf_init(&side->seen, 1 << 20);
    side->spdy = spdy_new(&(struct spdy_handler){on_open, on_data, on_reset, on_write, side});
    assert_int_equal(deflateInit(&side->deflater, 9), Z_OK);
    assert_int_equal(deflateSetDictionary(&side->deflater, (const Bytef *)SPDY_DICTIONARY, (uInt)SPDY_DICTIONARY_LEN),
                     Z_OK);
    *state = side;
    return 0;
}

static int tear_down(void **state)
{
    struct side *side = *state;

    spdy_free(side->spdy);
    (void)deflateEnd(&side->deflater);
    strbuf_done(&side->sent);
    strbuf_done(&side->got);
    strbuf_done(&side->seen);
    free(side);
    return 0;
}

static void add_number(struct strbuf *to, uint32_t value)
{
    for (int i = 24; i >= 0; i -= 8)
        strbuf_addch(to, (char)(value >> i & 0xff));
}

static void add_frame(struct side *side, uint32_t first, unsigned flags, const char *body, size_t len)
{
    add_number(&side->sent, first);
    add_number(&side->sent, (uint32_t)flags << 24 | (uint32_t)len);
    strbuf_add(&side->sent, body, len);
}

static void add_open(struct side *side, uint32_t stream, const char *const *headers)
{
    char packed[4096];
    struct strbuf plain, body;
    uint32_t count = 0;

    strbuf_init(&plain, 4096);
    strbuf_init(&body, 8192);
    while (headers[count])
        count++;
    add_number(&plain, count / 2);
    for (uint32_t i = 0; i < count; i++) {
        add_number(&plain, (uint32_t)strlen(headers[i]));
        strbuf_addstr(&plain, headers[i]);
    }
    side->deflater.next_in = (Bytef *)plain.text;
    side->deflater.avail_in = (uInt)plain.len;
    side->deflater.next_out = (Bytef *)packed;
    side->deflater.avail_out = sizeof packed;
    assert_int_equal(deflate(&side->deflater, Z_SYNC_FLUSH), Z_OK);
    add_number(&body, stream);
    add_number(&body, 0);
    strbuf_add(&body, "\0\0", 2);
    strbuf_add(&body, packed, sizeof packed - side->deflater.avail_out);
    add_frame(side, 0x80030001, 0, body.text, body.len);
    strbuf_done(&plain);
    strbuf_done(&body);
}

static const char *const error_stream[] = {"streamtype", "error", "port", "80", "requestid", "0", NULL};
static const char *const data_stream[] = {"streamtype", "data", "port", "80", "requestid", "0", NULL};

static void send_in_pieces(struct side *side, size_t piece)
{
    for (size_t at = 0; at < side->sent.len; at += piece)
        assert_int_equal(spdy_read(side->spdy, side->sent.text + at,
                                   side->sent.len - at < piece ? side->sent.len - at : piece, NULL),
                         0);
}

static void streams_are_opened_with_their_headers(void **state)
{
    struct side *side = *state;

    add_open(side, 1, error_stream);
    add_open(side, 3, data_stream);
    add_frame(side, 1, 1, "", 0);
    add_frame(side, 3, 0, "hello", 5);
    add_frame(side, 3, 1, "", 0);
    send_in_pieces(side, side->sent.len);
    assert_string_equal(side->seen.text, "open 1 streamtype=error port=80 requestid=0\n"
                                         "open 3 streamtype=data port=80 requestid=0\n"
                                         "data 1  last\ndata 3 hello\ndata 3  last\n");
}

static void frames_may_come_byte_by_byte(void **state)
{
    struct side *side = *state;

    add_open(side, 1, data_stream);
    add_frame(side, 1, 1, "ab", 2);
    send_in_pieces(side, 1);
    assert_string_equal(side->seen.text, "open 1 streamtype=data port=80 requestid=0\ndata 1 a\ndata 1 b last\n");
}

static void pings_are_answered_and_resets_told(void **state)
{
    struct side *side = *state;

    add_frame(side, 0x80030006, 0, "\0\0\0\7", 4);
    add_frame(side, 0x80030003, 0, "\0\0\0\1\0\0\0\5", 8);
    add_frame(side, 0x80030007, 0, "\0\0\0\1\0\0\0\0", 8);
    send_in_pieces(side, 5);
    assert_int_equal(side->got.len, 12);
    assert_memory_equal(side->got.text, "\x80\3\0\6\0\0\0\4\0\0\0\7", 12);
    assert_string_equal(side->seen.text, "reset 1\n");
}

static void answers_have_the_form_of_frames(void **state)
{
    struct side *side = *state;

    spdy_send(side->spdy, 3, "hi", 2, true);
    assert_int_equal(side->got.len, 10);
    assert_memory_equal(side->got.text, "\0\0\0\3\1\0\0\2hi", 10);
    strbuf_clear(&side->got);
    spdy_accept(side->spdy, 1);
    assert_memory_equal(side->got.text, "\x80\3\0\2\0", 5);
    assert_memory_equal(side->got.text + 8, "\0\0\0\1", 4);
}

static void broken_sessions_end(void **state)
{
    static const struct {
        const char *bytes;
        size_t len;
    } bad[] = {
        {"\x80\2\0\1\0\0\0\0", 8},                                 // another version
        {"\x80\3\0\1\0\0\0\0", 8},                                 // too short
        {"\x80\3\0\1\1\xff\xff\xff", 8},                           // too long
        {"\x80\3\0\6\0\0\0\0", 8},                                 // a ping without a number
        {"\x80\3\0\1\0\0\0\x0c\0\0\0\1\0\0\0\0\0\0\xff\xff", 20},  // headers that are no zlib
        {"\x80\3\0\3\0\0\0\0", 8},                                 // a reset of nothing
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        void *own = NULL;
        struct err err = {0};

        assert_int_equal(set_up(&own), 0);
        assert_true(spdy_read(((struct side *)own)->spdy, bad[i].bytes, bad[i].len, &err) < 0);
        assert_true(err.text[0]);
        (void)tear_down(&own);
    }
}

static void numbers_of_streams_only_grow(void **state)
{
    struct side *side = *state;

    add_open(side, 3, data_stream);
    add_open(side, 1, data_stream);
    assert_true(spdy_read(side->spdy, side->sent.text, side->sent.len, NULL) < 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(streams_are_opened_with_their_headers, set_up, tear_down),
        cmocka_unit_test_setup_teardown(frames_may_come_byte_by_byte, set_up, tear_down),
        cmocka_unit_test_setup_teardown(pings_are_answered_and_resets_told, set_up, tear_down),
        cmocka_unit_test_setup_teardown(answers_have_the_form_of_frames, set_up, tear_down),
        cmocka_unit_test(broken_sessions_end),
        cmocka_unit_test_setup_teardown(numbers_of_streams_only_grow, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
