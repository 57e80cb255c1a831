/* SPDX-License-Identifier: Apache-2.0 */

/* The smaller objects: topologies, priority and device classes, volumes, config maps, slices, claims, NUMA zones. */
#include "model/test/helper.h"

#include "model/parts.h"

static void a_topology_is_found_by_name_until_it_is_dropped(void **unused)
{
    struct state *state = state_new();
    struct str_pair levels[TOPOLOGY_LEVELS_MAX + 1] = {{"zone", "z"}, {"rack", NULL}};
    struct topology_spec spec = {.name = "t", .levels = levels, .level_count = 2};
    name_id name = name_add(state, "t");
    struct err err = {0};

    (void)unused;
    assert_ok(state_put_topology(state, &spec, &err_));
    const struct topology *topology = &state->topologies.items[state_find_topology(state, name)];
    assert_int_equal(topology->level_count, 2);
    assert_string_equal(state_name(state, topology->aliases[0]), "z");
    assert_int_equal(topology->aliases[1], 0);
    state_drop_topology(state, "t");
    state_drop_topology(state, "t");
    state_drop_topology(state, "never seen");
    assert_int_equal(state_find_topology(state, name), NO_ID);
    assert_ok(state_put_topology(state, &spec, &err_));
    assert_int_equal(state->topologies.len, 1);
    spec.level_count = 3;
    assert_int_equal(state_put_topology(state, &spec, &err), -EINVAL);
    assert_string_equal(err.text, "topology 't': level 2 names no node label");
    spec.level_count = TOPOLOGY_LEVELS_MAX + 1;
    assert_int_equal(state_put_topology(state, &spec, NULL), -EINVAL);
    spec.name = NULL;
    assert_int_equal(state_put_topology(state, &spec, NULL), -EINVAL);
    state_free(state);
}

static void a_priority_comes_from_its_class_or_the_default_one(void **unused)
{
    struct state *state = state_new();

    (void)unused;
    assert_int_equal(state_priority(state, "train"), 50);
    assert_ok(state_put_priority_class(state, "train", 70, false, &err_));
    assert_ok(state_put_priority_class(state, "usual", 60, true, &err_));
    assert_ok(state_put_priority_class(state, "other", 40, true, &err_));
    assert_int_equal(state_priority(state, "train"), 70);
    assert_int_equal(state_priority(state, "none"), 40);
    assert_int_equal(state_priority(state, NULL), 40);
    assert_ok(state_put_priority_class(state, "train", 71, false, &err_));
    assert_int_equal(state_priority(state, "train"), 71);
    state_drop_priority_class(state, "train");
    state_drop_priority_class(state, "train");
    assert_int_equal(state_priority(state, "train"), 40);
    assert_int_equal(state_put_priority_class(state, "", 1, false, NULL), -EINVAL);
    state_free(state);
}

static void volumes_keep_the_terms_of_where_they_are(void **unused)
{
    struct state *state = state_new();
    const char *value = "a";
    struct match_spec match = {MATCH_IN, "zone", &value, 1};
    struct selector_spec term = {&match, 1};
    struct volume_spec spec = {.namespace = "ns", .name = "v", .node_terms = &term, .node_term_count = 1};

    (void)unused;
    assert_ok(state_put_volume(state, &spec, &err_));
    size_t bytes = state_bytes(state);
    for (int i = 0; i < 1000; i++)
        assert_ok(state_put_volume(state, &spec, &err_));
    assert_int_equal(state_bytes(state), bytes);
    uint64_t at;
    assert_true(map64_get(&state->volume_by_name, name_pair(name_add(state, "ns"), name_add(state, "v")), &at));
    const struct volume *volume = &state->volumes.items[at];
    assert_int_equal(volume->node_term_count, 1);
    assert_string_equal(state_name(state, volume->node_terms[0].all[0].values[0]), "a");
    state_drop_volume(state, "ns", "v");
    state_drop_volume(state, "ns", "v");
    state_drop_volume(state, "ns", "never seen");
    assert_false(volume->is_present);
    spec.name = "w";
    assert_ok(state_put_volume(state, &spec, &err_));
    assert_int_equal(state->volumes.len, 1);
    /* Terms that are all different: the list of shapes grows, and moves. */
    for (int i = 0; i < 1000; i++) {
        char zone[16];

        (void)snprintf(zone, sizeof zone, "zone-%d", i);
        value = zone;
        assert_ok(state_put_volume(state, &spec, &err_));
        assert_string_equal(state_name(state, state->volumes.items[0].node_terms[0].all[0].values[0]), zone);
    }
    spec.name = NULL;
    assert_int_equal(state_put_volume(state, &spec, NULL), -EINVAL);
    state_free(state);
}

static void config_maps_and_device_classes_are_there_or_not(void **unused)
{
    struct state *state = state_new();

    (void)unused;
    state_put_config_map(state, "ns", "c");
    assert_true(map64_get(&state->config_maps, name_pair(name_add(state, "ns"), name_add(state, "c")), NULL));
    state_drop_config_map(state, "ns", "c");
    state_drop_config_map(state, "never", "seen");
    assert_int_equal(map64_len(&state->config_maps), 0);

    state_put_device_class(state, &(struct device_class_spec){.name = "gpu"});
    state_put_device_class(state, &(struct device_class_spec){.name = "gpu"});
    state_put_device_class(state, &(struct device_class_spec){.name = ""});
    assert_int_equal(state->device_classes.len, 1);
    state_changes_seen(state);
    state_drop_device_class(state, "nic");
    state_drop_device_class(state, "ns");
    assert_false(state->changes.requests);
    state_drop_device_class(state, "gpu");
    assert_true(state->changes.requests);
    state_free(state);
}

static void slices_add_gpus_to_their_node(void **unused)
{
    struct state *state = state_new();
    const char *names[] = {"gpu-a", "gpu-b"};
    struct slice_spec spec = {
        .name = "s",
        .driver = "GPU.example.com",
        .node = "n",
        .devices = names,
        .device_count = 2,
    };

    (void)unused;
    assert_ok(state_put_slice(state, &spec, &err_));
    put_node(state, "n", 1, 1000);
    state_settle(state);
    struct node *node = &state->nodes.items[state_find_node(state, "n")];
    assert_true(node->has_dra_gpus);
    assert_int_equal(node->device_count, 3);
    assert_int_equal(state_books(state, 0).idle[RES_GPU], 3 * GPU_ONE);
    assert_string_equal(state_name(state, state->slices.items[0].devices[1]), "gpu-b");

    spec.devices = NULL;
    spec.device_count = 20000;
    assert_ok(state_put_slice(state, &spec, &err_));
    state_settle(state);
    assert_int_equal(state->slices.items[0].device_count, SLICE_DEVICES_MAX);
    assert_string_equal(state_name(state, state->slices.items[0].devices[9999]), "9999");
    assert_int_equal(state_books(state, 0).idle[RES_GPU], 20001 * GPU_ONE);

    spec.is_for_all_nodes = true;
    assert_ok(state_put_slice(state, &spec, &err_));
    state_settle(state);
    assert_int_equal(state_books(state, 0).idle[RES_GPU], GPU_ONE);
    state_drop_slice(state, "s");
    state_drop_slice(state, "s");
    state_drop_slice(state, "never seen");
    spec.devices = names;
    assert_int_equal(state_put_slice(state, &spec, NULL), -EINVAL);
    spec.driver = NULL;
    assert_int_equal(state_put_slice(state, &spec, NULL), -EINVAL);
    spec.name = NULL;
    assert_int_equal(state_put_slice(state, &spec, NULL), -EINVAL);
    state_free(state);
}

static void a_pod_asks_for_the_gpus_of_its_claims_once_they_are_there(void **unused)
{
    struct state *state = state_new();
    struct pod_claim_spec names[] = {{.name = "a"}, {.name = "b", .is_from_template = true}};
    struct pod_spec pod = a_pod("p", "g");
    struct claim_spec claim = {.namespace = "ns", .name = "a", .device_class = "nvidia-gpu", .count = 0};
    struct err err = {0};

    (void)unused;
    put_queue(state, "q", NULL);
    put_gang(state, "g", "q", 1);
    pod.claims = names;
    pod.claim_count = 2;
    pod_id id = put_pod(state, &pod);
    state_settle(state);
    assert_true(state_request(state, id)->is_cpu_only);
    assert_int_equal(state->pods.items[id].claims[0].claim, NO_ID);

    assert_ok(state_put_claim(state, &claim, &err_));
    state_settle(state);
    assert_int_not_equal(state->pods.items[id].claims[0].claim, NO_ID);
    assert_int_equal(state_request(state, id)->dra_gpus, GPU_ONE);
    assert_int_equal(state->queues.items[0].requested.v[SHARE_GPU], GPU_ONE);
    claim.name = "b";
    claim.count = INT64_MAX;
    assert_ok(state_put_claim(state, &claim, &err_));
    state_settle(state);
    assert_int_equal(state_request(state, id)->dra_gpus, AMOUNT_MAX / GPU_ONE * GPU_ONE);
    claim.is_synthetic = true;
    assert_ok(state_put_claim(state, &claim, &err_));
    state_drop_claim(state, "ns", "a");
    state_drop_claim(state, "ns", "a");
    state_drop_claim(state, "ns", "never seen");
    state_settle(state);
    assert_true(state_request(state, id)->is_cpu_only);
    assert_int_equal(state->queues.items[0].requested.v[SHARE_GPU], 0);

    claim.count = -1;
    assert_int_equal(state_put_claim(state, &claim, &err), -EINVAL);
    assert_string_equal(err.text, "resource claim 'b': it requests -1 devices; must not be negative");
    claim.name = "";
    assert_int_equal(state_put_claim(state, &claim, NULL), -EINVAL);
    claim = (struct claim_spec){.name = "big", .device_count = 1 << 20};
    assert_int_equal(state_put_claim(state, &claim, NULL), -EINVAL);
    state_free(state);
}

/* The pod's only claim, which is for GPUs asked for as a resource; NULL when it has none. */
static const struct claim *plan_of(const struct state *state, pod_id id)
{
    const struct pod *pod = &state->pods.items[id];

    if (pod->claim_count == 0)
        return NULL;
    assert_int_equal(pod->claim_count, 1);
    assert_true(pod->claims[0].is_extended);
    return &state->claims.items[pod->claims[0].slot];
}

static void gpus_asked_for_as_a_resource_have_a_plan_while_a_class_serves_it(void **unused)
{
    struct state *state = state_new();
    struct device_class_spec class = {.name = "old", .created = 1};
    struct pod_spec pod = a_pod("p", NULL);

    (void)unused;
    pod.request.gpus = 2;
    pod_id id = put_pod(state, &pod);
    state_put_device_class(state, &class);
    assert_null(plan_of(state, id));
    class.resource = "nvidia.com/gpu";
    state_put_device_class(state, &class);
    assert_true(plan_of(state, id)->is_present && plan_of(state, id)->is_plan);
    assert_int_equal(plan_of(state, id)->count, 2);
    assert_int_equal(state_request(state, id)->dra_gpus, 0);
    assert_string_equal(state_name(state, plan_of(state, id)->device_class), "old");

    /* The newest class serves it; then the first by name. */
    class = (struct device_class_spec){.name = "new", .resource = "nvidia.com/gpu", .created = 2};
    state_put_device_class(state, &class);
    assert_string_equal(state_name(state, plan_of(state, id)->device_class), "new");
    class.name = "also-new";
    state_put_device_class(state, &class);
    assert_string_equal(state_name(state, plan_of(state, id)->device_class), "also-new");
    state_drop_device_class(state, "also-new");
    state_drop_device_class(state, "new");
    assert_string_equal(state_name(state, plan_of(state, id)->device_class), "old");

    /* Put again it has the same; a claim that was made takes its place, and another resource is another's. */
    (void)put_pod(state, &pod);
    assert_int_equal(plan_of(state, id)->users.len, 1);
    pod.extended_claim = "made";
    (void)put_pod(state, &pod);
    assert_string_equal(state_name(state, plan_of(state, id)->name), "made");
    assert_false(plan_of(state, id)->is_plan);
    pod.extended_claim = NULL;
    pod.gpu_resource = "deviceclass.resource.kubernetes.io/old";
    (void)put_pod(state, &pod);
    assert_true(plan_of(state, id)->is_plan);
    pod.gpu_resource = "example.com/gpu";
    (void)put_pod(state, &pod);
    assert_null(plan_of(state, id));
    pod.gpu_resource = "";
    (void)put_pod(state, &pod);
    assert_null(plan_of(state, id));
    pod.gpu_resource = NULL;
    (void)put_pod(state, &pod);
    assert_non_null(plan_of(state, id));
    state_drop_device_class(state, "old");
    assert_null(plan_of(state, id));
    vec_foreach (&state->claims, claim)
        assert_false(claim->is_present);
    state_free(state);
}

static void devices_of_a_plan_are_free_when_the_pod_waits_again(void **unused)
{
    struct state *state = state_new();
    const struct device_class_spec class = {.name = "gpu", .resource = "nvidia.com/gpu"};
    const struct device_spec device = {.driver = "gpu.example.com", .pool = "n", .device = "gpu-0"};
    struct pod_spec pod = a_pod("p", NULL);
    const char *uid = "ns/p";

    (void)unused;
    put_node(state, "n", 0, 1000);
    state_put_device_class(state, &class);
    pod.request.gpus = 1;
    pod.status = POD_BINDING;
    pod.node = "n";
    pod_id id = put_pod(state, &pod);
    struct claim_spec spec = {.namespace = "ns",
                              .name = state_name(state, plan_of(state, id)->name),
                              .device_class = "gpu",
                              .count = 1,
                              .is_synthetic = true,
                              .is_allocated = true,
                              .devices = &device,
                              .device_count = 1,
                              .reserved_for = &uid,
                              .reserved_count = 1};
    assert_ok(state_put_claim(state, &spec, &err_));
    (void)put_pod(state, &pod);
    assert_int_equal(plan_of(state, id)->is_allocated, 1);
    /* Its devices stay its own when the class is gone. */
    state_drop_device_class(state, "gpu");
    assert_int_equal(plan_of(state, id)->is_allocated, 1);
    state_put_device_class(state, &class);
    pod.status = POD_PENDING;
    pod.node = NULL;
    (void)put_pod(state, &pod);
    assert_int_equal(plan_of(state, id)->is_allocated, 0);
    state_drop_pod(state, "ns", "p");
    vec_foreach (&state->claims, claim)
        assert_false(claim->is_present);
    state_free(state);
}

static void what_a_cycle_gave_a_claim_outlives_its_memory(void **unused)
{
    struct state *state = state_new();
    struct pod_claim_spec name = {.name = "c"};
    struct pod_spec pod = a_pod("p", NULL);
    struct claim_spec spec = {.namespace = "ns", .name = "c", .device_class = "gpu"};

    (void)unused;
    put_node(state, "n", 2, 1000);
    pod.claims = &name;
    pod.claim_count = 1;
    pod_id id = put_pod(state, &pod);
    assert_ok(state_put_claim(state, &spec, &err_));
    state_settle(state);
    struct claim *claim = &state->claims.items[0];
    for (int round = 0; round < 2; round++) {
        struct device *device = arena_calloc(&state->scratch, 1, sizeof *device);
        name_id *reserved = arena_calloc(&state->scratch, 1, sizeof *reserved);

        device->driver = name_add(state, "gpu.example.com");
        state->undo.is_recording = true;
        undo_set32(&state->undo, &claim->is_allocated, 1);
        undo_set32(&state->undo, &claim->device_count, 1);
        undo_set32(&state->undo, &claim->reserved_count, 1);
        undo_set32(&state->undo, &claim->lists_are_owned, 0);
        undo_set64(&state->undo, &claim->devices, (uintptr_t)device);
        undo_set64(&state->undo, &claim->reserved_for, (uintptr_t)reserved);
        id_set_add(&state->scratch_claims, 0);
        pod_set_status(state, id, POD_ALLOCATED);
        pod_set_node(state, id, 0);
        node_release(state, 0, id);
        node_hold(state, 0, id);
        state->undo.is_recording = false;
        state_settle(state);
        assert_true(claim->lists_are_owned);
        assert_string_equal(state_name(state, claim->devices[0].driver), "gpu.example.com");
        assert_int_equal(claim->reserved_for[0], 0);
        assert_int_equal(node_holds(state, 0, id)->device_count, 1);
    }
    state_free(state);
}

static void numa_zones_lose_what_pods_on_the_node_draw(void **unused)
{
    struct state *state = state_new();
    struct amount_spec cpu = {"cpu", 4000};
    struct numa_zone_spec zones[] = {
        {.name = "node-0", .allocatable = &cpu, .allocatable_count = 1},
        {.name = "node-1", .allocatable = &cpu, .allocatable_count = 1, .available = &cpu, .available_count = 1},
    };
    struct numa_spec numa = {.reconstructs_available = true, .zones = zones, .zone_count = 2};
    struct node_spec node = {.name = "n", .allocatable = &cpu, .allocatable_count = 1, .numa = &numa};
    struct numa_draw_spec draws[] = {{"node-1", "cpu", 1500}, {"node-0", "memory", 5}, {"node-9", "cpu", 1}};
    struct pod_spec pod = a_pod("p", NULL);

    (void)unused;
    assert_ok(state_put_node(state, &node, &err_));
    pod.status = POD_RUNNING;
    pod.node = "n";
    pod.numa = draws;
    pod.numa_count = 2;
    (void)put_pod(state, &pod);
    state_settle(state);
    assert_true(state->has_numa);
    assert_int_equal(state->nodes.items[0].numa->zones[0].available[RES_CPU], 4000);
    assert_int_equal(state->nodes.items[0].numa->zones[1].available[RES_CPU], 2500);
    assert_int_equal(state->nodes.items[0].numa->zones[0].available[RES_MEMORY], -1);

    /* A new dimension widens the vectors; an equal report is no change; an unknown zone voids the record. */
    struct amount_spec disk = {"example.com/disk", 1};
    pod.request.amounts = &disk;
    pod.request.amount_count = 1;
    (void)put_pod(state, &pod);
    assert_int_equal(state->nodes.items[0].numa->dims, RES_FIXED + 1);
    assert_int_equal(state->nodes.items[0].numa->zones[1].available[RES_FIXED], -1);
    state_settle(state);
    state_changes_seen(state);
    assert_ok(state_put_node(state, &node, &err_));
    assert_false(state->changes.nodes_static);
    pod.numa_count = 3;
    (void)put_pod(state, &pod);
    state_settle(state);
    assert_int_equal(state->nodes.items[0].numa->zones[1].available[RES_CPU], 4000);

    numa.reconstructs_available = false;
    assert_ok(state_put_node(state, &node, &err_));
    state_settle(state);
    assert_int_equal(state->nodes.items[0].numa->zones[0].available[RES_CPU], -1);
    assert_int_equal(state->nodes.items[0].numa->zones[1].available[RES_CPU], 4000);
    state_free(state);
}

static void nodes_and_pods_that_cannot_be_are_refused(void **unused)
{
    struct state *state = state_new();
    struct amount_spec bad = {"cpu", -1};
    struct numa_zone_spec zone = {.name = "z", .available = &bad, .available_count = 1};
    struct numa_spec numa = {.zones = &zone, .zone_count = 1};
    struct numa_draw_spec draw = {"z", "cpu", -1};
    struct pod_claim_spec claim = {0};
    const char *group = "";
    struct node_spec nodes[] = {
        {0},
        {.name = "n", .gpu_memory_mib = -1},
        {.name = "n", .allocatable = &bad, .allocatable_count = 1},
        {.name = "n", .numa = &numa},
        {.name = "n", .numa = &(struct numa_spec){.zone_count = 65}},
        {.name = "n", .numa = &(struct numa_spec){.zones = &(struct numa_zone_spec){0}, .zone_count = 1}},
    };
    struct pod_spec pods[] = {
        {0},
        {.name = "p", .status = _POD_STATUS_MAX},
        {.name = "p", .gpu_group_count = 2000},
        {.name = "p", .gpu_groups = &group, .gpu_group_count = 1},
        {.name = "p", .claim_count = 2000},
        {.name = "p", .claims = &claim, .claim_count = 1},
        {.name = "p", .numa_count = 10000},
        {.name = "p", .numa = &draw, .numa_count = 1},
    };

    (void)unused;
    for (size_t i = 0; i < ARRAY_LEN(nodes); i++)
        assert_int_equal(state_put_node(state, &nodes[i], NULL), -EINVAL);
    for (size_t i = 0; i < ARRAY_LEN(pods); i++)
        assert_int_equal(state_put_pod(state, &pods[i], NULL), -EINVAL);
    assert_int_equal(state->nodes.len + state->pods.len, 0);
    state_free(state);
    state_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_topology_is_found_by_name_until_it_is_dropped),
        cmocka_unit_test(a_priority_comes_from_its_class_or_the_default_one),
        cmocka_unit_test(volumes_keep_the_terms_of_where_they_are),
        cmocka_unit_test(config_maps_and_device_classes_are_there_or_not),
        cmocka_unit_test(slices_add_gpus_to_their_node),
        cmocka_unit_test(a_pod_asks_for_the_gpus_of_its_claims_once_they_are_there),
        cmocka_unit_test(gpus_asked_for_as_a_resource_have_a_plan_while_a_class_serves_it),
        cmocka_unit_test(devices_of_a_plan_are_free_when_the_pod_waits_again),
        cmocka_unit_test(what_a_cycle_gave_a_claim_outlives_its_memory),
        cmocka_unit_test(numa_zones_lose_what_pods_on_the_node_draw),
        cmocka_unit_test(nodes_and_pods_that_cannot_be_are_refused),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
