/* SPDX-License-Identifier: Apache-2.0 */

/* Events of followers into the scheduler's state, with its own decisions laid over them. No API server is asked. */
#include "model/devices/numa.h"
#include "services/test/scheduler_stage.h"

/* As if the engine had placed it and the bind were under way. */
static struct placement *place(struct stage *s, const char *name, const char *node, bool is_direct)
{
    object_key key = key_put(s->state, "ns", name);
    pod_id id = key_pod(s->state, key);
    struct placement *placement = placement_put(s->placements, key);

    state_move_pod(s->state, id, POD_BINDING, state_find_node(s->state, node), (struct group_list){0});
    placement_take(s->placements, placement, id);
    placement->is_direct = is_direct;
    return placement;
}

static bool has_gang(struct stage *s, const char *name)
{
    return key_gang(s->state, key_put(s->state, "ns", name)) != NO_ID;
}

static void lone_pod_is_a_gang_of_its_own_until_its_pod_group_comes(void **arg)
{
    struct stage *s = stage_new();

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
    struct stage *s = stage_new();

    (void)arg;
    feed(s, WATCH_PODS, POD("p", "u1"));
    lose(s, WATCH_PODS, "ns", "p");
    assert_null(pod_at(s, "p"));
    assert_false(has_gang(s, GANG_OF("p", "u1")));
    assert_int_equal(pod_notes_len(s->pod_notes), 0);
    stage_free(s);
}

static void lone_pod_that_joins_a_group_leaves_no_gang_behind(void **arg)
{
    struct stage *s = stage_new();

    (void)arg;
    feed(s, WATCH_PODS, POD("p", "u1"));
    feed(s, WATCH_PODS, "{" POD_META("p", "u1", ",\"annotations\":{\"pod-group-name\":\"mine\"}") "," POD_SPEC("") "}");
    assert_false(has_gang(s, GANG_OF("p", "u1")));
    stage_free(s);
}

static void pod_with_an_owner_waits_for_the_grouper(void **arg)
{
    struct stage *s = stage_new();

    (void)arg;
    feed(s, WATCH_PODS,
         "{" POD_META("p", "u1",
                      ",\"ownerReferences\":[{\"apiVersion\":\"batch/v1\",\"kind\":\"Job\",\"name\":\"j\","
                      "\"uid\":\"o\"}]") "," POD_SPEC("") "}");
    assert_int_equal(pod_notes_len(s->pod_notes), 0);
    assert_int_equal(pod_at(s, "p")->gang, NO_ID);
    stage_free(s);
}

static void late_event_does_not_undo_a_bind_under_way(void **arg)
{
    struct stage *s = stage_new();

    (void)arg;
    feed(s, WATCH_NODES, NODE("n1"));
    feed(s, WATCH_PODS, POD("p", "u1"));
    (void)place(s, "p", "n1", true);
    feed(s, WATCH_PODS, POD("p", "u1"));
    expect_pod(s, "p", POD_BINDING, "n1");
    feed(s, WATCH_PODS, BOUND_POD("p", "u1", "n1"));
    expect_pod(s, "p", POD_BOUND, "n1");
    assert_null(placement_find(s->placements, key_put(s->state, "ns", "p")));
    stage_free(s);
}

static void another_pod_of_the_name_is_not_bound_by_it(void **arg)
{
    struct stage *s = stage_new();

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
    struct stage *s = stage_new();

    (void)arg;
    feed(s, WATCH_NODES, NODE("n1"));
    feed(s, WATCH_PODS, POD("p", "u1"));
    placement_drop(s->placements, place(s, "p", "n1", true));
    placement_apply(s->placements, key_put(s->state, "ns", "p"));
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
        struct stage *s = stage_new();

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
    struct stage *s = stage_new();

    (void)arg;
    feed(s, WATCH_NODES, NODE("n1"));
    feed(s, WATCH_PODS, POD("p", "u1"));
    feed(s, WATCH_BIND_REQUESTS, REQUEST(""));
    feed(s, WATCH_BIND_REQUESTS, REQUEST(",\"status\":{\"phase\":\"Failed\"}"));
    expect_pod(s, "p", POD_PENDING, NULL);
    assert_true(placements_has_stale(s->placements));
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
    struct stage *s = stage_new();

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
    struct stage *s = stage_new();

    (void)arg;
    feed(s, WATCH_PODS, POD("p", "u1"));
    feed(s, WATCH_BIND_REQUESTS, REQUEST(""));
    expect_pod(s, "p", POD_PENDING, NULL);
    feed(s, WATCH_NODES, NODE("n1"));
    placements_look_at_nodes(s->placements);
    expect_pod(s, "p", POD_BINDING, "n1");
    lose(s, WATCH_NODES, "", "n1");
    placements_look_at_nodes(s->placements);
    expect_pod(s, "p", POD_PENDING, NULL);
    stage_free(s);
}

static void pod_that_was_asked_to_leave_is_leaving(void **arg)
{
    struct stage *s = stage_new();
    struct decision decision = {.kind = DECISION_EVICT, .on_behalf = NO_ID};

    (void)arg;
    feed(s, WATCH_NODES, NODE("n1"));
    feed(s, WATCH_PODS, BOUND_POD("p", "u1", "n1"));
    decision.pod = key_pod(s->state, key_put(s->state, "ns", "p"));
    evictions_start(s->evictions, &decision, "why", 1);
    feed(s, WATCH_PODS, BOUND_POD("p", "u1", "n1"));
    expect_pod(s, "p", POD_RELEASING, "n1");
    lose(s, WATCH_PODS, "ns", "p");
    assert_null(pod_at(s, "p"));
    assert_int_equal(evictions_len(s->evictions), 1);  // the server has not answered yet
    stage_free(s);
}

static void pod_that_runs_takes_its_room_however_it_is_written(void **arg)
{
    struct stage *s = stage_new();

    (void)arg;
    feed(s, WATCH_NODES, NODE("n1"));
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
    struct stage *s = stage_new();
    char text[512];

    (void)arg;
    rush_note(&s->traffic.rush, nsec_now_monotonic());  // the times wait
    (void)snprintf(text, sizeof text, group, "");
    feed(s, WATCH_POD_GROUPS, text);
    gang_id id = key_gang(s->state, key_put(s->state, "ns", "g"));
    state_set_gang_times(s->state, id, 100 * NSEC_PER_SEC, 0, 0);
    gang_times_write(s->gang_notes, id);
    assert_int_equal(writes_len(s->writes), 1);
    (void)snprintf(text, sizeof text, group, ",\"markUnschedulable\":false");
    feed(s, WATCH_POD_GROUPS, text);
    id = key_gang(s->state, key_put(s->state, "ns", "g"));
    assert_int_equal(s->state->gangs.items[id].last_start, 100 * NSEC_PER_SEC);
    assert_false(gang_note_find(s->gang_notes, key_put(s->state, "ns", "g"))->marks_pods);
    stage_free(s);
}

static void volume_claim_is_read_again_with_its_volume(void **arg)
{
    struct stage *s = stage_new();
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

static void open_claim_is_read_again_with_volumes_of_its_class(void **arg)
{
    struct stage *s = stage_new();
    uint64_t at = 0;

    (void)arg;
    feed(s, WATCH_STORAGE_CLASSES,
         "{\"metadata\":{\"name\":\"disk\"},\"provisioner\":\"kubernetes.io/no-provisioner\","
         "\"volumeBindingMode\":\"WaitForFirstConsumer\"}");
    feed(s, WATCH_VOLUME_CLAIMS,
         "{\"metadata\":{\"name\":\"c\",\"namespace\":\"ns\"},\"spec\":{\"storageClassName\":\"disk\"},"
         "\"status\":{\"phase\":\"Pending\"}}");
    assert_true(map64_get(&s->state->volume_by_name, key_put(s->state, "ns", "c"), &at));
    assert_false(s->state->volumes.items[at].waits_for_consumer);
    feed(s, WATCH_VOLUMES,
         "{\"metadata\":{\"name\":\"v\"},\"spec\":{\"storageClassName\":\"disk\",\"nodeAffinity\":{\"required\":{"
         "\"nodeSelectorTerms\":[{\"matchExpressions\":[{\"key\":\"zone\",\"operator\":\"In\","
         "\"values\":[\"a\"]}]}]}}}}");
    assert_true(s->state->volumes.items[at].waits_for_consumer);
    assert_int_equal(s->state->volumes.items[at].node_term_count, 1);
    stage_free(s);
}

static void claim_is_read_again_with_class_and_driver(void **arg)
{
    struct stage *s = stage_new();
    uint64_t at = 0;

    (void)arg;
    feed(s, WATCH_VOLUME_CLAIMS,
         "{\"metadata\":{\"name\":\"c\",\"namespace\":\"ns\"},\"spec\":{\"storageClassName\":\"fast\",\"resources\":{"
         "\"requests\":{\"storage\":\"5Gi\"}}},\"status\":{\"phase\":\"Pending\"}}");
    assert_true(map64_get(&s->state->volume_by_name, key_put(s->state, "ns", "c"), &at));
    assert_int_equal(s->state->volumes.items[at].class, 0);
    feed(s, WATCH_STORAGE_CLASSES,
         "{\"metadata\":{\"name\":\"fast\"},\"provisioner\":\"disks\",\"volumeBindingMode\":\"WaitForFirstConsumer\","
         "\"allowedTopologies\":[{\"matchLabelExpressions\":[{\"key\":\"zone\",\"values\":[\"a\"]}]}]}");
    assert_string_equal(state_name(s->state, s->state->volumes.items[at].class), "fast");
    assert_int_equal(s->state->volumes.items[at].made_term_count, 1);
    assert_false(s->state->volumes.items[at].needs_storage);
    feed(s, WATCH_CSI_DRIVERS, "{\"metadata\":{\"name\":\"disks\"},\"spec\":{\"storageCapacity\":true}}");
    assert_true(s->state->volumes.items[at].needs_storage);
    feed(s, WATCH_STORAGE,
         "{\"metadata\":{\"name\":\"s\",\"namespace\":\"ns\"},\"storageClassName\":\"fast\",\"capacity\":\"4Gi\","
         "\"nodeTopology\":{}}");
    assert_int_equal(s->state->storages.items[0].bytes, INT64_C(4) << 30);
    feed(s, WATCH_VOLUME_CLAIMS,
         "{\"metadata\":{\"name\":\"c\",\"namespace\":\"ns\",\"annotations\":{\"volume.kubernetes.io/selected-node\":"
         "\"n1\"}},\"spec\":{\"storageClassName\":\"fast\"},\"status\":{\"phase\":\"Pending\"}}");
    assert_string_equal(state_name(s->state, s->state->volumes.items[at].made_for), "n1");
    stage_free(s);
}

static void zones_that_the_engine_chose_are_read_back_as_they_were(void **arg)
{
    static const char expected[] =
        "[{\"zone\":\"node-0\",\"amount\":{\"cpu\":\"1500m\",\"nvidia.com/gpu\":\"2\"}},"
        "{\"zone\":\"node-1\",\"amount\":{\"cpu\":\"2\",\"memory\":\"1024\",\"hugepages-1Gi\":\"3\"}}]";
    struct stage *s = stage_new();
    uint32_t pages = 0;

    (void)arg;
    assert_int_equal(resources_add(&s->state->res, &s->state->names, "hugepages-1Gi", &pages, NULL), 0);
    struct numa_placement *numa = calloc(1, sizeof *numa + 5 * sizeof *numa->draws);
    assert_non_null(numa);
    name_id zones[2] = {name_put(s->state, "node-0"), name_put(s->state, "node-1")};
    const struct numa_draw draws[5] = {{zones[0], RES_CPU, 1500},
                                       {zones[0], RES_GPU, 2 * GPU_ONE},
                                       {zones[1], RES_CPU, 2000},
                                       {zones[1], RES_MEMORY, 1024},
                                       {zones[1], pages, 3000}};
    numa->count = 5;
    memcpy(numa->draws, draws, sizeof draws);
    feed(s, WATCH_NODES, NODE("n1"));
    feed(s, WATCH_PODS, POD("p", "u1"));
    pod_id id = key_pod(s->state, key_put(s->state, "ns", "p"));
    s->state->pods.items[id].numa = numa;
    struct placement *placement = place(s, "p", "n1", false);
    assert_string_equal(placement->zones, expected);

    /* Read anew, the pod draws the same: its placement is laid over it. */
    feed(s, WATCH_PODS, POD("p", "u1"));
    expect_pod(s, "p", POD_BINDING, "n1");
    const struct numa_placement *read = pod_at(s, "p")->numa;
    assert_non_null(read);
    assert_ptr_not_equal(read, numa);
    assert_int_equal(read->count, 5);
    assert_memory_equal(read->draws, draws, sizeof draws);
    free(numa);
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
        cmocka_unit_test(open_claim_is_read_again_with_volumes_of_its_class),
        cmocka_unit_test(claim_is_read_again_with_class_and_driver),
        cmocka_unit_test(zones_that_the_engine_chose_are_read_back_as_they_were),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
