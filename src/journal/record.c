/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The tables of all that is recorded. A member that is added to a spec is added here, or replays are not the same.
 *
 * Journals are kept, and read by later versions. So a change of the tables is a new form of the records (record.h): a row
 * that is added has it as `.since`, one that goes or changes stays and gets it as `.until`. A spec whose member is not in a
 * journal has zero there, which has to mean what the engine did before there was the member.
 */
#include "journal/record.h"

#include "base/macros.h"
#include "model/state.h"

/* clang-format off */
#define TYPE_OF(member) _Generic((member),                                                    \
    const char *: WIRE_STRING, bool: WIRE_BOOL, uint8_t: WIRE_U8, uint16_t: WIRE_U16,         \
    uint32_t: WIRE_U32, uint64_t: WIRE_U64, int32_t: WIRE_I32, int64_t: WIRE_I64, double: WIRE_DOUBLE)
#define MEMBER(s, m) (((struct s *)0)->m)

/* A plain member; several in a row; an enum; a struct in place or behind a pointer; arrays of these. Behind them, the
 * forms of which they are part. */
#define F(s, m, ...) {.type = TYPE_OF(MEMBER(s, m)), .at = offsetof(struct s, m), __VA_ARGS__}
#define ROW(s, m) {.type = TYPE_OF(MEMBER(s, m[0])), .at = offsetof(struct s, m), \
                   .repeat = ARRAY_LEN(MEMBER(s, m)), .step = sizeof(MEMBER(s, m[0]))}
#define ENUM(s, m, last, ...) {.type = WIRE_ENUM, .at = offsetof(struct s, m), .max = (last) + 1, __VA_ARGS__}
#define ENUMS(s, m, last) {.type = WIRE_ENUM, .at = offsetof(struct s, m), .max = (last) + 1, \
                           .repeat = ARRAY_LEN(MEMBER(s, m)), .step = sizeof(MEMBER(s, m[0]))}
#define IN(s, m, shape_, ...) {.type = WIRE_STRUCT, .at = offsetof(struct s, m), .shape = &(shape_), __VA_ARGS__}
#define TO(s, m, shape_) {.type = WIRE_POINTER, .at = offsetof(struct s, m), .shape = &(shape_)}
#define MANY(s, m, n, shape_, ...) {.type = WIRE_STRUCTS, .at = offsetof(struct s, m), \
                                    .count_at = offsetof(struct s, n), .shape = &(shape_), __VA_ARGS__}
#define NAMES(s, m, n, ...) {.type = WIRE_STRINGS, .at = offsetof(struct s, m), .count_at = offsetof(struct s, n), \
                             __VA_ARGS__}
#define NAMES_OR_COUNT(s, m, n) {.type = WIRE_STRINGS, .at = offsetof(struct s, m), .may_be_unnamed = true, \
                                 .count_at = offsetof(struct s, n)}
#define NUMBERS(s, m, n) {.type = WIRE_NUMBERS, .at = offsetof(struct s, m), .count_at = offsetof(struct s, n)}

#define SHAPE(s, ...)                                                  \
    static const struct wire_field s##_fields[] = {__VA_ARGS__};       \
    static const struct wire_shape s##_shape = {s##_fields, ARRAY_LEN(s##_fields), sizeof(struct s)}

SHAPE(str_pair, F(str_pair, key), F(str_pair, value));
SHAPE(amount_spec, F(amount_spec, resource), F(amount_spec, amount));
SHAPE(taint_spec, F(taint_spec, key), F(taint_spec, value), ENUM(taint_spec, effect, _TAINT_EFFECT_MAX - 1));
SHAPE(numa_zone_spec, F(numa_zone_spec, name),
      MANY(numa_zone_spec, allocatable, allocatable_count, amount_spec_shape),
      MANY(numa_zone_spec, available, available_count, amount_spec_shape));
SHAPE(numa_spec, ENUM(numa_spec, policy, NUMA_SINGLE_NODE), F(numa_spec, is_pod_scope),
      F(numa_spec, reconstructs_available), MANY(numa_spec, zones, zone_count, numa_zone_spec_shape));
SHAPE(attach_limit_spec, F(attach_limit_spec, driver), F(attach_limit_spec, count));
SHAPE(node_spec, F(node_spec, name), MANY(node_spec, labels, label_count, str_pair_shape),
      MANY(node_spec, taints, taint_count, taint_spec_shape), F(node_spec, troubles),
      MANY(node_spec, allocatable, allocatable_count, amount_spec_shape), F(node_spec, device_count),
      F(node_spec, gpu_memory_mib), F(node_spec, is_gpu_memory_known), F(node_spec, is_mig_enabled),
      ENUM(node_spec, mig_strategy, MIG_MIXED), TO(node_spec, numa, numa_spec_shape), F(node_spec, clamps_idle_pods),
      F(node_spec, workers, .since = 2), F(node_spec, hides_gpus, .since = 2),
      MANY(node_spec, attach_limits, attach_limit_count, attach_limit_spec_shape, .since = 6));

SHAPE(queue_spec, F(queue_spec, name), F(queue_spec, display_name), F(queue_spec, uid), F(queue_spec, parent),
      F(queue_spec, priority), F(queue_spec, created), F(queue_spec, has_preempt_min_runtime),
      F(queue_spec, has_reclaim_min_runtime), F(queue_spec, preempt_min_runtime), F(queue_spec, reclaim_min_runtime),
      ROW(queue_spec, deserved), ROW(queue_spec, limit), ROW(queue_spec, weight), ROW(queue_spec, usage));

SHAPE(topology_constraint_spec, F(topology_constraint_spec, topology), F(topology_constraint_spec, required),
      F(topology_constraint_spec, preferred));
SHAPE(group_spec, F(group_spec, name), F(group_spec, parent), F(group_spec, is_pod_set), F(group_spec, min),
      IN(group_spec, topology, topology_constraint_spec_shape));
SHAPE(gang_spec, F(gang_spec, namespace), F(gang_spec, name), F(gang_spec, uid), F(gang_spec, queue),
      F(gang_spec, priority), F(gang_spec, is_preemptible), F(gang_spec, created), F(gang_spec, last_start),
      F(gang_spec, last_eviction), F(gang_spec, stale_since), F(gang_spec, preemption_delay), F(gang_spec, has_grace),
      F(gang_spec, staleness_grace), F(gang_spec, has_tree_error),
      MANY(gang_spec, groups, group_count, group_spec_shape));

SHAPE(request_spec, ENUM(request_spec, kind, REQUEST_MIG), ENUM(request_spec, qos, QOS_BEST_EFFORT),
      F(request_spec, is_legacy_mig), F(request_spec, gpus), F(request_spec, devices), F(request_spec, portion),
      F(request_spec, memory_mib), MANY(request_spec, amounts, amount_count, amount_spec_shape));
SHAPE(match_spec, ENUM(match_spec, op, _MATCH_OP_MAX - 1), F(match_spec, key), NAMES(match_spec, values, value_count));
SHAPE(selector_spec, MANY(selector_spec, all, count, match_spec_shape));
SHAPE(toleration_spec, F(toleration_spec, key), F(toleration_spec, value), F(toleration_spec, exists),
      F(toleration_spec, any_effect), ENUM(toleration_spec, effect, _TAINT_EFFECT_MAX - 1));
SHAPE(pod_term_spec, IN(pod_term_spec, selector, selector_spec_shape),
      NAMES(pod_term_spec, namespaces, namespace_count), F(pod_term_spec, all_namespaces),
      F(pod_term_spec, topology_key), F(pod_term_spec, weight));
SHAPE(preferred_node_spec, IN(preferred_node_spec, selector, selector_spec_shape), F(preferred_node_spec, weight));
SHAPE(host_port_spec, F(host_port_spec, address), F(host_port_spec, port), F(host_port_spec, protocol));
SHAPE(spread_spec, IN(spread_spec, selector, selector_spec_shape), F(spread_spec, topology_key),
      F(spread_spec, max_skew), F(spread_spec, is_hard));
SHAPE(constraints_spec, MANY(constraints_spec, node_selector, node_selector_count, str_pair_shape),
      F(constraints_spec, has_node_selector), MANY(constraints_spec, node_terms, node_term_count, selector_spec_shape),
      MANY(constraints_spec, preferred_nodes, preferred_node_count, preferred_node_spec_shape),
      MANY(constraints_spec, tolerations, toleration_count, toleration_spec_shape),
      MANY(constraints_spec, affinity, affinity_count, pod_term_spec_shape),
      MANY(constraints_spec, anti_affinity, anti_affinity_count, pod_term_spec_shape),
      MANY(constraints_spec, preferred_pods, preferred_pod_count, pod_term_spec_shape),
      MANY(constraints_spec, spread, spread_count, spread_spec_shape),
      MANY(constraints_spec, ports, port_count, host_port_spec_shape),
      NAMES(constraints_spec, volume_claims, volume_claim_count),
      NAMES(constraints_spec, config_maps, config_map_count), F(constraints_spec, priority_class),
      F(constraints_spec, priority));
SHAPE(pod_claim_spec, F(pod_claim_spec, name), F(pod_claim_spec, is_from_template));
SHAPE(numa_draw_spec, F(numa_draw_spec, zone), F(numa_draw_spec, resource), F(numa_draw_spec, amount));
SHAPE(pod_spec, F(pod_spec, namespace), F(pod_spec, name), F(pod_spec, uid), F(pod_spec, gang), F(pod_spec, pod_set),
      F(pod_spec, created), F(pod_spec, deleted), ENUM(pod_spec, status, _POD_STATUS_MAX - 1), F(pod_spec, node),
      F(pod_spec, nominated_node), NAMES(pod_spec, gpu_groups, gpu_group_count),
      MANY(pod_spec, labels, label_count, str_pair_shape), IN(pod_spec, request, request_spec_shape),
      IN(pod_spec, constraints, constraints_spec_shape), MANY(pod_spec, claims, claim_count, pod_claim_spec_shape),
      F(pod_spec, gpu_resource, .since = 3), F(pod_spec, extended_claim, .since = 3),
      MANY(pod_spec, numa, numa_count, numa_draw_spec_shape), F(pod_spec, is_foreign), F(pod_spec, is_reservation),
      F(pod_spec, is_utility), F(pod_spec, roles), F(pod_spec, has_task_priority), F(pod_spec, is_task_priority_bad),
      F(pod_spec, task_priority));

SHAPE(topology_spec, F(topology_spec, name), MANY(topology_spec, levels, level_count, str_pair_shape));
SHAPE(priority_class_spec, F(priority_class_spec, name), F(priority_class_spec, value),
      F(priority_class_spec, is_default));
SHAPE(device_config, NAMES(device_config, requests, request_count), F(device_config, text));
SHAPE(device_attribute, F(device_attribute, name), ENUM(device_attribute, kind, _ATTRIBUTE_KIND_MAX - 1),
      F(device_attribute, integer), F(device_attribute, text),
      NAMES(device_attribute, values, value_count, .since = 5));
SHAPE(device_amount, F(device_amount, name), F(device_amount, text), F(device_amount, whole), F(device_amount, nano));
SHAPE(capacity_policy, F(capacity_policy, name), IN(capacity_policy, fallback, device_amount_shape),
      IN(capacity_policy, min, device_amount_shape), IN(capacity_policy, max, device_amount_shape),
      IN(capacity_policy, step, device_amount_shape),
      MANY(capacity_policy, values, value_count, device_amount_shape));
SHAPE(counter_set, F(counter_set, name), MANY(counter_set, counters, counter_count, device_amount_shape));
SHAPE(device_taint, F(device_taint, key), F(device_taint, value), ENUM(device_taint, effect, _DEVICE_EFFECT_MAX - 1));
SHAPE(node_reach, F(node_reach, node), F(node_reach, is_for_all_nodes),
      MANY(node_reach, terms, term_count, selector_spec_shape));
SHAPE(device_offer, MANY(device_offer, attributes, attribute_count, device_attribute_shape),
      MANY(device_offer, capacity, capacity_count, device_amount_shape),
      MANY(device_offer, consumes, consume_count, counter_set_shape),
      MANY(device_offer, taints, taint_count, device_taint_shape), IN(device_offer, reach, node_reach_shape),
      F(device_offer, allows_multiple), F(device_offer, binds_to_node),
      NAMES(device_offer, conditions, condition_count), NAMES(device_offer, failures, failure_count),
      MANY(device_offer, policies, policy_count, capacity_policy_shape, .since = 5));
SHAPE(device_toleration, F(device_toleration, key), F(device_toleration, value), F(device_toleration, exists),
      F(device_toleration, any_effect), ENUM(device_toleration, effect, _DEVICE_EFFECT_MAX - 1),
      F(device_toleration, has_seconds, .since = 5), F(device_toleration, seconds, .since = 5));
SHAPE(device_ask, F(device_ask, name), F(device_ask, device_class), NAMES(device_ask, selectors, selector_count),
      F(device_ask, is_all), F(device_ask, count), F(device_ask, is_admin),
      MANY(device_ask, tolerations, toleration_count, device_toleration_shape),
      MANY(device_ask, capacity, capacity_count, device_amount_shape));
SHAPE(device_request, F(device_request, name), MANY(device_request, asks, ask_count, device_ask_shape));
SHAPE(device_constraint, NAMES(device_constraint, requests, request_count), F(device_constraint, attribute),
      F(device_constraint, is_distinct));
SHAPE(claim_ask, MANY(claim_ask, requests, request_count, device_request_shape),
      MANY(claim_ask, constraints, constraint_count, device_constraint_shape),
      MANY(claim_ask, configs, config_count, device_config_shape));
/* Once no more than a name_spec, whose namespace came first and was empty. */
SHAPE(device_class_spec, F(device_class_spec, name, .until = 3), F(device_class_spec, name),
      F(device_class_spec, resource, .since = 3), F(device_class_spec, driver, .since = 3),
      F(device_class_spec, created, .since = 3), NAMES(device_class_spec, selectors, selector_count, .since = 4),
      MANY(device_class_spec, configs, config_count, device_config_shape, .since = 4));
SHAPE(slice_spec, F(slice_spec, name), F(slice_spec, driver), F(slice_spec, pool), F(slice_spec, device_class),
      F(slice_spec, node), F(slice_spec, is_for_all_nodes), NAMES_OR_COUNT(slice_spec, devices, device_count),
      F(slice_spec, generation, .since = 4), F(slice_spec, slice_count, .since = 4),
      F(slice_spec, has_device_nodes, .since = 4), IN(slice_spec, reach, node_reach_shape, .since = 4),
      MANY(slice_spec, offers, offer_count, device_offer_shape, .since = 4),
      MANY(slice_spec, counters, counter_count, counter_set_shape, .since = 4));
SHAPE(device_spec, F(device_spec, driver), F(device_spec, pool), F(device_spec, device),
      F(device_spec, request, .since = 4), F(device_spec, is_admin, .since = 4), F(device_spec, is_share, .since = 5),
      MANY(device_spec, amounts, amount_count, device_amount_shape, .since = 5));
SHAPE(claim_spec, F(claim_spec, namespace), F(claim_spec, name), F(claim_spec, device_class),
      MANY(claim_spec, labels, label_count, str_pair_shape), F(claim_spec, count), F(claim_spec, is_synthetic),
      F(claim_spec, is_allocated), MANY(claim_spec, devices, device_count, device_spec_shape),
      NAMES(claim_spec, reserved_for, reserved_count), IN(claim_spec, ask, claim_ask_shape, .since = 4));
SHAPE(volume_spec, F(volume_spec, namespace), F(volume_spec, name), F(volume_spec, is_bound), F(volume_spec, is_lost),
      F(volume_spec, waits_for_consumer), MANY(volume_spec, node_terms, node_term_count, selector_spec_shape),
      F(volume_spec, is_for_one_pod, .since = 6), F(volume_spec, driver, .since = 6),
      F(volume_spec, handle, .since = 6), F(volume_spec, class, .since = 6), F(volume_spec, made_for, .since = 6),
      MANY(volume_spec, made_terms, made_term_count, selector_spec_shape, .since = 6),
      F(volume_spec, needs_storage, .since = 6), F(volume_spec, bytes, .since = 6));
SHAPE(storage_spec, F(storage_spec, namespace), F(storage_spec, name), F(storage_spec, class),
      IN(storage_spec, nodes, selector_spec_shape), F(storage_spec, bytes));
SHAPE(name_spec, F(name_spec, namespace), F(name_spec, name));
SHAPE(usage_spec, F(usage_spec, queue), ROW(usage_spec, usage));
SHAPE(gpu_group_spec, F(gpu_group_spec, name), F(gpu_group_spec, number));
SHAPE(pod_move_spec, F(pod_move_spec, namespace), F(pod_move_spec, name),
      ENUM(pod_move_spec, status, _POD_STATUS_MAX - 1), F(pod_move_spec, node),
      MANY(pod_move_spec, groups, group_count, gpu_group_spec_shape));
SHAPE(gang_times_spec, F(gang_times_spec, namespace), F(gang_times_spec, name), F(gang_times_spec, last_start),
      F(gang_times_spec, last_eviction), F(gang_times_spec, stale_since));

SHAPE(search_budgets, ROW(search_budgets, action), F(search_budgets, job), F(search_budgets, min_job),
      ROW(search_budgets, generator));
SHAPE(config, ROW(config, has), ENUMS(config, generators, _PLUGIN_MAX - 1), F(config, generator_count),
      ENUMS(config, actions, _ACTION_MAX - 1), F(config, action_count), F(config, k_value),
      F(config, saturation_multiplier), ENUM(config, gpu_placement, PLACEMENT_SPREAD, .until = 4),
      ENUM(config, gpu_placement, PLACEMENT_LEAST_STRANDED, .since = 4),
      ENUM(config, cpu_placement, PLACEMENT_SPREAD, .until = 4),
      ENUM(config, cpu_placement, PLACEMENT_LEAST_STRANDED, .since = 4), F(config, default_preempt_min_runtime),
      F(config, default_reclaim_min_runtime), ENUM(config, reclaim_runtime_method, RECLAIM_RUNTIME_QUEUE),
      F(config, max_consolidation_preemptees), F(config, allows_consolidating_reclaim), F(config, uses_signatures),
      F(config, restricts_nodes), F(config, staleness_grace), ROW(config, queue_depth), F(config, max_placements),
      IN(config, budgets, search_budgets_shape), F(config, charges_device_parts, .since = 7));

SHAPE(record_decision, ENUM(record_decision, action, _ACTION_MAX - 1),
      ENUM(record_decision, kind, DECISION_PIPELINE), F(record_decision, namespace), F(record_decision, pod),
      F(record_decision, node), F(record_decision, for_namespace), F(record_decision, for_gang));
SHAPE(record_verdict, F(record_verdict, namespace), F(record_verdict, gang),
      ENUM(record_verdict, code, VERDICT_QUEUE_DEPTH, .until = 7),
      ENUM(record_verdict, code, VERDICT_TOPOLOGY_TOO_SMALL, .since = 7));
SHAPE(record_cycle, F(record_cycle, number), F(record_cycle, now), F(record_cycle, fresh_groups),
      NUMBERS(record_cycle, actions, action_count), NUMBERS(record_cycle, stops, stop_count),
      F(record_cycle, placements), MANY(record_cycle, decisions, decision_count, record_decision_shape),
      MANY(record_cycle, verdicts, verdict_count, record_verdict_shape));

static const struct wire_shape *const delta_shapes[_DELTA_KIND_MAX] = {
    [DELTA_PUT_NODE] = &node_spec_shape,
    [DELTA_PUT_QUEUE] = &queue_spec_shape,
    [DELTA_PUT_GANG] = &gang_spec_shape,
    [DELTA_PUT_POD] = &pod_spec_shape,
    [DELTA_PUT_TOPOLOGY] = &topology_spec_shape,
    [DELTA_PUT_PRIORITY_CLASS] = &priority_class_spec_shape,
    [DELTA_PUT_DEVICE_CLASS] = &device_class_spec_shape,
    [DELTA_PUT_SLICE] = &slice_spec_shape,
    [DELTA_PUT_CLAIM] = &claim_spec_shape,
    [DELTA_PUT_VOLUME] = &volume_spec_shape,
    [DELTA_PUT_CONFIG_MAP] = &name_spec_shape,
    [DELTA_DROP_NODE] = &name_spec_shape,
    [DELTA_DROP_QUEUE] = &name_spec_shape,
    [DELTA_DROP_GANG] = &name_spec_shape,
    [DELTA_DROP_POD] = &name_spec_shape,
    [DELTA_DROP_TOPOLOGY] = &name_spec_shape,
    [DELTA_DROP_PRIORITY_CLASS] = &name_spec_shape,
    [DELTA_DROP_DEVICE_CLASS] = &name_spec_shape,
    [DELTA_DROP_SLICE] = &name_spec_shape,
    [DELTA_DROP_CLAIM] = &name_spec_shape,
    [DELTA_DROP_VOLUME] = &name_spec_shape,
    [DELTA_DROP_CONFIG_MAP] = &name_spec_shape,
    [DELTA_SET_USAGE] = &usage_spec_shape,
    [DELTA_MOVE_POD] = &pod_move_spec_shape,
    [DELTA_SET_GANG_TIMES] = &gang_times_spec_shape,
    [DELTA_PUT_STORAGE] = &storage_spec_shape,
    [DELTA_DROP_STORAGE] = &name_spec_shape,
};

/* The form that a kind of delta came with; kinds that are not here are in all of them. */
static const uint32_t delta_since[_DELTA_KIND_MAX] = {[DELTA_PUT_STORAGE] = 6, [DELTA_DROP_STORAGE] = 6};
/* clang-format on */

void record_put_config(struct wire_bytes *out, const struct config *config)
{
    wire_put_number(out, RECORD_CONFIG);
    wire_put(out, &config_shape, config);
}

void record_put_delta(struct wire_bytes *out, const struct delta *delta)
{
    wire_put_number(out, RECORD_DELTA);
    wire_put_number(out, delta->kind);
    wire_put(out, delta_shapes[delta->kind], delta->spec);
}

void record_put_cycle(struct wire_bytes *out, const struct record_cycle *cycle)
{
    wire_put_number(out, RECORD_CYCLE);
    wire_put(out, &record_cycle_shape, cycle);
}

void record_put(struct wire_bytes *out, const struct record *record)
{
    if (record->kind == RECORD_CONFIG)
        record_put_config(out, &record->config);
    else if (record->kind == RECORD_DELTA)
        record_put_delta(out, &record->delta);
    else
        record_put_cycle(out, &record->cycle);
}

static void get_config(struct wire_in *in, struct config *config)
{
    wire_get(in, &config_shape, config);
    in->is_bad |= config->generator_count > GENERATORS_MAX || config->action_count > _ACTION_MAX;
}

static void get_delta(struct wire_in *in, struct delta *delta)
{
    uint64_t kind = wire_get_number(in);

    if (kind >= _DELTA_KIND_MAX || delta_since[kind] > in->form) {
        in->is_bad = true;
        return;
    }
    void *spec = arena_calloc(in->arena, 1, delta_shapes[kind]->size);

    wire_get(in, delta_shapes[kind], spec);
    *delta = (struct delta){(enum delta_kind)kind, spec};
}

static void get_cycle(struct wire_in *in, struct record_cycle *cycle)
{
    wire_get(in, &record_cycle_shape, cycle);
    for (size_t i = 0; i < cycle->action_count; i++)
        in->is_bad |= cycle->actions[i] >= _ACTION_MAX;
}

bool record_get(struct wire_in *in, struct record *ret)
{
    uint64_t kind = wire_get_number(in);

    *ret = (struct record){.kind = (enum record_kind)kind};
    if (in->is_bad || kind >= _RECORD_KIND_MAX)
        in->is_bad = true;
    else if (kind == RECORD_CONFIG)
        get_config(in, &ret->config);
    else if (kind == RECORD_DELTA)
        get_delta(in, &ret->delta);
    else
        get_cycle(in, &ret->cycle);
    return !in->is_bad;
}

uint64_t record_fingerprint(uint32_t form)
{
    uint64_t sum = wire_fingerprint(&config_shape, form) * 31 + wire_fingerprint(&record_cycle_shape, form);

    for (size_t i = 0; i < ARRAY_LEN(delta_shapes); i++) {
        if (delta_since[i] <= form)
            sum = sum * 31 + wire_fingerprint(delta_shapes[i], form);
    }
    return sum;
}

uint32_t record_form(uint64_t fingerprint)
{
    uint32_t form = RECORD_FORM;

    while (form > 0 && record_fingerprint(form) != fingerprint)
        form--;
    return form;
}
