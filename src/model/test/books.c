/* SPDX-License-Identifier: Apache-2.0 */
#include "model/test/helper.h"

/* One node with four GPUs of 1000 MiB, a queue below another, a gang, and a pod that asks for `kind`. */
struct bench {
    struct state *state;
    node_id node;
    pod_id pod;
    struct books books;
};

static struct bench bench_new(const struct request_spec *request)
{
    struct bench bench = {.state = state_new()};
    struct pod_spec pod = a_pod("p", "g");

    put_node(bench.state, "n", 4, 1000);
    put_queue(bench.state, "top", NULL);
    put_queue(bench.state, "leaf", "top");
    put_gang(bench.state, "g", "leaf", 1);
    pod.request = *request;
    pod.request.amounts = small_amounts;
    pod.request.amount_count = 2;
    bench.pod = put_pod(bench.state, &pod);
    state_settle(bench.state);
    bench.node = state_find_node(bench.state, "n");
    bench.books = state_books(bench.state, bench.node);
    return bench;
}

static pod_id add_like(struct bench *bench, const char *name, const struct request_spec *request)
{
    struct pod_spec pod = a_pod(name, "g");

    pod.request = *request;
    pod.request.amounts = small_amounts;
    pod.request.amount_count = 2;
    pod_id id = put_pod(bench->state, &pod);
    state_settle(bench->state);
    bench->books = state_books(bench->state, bench->node);
    return id;
}

static void hold(struct bench *bench, pod_id pod, enum pod_status status, gpu_group group)
{
    pod_set_status(bench->state, pod, status);
    pod_set_node(bench->state, pod, bench->node);
    if (group)
        pod_set_groups(bench->state, pod, (struct group_list){.count = 1, .one = group});
    node_hold(bench->state, bench->node, pod);
}

static void a_charge_follows_the_status_of_the_pod(void **unused)
{
    static const struct {
        enum pod_status status;
        int64_t idle, used, releasing;
    } cases[] = {
        {POD_ALLOCATED, 2, 2, 0},
        {POD_RELEASING, 2, 2, 2},
        {POD_PIPELINED, 4, 2, -2},
        {POD_STUCK, 2, 2, 0},
    };
    struct bench bench = bench_new(&(struct request_spec){.gpus = 2});

    (void)unused;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        hold(&bench, bench.pod, cases[i].status, 0);
        assert_int_equal(bench.books.idle[RES_GPU], cases[i].idle * GPU_ONE);
        assert_int_equal(bench.books.used[RES_GPU], cases[i].used * GPU_ONE);
        assert_int_equal(bench.books.releasing[RES_GPU], cases[i].releasing * GPU_ONE);
        assert_int_equal(bench.books.used[RES_CPU], 1000);
        assert_int_equal(bench.books.used[RES_PODS], 1);
        assert_int_equal(bench.state->pods.items[bench.pod].accepted_gpu, 2 * GPU_ONE);
        assert_int_equal(node_holds(bench.state, bench.node, bench.pod)->status, cases[i].status);
        /* It leaves under the status that it came with. */
        pod_set_status(bench.state, bench.pod, POD_PENDING);
        node_release(bench.state, bench.node, bench.pod);
        assert_null(node_holds(bench.state, bench.node, bench.pod));
        assert_int_equal(bench.books.idle[RES_GPU], 4 * GPU_ONE);
        assert_int_equal(bench.books.used[RES_GPU], 0);
        assert_int_equal(bench.books.releasing[RES_GPU], 0);
        node_release(bench.state, bench.node, bench.pod);
        assert_int_equal(bench.books.idle[RES_GPU], 4 * GPU_ONE);
    }
    state_free(bench.state);
}

static void a_dimension_that_the_node_lacks_is_not_charged(void **unused)
{
    struct state *state = state_new();
    struct amount_spec amounts[] = {{"cpu", 1000}, {"example.com/disk", 5}};
    struct pod_spec spec = a_pod("p", NULL);

    (void)unused;
    put_node(state, "n", 0, 0);
    spec.request = (struct request_spec){.gpus = 1, .amounts = amounts, .amount_count = 2};
    spec.status = POD_RUNNING;
    spec.node = "n";
    (void)put_pod(state, &spec);
    state_settle(state);
    struct books books = state_books(state, state_find_node(state, "n"));
    for (uint32_t d = 0; d < state->book_dims; d++)
        assert_int_equal(books.used[d], d == RES_CPU ? 1000 : d == RES_PODS ? 1 : 0);
    assert_true(state->nodes.items[0].is_cpu_only);
    state_free(state);
}

static void the_first_pod_on_a_shared_gpu_takes_a_device_and_the_last_gives_it_back(void **unused)
{
    struct request_spec half = {.kind = REQUEST_FRACTION, .portion = 0.5};
    struct bench bench = bench_new(&half);
    pod_id second = add_like(&bench, "second", &half);
    const struct node *node = &bench.state->nodes.items[bench.node];

    (void)unused;
    hold(&bench, bench.pod, POD_RUNNING, 7);
    const struct shared_gpu *gpu = state_shared_gpu(bench.state, node->first_shared);
    assert_int_equal(bench.books.idle[RES_GPU], 3 * GPU_ONE);
    assert_int_equal(bench.books.used[RES_GPU], 0);
    assert_int_equal(gpu->allocated, 500);
    assert_true(shared_gpu_fits(node, gpu, 500));
    assert_false(shared_gpu_fits(node, gpu, 501));
    assert_true(shared_gpu_fits_idle(node, gpu, 500));
    assert_true(node_idle_gpus(bench.state, bench.node) == 3.5);
    assert_int_equal(node_idle_gpu_memory(bench.state, bench.node), 3500);
    assert_true(node_shared_room(bench.state, bench.node) == 0.5);
    assert_int_equal(bench.state->pods.items[bench.pod].accepted_gpu, GPU_ONE / 2);

    hold(&bench, second, POD_RELEASING, 7);
    assert_int_equal(bench.books.idle[RES_GPU], 3 * GPU_ONE);
    assert_int_equal(bench.books.releasing[RES_GPU], 0);
    assert_true(node_releasing_gpus(bench.state, bench.node) == 0.5);
    assert_int_equal(node_releasing_gpu_memory(bench.state, bench.node), 500);
    assert_false(shared_gpu_fits_idle(node, gpu, 1));
    assert_true(shared_gpu_fits(node, gpu, 500));

    /* Once the first is leaving as well the whole device is being released. */
    node_release(bench.state, bench.node, bench.pod);
    assert_int_equal(bench.books.releasing[RES_GPU], GPU_ONE);
    assert_false(shared_gpu_fits(node, gpu, 1));
    assert_true(node_releasing_gpus(bench.state, bench.node) == 1);
    hold(&bench, bench.pod, POD_RUNNING, 7);
    assert_int_equal(bench.books.releasing[RES_GPU], 0);
    node_release(bench.state, bench.node, bench.pod);
    node_release(bench.state, bench.node, second);
    assert_int_equal(bench.books.releasing[RES_GPU], 0);
    assert_int_equal(bench.books.idle[RES_GPU], 4 * GPU_ONE);
    assert_int_equal(gpu->used, 0);
    assert_false(shared_gpu_fits_idle(node, gpu, 1));
    state_free(bench.state);
}

static void a_promised_shared_gpu_takes_from_what_is_being_released(void **unused)
{
    struct request_spec half = {.kind = REQUEST_GPU_MEMORY, .memory_mib = 501};
    struct bench bench = bench_new(&half);
    const struct node *node = &bench.state->nodes.items[bench.node];

    (void)unused;
    hold(&bench, bench.pod, POD_PIPELINED, 7);
    const struct shared_gpu *gpu = state_shared_gpu(bench.state, node->first_shared);
    assert_int_equal(bench.books.releasing[RES_GPU], -GPU_ONE);
    assert_int_equal(bench.books.idle[RES_GPU], 4 * GPU_ONE);
    assert_int_equal(gpu->releasing, -501);
    assert_false(shared_gpu_fits_idle(node, gpu, 1));
    /* 501 of 1000 MiB are 51 hundredths. */
    assert_int_equal(bench.state->pods.items[bench.pod].accepted_gpu, 51 * GPU_HUNDREDTH);
    node_release(bench.state, bench.node, bench.pod);
    assert_int_equal(bench.books.releasing[RES_GPU], 0);
    state_free(bench.state);
}

static void a_reservation_pod_holds_no_gpu_and_sharing_pods_count_it_once(void **unused)
{
    struct state *state = state_new();
    struct pod_spec spec = a_pod("z-reservation", NULL);
    const char *group = "gpu-0";

    (void)unused;
    put_node(state, "n", 1, 1000);
    spec.request.gpus = 1;
    spec.is_reservation = true;
    spec.status = POD_RUNNING;
    spec.node = "n";
    (void)put_pod(state, &spec);
    for (int i = 0; i < 2; i++) {
        spec = a_pod(i ? "b" : "a", NULL);
        spec.request.kind = REQUEST_FRACTION;
        spec.request.portion = 0.5;
        spec.status = POD_RUNNING;
        spec.node = "n";
        spec.gpu_groups = &group;
        spec.gpu_group_count = 1;
        (void)put_pod(state, &spec);
    }
    state_settle(state);
    struct books books = state_books(state, 0);
    assert_int_equal(books.idle[RES_GPU], 0);
    assert_int_equal(books.used[RES_GPU], 0);
    assert_int_equal(books.used[RES_PODS], 3);
    /* Held entries are in front of those before them: the reservation was first. */
    uint32_t last = state->nodes.items[0].first_held;
    while (state_held(state, last)->next != NO_ID)
        last = state_held(state, last)->next;
    assert_true(state->pods.items[state_held(state, last)->pod].is_reservation);
    state_free(state);
}

static void a_sharing_pod_that_names_no_gpu_gets_its_own(void **unused)
{
    struct state *state = state_new();
    struct pod_spec spec = a_pod("p", NULL);

    (void)unused;
    put_node(state, "n", 4, 1000);
    spec.request.kind = REQUEST_FRACTION;
    spec.request.portion = 0.4;
    spec.request.devices = 2;
    spec.status = POD_RUNNING;
    spec.node = "n";
    pod_id pod = put_pod(state, &spec);
    state_settle(state);
    struct group_list *groups = &state->pods.items[pod].groups;
    assert_int_equal(groups->count, 2);
    assert_true(groups->is_owned);
    assert_true(gpu_group_is_fresh(group_at(groups, 0)));
    assert_true(group_at(groups, 0) != group_at(groups, 1));
    assert_int_equal(state_books(state, 0).idle[RES_GPU], 2 * GPU_ONE);
    assert_int_equal(state->pods.items[pod].accepted_gpu, 80 * GPU_HUNDREDTH);
    state_move_pod(state, pod, POD_RELEASING, 0, *groups);
    state_settle(state);
    assert_int_equal(groups->count, 2);
    assert_int_equal(state_books(state, 0).releasing[RES_GPU], 2 * GPU_ONE);
    state_move_pod(state, pod, POD_PENDING, NO_ID, (struct group_list){0});
    state_settle(state);
    assert_int_equal(groups->count, 0);
    assert_int_equal(state_books(state, 0).idle[RES_GPU], 4 * GPU_ONE);
    state_free(state);
}

static void a_device_of_several_claims_is_charged_once_to_the_node(void **unused)
{
    struct state *state = state_new();
    struct device_spec device = {.driver = "gpu.nvidia.com", .pool = "n", .device = "0"};
    struct claim_spec claim = {
        .namespace = "ns",
        .name = "c",
        .device_class = "Gpu-class",
        .is_allocated = true,
        .devices = &device,
        .device_count = 1,
    };
    struct pod_claim_spec name = {.name = "c"};
    pod_id pods[2];

    (void)unused;
    put_node(state, "n", 4, 1000);
    for (int i = 0; i < 2; i++) {
        struct pod_spec spec = a_pod(i ? "b" : "a", NULL);

        spec.claims = &name;
        spec.claim_count = 1;
        spec.status = POD_RUNNING;
        spec.node = "n";
        pods[i] = put_pod(state, &spec);
    }
    assert_ok(state_put_claim(state, &claim, &err_));
    state_settle(state);
    struct books books = state_books(state, 0);
    assert_int_equal(state_request(state, pods[0])->dra_gpus, GPU_ONE);
    assert_int_equal(books.used[RES_GPU], GPU_ONE);
    assert_int_equal(state->pods.items[pods[1]].accepted_gpu, GPU_ONE);

    state->undo.is_recording = true;
    node_release(state, 0, pods[0]);
    assert_int_equal(books.used[RES_GPU], GPU_ONE);
    node_release(state, 0, pods[1]);
    assert_int_equal(books.used[RES_GPU], 0);
    node_hold(state, 0, pods[1]);
    assert_int_equal(books.used[RES_GPU], GPU_ONE);
    undo_back_to(&state->undo, 0);
    state->undo.is_recording = false;
    assert_int_equal(books.used[RES_GPU], GPU_ONE);
    assert_int_equal(node_holds(state, 0, pods[1])->device_count, 1);
    state_free(state);
}

static void a_forgotten_pod_leaves_its_charges(void **unused)
{
    struct bench bench = bench_new(&(struct request_spec){.gpus = 1});

    (void)unused;
    hold(&bench, bench.pod, POD_RELEASING, 0);
    node_forget(bench.state, bench.node, bench.pod);
    assert_null(node_holds(bench.state, bench.node, bench.pod));
    assert_int_equal(bench.books.used[RES_GPU], GPU_ONE);
    state_settle(bench.state);
    assert_int_equal(bench.books.used[RES_GPU], GPU_ONE);
    assert_non_null(node_holds(bench.state, bench.node, bench.pod));
    state_free(bench.state);
}

static void queues_above_are_charged_as_well(void **unused)
{
    struct bench bench = bench_new(&(struct request_spec){.kind = REQUEST_GPU_MEMORY, .memory_mib = 250});
    struct state *state = bench.state;
    struct pod_spec lone = a_pod("lone", NULL);
    pod_id lone_id = put_pod(state, &lone);

    (void)unused;
    state_settle(state);
    state->undo.is_recording = true;
    hold(&bench, bench.pod, POD_ALLOCATED, 7);
    queue_charge(state, bench.pod, 1);
    queue_charge(state, lone_id, 1);
    for (queue_id id = 0; id < 2; id++) {
        assert_int_equal(state->queues.items[id].allocated.v[SHARE_GPU], 25 * GPU_HUNDREDTH);
        assert_int_equal(state->queues.items[id].allocated.v[SHARE_CPU], 1000);
        assert_int_equal(state->queues.items[id].allocated_fixed.v[SHARE_CPU], 0);
    }
    state->gangs.items[0].is_preemptible = false;
    queue_charge(state, bench.pod, -1);
    assert_int_equal(state->queues.items[0].allocated.v[SHARE_GPU], 0);
    assert_int_equal(state->queues.items[0].allocated_fixed.v[SHARE_GPU], -25 * GPU_HUNDREDTH);
    state->gangs.items[0].is_preemptible = true;
    undo_back_to(&state->undo, 0);
    state->queues.items[1].is_orphan = true;
    queue_charge(state, bench.pod, 1);
    assert_int_equal(state->queues.items[0].allocated.v[SHARE_CPU], 0);
    state->undo.is_recording = false;
    state_free(state);
}

static void what_a_cycle_decided_outlives_its_memory(void **unused)
{
    struct request_spec parts = {.kind = REQUEST_FRACTION, .portion = 0.5, .devices = 2};
    struct bench bench = bench_new(&parts);
    struct state *state = bench.state;
    struct pod *pod = &state->pods.items[bench.pod];

    (void)unused;
    for (int round = 0; round < 50; round++) {
        gpu_group *groups = arena_alloc(&state->scratch, 2 * sizeof *groups);
        struct numa_placement *numa = arena_calloc(&state->scratch, 1, sizeof *numa + sizeof *numa->draws);

        groups[0] = gpu_group_fresh(100 + (uint64_t)round);
        groups[1] = gpu_group_fresh(200);
        numa->count = 1;
        state->undo.is_recording = true;
        node_release(state, bench.node, bench.pod);
        pod_set_groups(state, bench.pod, (struct group_list){.count = 2, .many = groups});
        undo_set64(&state->undo, &pod->numa, (uintptr_t)numa);
        undo_set32(&state->undo, &pod->numa_is_owned, 0);
        id_set_add(&state->scratch_pods, bench.pod);
        hold(&bench, bench.pod, POD_ALLOCATED, 0);
        queue_charge(state, bench.pod, 1);
        state->undo.is_recording = false;
        state_settle(state);
        memset(arena_alloc(&state->scratch, 1000), 0xff, 1000);
        assert_true(pod->groups.is_owned && pod->numa_is_owned);
        assert_int_equal(group_at(&pod->groups, 0), gpu_group_fresh(100 + (uint64_t)round));
        assert_int_equal(pod->numa->count, 1);
        assert_int_equal(state->queues.items[0].allocated.v[SHARE_GPU], GPU_ONE);
        assert_int_equal(state->queues.items[0].requested.v[SHARE_CPU], 0);
        assert_int_equal(bench.books.idle[RES_GPU], 2 * GPU_ONE);
        assert_int_equal(state->nodes.items[bench.node].pods.len, 1);
    }
    /* Entries of the books are used again. */
    assert_in_range(state->held.len, 1, 2);
    assert_in_range(state->shared_gpus.len, 2, 4);
    state_free(state);
}

static void totals_leave_out_nodes_in_trouble_and_what_others_take(void **unused)
{
    struct state *state = state_new();
    struct amount_spec cpu = {"cpu", 4000};
    struct node_spec spec = {.name = "bad", .allocatable = &cpu, .allocatable_count = 1, .gpu_memory_mib = 2050};
    struct pod_spec pod = a_pod("theirs", NULL);

    (void)unused;
    put_node(state, "good", 4, 1000);
    assert_ok(state_put_node(state, &spec, &err_));
    pod.is_foreign = true;
    pod.status = POD_RUNNING;
    pod.node = "good";
    pod.request.gpus = 1;
    (void)put_pod(state, &pod);
    state_settle(state);
    assert_int_equal(state->total.v[SHARE_CPU], 16000 + 4000 - 1000);
    assert_int_equal(state->total.v[SHARE_GPU], 3 * GPU_ONE);
    assert_int_equal(state->min_gpu_memory_mib, 1000);
    assert_int_equal(state->max_gpu_memory_mib, 2000);
    spec.troubles = NODE_NOT_READY;
    assert_ok(state_put_node(state, &spec, &err_));
    pod.is_utility = true;
    (void)put_pod(state, &pod);
    state_settle(state);
    assert_int_equal(state->total.v[SHARE_CPU], 16000);
    assert_int_equal(state->max_gpu_memory_mib, 2000);

    /* The same node again is no change. */
    state_changes_seen(state);
    assert_ok(state_put_node(state, &spec, &err_));
    assert_int_equal(state->changes.nodes.ids.len, 0);
    assert_false(state->changes.nodes_static);
    state_drop_node(state, "bad");
    state_drop_node(state, "bad");
    assert_true(state->changes.nodes_static);
    state_settle(state);
    assert_int_equal(state->max_gpu_memory_mib, 1000);
    assert_int_equal(state->nodes_by_rank.len, 1);
    assert_int_equal(state_find_node(state, "bad"), NO_ID);
    state_free(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_charge_follows_the_status_of_the_pod),
        cmocka_unit_test(a_dimension_that_the_node_lacks_is_not_charged),
        cmocka_unit_test(the_first_pod_on_a_shared_gpu_takes_a_device_and_the_last_gives_it_back),
        cmocka_unit_test(a_promised_shared_gpu_takes_from_what_is_being_released),
        cmocka_unit_test(a_reservation_pod_holds_no_gpu_and_sharing_pods_count_it_once),
        cmocka_unit_test(a_sharing_pod_that_names_no_gpu_gets_its_own),
        cmocka_unit_test(a_device_of_several_claims_is_charged_once_to_the_node),
        cmocka_unit_test(a_forgotten_pod_leaves_its_charges),
        cmocka_unit_test(queues_above_are_charged_as_well),
        cmocka_unit_test(what_a_cycle_decided_outlives_its_memory),
        cmocka_unit_test(totals_leave_out_nodes_in_trouble_and_what_others_take),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
