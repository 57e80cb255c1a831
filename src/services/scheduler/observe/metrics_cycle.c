/* SPDX-License-Identifier: Apache-2.0 */

/* What a cycle did: how long its parts took, whom it served, and what its searches went through. */
#include "engine/config.h"
#include "engine/engine.h"
#include "frame/service.h"
#include "model/state.h"
#include "objects/reader.h"
#include "services/scheduler/observe/metrics_internal.h"
#include "services/scheduler/report/gang_notes.h"

static double milliseconds(nsec_t duration)
{
    return (double)duration / (double)NSEC_PER_MSEC;
}

static struct meter_series *of_action(struct meter *meter, enum action action)
{
    return meter_series(meter, METER_LABELS(action_name(action)));
}

void metrics_cycle_begin(struct scheduler_metrics *m)
{
    map64_clear(&m->seen);
    vec_clear(&m->times);
}

static void count_scheduled(struct scheduler_metrics *m, const struct decision *decision, gang_id gang)
{
    uint64_t key = (uint64_t)decision->action << 32 | gang;
    uint64_t unused;

    if (map64_get(&m->seen, key, &unused))
        return;
    map64_put(&m->seen, key, 1);
    meter_add(of_action(m->scheduled, decision->action), 1);
}

static void count_evicted(struct scheduler_metrics *m, const struct decision *decision, gang_id id)
{
    const struct state *state = m->view->state;
    const struct gang *gang = &state->gangs.items[id];
    const struct object_options *options = m->view->options;
    const struct gang_note *note = gang_note_find(m->view->gang_notes, key_of(gang->namespace, gang->name));
    const char *uid = note ? state_name(state, note->uid) : "";
    const char *pool = options->has_partition && *options->partition ? options->partition : "default";

    meter_add(meter_series(m->evicted, METER_LABELS(state_name(state, gang->name), state_name(state, gang->namespace),
                                                    uid, pool, action_name(decision->action))),
              1);
}

/* A pod that is evicted and promised another place is moved, not scheduled. */
void metrics_cycle_decision(struct scheduler_metrics *m, const struct decision *decision)
{
    const struct pod *pod = &m->view->state->pods.items[decision->pod];

    if (pod->gang == NO_ID)
        return;
    if (decision->kind == DECISION_EVICT)
        count_evicted(m, decision, pod->gang);
    else
        count_scheduled(m, decision, pod->gang);
}

static const char *result_name(const struct search_report *search)
{
    static const char *const names[] = {
        [SEARCH_SOLVED] = "solved",
        [SEARCH_EXHAUSTED] = "generators_exhausted",
        [SEARCH_ENDED] = "deadline_exhausted",
        [SEARCH_HOPELESS] = "not_attempted",
    };
    _Static_assert(ARRAY_LEN(names) == _SEARCH_RESULT_MAX, "every result has a name");
    uint32_t rejected = 0;

    for (int g = 0; g < GENERATORS_MAX; g++)
        rejected += search->generators[g].rejected;
    return search->result == SEARCH_EXHAUSTED && rejected > 0 ? "validator_rejected" : names[search->result];
}

static const char *generator_name(const struct scheduler_metrics *m, uint32_t generator)
{
    return m->view->config->generators[generator] == PLUGIN_NODE_LOCAL_GREEDY ? "NodeLocalGreedy" : "MultiNodeGang";
}

static void count_scenarios(struct scheduler_metrics *m, const struct search_report *search)
{
    const char *action = action_name(search->action);

    for (uint32_t g = 0; g < m->view->config->generator_count; g++) {
        const uint32_t emitted = search->generators[g].emitted;
        const uint32_t simulated = search->generators[g].simulated;
        const struct {
            const char *state;
            uint32_t count;
        } counts[] = {
            {"emitted", emitted}, {"simulated", simulated}, {"validator_rejected", search->generators[g].rejected}};

        meter_add(of_action(m->simulated, search->action), simulated);
        meter_add(of_action(m->filtered, search->action), emitted - simulated);
        for (size_t i = 0; i < ARRAY_LEN(counts); i++)
            if (counts[i].count > 0)
                meter_add(meter_series(m->scenarios, METER_LABELS(action, generator_name(m, g), counts[i].state)),
                          counts[i].count);
    }
}

static void count_search(struct scheduler_metrics *m, const struct search_report *search)
{
    const char *action = action_name(search->action);
    const char *result = result_name(search);

    meter_add(of_action(m->acted_on, search->action), 1);
    meter_add(meter_series(m->searches, METER_LABELS(action, result, "false")), 1);
    if (search->action == ACTION_PREEMPT)
        meter_add(meter_series(m->preemptions, NULL), 1);
    if (search->ended_action)
        meter_add(of_action(m->exhausted, search->action), 1);
    count_scenarios(m, search);
    vec_foreach (&m->times, time)
        if (time->action == search->action && time->gang == search->gang)
            meter_observe(meter_series(m->duration, METER_LABELS(action, generator_name(m, time->generator), result)),
                          (double)(time->last - time->began) / 1e9);
}

/* Allocate takes up every gang that is ready and lies within the depth of its queue. */
static void count_tried(struct scheduler_metrics *m)
{
    const struct state *state = m->view->state;
    uint32_t tried = 0;

    vec_foreach (&state->pending_gangs.ids, gang) {
        enum verdict_code code = engine_verdict(m->view->engine, *gang).code;

        tried += code != VERDICT_NONE && code != VERDICT_NOT_READY && code != VERDICT_NO_QUEUE &&
                 code != VERDICT_QUEUE_NOT_LEAF && code != VERDICT_QUEUE_DEPTH;
    }
    meter_add(of_action(m->acted_on, ACTION_ALLOCATE), tried);
}

void metrics_cycle_end(struct scheduler_metrics *m, const struct scheduler_cycle *cycle)
{
    const struct config *config = m->view->config;
    nsec_t acting = 0;
    size_t count;
    const struct search_report *searches = engine_searches(m->view->engine, &count);

    for (uint32_t i = 0; i < config->action_count; i++) {
        acting += cycle->ran[config->actions[i]];
        meter_set(of_action(m->action, config->actions[i]), milliseconds(cycle->ran[config->actions[i]]));
        if (config->actions[i] == ACTION_ALLOCATE)
            count_tried(m);
    }
    meter_set(meter_series(m->e2e, NULL), milliseconds(cycle->ended - cycle->begun));
    meter_set(meter_series(m->open_session, NULL), milliseconds(cycle->opened - cycle->begun));
    meter_set(meter_series(m->close_session, NULL), milliseconds(cycle->ended - cycle->opened - acting));
    /* Fair shares are the one thing that opening a cycle works out for a plugin. */
    meter_set(meter_series(m->plugin, METER_LABELS("proportion", "OnSessionOpen")),
              milliseconds(cycle->opened - cycle->took_in));
    for (size_t i = 0; i < count; i++)
        count_search(m, &searches[i]);
}

static bool is_asked_for(const struct scheduler_metrics *m, const struct search_time *time, uint32_t generator)
{
    return time->action == m->asked_action && time->gang == m->asked_gang && time->generator == generator;
}

/* The engine asks about the action, the gang and the generator in turn, between any two scenarios. */
static bool ask(void *arg, enum search_stage stage, uint32_t which)
{
    struct scheduler_metrics *m = arg;
    nsec_t now;

    if (stage == SEARCH_ACTION)
        m->asked_action = (enum action)which;
    else if (stage == SEARCH_JOB)
        m->asked_gang = which;
    if (stage == SEARCH_GENERATOR) {
        now = nsec_now_monotonic();
        if (m->times.len > 0 && is_asked_for(m, &vec_last(&m->times), which))
            vec_last(&m->times).last = now;
        else
            vec_push(&m->times, (struct search_time){m->asked_action, m->asked_gang, which, now, now});
    }
    return m->should_stop(m->stop_context, stage, which);
}

void metrics_follow_clock(struct scheduler_metrics *m)
{
    m->should_stop = engine_clock(m->view->engine, &m->stop_context);
    if (m->should_stop)
        engine_set_clock(m->view->engine, ask, m);
}
