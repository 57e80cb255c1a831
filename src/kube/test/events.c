/* SPDX-License-Identifier: Apache-2.0 */

/* What becomes of events before they are written. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "kube/events/correlate_internal.h"
#include "kube/events/events_internal.h"

static struct event event_of(const char *name, const char *message)
{
    return (struct event){.api_version = "v1",
                          .kind = "Pod",
                          .namespace = "n",
                          .name = name,
                          .uid = "u",
                          .type = "Warning",
                          .reason = "Unschedulable",
                          .message = message};
}

static void the_same_event_has_the_same_key(void **state)
{
    (void)state;
    struct correlate correlate;
    struct event a = event_of("a", "x");
    struct event b = event_of("b", "x");
    struct event other = event_of("a", "y");
    uint64_t keys[4];

    correlate_init(&correlate);
    assert_int_equal(correlate_event(&correlate, &a, 0, &keys[0]), CORRELATE_ALONE);
    assert_int_equal(correlate_event(&correlate, &a, 0, &keys[1]), CORRELATE_ALONE);
    assert_int_equal(correlate_event(&correlate, &b, 0, &keys[2]), CORRELATE_ALONE);
    assert_int_equal(correlate_event(&correlate, &other, 0, &keys[3]), CORRELATE_ALONE);
    assert_true(keys[0] == keys[1] && keys[0] != keys[2] && keys[0] != keys[3]);
    correlate_done(&correlate);
}

static void the_tenth_message_is_put_together_with_the_rest(void **state)
{
    (void)state;
    struct correlate correlate;
    uint64_t keys[20];

    correlate_init(&correlate);
    for (int i = 0; i < 12; i++) {
        char message[16];

        (void)snprintf(message, sizeof message, "m%d", i);
        struct event event = event_of("a", message);

        assert_int_equal(correlate_event(&correlate, &event, 0, &keys[i]),
                         i < 9 ? CORRELATE_ALONE : CORRELATE_COMBINED);
    }
    assert_true(keys[9] == keys[10] && keys[10] == keys[11] && keys[8] != keys[9]);

    /* After a while it starts anew. */
    struct event event = event_of("a", "m12");
    assert_int_equal(correlate_event(&correlate, &event, SIMILAR_WINDOW + 1, &keys[12]), CORRELATE_ALONE);
    correlate_done(&correlate);
}

static void too_much_about_one_object_is_kept_quiet(void **state)
{
    (void)state;
    struct correlate correlate;
    struct event event = event_of("a", "x");
    struct event other = event_of("b", "x");
    uint64_t key = 0;

    correlate_init(&correlate);
    for (int i = 0; i < 25; i++)
        assert_int_equal(correlate_event(&correlate, &event, 0, &key), CORRELATE_ALONE);
    assert_int_equal(correlate_event(&correlate, &event, 0, &key), CORRELATE_QUIET);
    assert_int_equal(correlate_event(&correlate, &other, 0, &key), CORRELATE_ALONE);
    assert_int_equal(correlate_event(&correlate, &event, 301 * NSEC_PER_SEC, &key), CORRELATE_ALONE);
    assert_int_equal(correlate_event(&correlate, &event, 301 * NSEC_PER_SEC, &key), CORRELATE_QUIET);
    correlate_done(&correlate);
}

static void the_least_recently_used_makes_room(void **state)
{
    (void)state;
    struct recent recent;
    bool is_new = false;

    recent_init(&recent, 3);
    uint32_t first = recent_use(&recent, 1, &is_new);
    assert_true(is_new);
    (void)recent_use(&recent, 2, &is_new);
    (void)recent_use(&recent, 3, &is_new);
    assert_int_equal(recent_use(&recent, 1, &is_new), first);
    assert_false(is_new);
    uint32_t fourth = recent_use(&recent, 4, &is_new);  // takes the place of 2
    assert_true(is_new);
    assert_true(fourth != first);
    (void)recent_use(&recent, 3, &is_new);
    assert_false(is_new);
    (void)recent_use(&recent, 2, &is_new);  // takes the place of 1
    assert_true(is_new);
    assert_int_equal(recent_use(&recent, 4, &is_new), fourth);
    assert_false(is_new);
    recent_done(&recent);
}

static void an_event_is_written_as_the_api_wants_it(void **state)
{
    (void)state;
    struct event_text text = {0};
    struct event_note notes[] = {{"k", "v"}};
    struct event event = event_of("pod", "no room");
    struct event_times times = {
        .count = 1, .first = 1700000000 * NSEC_PER_SEC + 5, .last = 1700000000 * NSEC_PER_SEC + 5};

    event.notes = notes;
    event.note_count = 1;
    event_text_set(&text, &event, false, 255);
    yyjson_mut_doc *doc = event_encode(&text, &times, "kai-scheduler", "host");
    char *json = yyjson_mut_write(doc, 0, NULL);
    assert_string_equal(
        json, "{\"apiVersion\":\"v1\",\"kind\":\"Event\",\"metadata\":{\"name\":\"pod.ff\",\"namespace\":\"n\","
              "\"annotations\":{\"k\":\"v\"}},\"involvedObject\":{\"apiVersion\":\"v1\",\"kind\":\"Pod\","
              "\"namespace\":\"n\",\"name\":\"pod\",\"uid\":\"u\"},\"type\":\"Warning\",\"reason\":\"Unschedulable\","
              "\"message\":\"no room\",\"source\":{\"component\":\"kai-scheduler\",\"host\":\"host\"},"
              "\"reportingComponent\":\"kai-scheduler\",\"reportingInstance\":\"host\","
              "\"firstTimestamp\":\"2023-11-14T22:13:20Z\",\"count\":1,\"lastTimestamp\":\"2023-11-14T22:13:20Z\"}");
    free(json);
    yyjson_mut_doc_free(doc);

    event.message = "still no room";
    event_text_set(&text, &event, true, 256);
    times.count = 2;
    doc = event_patch_encode(&text, &times);
    json = yyjson_mut_write(doc, 0, NULL);
    assert_string_equal(json, "{\"message\":\"(combined from similar events): still no room\",\"metadata\":{"
                              "\"annotations\":{\"k\":\"v\"}},\"count\":2,\"lastTimestamp\":\"2023-11-14T22:13:20Z\"}");
    free(json);
    yyjson_mut_doc_free(doc);
    event_text_done(&text);
}

static void an_event_that_is_written_keeps_its_name_alone_until_it_comes_again(void **state)
{
    (void)state;
    struct event event = event_of("pod", "x");
    struct event again = event_of("pod", "y");
    struct event_text text = {0};

    event_text_set(&text, &event, false, 255);
    event_text_rest(&text);
    assert_string_equal(text.event_name, "pod.ff");
    assert_null(text.kind);
    assert_null(text.name);
    assert_null(text.message);
    event_text_set(&text, &again, false, 256);
    assert_string_equal(text.event_name, "pod.ff");
    assert_string_equal(text.event_namespace, "n");
    assert_string_equal(text.uid, "u");
    assert_string_equal(text.message, "y");
    event_text_done(&text);
}

static void long_texts_are_cut_between_characters(void **state)
{
    (void)state;
    struct event_text text = {0};
    char *message = calloc(1, 40001);
    char name[400] = {0};

    for (int i = 0; i < 20000; i++)
        memcpy(message + 2 * i, "\xc3\xa4", 2);
    memset(name, 'n', sizeof name - 1);
    struct event event = event_of(name, message);
    event.namespace = "";
    event_text_set(&text, &event, false, 1);
    assert_true(strlen(text.message) < 17000 && strlen(text.message) % 2 == 0);
    assert_true(strlen(text.event_name) <= 253);
    assert_string_equal(text.event_namespace, "default");
    event_text_done(&text);
    free(message);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_event_has_the_same_key),
        cmocka_unit_test(the_tenth_message_is_put_together_with_the_rest),
        cmocka_unit_test(too_much_about_one_object_is_kept_quiet),
        cmocka_unit_test(the_least_recently_used_makes_room),
        cmocka_unit_test(an_event_is_written_as_the_api_wants_it),
        cmocka_unit_test(an_event_that_is_written_keeps_its_name_alone_until_it_comes_again),
        cmocka_unit_test(long_texts_are_cut_between_characters),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
