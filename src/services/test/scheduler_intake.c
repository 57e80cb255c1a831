/* SPDX-License-Identifier: Apache-2.0 */

/* Events of followers into the scheduler's state, with its own decisions laid over them. No API server is asked. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "kube/meta.h"
#include "model/delta.h"
#include "services/scheduler/complain.h"
#include "services/scheduler/gang_notes.h"
#include "services/scheduler/intake.h"
#include "services/scheduler/report.h"
#include "services/scheduler/scheduler_internal.h"
#include "services/scheduler/writes.h"

#define NODE(name)                                                                                          \
    "{\"metadata\":{\"name\":\"" name "\"},\"status\":{\"allocatable\":{\"cpu\":\"8\",\"memory\":\"64Gi\"," \
    "\"pods\":\"110\",\"nvidia.com/gpu\":\"8\"},\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\"}]}}"
#define POD_META(name, uid, more)                                                               \
    "\"metadata\":{\"name\":\"" name "\",\"namespace\":\"ns\",\"uid\":\"" uid "\",\"labels\":{" \
    "\"kai.scheduler/queue\":\"q\"}" more "}"
#define POD_SPEC(more)                                                                                            \
    "\"spec\":{\"schedulerName\":\"kai-scheduler\",\"containers\":[{\"name\":\"c\",\"resources\":{\"requests\":{" \
    "\"cpu\":\"1\"}}}]" more "}"
#define POD(name, uid) "{" POD_META(name, uid, "") "," POD_SPEC("") ",\"status\":{\"phase\":\"Pending\"}}"
#define BOUND_POD(name, uid, node) \
    "{" POD_META(name, uid, "") "," POD_SPEC(",\"nodeName\":\"" node "\"") ",\"status\":{\"phase\":\"Pending\"}}"
#define GANG_OF(name, uid) "pg-" name "-" uid

static struct scheduler_flags flags = {.schedule_period = NSEC_PER_SEC};

static struct scheduler *stage_new(void)
{
    struct scheduler *s = calloc(1, sizeof *s);

    assert_non_null(s);
    s->flags = &flags;
    s->pool_name = "default";
    object_options_init(&s->options);
    s->options.is_whole = true;
    s->state = state_new();
    config_init(&s->config);
    s->engine = engine_new(s->state, &s->config);
    object_notes_init(&s->notes);
    object_reader_init(&s->reader, s->state, &s->options, NULL, &s->notes);
    s->writes = writes_new(s, 1);
    return s;
}

static void stage_free(struct scheduler *s)
{
    uint64_t key, value;

    for (size_t cursor = 0; map64_next(&s->evictions, &cursor, &key, &value);)
        free((struct eviction *)(uintptr_t)value);
    map64_done(&s->evictions);
    writes_free(s->writes);
    placements_done(&s->placements);
    gang_notes_done(&s->gang_notes);
    beside_done(&s->beside);
    map64_done(&s->lone_gangs);
    map64_done(&s->pod_conditions);
    map64_done(&s->leaving);
    map64_done(&s->namespace_pickers);
    map64_done(&s->told);
    map64_done(&s->conditioned);
    complaints_done(s);
    object_reader_done(&s->reader);
    object_notes_done(&s->notes);
    engine_free(s->engine);
    state_free(s->state);
    free(s);
}

static void feed(struct scheduler *s, enum watch_kind kind, const char *json)
{
    yyjson_doc *doc = yyjson_read(json, strlen(json), 0);

    if (!doc)
        fail_msg("no JSON: %s", json);
    yyjson_val *object = yyjson_doc_get_root(doc);
    intake_event(s, kind,
                 &(struct follow_event){
                     .change = FOLLOW_CHANGED,
                     .namespace = kube_text(object, "metadata", "namespace"),
                     .name = kube_text(object, "metadata", "name"),
                     .uid = kube_text(object, "metadata", "uid"),
                     .object = object,
                 });
    yyjson_doc_free(doc);
}

static void lose(struct scheduler *s, enum watch_kind kind, const char *namespace, const char *name)
{
    intake_event(s, kind,
                 &(struct follow_event){.change = FOLLOW_DELETED, .namespace = namespace, .name = name, .uid = ""});
}

static const struct pod *pod_at(struct scheduler *s, const char *name)
{
    pod_id id = key_pod(s->state, key_put(s->state, "ns", name));

    return id == NO_ID ? NULL : &s->state->pods.items[id];
}

static void expect_pod(struct scheduler *s, const char *name, enum pod_status status, const char *node)
{
    const struct pod *pod = pod_at(s, name);

    if (!pod)
        fail_msg("there is no pod %s", name);
    assert_string_equal(pod_status_name((enum pod_status)pod->status), pod_status_name(status));
    if (!node) {
        assert_int_equal(pod->node, NO_ID);
        return;
    }
    assert_int_not_equal(pod->node, NO_ID);
    assert_string_equal(state_name(s->state, s->state->nodes.items[pod->node].name), node);
}

/* As if the engine had placed it and the bind were under way. */
static struct placement *place(struct scheduler *s, const char *name, const char *node, bool is_direct)
{
    object_key key = key_put(s->state, "ns", name);
    pod_id id = key_pod(s->state, key);
    struct placement *placement = placement_put(s, key);

    state_move_pod(s->state, id, POD_BINDING, state_find_node(s->state, node), (struct group_list){0});
    placement_take(s, placement, id);
    placement->is_direct = is_direct;
    return placement;
}

static bool has_gang(struct scheduler *s, const char *name)
{
    return key_gang(s->state, key_put(s->state, "ns", name)) != NO_ID;
}

static void lone_pod_is_a_gang_of_its_own_until_its_pod_group_comes(void **arg)
{
    struct scheduler *s = stage_new();

    (void)arg;
    feed(s, WATCH_PODS, POD("p", "u1"));
    assert_true(has_gang(s, GANG_OF("p", "u1")));
    feed(s, WATCH_POD_GROUPS,
         "{\"metadata\":{\"name\":\"" GANG_OF("p", "u1") "\",\"namespace\":\"ns\",\"uid\":\"g\"},"
                                                         "\"spec\":{\"minMember\":1,\"queue\":\"q\"}}");
    lose(s, WATCH_PODS, "ns", "p");
    assert_true(has_gang(s, GANG_OF("p", "u1")));
    lose(s, WATCH_POD_GROUPS, "ns", GANG_OF("p", "u1"));
    assert_false(has_gang(s, GANG_OF("p", "u1")));
    stage_free(s);
}

static void lone_pods_gang_goes_with_it(void **arg)
{
    struct scheduler *s = stage_new();

    (void)arg;
    feed(s, WATCH_PODS, POD("p", "u1"));
    lose(s, WATCH_PODS, "ns", "p");
    assert_null(pod_at(s, "p"));
    assert_false(has_gang(s, GANG_OF("p", "u1")));
    assert_int_equal(map64_len(&s->lone_gangs), 0);
    stage_free(s);
}

static void lone_pod_that_joins_a_group_leaves_no_gang_behind(void **arg)
{
    struct scheduler *s = stage_new();

    (void)arg;
    feed(s, WATCH_PODS, POD("p", "u1"));
    feed(s, WATCH_PODS, "{" POD_META("p", "u1", ",\"annotations\":{\"pod-group-name\":\"mine\"}") "," POD_SPEC("") "}");
    assert_false(has_gang(s, GANG_OF("p", "u1")));
    stage_free(s);
}

static void pod_with_an_owner_waits_for_the_grouper(void **arg)
{
    struct scheduler *s = stage_new();

    (void)arg;
    feed(s, WATCH_PODS,
         "{" POD_META("p", "u1",
                      ",\"ownerReferences\":[{\"apiVersion\":\"batch/v1\",\"kind\":\"Job\",\"name\":\"j\","
                      "\"uid\":\"o\"}]") "," POD_SPEC("") "}");
    assert_int_equal(map64_len(&s->lone_gangs), 0);
    assert_int_equal(pod_at(s, "p")->gang, NO_ID);
    stage_free(s);
}

static void late_event_does_not_undo_a_bind_under_way(void **arg)
{
    struct scheduler *s = stage_new();

    (void)arg;
    feed(s, WATCH_NODES, NODE("n1"));
    feed(s, WATCH_PODS, POD("p", "u1"));
    (void)place(s, "p", "n1", true);
    feed(s, WATCH_PODS, POD("p", "u1"));
    expect_pod(s, "p", POD_BINDING, "n1");
    feed(s, WATCH_PODS, BOUND_POD("p", "u1", "n1"));
    expect_pod(s, "p", POD_BOUND, "n1");
    assert_null(placement_find(s, key_put(s->state, "ns", "p")));
    stage_free(s);
}

static void another_pod_of_the_name_is_not_bound_by_it(void **arg)
{
    struct scheduler *s = stage_new();

    (void)arg;
    feed(s, WATCH_NODES, NODE("n1"));
    feed(s, WATCH_PODS, POD("p", "u1"));
    (void)place(s, "p", "n1", true);
    lose(s, WATCH_PODS, "ns", "p");
    feed(s, WATCH_PODS, POD("p", "u2"));
    expect_pod(s, "p", POD_PENDING, NULL);
    stage_free(s);
}

static void undone_bind_lets_the_pod_wait_again(void **arg)
{
    struct scheduler *s = stage_new();

    (void)arg;
    feed(s, WATCH_NODES, NODE("n1"));
    feed(s, WATCH_PODS, POD("p", "u1"));
    placement_drop(s, place(s, "p", "n1", true));
    placement_apply(s, key_put(s->state, "ns", "p"));
    expect_pod(s, "p", POD_PENDING, NULL);
    stage_free(s);
}

#define REQUEST(status)                                                                                         \
    "{\"metadata\":{\"name\":\"p\",\"namespace\":\"ns\",\"uid\":\"r1\",\"ownerReferences\":[{\"kind\":\"Pod\"," \
    "\"name\":\"p\",\"uid\":\"u1\"}]},\"spec\":{\"podName\":\"p\",\"selectedNode\":\"n1\","                     \
    "\"selectedGPUGroups\":[\"g1\"]}" status "}"

static void bind_request_places_its_pod_whichever_comes_first(void **arg)
{
    (void)arg;
    for (int order = 0; order < 2; order++) {
        struct scheduler *s = stage_new();

        feed(s, WATCH_NODES, NODE("n1"));
        if (order == 0)
            feed(s, WATCH_PODS, POD("p", "u1"));
        feed(s, WATCH_BIND_REQUESTS, REQUEST(""));
        if (order == 1)
            feed(s, WATCH_PODS, POD("p", "u1"));
        expect_pod(s, "p", POD_BINDING, "n1");
        const struct pod *pod = pod_at(s, "p");
        assert_int_equal(pod->groups.count, 1);
        assert_string_equal(state_name(s->state, (name_id)group_at(&pod->groups, 0)), "g1");
        stage_free(s);
    }
}

static void failed_or_foreign_bind_request_places_nothing(void **arg)
{
    struct scheduler *s = stage_new();

    (void)arg;
    feed(s, WATCH_NODES, NODE("n1"));
    feed(s, WATCH_PODS, POD("p", "u1"));
    feed(s, WATCH_BIND_REQUESTS, REQUEST(""));
    feed(s, WATCH_BIND_REQUESTS, REQUEST(",\"status\":{\"phase\":\"Failed\"}"));
    expect_pod(s, "p", POD_PENDING, NULL);
    assert_true(s->has_stale_requests);
    feed(s, WATCH_PODS, POD("p", "u1"));
    expect_pod(s, "p", POD_PENDING, NULL);
    lose(s, WATCH_BIND_REQUESTS, "ns", "p");
    lose(s, WATCH_PODS, "ns", "p");
    feed(s, WATCH_BIND_REQUESTS, REQUEST(""));
    feed(s, WATCH_PODS, POD("p", "u2"));
    expect_pod(s, "p", POD_PENDING, NULL);
    stage_free(s);
}

static void retrying_bind_request_still_places_its_pod(void **arg)
{
    struct scheduler *s = stage_new();

    (void)arg;
    feed(s, WATCH_NODES, NODE("n1"));
    feed(s, WATCH_PODS, POD("p", "u1"));
    feed(s, WATCH_BIND_REQUESTS,
         "{\"metadata\":{\"name\":\"p\",\"namespace\":\"ns\",\"uid\":\"r1\"},\"spec\":{\"selectedNode\":\"n1\","
         "\"backoffLimit\":3},\"status\":{\"phase\":\"Failed\",\"failedAttempts\":1}}");
    expect_pod(s, "p", POD_BINDING, "n1");
    stage_free(s);
}

static void bind_request_before_its_node_counts_when_the_node_comes(void **arg)
{
    struct scheduler *s = stage_new();

    (void)arg;
    feed(s, WATCH_PODS, POD("p", "u1"));
    feed(s, WATCH_BIND_REQUESTS, REQUEST(""));
    expect_pod(s, "p", POD_PENDING, NULL);
    feed(s, WATCH_NODES, NODE("n1"));
    assert_true(s->nodes_changed);
    placements_apply_all(s);
    expect_pod(s, "p", POD_BINDING, "n1");
    lose(s, WATCH_NODES, "", "n1");
    placements_apply_all(s);
    expect_pod(s, "p", POD_PENDING, NULL);
    stage_free(s);
}

static void pod_that_was_asked_to_leave_is_leaving(void **arg)
{
    struct scheduler *s = stage_new();
    struct eviction *eviction = calloc(1, sizeof *eviction);

    (void)arg;
    feed(s, WATCH_NODES, NODE("n1"));
    feed(s, WATCH_PODS, BOUND_POD("p", "u1", "n1"));
    *eviction = (struct eviction){.s = s, .key = key_put(s->state, "ns", "p"), .uid = pod_at(s, "p")->uid};
    map64_put(&s->evictions, eviction->key, (uint64_t)(uintptr_t)eviction);
    feed(s, WATCH_PODS, BOUND_POD("p", "u1", "n1"));
    expect_pod(s, "p", POD_RELEASING, "n1");
    lose(s, WATCH_PODS, "ns", "p");
    assert_int_equal(map64_len(&s->evictions), 0);
    stage_free(s);
}

static void pod_that_runs_takes_its_room_however_it_is_written(void **arg)
{
    struct scheduler *s = stage_new();

    (void)arg;
    feed(s, WATCH_NODES, NODE("n1"));
    s->is_leading = false;
    feed(s, WATCH_PODS,
         "{" POD_META("p", "u1", ",\"annotations\":{\"gpu-fraction\":\"7\"}") "," POD_SPEC(
             ",\"nodeName\":\"n1\"") ",\"status\":{\"phase\":\"Running\"}}");
    expect_pod(s, "p", POD_RUNNING, "n1");
    stage_free(s);
}

static void times_on_their_way_to_the_server_stay(void **arg)
{
    static const char group[] = "{\"metadata\":{\"name\":\"g\",\"namespace\":\"ns\",\"uid\":\"x\"},\"spec\":{"
                                "\"minMember\":1,\"queue\":\"q\"%s}}";
    struct scheduler *s = stage_new();
    char text[512];

    (void)arg;
    s->binds_under_way = 1;  // writes wait
    (void)snprintf(text, sizeof text, group, "");
    feed(s, WATCH_POD_GROUPS, text);
    gang_id id = key_gang(s->state, key_put(s->state, "ns", "g"));
    state_set_gang_times(s->state, id, 100 * NSEC_PER_SEC, 0, 0);
    gang_times_write(s, id);
    assert_int_equal(writes_len(s->writes), 1);
    (void)snprintf(text, sizeof text, group, ",\"markUnschedulable\":false");
    feed(s, WATCH_POD_GROUPS, text);
    id = key_gang(s->state, key_put(s->state, "ns", "g"));
    assert_int_equal(s->state->gangs.items[id].last_start, 100 * NSEC_PER_SEC);
    assert_false(gang_note_find(s, key_put(s->state, "ns", "g"))->marks_pods);
    stage_free(s);
}

static void volume_claim_is_read_again_with_its_volume(void **arg)
{
    struct scheduler *s = stage_new();
    uint64_t volume = 0;

    (void)arg;
    feed(s, WATCH_VOLUME_CLAIMS,
         "{\"metadata\":{\"name\":\"c\",\"namespace\":\"ns\"},\"spec\":{\"volumeName\":\"v\"},"
         "\"status\":{\"phase\":\"Bound\"}}");
    assert_true(map64_get(&s->state->volume_by_name, key_put(s->state, "ns", "c"), &volume));
    assert_int_equal(s->state->volumes.items[volume].node_term_count, 0);
    feed(s, WATCH_VOLUMES,
         "{\"metadata\":{\"name\":\"v\"},\"spec\":{\"nodeAffinity\":{\"required\":{\"nodeSelectorTerms\":[{"
         "\"matchExpressions\":[{\"key\":\"zone\",\"operator\":\"In\",\"values\":[\"a\"]}]}]}}}}");
    assert_int_equal(s->state->volumes.items[volume].node_term_count, 1);
    stage_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lone_pod_is_a_gang_of_its_own_until_its_pod_group_comes),
        cmocka_unit_test(lone_pods_gang_goes_with_it),
        cmocka_unit_test(lone_pod_that_joins_a_group_leaves_no_gang_behind),
        cmocka_unit_test(pod_with_an_owner_waits_for_the_grouper),
        cmocka_unit_test(late_event_does_not_undo_a_bind_under_way),
        cmocka_unit_test(another_pod_of_the_name_is_not_bound_by_it),
        cmocka_unit_test(undone_bind_lets_the_pod_wait_again),
        cmocka_unit_test(bind_request_places_its_pod_whichever_comes_first),
        cmocka_unit_test(failed_or_foreign_bind_request_places_nothing),
        cmocka_unit_test(retrying_bind_request_still_places_its_pod),
        cmocka_unit_test(bind_request_before_its_node_counts_when_the_node_comes),
        cmocka_unit_test(pod_that_was_asked_to_leave_is_leaving),
        cmocka_unit_test(pod_that_runs_takes_its_room_however_it_is_written),
        cmocka_unit_test(times_on_their_way_to_the_server_stay),
        cmocka_unit_test(volume_claim_is_read_again_with_its_volume),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
