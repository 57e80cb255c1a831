/* SPDX-License-Identifier: Apache-2.0 */
#include "model/test/helper.h"

#include "model/parts.h"

static request_id add_request(struct state *state, const struct request_spec *spec)
{
    request_id id = NO_ID;

    assert_ok(request_add(state, spec, &id, &err_));
    return id;
}

static void equal_requests_are_one_and_what_they_cost_is_worked_out(void **unused)
{
    struct state *state = state_new();
    struct amount_spec amounts[] = {{"memory", GIB}, {"cpu", 500}, {"cpu", 500}, {"nvidia.com/mig-2g.10gb", 3}};
    struct request_spec whole = {.gpus = 2, .amounts = amounts, .amount_count = 3};
    struct request_spec part = {.kind = REQUEST_FRACTION, .portion = 0.285, .devices = 2};
    struct request_spec memory = {.kind = REQUEST_GPU_MEMORY, .memory_mib = 4000};
    struct request_spec mig = {.kind = REQUEST_MIG, .amounts = amounts, .amount_count = 4};
    request_id id = add_request(state, &whole);
    const struct request *request = &state->requests.items[id];

    (void)unused;
    assert_int_equal(add_request(state, &whole), id);
    assert_int_equal(request->v[RES_CPU], 1000);
    assert_int_equal(request->v[RES_GPU], 2 * GPU_ONE);
    assert_int_equal(request->v[RES_PODS], 1);
    assert_int_equal(request->v_count, RES_FIXED);
    assert_int_equal(request->quota_gpus, 2 * GPU_ONE);
    assert_false(request->is_cpu_only);

    /* 0.285 * 100 is a little less than 28.5 in doubles, so it rounds down. */
    request = &state->requests.items[add_request(state, &part)];
    assert_int_equal(request->gpus, 2 * 28 * GPU_HUNDREDTH);
    assert_int_equal(request->devices, 2);
    part.portion = 0.125;
    request = &state->requests.items[add_request(state, &part)];
    assert_int_equal(request->gpus, 2 * 13 * GPU_HUNDREDTH);

    request = &state->requests.items[add_request(state, &memory)];
    assert_int_equal(request->quota_gpus, 0);
    assert_int_equal(request->devices, 1);
    assert_false(request->is_cpu_only);

    request = &state->requests.items[add_request(state, &mig)];
    assert_int_equal(request->v_count, RES_FIXED + 1);
    assert_int_equal(request->quota_gpus, 6 * GPU_ONE);
    assert_int_equal(request->gpus, 0);

    whole.gpus = 0;
    assert_true(state->requests.items[add_request(state, &whole)].is_cpu_only);
    whole.qos = QOS_GUARANTEED;
    assert_int_equal(state->requests.len, 6);
    assert_int_equal(add_request(state, &whole), 6);
    assert_int_equal(request_with_dra(state, 6, 0, 0), 6);
    id = request_with_dra(state, 6, GPU_ONE, 0);
    assert_int_equal(state->requests.items[id].v[RES_GPU], GPU_ONE);
    assert_false(state->requests.items[id].is_cpu_only);
    state_free(state);
}

static void requests_that_cannot_be_are_refused(void **unused)
{
    struct amount_spec negative = {"cpu", -1};
    struct amount_spec nameless = {"", 1};
    struct amount_spec gpu = {"amd.com/gpu", GPU_ONE};
    struct amount_spec mig = {"nvidia.com/mig-1g.5gb", 1 << 20};
    struct {
        struct request_spec spec;
        const char *text;
    } cases[] = {
        {{.kind = (enum request_kind)9}, "pod 'p': unknown kind of request: 9"},
        {{.gpus = -1}, "pod 'p': it requests -1 GPUs; must be 0 to 9007199"},
        {{.kind = REQUEST_FRACTION}, "pod 'p': it requests a fraction of 0 GPU; must be above 0 and at most 1"},
        {{.kind = REQUEST_FRACTION, .portion = 1.5},
         "pod 'p': it requests a fraction of 1.5 GPU; must be above 0 and at most 1"},
        {{.kind = REQUEST_GPU_MEMORY}, "pod 'p': it requests 0 MiB of GPU memory; must be 1 to 536870912"},
        {{.kind = REQUEST_FRACTION, .portion = 1, .devices = 2000},
         "pod 'p': it requests fractions of 2000 GPUs; must be at most 512"},
        {{.amounts = &negative, .amount_count = 1},
         "pod 'p': resource 'cpu': amount -1 is out of range; must be 0 to 9007199254740992"},
        {{.amounts = &nameless, .amount_count = 1}, "pod 'p': a resource without a name"},
        {{.amounts = &gpu, .amount_count = 1}, "pod 'p': GPUs are listed among its other resources"},
        {{.amounts = &mig, .amount_count = 1},
         "pod 'p': resource 'nvidia.com/mig-1g.5gb': amount 1048576 is out of range; must be 0 to 65536"},
    };
    struct state *state = state_new();

    (void)unused;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct pod_spec pod = {.name = "p", .request = cases[i].spec};
        struct err err = {0};

        assert_int_equal(state_put_pod(state, &pod, &err), -EINVAL);
        assert_string_equal(err.text, cases[i].text);
    }
    assert_int_equal(state->pods.len, 0);
    state_free(state);
}

static void equal_constraints_are_one_and_every_field_tells_them_apart(void **unused)
{
    const char *values[] = {"a", "b"};
    struct match_spec match = {MATCH_IN, "zone", values, 2};
    struct selector_spec selector = {&match, 1};
    struct str_pair pair = {"disk", "ssd"};
    struct preferred_node_spec preferred = {selector, 7};
    struct toleration_spec toleration = {.key = "t", .value = "v", .effect = TAINT_NO_EXECUTE};
    struct pod_term_spec term = {
        .selector = selector,
        .namespaces = values,
        .namespace_count = 2,
        .all_namespaces = true,
        .topology_key = "zone",
        .weight = -3,
    };
    struct spread_spec spread = {selector, "zone", 2, true};
    struct host_port_spec port = {"", 8080, 1};
    struct constraints_spec full = {
        .node_selector = &pair,
        .node_selector_count = 1,
        .node_terms = &selector,
        .node_term_count = 1,
        .preferred_nodes = &preferred,
        .preferred_node_count = 1,
        .tolerations = &toleration,
        .toleration_count = 1,
        .affinity = &term,
        .affinity_count = 1,
        .anti_affinity = &term,
        .anti_affinity_count = 1,
        .preferred_pods = &term,
        .preferred_pod_count = 1,
        .spread = &spread,
        .spread_count = 1,
        .ports = &port,
        .port_count = 1,
        .volume_claims = values,
        .volume_claim_count = 2,
        .config_maps = values,
        .config_map_count = 1,
        .priority_class = "high",
        .priority = 9,
    };
    struct state *state = state_new();
    constraints_id id = constraints_add(state, &full);
    const struct constraints *kept = &state->constraints.items[id];

    (void)unused;
    assert_int_equal(constraints_add(state, &full), id);
    assert_true(constraints_limit_nodes(kept));
    assert_string_equal(state_name(state, kept->node_selector[0].value), "ssd");
    assert_string_equal(state_name(state, kept->node_terms[0].all[0].values[1]), "b");
    assert_int_equal(kept->preferred_nodes[0].weight, 7);
    assert_int_equal(kept->tolerations[0].effect, TAINT_NO_EXECUTE);
    assert_int_equal(kept->affinity[0].namespace_count, 2);
    assert_true(kept->anti_affinity[0].all_namespaces);
    assert_int_equal(kept->preferred_pods[0].weight, -3);
    assert_int_equal(kept->spread[0].max_skew, 2);
    assert_true(kept->spread[0].is_hard);
    assert_int_equal(kept->ports[0].port, 8080);
    assert_string_equal(state_name(state, kept->volume_claims[1]), "b");
    assert_int_equal(kept->config_map_count, 1);
    assert_int_equal(kept->priority, 9);
    assert_int_equal(constraints_add(state, &(struct constraints_spec){0}), 0);
    assert_int_not_equal(constraints_add(state, &(struct constraints_spec){.has_node_selector = true}), 0);

    full.ports = &(struct host_port_spec){"10.0.0.1", 8080, 1};
    assert_int_not_equal(constraints_add(state, &full), id);
    state_free(state);
}

static void shapes_with_one_hash_stay_apart(void **unused)
{
    struct state *state = state_new();
    labels_id a = labels_add(state, &(struct str_pair){"a", "1"}, 1);

    (void)unused;
    /* Puts another shape in front of the chain of `a`, as if both had one hash. */
    struct words words = {0};
    vec_push(&words, state->labels.items[a].pairs[0].key);
    vec_push(&words, state->labels.items[a].pairs[0].value);
    uint64_t hash = words_hash(&words);
    labels_id b = labels_add(state, &(struct str_pair){"b", "1"}, 1);
    state->labels_next.items[b] = a;
    map64_put(&state->labels_by_hash, hash, b);
    assert_int_equal(labels_add(state, &(struct str_pair){"a", "1"}, 1), a);
    vec_done(&words);
    state_free(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_requests_are_one_and_what_they_cost_is_worked_out),
        cmocka_unit_test(requests_that_cannot_be_are_refused),
        cmocka_unit_test(equal_constraints_are_one_and_every_field_tells_them_apart),
        cmocka_unit_test(shapes_with_one_hash_stay_apart),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
