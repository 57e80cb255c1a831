/* SPDX-License-Identifier: Apache-2.0 */

/* Paths, metadata, watch events, and what is remembered of objects. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/err.h"
#include "base/strbuf.h"
#include "kube/client/chance.h"
#include "kube/client/meta.h"
#include "kube/client/resource.h"
#include "kube/follow/seen_internal.h"
#include "kube/follow/watch.h"
#include "text/json.h"

static void assert_path(enum kube_known which, const char *namespace, const char *name, const char *sub,
                        const char *expected)
{
    struct strbuf path;

    strbuf_init(&path, 1000);
    kube_path(&path, kube_known(which), namespace, name, sub);
    assert_string_equal(path.text, expected);
    strbuf_done(&path);
}

static void paths_are_those_of_the_api(void **state)
{
    (void)state;
    assert_path(KUBE_PODS, NULL, NULL, NULL, "/api/v1/pods");
    assert_path(KUBE_PODS, "team", NULL, NULL, "/api/v1/namespaces/team/pods");
    assert_path(KUBE_PODS, "team", "a", "binding", "/api/v1/namespaces/team/pods/a/binding");
    assert_path(KUBE_NODES, "team", "a", NULL, "/api/v1/nodes/a");
    assert_path(KUBE_QUEUES, NULL, "q", "status", "/apis/scheduling.run.ai/v2/queues/q/status");
    assert_path(KUBE_POD_GROUPS, "", NULL, NULL, "/apis/scheduling.run.ai/v2alpha2/podgroups");
    assert_path(KUBE_PODS, "a/b", "c?d e", NULL, "/api/v1/namespaces/a%2Fb/pods/c%3Fd%20e");
}

static void queries_are_encoded(void **state)
{
    (void)state;
    struct strbuf path;

    strbuf_init(&path, 1000);
    strbuf_addstr(&path, "/x");
    kube_query(&path, "none", NULL);
    kube_query(&path, "empty", "");
    kube_query(&path, "fieldSelector", "status.phase!=Failed");
    kube_query(&path, "labelSelector", "a in (b,c)");
    assert_string_equal(path.text, "/x?fieldSelector=status.phase%21%3DFailed&labelSelector=a%20in%20%28b%2Cc%29");
    strbuf_done(&path);
}

static int parse_event(const char *text, struct kube_event *event, yyjson_doc **doc)
{
    return kube_event_parse(text, strlen(text), doc, event, NULL);
}

static void events_of_a_watch_are_read(void **state)
{
    (void)state;
    struct kube_event event;
    yyjson_doc *doc = NULL;

    assert_int_equal(
        parse_event("{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"name\":\"a\",\"resourceVersion\":\"7\"}}}", &event,
                    &doc),
        0);
    assert_int_equal(event.change, KUBE_ADDED);
    assert_string_equal(event.resource_version, "7");
    struct kube_meta meta;
    assert_true(kube_meta_read(event.object, &meta));
    assert_string_equal(meta.name, "a");
    assert_string_equal(meta.uid, "");
    yyjson_doc_free(doc);

    assert_int_equal(parse_event("{\"type\":\"BOOKMARK\",\"object\":{\"metadata\":{\"resourceVersion\":\"8\","
                                 "\"annotations\":{\"k8s.io/initial-events-end\":\"true\"}}}}",
                                 &event, &doc),
                     0);
    assert_int_equal(event.change, KUBE_BOOKMARK);
    assert_true(event.is_initial_end);
    yyjson_doc_free(doc);

    const char *const bad[] = {"",
                               "{}",
                               "[]",
                               "{\"type\":\"ADDED\"}",
                               "{\"type\":\"OTHER\",\"object\":{}}",
                               "{\"type\":1,\"object\":{}}",
                               "{\"type\":\"ADDED\",\"object\":[]}"};
    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        assert_int_equal(parse_event(bad[i], &event, &doc), -EINVAL);
}

static void what_was_seen_is_found_again(void **state)
{
    (void)state;
    struct seen seen;

    seen_init(&seen);
    seen_add(&seen, "ns", "a", "uid-1")->round = 1;
    seen_add(&seen, "", "ns/a", "uid-2")->round = 1;
    seen_add(&seen, "ns", "ab", "uid-3")->round = 2;
    assert_string_equal(seen_find(&seen, "ns", "a")->uid, "uid-1");
    assert_string_equal(seen_find(&seen, "", "ns/a")->uid, "uid-2");
    assert_null(seen_find(&seen, "n", "s/a"));
    assert_null(seen_find(&seen, "", "ns"));

    char namespace[16];
    assert_string_equal(seen_names(seen_find(&seen, "ns", "ab"), namespace, sizeof namespace), "ab");
    assert_string_equal(namespace, "ns");
    uint32_t cursor = 0;
    assert_string_equal(seen_next_missed(&seen, 2, &cursor)->uid, "uid-1");
    assert_string_equal(seen_next_missed(&seen, 2, &cursor)->uid, "uid-2");
    assert_null(seen_next_missed(&seen, 2, &cursor));
    seen_remove(&seen, seen_find(&seen, "ns", "a"));
    assert_null(seen_find(&seen, "ns", "a"));
    assert_int_equal(seen.len, 2);
    seen_done(&seen);
}

static void comings_and_goings_leave_it_in_order(void **state)
{
    (void)state;
    enum { NAMES = 500 };
    struct seen seen;
    struct chance chance = {.state = 3};
    bool is_there[NAMES] = {false};
    size_t count = 0;

    seen_init(&seen);
    for (int step = 0; step < 50000; step++) {
        uint64_t which = chance_next(&chance) % NAMES;
        char name[16];

        (void)snprintf(name, sizeof name, "p%u", (unsigned)which);
        struct seen_entry *entry = seen_find(&seen, "n", name);
        assert_int_equal(entry != NULL, is_there[which]);
        if (entry)
            seen_remove(&seen, entry);
        else
            assert_string_equal(seen_add(&seen, "n", name, name)->uid, name);
        count = is_there[which] ? count - 1 : count + 1;
        is_there[which] = !is_there[which];
        assert_int_equal(seen.len, count);
    }
    assert_true(seen.entries.len <= NAMES);
    seen_done(&seen);
}

static void versions_are_told_apart(void **state)
{
    (void)state;
    assert_true(seen_version("1") != seen_version("2"));
    assert_true(seen_version("12345") == 12345);
    assert_true(seen_version("") != seen_version("0"));
    assert_true(seen_version("abc") != seen_version("abd"));
    assert_true(seen_version("99999999999999999999") == seen_version("99999999999999999999"));
    assert_true(seen_version("99999999999999999999") != seen_version("99999999999999999998"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(paths_are_those_of_the_api),           cmocka_unit_test(queries_are_encoded),
        cmocka_unit_test(events_of_a_watch_are_read),           cmocka_unit_test(what_was_seen_is_found_again),
        cmocka_unit_test(comings_and_goings_leave_it_in_order), cmocka_unit_test(versions_are_told_apart),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
