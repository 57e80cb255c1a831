/* SPDX-License-Identifier: Apache-2.0 */

/* Outcomes as JSON, in the form in which recorded outcomes are kept. */
#include "sim/scenario/scenario_write.h"

#include <stdio.h>
#include <string.h>

#include "base/strbuf.h"
#include "engine/engine.h"
#include "model/state.h"
#include "sim/scenario/scenario.h"
#include "sim/scenario/scenario_emit.h"
#include "sim/scenario/scenario_why.h"

enum { WHY_MAX = 2048 };

static void write_share(struct emit *e, const struct queue *queue, const struct queue_share *share, int resource)
{
    static const char *const names[] = {[SHARE_CPU] = "cpu", [SHARE_MEMORY] = "memory", [SHARE_GPU] = "gpu"};

    emit_open(e, names[resource], '{');
    emit_double(e, "deserved", queue->deserved[resource]);
    emit_double(e, "fair_share", share->fair[resource]);
    emit_double(e, "max_allowed", queue->limit[resource]);
    emit_double(e, "over_quota_weight", queue->weight[resource]);
    emit_double(e, "allocated", share->allocated[resource]);
    emit_double(e, "allocated_not_preemptible", share->allocated_fixed[resource]);
    emit_double(e, "request", share->requested[resource]);
    emit_double(e, "usage", queue->usage[resource]);
    emit_close(e, '}');
}

static void write_shares(struct emit *e, const struct scenario *s, const struct engine *engine)
{
    emit_open(e, "queue_shares", '{');
    for (uint32_t i = 0; i < s->queues.len; i++) {
        const struct queue *queue = &s->state->queues.items[s->queues.items[i]];
        struct queue_share share;

        if (queue->is_orphan || !s->config.has[PLUGIN_PROPORTION])
            continue;
        share = engine_share(engine, s->queues.items[i]);
        emit_open(e, state_name(s->state, queue->name), '{');
        for (int resource = 0; resource < SHARE_COUNT; resource++)
            write_share(e, queue, &share, resource);
        emit_close(e, '}');
    }
    emit_close(e, '}');
}

static void write_decisions(struct emit *e, const struct scenario *s, const struct engine *engine)
{
    size_t count;
    const struct decision *decisions = engine_decisions(engine, &count);

    emit_open(e, "ops", '[');
    for (size_t i = 0; i < count; i++) {
        node_id node = decisions[i].node;

        emit_open(e, NULL, '{');
        emit_str(e, "action", action_name(decisions[i].action));
        emit_str(e, "op", decision_kind_name(decisions[i].kind));
        emit_str(e, "pod", state_name(s->state, s->state->pods.items[decisions[i].pod].name));
        emit_str(e, "node", node == NO_ID ? "" : state_name(s->state, s->state->nodes.items[node].name));
        emit_close(e, '}');
    }
    emit_close(e, ']');
}

/* Groups that a decision made have numbers for names. */
static const char *group_name(const struct state *state, gpu_group group, char *text, size_t size)
{
    if (!gpu_group_is_fresh(group))
        return state_name(state, (name_id)group);
    (void)snprintf(text, size, "new-%llu", (unsigned long long)(group & ~GPU_GROUP_FRESH));
    return text;
}

static void write_groups(struct emit *e, const struct state *state, const struct pod *pod)
{
    char text[32];

    emit_open(e, "gpu_groups", '[');
    for (uint32_t i = 0; i < pod->groups.count; i++)
        emit_str(e, NULL, group_name(state, group_at(&pod->groups, i), text, sizeof text));
    emit_close(e, ']');
}

static void write_zones(struct emit *e, const struct state *state, const struct pod *pod)
{
    const struct numa *numa = state->nodes.items[pod->node].numa;

    emit_open(e, "numa_zones", '[');
    for (uint32_t zone = 0; numa && zone < numa->zone_count; zone++) {
        for (uint32_t i = 0; i < pod->numa->count; i++) {
            if (pod->numa->draws[i].zone == numa->zones[zone].name) {
                emit_int(e, NULL, zone);
                break;
            }
        }
    }
    emit_close(e, ']');
}

static void write_devices(struct emit *e, const struct state *state, const struct pod *pod)
{
    emit_open(e, "dra_devices", '[');
    for (uint32_t i = 0; i < pod->claim_count; i++) {
        const struct claim *claim;

        if (pod->claims[i].claim == NO_ID)
            continue;
        claim = &state->claims.items[pod->claims[i].claim];
        for (uint32_t d = 0; claim->is_allocated && d < claim->device_count; d++) {
            emit_open(e, NULL, '{');
            emit_str(e, "driver", state_name(state, claim->devices[d].driver));
            emit_str(e, "pool", state_name(state, claim->devices[d].pool));
            emit_str(e, "device", state_name(state, claim->devices[d].name));
            emit_close(e, '}');
        }
    }
    emit_close(e, ']');
}

/* GPUs that the pod's place is worth: neither devices of claims nor MIG slices. */
static double granted_gpus(const struct state *state, pod_id pod)
{
    const struct request *request = state_request(state, pod);

    return gpu_to_double(request_is_shared(request) ? state->pods.items[pod].accepted_gpu : request->gpus);
}

static void write_pod(struct emit *e, const struct state *state, pod_id id)
{
    const struct pod *pod = &state->pods.items[id];
    bool is_placed = status_in(pod->status, ACTIVE_USED) && pod->node != NO_ID;

    emit_open(e, NULL, '{');
    emit_str(e, "name", state_name(state, pod->name));
    emit_str(e, "job", state_name(state, state->gangs.items[pod->gang].name));
    emit_str(e, "status", pod_status_name((enum pod_status)pod->status));
    emit_str(e, "node", is_placed ? state_name(state, state->nodes.items[pod->node].name) : "");
    if (is_placed)
        write_groups(e, state, pod);
    emit_double(e, "gpus_accepted", is_placed ? granted_gpus(state, id) : 0);
    if (is_placed && pod->numa)
        write_zones(e, state, pod);
    if (pod->claim_count > 0)
        write_devices(e, state, pod);
    emit_close(e, '}');
}

void scenario_write_pods(struct emit *e, const char *key, const struct scenario *s)
{
    emit_open(e, key, '[');
    for (uint32_t i = 0; i < s->pods.len; i++)
        write_pod(e, s->state, s->pods.items[i]);
    emit_close(e, ']');
}

static void write_verdict(struct emit *e, const struct scenario *s, const struct engine *engine, gang_id gang,
                          enum verdict_code code)
{
    struct strbuf text;

    strbuf_init(&text, WHY_MAX);
    scenario_why(&text, s->state, engine, gang);
    emit_open(e, state_name(s->state, s->state->gangs.items[gang].name), '[');
    emit_open(e, NULL, '{');
    emit_str(e, "reason", verdict_code_name(code));
    emit_str(e, "class", verdict_class_name(verdict_class(code)));
    emit_open(e, "messages", '[');
    emit_str(e, NULL, text.text);
    emit_close(e, ']');
    emit_close(e, '}');
    emit_close(e, ']');
    strbuf_done(&text);
}

static void write_verdicts(struct emit *e, const struct scenario *s, const struct engine *engine)
{
    emit_open(e, "job_fit_errors", '{');
    for (uint32_t i = 0; i < s->jobs.len; i++) {
        gang_id gang = s->jobs.items[i].gang;
        struct verdict verdict;

        if (s->state->gangs.items[gang].pending == 0)
            continue;
        verdict = engine_verdict(engine, gang);
        if (verdict.code != VERDICT_NONE && verdict.code != VERDICT_PLACED)
            write_verdict(e, s, engine, gang, verdict.code);
    }
    emit_close(e, '}');
}

static void write_timing(struct emit *e, const struct scenario *s, const struct scenario_timing *timing)
{
    emit_open(e, "timing", '{');
    emit_int(e, "state_ns", timing->state);
    emit_int(e, "open_ns", timing->open);
    emit_open(e, "actions", '{');
    for (uint32_t i = 0; i < s->config.action_count; i++)
        emit_int(e, action_name(s->config.actions[i]), timing->action[s->config.actions[i]]);
    emit_close(e, '}');
    emit_close(e, '}');
}

void scenario_write_round(struct emit *e, const struct scenario *s, const struct engine *engine,
                          const struct scenario_round *round, const struct scenario_timing *timing)
{
    emit_open(e, NULL, '{');
    write_shares(e, s, engine);
    write_decisions(e, s, engine);
    scenario_write_pods(e, "pods", s);
    if (round->number == 0 || round->is_last)
        scenario_write_nodes(e, "nodes", s);
    write_verdicts(e, s, engine);
    write_timing(e, s, timing);
    emit_close(e, '}');
}
