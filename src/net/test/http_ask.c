/* SPDX-License-Identifier: Apache-2.0 */

/* One request, for which the caller waits. */
#include "net/http.h"

#include "net/http_server.h"
#include "net/test/talk.h"

static void teapot(void *arg, struct http_exchange *exchange)
{
    (void)arg;
    http_reply(exchange, 418, "text/plain", "a teapot", 8);
}

static const struct rest_route routes[] = {REST_ROUTE("GET", "/pot", teapot)};

static void the_answer_is_returned_whole(void **state)
{
    struct talk talk;
    struct http_answer answer;
    char url[64];

    (void)state;
    talk_start(&talk, (struct rest_options){0}, routes, ARRAY_LEN(routes), NULL);
    (void)snprintf(url, sizeof url, "http://127.0.0.1:%u/pot", (unsigned)talk.port);
    http_ask(&(struct http_request){.method = "GET", .url = url, .proxy = "", .body_max = 64}, &answer);
    assert_int_equal(answer.err.code, 0);
    assert_int_equal(answer.status, 418);
    assert_string_equal(answer.body, "a teapot");
    assert_int_equal(answer.body_len, 8);
    free(answer.body);
    talk_stop(&talk);
}

static void a_server_that_is_not_there_is_an_error(void **state)
{
    struct http_answer answer;

    (void)state;
    http_ask(&(struct http_request){.method = "GET", .url = "http://x/", .unix_path = "/no/such/socket", .proxy = ""},
             &answer);
    assert_true(answer.err.code < 0);
    assert_int_equal(answer.status, 0);
    assert_string_equal(answer.body, "");
    free(answer.body);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_answer_is_returned_whole),
        cmocka_unit_test(a_server_that_is_not_there_is_an_error),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
