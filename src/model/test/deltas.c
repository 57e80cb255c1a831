/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Random changes to a small cluster: the state that was kept through all of them, with simulations taken back in
 * between, must be the one that is loaded afresh from the objects as they are, in any order.
 */
#include "model/test/helper.h"

enum { NODES = 6, QUEUES = 7, GANGS = 6, PODS = 30, CLAIMS = 5, SLICES = 3, STEPS = 1500 };

static const char *const zone_names[] = {"node-0", "node-1"};

struct world {
    uint64_t seed;
    bool has_node[NODES];
    bool has_queue[QUEUES];
    bool has_gang[GANGS];
    bool has_pod[PODS];
    bool has_claim[CLAIMS];
    bool has_slice[SLICES];
    uint32_t node[NODES];  // what else there is to say of each: bits that its spec is made from
    uint32_t queue[QUEUES];
    uint32_t gang[GANGS];
    uint32_t pod[PODS];
    uint32_t claim[CLAIMS];
    uint32_t slice[SLICES];
};

static uint32_t draw(uint64_t *seed, uint32_t below)
{
    *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*seed >> 32) % below;
}

static const char *name_of(const char *kind, uint32_t i)
{
    static char texts[8][16];
    static uint32_t at;
    char *text = texts[at++ % 8];

    (void)snprintf(text, 16, "%s%u", kind, i);
    return text;
}

static void apply_node(struct state *state, const struct world *world, uint32_t i)
{
    uint32_t bits = world->node[i];
    struct amount_spec amounts[] = {
        {"cpu", 8000},
        {"memory", 32 * GIB},
        {bits & 1 ? "amd.com/gpu" : "nvidia.com/gpu", (int64_t)(bits >> 1 & 3) * GPU_ONE},
        {"pods", bits & 8 ? 2 : 20},
        {bits & 16 ? "nvidia.com/mig-1g.5gb" : "example.com/disk", bits & 32 ? 4 : 0},
    };
    struct numa_zone_spec zones[] = {
        {.name = zone_names[0],
         .allocatable = amounts,
         .allocatable_count = 1,
         .available = amounts,
         .available_count = 1},
        {.name = zone_names[1], .allocatable = amounts, .allocatable_count = 2},
    };
    struct numa_spec numa = {.zones = zones, .zone_count = 2, .reconstructs_available = bits & 64};
    struct str_pair labels[] = {{"zone", bits & 128 ? "a" : "b"}, {"kind", "x"}};
    struct taint_spec taint = {"t", "v", TAINT_NO_SCHEDULE};
    struct node_spec spec = {
        .name = name_of("n", i),
        .labels = labels,
        .label_count = bits >> 8 & 1 ? 2 : 1,
        .taints = &taint,
        .taint_count = bits >> 9 & 1,
        .troubles = bits >> 10 & 1,
        .allocatable = amounts,
        .allocatable_count = 5,
        .device_count = bits >> 11 & 1 ? 3 : -1,
        .gpu_memory_mib = (int64_t)(bits >> 12 & 3) * 1050,
        .is_mig_enabled = bits & 16,
        .numa = bits >> 14 & 1 ? &numa : NULL,
        .clamps_idle_pods = bits >> 15 & 1,
    };

    if (world->has_node[i])
        assert_ok(state_put_node(state, &spec, &err_));
    else
        state_drop_node(state, spec.name);
}

static void apply_queue(struct state *state, const struct world *world, uint32_t i)
{
    uint32_t bits = world->queue[i];
    struct queue_spec spec = {
        .name = name_of("q", i),
        .parent = i == 0 || bits % 4 == 0 ? NULL : name_of("q", bits % i),
        .created = bits >> 4 & 1,
        .priority = 100,
    };

    if (world->has_queue[i])
        assert_ok(state_put_queue(state, &spec, &err_));
    else
        state_drop_queue(state, spec.name);
}

static void apply_gang(struct state *state, const struct world *world, uint32_t i)
{
    uint32_t bits = world->gang[i];
    struct group_spec groups[] = {
        {.name = "", .parent = -1, .min = -1},
        {.name = "default", .parent = 0, .is_pod_set = true, .min = bits & 3},
        {.name = "inner", .parent = 0, .min = 1},
        {.name = bits & 4 ? "workers" : "others", .parent = 2, .is_pod_set = true, .min = bits >> 3 & 1},
    };
    struct gang_spec spec = {
        .namespace = "ns",
        .name = name_of("g", i),
        .queue = name_of("q", bits >> 4 & 7),
        .is_preemptible = bits >> 7 & 1,
        .stale_since = bits >> 8 & 1,
        .groups = groups,
        .group_count = bits >> 9 & 1 ? 4 : 2,
    };

    if (world->has_gang[i])
        assert_ok(state_put_gang(state, &spec, &err_));
    else
        state_drop_gang(state, "ns", spec.name);
}

static enum pod_status status_of(const struct world *world, uint32_t i)
{
    /* Pending and running pods more often than others. */
    return (enum pod_status)(world->pod[i] & 1u << 31 ? (world->pod[i] & 1) * POD_RUNNING
                                                      : world->pod[i] % _POD_STATUS_MAX);
}

static void apply_pod(struct state *state, const struct world *world, uint32_t i)
{
    uint32_t bits = (uint32_t)(world->pod[i] * UINT64_C(0x9e3779b97f4a7c15) >> 32);
    const char *groups[] = {bits & 1 ? "x" : "y", "z"};
    uint32_t devices = bits >> 1 & 1 ? 2 : 1;
    struct amount_spec amounts[] = {{"cpu", 500}, {"memory", GIB}, {"nvidia.com/mig-1g.5gb", 1}};
    struct pod_claim_spec claims[] = {{.name = name_of("c", bits >> 2 & 7)}, {.name = name_of("c", bits >> 3 & 3)}};
    struct numa_draw_spec numa = {zone_names[bits >> 4 & 1], "cpu", 250};
    struct pod_term_spec term = {.topology_key = "zone"};
    struct pod_spec spec = a_pod(name_of("p", i), bits % 11 ? name_of("g", bits % 7) : NULL);

    spec.uid = bits >> 6 & 1 ? name_of("u", 100 - i) : NULL;
    spec.created = bits >> 7 & 1;
    spec.pod_set = (bits >> 8 & 3) == 3 ? "workers" : NULL;
    spec.status = status_of(world, i);
    spec.node = spec.status == POD_PENDING || spec.status == POD_GATED ? NULL : name_of("n", bits >> 9 & 7);
    spec.nominated_node = bits >> 12 & 1 ? name_of("n", bits & 7) : NULL;
    spec.request.kind = (enum request_kind)(bits >> 13 & 3);
    spec.request.amounts = amounts;
    spec.request.amount_count = spec.request.kind == REQUEST_MIG ? 3 : 2;
    spec.request.gpus = bits >> 15 & 1;
    spec.request.devices = devices;
    spec.request.portion = bits >> 16 & 1 ? 0.5 : 0.3;
    spec.request.memory_mib = 400;
    spec.request.is_legacy_mig = bits >> 17 & 1;
    spec.gpu_groups = groups;
    spec.gpu_group_count = bits >> 18 & 1 && spec.node ? devices : 0;
    spec.claims = claims;
    spec.claim_count = bits >> 19 & 1 ? 2 : 0;
    spec.numa = &numa;
    spec.numa_count = bits >> 20 & 1;
    spec.is_foreign = bits >> 21 & 1;
    spec.is_reservation = (bits >> 22 & 3) == 3;
    spec.roles = bits >> 24 & 3;
    spec.has_task_priority = bits >> 26 & 1;
    spec.task_priority = (int32_t)(bits & 3);
    spec.constraints.anti_affinity = &term;
    spec.constraints.anti_affinity_count = bits >> 27 & 1;

    if (world->has_pod[i])
        (void)put_pod(state, &spec);
    else
        state_drop_pod(state, "ns", spec.name);
}

static void apply_claim(struct state *state, const struct world *world, uint32_t i)
{
    uint32_t bits = world->claim[i];
    static const struct device_amount amounts[] = {{"memory", "1Gi", 1 << 30, 0}, {"cores", "500m", 0, 500000000}};
    struct device_spec devices[] = {{.driver = "gpu.nvidia.com",
                                     .pool = "pool",
                                     .device = "0",
                                     .is_share = true,
                                     .amounts = amounts,
                                     .amount_count = bits & 2},
                                    {.driver = "gpu.nvidia.com",
                                     .pool = "pool",
                                     .device = bits & 1 ? "1" : "2",
                                     .request = "r",
                                     .is_admin = (bits & 2) != 0,
                                     .is_share = (bits & 8) != 0,
                                     .amounts = amounts + 1,
                                     .amount_count = 1}};
    const char *reserved = "u1";
    struct claim_spec spec = {
        .namespace = "ns",
        .name = name_of("c", i),
        .device_class = bits & 2 ? "gpu.nvidia.com" : "nic",
        .count = bits >> 2 & 3,
        .is_synthetic = bits >> 4 & 1,
        .is_allocated = bits >> 5 & 1,
        .devices = devices,
        .device_count = bits >> 6 & 1 ? 2 : 1,
        .reserved_for = &reserved,
        .reserved_count = 1,
    };

    if (world->has_claim[i])
        assert_ok(state_put_claim(state, &spec, &err_));
    else
        state_drop_claim(state, "ns", spec.name);
}

static void apply_slice(struct state *state, const struct world *world, uint32_t i)
{
    uint32_t bits = world->slice[i];
    struct slice_spec spec = {
        .name = name_of("s", i),
        .driver = bits & 1 ? "GPU.nvidia.com" : "nic.example.com",
        .node = name_of("n", bits >> 1 & 7),
        .is_for_all_nodes = bits >> 4 & 1,
        .device_count = bits >> 5 & 3,
    };

    if (world->has_slice[i])
        assert_ok(state_put_slice(state, &spec, &err_));
    else
        state_drop_slice(state, spec.name);
}

struct kind {
    uint32_t count;
    size_t has;  // where in struct world
    size_t bits;
    void (*apply)(struct state *state, const struct world *world, uint32_t i);
};

#define KIND(count, what) {count, offsetof(struct world, has_##what), offsetof(struct world, what), apply_##what}

static const struct kind kinds[] = {
    KIND(NODES, node), KIND(QUEUES, queue), KIND(GANGS, gang),
    KIND(PODS, pod),   KIND(CLAIMS, claim), KIND(SLICES, slice),
};

/* Changes a random object; pods most often. */
static void change(struct state *state, struct world *world)
{
    uint32_t k = draw(&world->seed, 2) ? 3 : draw(&world->seed, ARRAY_LEN(kinds));
    uint32_t i = draw(&world->seed, kinds[k].count);

    ((bool *)((char *)world + kinds[k].has))[i] = draw(&world->seed, 12) != 0;
    ((uint32_t *)(void *)((char *)world + kinds[k].bits))[i] = draw(&world->seed, UINT32_MAX);
    kinds[k].apply(state, world, i);
}

/* All objects that there are, those of one kind together, but kinds and objects in a random order. */
static struct state *load(struct world *world)
{
    struct state *state = state_new();
    uint32_t first = draw(&world->seed, ARRAY_LEN(kinds));

    for (uint32_t n = 0; n < ARRAY_LEN(kinds); n++) {
        const struct kind *kind = &kinds[(first + n * 5) % ARRAY_LEN(kinds)];
        uint32_t start = draw(&world->seed, kind->count);

        for (uint32_t i = 0; i < kind->count; i++)
            kind->apply(state, world, (start + i) % kind->count);
    }
    state_settle(state);
    return state;
}

/* Evicts and places pods at random, as an engine does. */
static void simulate(struct state *state, struct world *world, uint32_t steps)
{
    for (uint32_t n = 0; n < steps; n++) {
        pod_id id = draw(&world->seed, state->pods.len);
        node_id node = draw(&world->seed, state->nodes.len);
        struct pod *pod = &state->pods.items[id];
        gpu_group *groups = arena_calloc(&state->scratch, 2, sizeof *groups);

        if (!pod->is_present)
            continue;
        groups[0] = gpu_group_fresh(state->fresh_groups++);
        groups[1] = groups[0] + 1000000;
        if (pod->node != NO_ID && status_in(pod->status, ALLOCATED_SET)) {
            queue_charge(state, id, -1);
            node_release(state, pod->node, id);
            pod_set_status(state, id, POD_RELEASING);
            pod_set_virtual(state, id, true);
            node_hold(state, pod->node, id);
        } else if (state->nodes.items[node].is_present &&
                   (pod->status == POD_PENDING || pod->status == POD_RELEASING)) {
            if (pod->node == node)
                draw(&world->seed, 2) ? node_forget(state, node, id) : node_release(state, node, id);
            pod_set_status(state, id, draw(&world->seed, 2) ? POD_PIPELINED : POD_ALLOCATED);
            pod_set_node(state, id, node);
            if (request_is_shared(state_request(state, id)))
                pod_set_groups(state, id,
                               (struct group_list){
                                   .count = state_request(state, id)->devices,
                                   .one = groups[0],
                                   .many = groups,
                               });
            node_hold(state, node, id);
            queue_charge(state, id, 1);
        }
    }
}

/* A simulation that is taken back, in two parts, must leave no trace. */
static void simulate_and_undo(struct state *state, struct world *world)
{
    char *before = dump_state(state, true);

    state->undo.is_recording = true;
    undo_mark start = undo_here(&state->undo);
    simulate(state, world, 10);
    undo_mark half = undo_here(&state->undo);
    char *middle = dump_state(state, true);
    simulate(state, world, 20);
    undo_back_to(&state->undo, half);
    char *again = dump_state(state, true);
    assert_same_text(again, middle);
    undo_back_to(&state->undo, start);
    state->undo.is_recording = false;

    char *after = dump_state(state, true);
    assert_same_text(after, before);
    free(before);
    free(middle);
    free(again);
    free(after);
}

/* A cycle whose decisions stay: afterwards every pod is moved to what its object says. */
static void simulate_and_correct(struct state *state, struct world *world)
{
    state->undo.is_recording = true;
    simulate(state, world, 10);
    state->undo.is_recording = false;
    undo_forget(&state->undo);
    if (draw(&world->seed, 2))
        state_settle(state);
    for (uint32_t i = 0; i < PODS; i++)
        apply_pod(state, world, i);
}

static void check_against_fresh(struct state *state, struct world *world)
{
    state_settle(state);
    struct state *fresh = load(world);
    assert_same_state(state, fresh);
    state_free(fresh);
}

static void run(uint64_t seed)
{
    struct world world = {.seed = seed};
    struct state *state = state_new();

    for (uint32_t step = 0; step < STEPS; step++) {
        change(state, &world);
        if (step % 40 == 0)
            check_against_fresh(state, &world);
        if (step % 15 == 0 && state->pods.len > 0 && state->nodes.len > 0) {
            state_settle(state);
            simulate_and_undo(state, &world);
            assert_true(step % 45 || state->undo.len == 0);
        }
        if (step % 97 == 0 && state->pods.len > 0 && state->nodes.len > 0) {
            state_settle(state);
            simulate_and_correct(state, &world);
            check_against_fresh(state, &world);
        }
        if (step % 50 == 0)
            state_changes_seen(state);
    }
    assert_true(state_bytes(state) > 0);
    state_free(state);
}

static void a_state_kept_through_random_changes_is_the_one_loaded_afresh(void **unused)
{
    (void)unused;
    for (uint64_t seed = 1; seed <= 6; seed++)
        run(seed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_state_kept_through_random_changes_is_the_one_loaded_afresh),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
