/* SPDX-License-Identifier: Apache-2.0 */

/*
 * When the engine runs. A change is followed by a cycle, at once when the last one is some time ago; what comes in a
 * burst is decided together, and cycles that take long are spaced, so that most of the time is the network's. While
 * something waits, or is stale, a cycle also comes with every schedule period: time alone may have made it possible.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "kube/client/chance.h"
#include "model/delta.h"
#include "services/scheduler/carry/carry.h"
#include "services/scheduler/carry/writes.h"
#include "services/scheduler/context.h"
#include "services/scheduler/intake/usage.h"
#include "services/scheduler/report/gang_notes.h"
#include "services/scheduler/report/report.h"
#include "words/verdict_text.h"

/* Between cycles at least: what comes meanwhile is decided together. */
#define SETTLE_TIME (2 * NSEC_PER_MSEC)

/* Of the time, cycles that take long get one part in so many. */
enum { SPACING = 4, TEXT_MAX = 64 * 1024 };

/* What a pod has: name, UID, gang, and what of its labels is its own. */
enum { NAMES_OF_ONE = 8 };

static void start_timer(struct scheduler *s, nsec_t after)
{
    if (s->is_synced && s->is_leading && !s->is_stopping && !usage_is_awaited(s))
        loop_timer_start(&s->timer, after);
}

void cycle_wake(struct scheduler *s)
{
    nsec_t since = nsec_now_monotonic() - s->last_end;
    nsec_t spacing = CLAMP(s->last_duration * SPACING, SETTLE_TIME, MAX(s->flags->schedule_period, SETTLE_TIME));

    if (s->is_woken)
        return;
    s->is_woken = true;
    start_timer(s, MAX(spacing - since, (nsec_t)0));
}

/* Which budget a search has used up. The engine tells what it is at; how long it has been at it is ours to know. */
static bool should_stop(void *arg, enum search_stage stage, uint32_t which)
{
    struct scheduler *s = arg;
    const struct search_budgets *budgets = &s->config.budgets;
    nsec_t now = nsec_now_monotonic();
    nsec_t budget = stage == SEARCH_ACTION ? budgets->action[which]
                    : stage == SEARCH_JOB  ? budgets->job
                                           : budgets->generator[MIN(which, (uint32_t)GENERATORS_MAX - 1)];

    if (s->searches[stage].which != which || s->searches[stage].began == 0) {
        s->searches[stage].which = which;
        s->searches[stage].began = now;
        if (stage == SEARCH_JOB)
            s->searches[SEARCH_GENERATOR].began = 0;
    }
    if (stage != SEARCH_JOB && s->searches[SEARCH_JOB].began != 0 &&
        now - s->searches[SEARCH_JOB].began < budgets->min_job)
        return false;
    return budget > 0 && now - s->searches[stage].began >= budget;
}

/* Pods that have been leaving for too long give their room to nobody. */
static void find_stuck(struct scheduler *s, nsec_t now)
{
    uint64_t key, since;
    VEC(object_key) stuck = {0};

    for (size_t cursor = 0; map64_next(&s->leaving, &cursor, &key, &since);) {
        if ((nsec_t)since + s->options.stuck_threshold < now)
            vec_push(&stuck, key);
    }
    vec_foreach (&stuck, at) {
        pod_id id = key_pod(s->state, *at);

        (void)map64_remove(&s->leaving, *at);
        if (id == NO_ID || s->state->pods.items[id].status != POD_RELEASING)
            continue;
        const struct pod *pod = &s->state->pods.items[id];
        state_move_pod(s->state, id, POD_STUCK, pod->node, pod->groups);
        OBSERVE(s, on_moved, id);
    }
    vec_done(&stuck);
}

static void begin(struct scheduler *s, struct scheduler_cycle *cycle)
{
    static const char letters[] = "bcdfghjklmnpqrstvwxz2456789";
    uint64_t chance = chance_next(kube_client_chance(s->client));

    s->held_for = 0;
    *cycle = (struct scheduler_cycle){
        .number = ++s->cycles,
        .now = nsec_now_wall(),
        .begun = nsec_now_monotonic(),
        .deltas = s->deltas,
    };
    for (int i = 0; i < 6; i++, chance /= sizeof letters - 1)
        cycle->id[i] = letters[chance % (sizeof letters - 1)];
    s->deltas = 0;
    find_stuck(s, cycle->now);
    if (s->nodes_changed) {
        placements_apply_all(s);
        s->has_stale_requests = true;
        s->nodes_changed = false;
    }
    if (s->has_stale_requests)
        carry_delete_stale(s);
}

static void run_actions(struct scheduler *s, struct scheduler_cycle *cycle)
{
    for (uint32_t i = 0; i < s->config.action_count; i++) {
        enum action action = s->config.actions[i];
        nsec_t before = nsec_now_monotonic();

        memset(s->searches, 0, sizeof s->searches);
        engine_run(s->engine, action);
        cycle->ran[action] = MAX(nsec_now_monotonic() - before, (nsec_t)1);
    }
}

/* The decisions of a cycle with their texts, which need the engine as it was when it made them. */
struct outcome {
    struct decision decision;
    char *text;
    bool is_held;  // not carried out for now
};

struct outcomes VEC_OF(struct outcome);

/* A gang that is evicted for what it has lost hears so before its pods go. */
static void tell_stale(struct scheduler *s, const struct decision *decision, gang_id *last, struct strbuf *text)
{
    gang_id gang = s->state->pods.items[decision->pod].gang;

    if (decision->kind != DECISION_EVICT || decision->action != ACTION_STALE_GANG || gang == NO_ID || gang == *last)
        return;
    *last = gang;
    strbuf_clear(text);
    verdict_text_stale(s->engine, gang, text);
    report_gang_event(s, gang, "StaleJob", text->text, NULL, 0);
}

static void take_decisions(struct scheduler *s, const struct scheduler_cycle *cycle, struct outcomes *outcomes)
{
    size_t count = 0;
    const struct decision *decisions = engine_decisions(s->engine, &count);
    gang_id last_stale = NO_ID;
    struct strbuf text;

    strbuf_init(&text, TEXT_MAX);
    for (size_t i = 0; i < count; i++) {
        OBSERVE(s, on_decision, cycle, &decisions[i]);
        tell_stale(s, &decisions[i], &last_stale, &text);
        strbuf_clear(&text);
        verdict_text_decision(s->engine, &decisions[i], s->pool_name, &text);
        vec_push(outcomes, (struct outcome){.decision = decisions[i], .text = xstrdup(text.text)});
    }
    strbuf_done(&text);
}

/* What decisions are looked up by while they are carried out, one after the other. */
struct tally {
    struct map64 bound;    // pods that the decisions so far bind
    struct map64 evicted;  // pods that any decision evicts
    struct map64 leaving;  // by gang: how many of those leave
};

static void tally_init(struct tally *tally, const struct scheduler *s, const struct outcomes *outcomes)
{
    *tally = (struct tally){0};
    vec_foreach (outcomes, outcome) {
        pod_id id = outcome->decision.pod;
        const struct pod *pod = &s->state->pods.items[id];
        uint64_t count = 0;

        if (outcome->decision.kind != DECISION_EVICT || pod->status != POD_RELEASING ||
            map64_get(&tally->evicted, id, NULL))
            continue;
        map64_put(&tally->evicted, id, 1);
        (void)map64_get(&tally->leaving, pod->gang, &count);
        map64_put(&tally->leaving, pod->gang, count + 1);
    }
}

static void tally_done(struct tally *tally)
{
    map64_done(&tally->bound);
    map64_done(&tally->evicted);
    map64_done(&tally->leaving);
}

/* Pods of the gang that leave in this cycle. */
static uint64_t tally_leaving(const struct tally *tally, gang_id gang)
{
    uint64_t count = 0;

    (void)map64_get(&tally->leaving, gang, &count);
    return count;
}

/* A pod of the gang does not leave after all. */
static void tally_stays(struct tally *tally, gang_id gang)
{
    map64_put(&tally->leaving, gang, tally_leaving(tally, gang) - 1);
}

static void let_wait(struct scheduler *s, pod_id id)
{
    state_move_pod(s->state, id, POD_PENDING, NO_ID, (struct group_list){0});
    OBSERVE(s, on_moved, id);
}

/* One whose bind or eviction has just failed is left alone for a while; the others had to be decided as if it were not. */
static bool hold(struct scheduler *s, enum setback_kind kind, struct outcome *outcome)
{
    nsec_t wait = setback_wait(s, kind, outcome->decision.pod, nsec_now_monotonic());

    outcome->is_held = wait > 0;
    if (wait > 0)
        s->held_for = s->held_for > 0 ? MIN(s->held_for, wait) : wait;
    return wait > 0;
}

static void bind(struct scheduler *s, struct outcome *outcome)
{
    if (hold(s, SETBACK_BIND, outcome))
        let_wait(s, outcome->decision.pod);
    else
        carry_bind(s, &outcome->decision, outcome->text);
}

static void evict(struct scheduler *s, struct tally *tally, struct outcome *outcome)
{
    pod_id id = outcome->decision.pod;
    const struct pod *pod = &s->state->pods.items[id];

    if (pod->status != POD_RELEASING)
        return;
    /* A pod that an action of this cycle placed and a later one evicted has never left: it waits. */
    if (map64_get(&tally->bound, id, NULL)) {
        tally_stays(tally, pod->gang);
        let_wait(s, id);
        return;
    }
    if (pod->deleted == 0 && hold(s, SETBACK_EVICT, outcome)) {
        tally_stays(tally, pod->gang);
        state_move_pod(s->state, id, POD_RUNNING, pod->node, pod->groups);
        OBSERVE(s, on_moved, id);
        return;
    }
    carry_evict(s, &outcome->decision, outcome->text, tally_leaving(tally, pod->gang));
}

/* A promise is made again in every cycle until it is kept; it is told once for each node. */
static void tell_promise(struct scheduler *s, const struct decision *decision, const char *text)
{
    const struct pod *pod = &s->state->pods.items[decision->pod];
    object_key key = key_of(pod->namespace, pod->name);
    name_id node = s->state->nodes.items[decision->node].name;
    uint64_t old = 0;

    if (map64_get(&s->promised, key, &old) && old == node)
        return;
    map64_put(&s->promised, key, node);
    report_pod_event(s, key, pod->uid, "Normal", "Pipelined", text);
}

static void carry_out(struct scheduler *s, struct outcomes *outcomes)
{
    VEC(struct decision) decisions = {0};
    struct tally tally;

    vec_foreach (outcomes, outcome)
        vec_push(&decisions, outcome->decision);
    carry_name_groups(s, decisions.items, decisions.len);
    vec_done(&decisions);
    tally_init(&tally, s, outcomes);
    vec_foreach (outcomes, outcome) {
        const struct decision *decision = &outcome->decision;
        const struct pod *pod = &s->state->pods.items[decision->pod];

        if (decision->kind == DECISION_BIND)
            map64_put(&tally.bound, decision->pod, 1);
        if (decision->kind == DECISION_BIND && pod->status == POD_BINDING && pod->node == decision->node)
            bind(s, outcome);
        else if (decision->kind == DECISION_EVICT)
            evict(s, &tally, outcome);
        else if (decision->kind == DECISION_PIPELINE && pod->status == POD_PENDING)
            tell_promise(s, decision, outcome->text);
    }
    tally_done(&tally);
}

static void annotate_times(struct scheduler *s, const struct outcomes *outcomes)
{
    vec_foreach (outcomes, outcome) {
        gang_id gang = s->state->pods.items[outcome->decision.pod].gang;

        if (outcome->decision.kind != DECISION_PIPELINE && gang != NO_ID && !outcome->is_held)
            gang_times_write(s, gang);
    }
    vec_foreach (&s->state->stale_gangs.ids, gang)
        gang_times_write(s, *gang);
}

static void run(struct scheduler *s)
{
    struct scheduler_cycle cycle;
    struct outcomes outcomes = {0};

    begin(s, &cycle);
    engine_take_in(s->engine);
    cycle.took_in = nsec_now_monotonic();
    engine_open(s->engine, cycle.now);
    cycle.opened = nsec_now_monotonic();
    OBSERVE(s, on_cycle_begin, &cycle);
    run_actions(s, &cycle);
    take_decisions(s, &cycle, &outcomes);
    s->has_unreported = report_waiting(s, cycle.now);
    cycle.ended = nsec_now_monotonic();
    OBSERVE(s, on_cycle_end, &cycle);
    engine_close(s->engine);
    /* A cycle may take longer than the lease lasts; then the decisions are another's to make. */
    if (service_is_leading(s->service)) {
        carry_out(s, &outcomes);
        annotate_times(s, &outcomes);
        report_gangs(s);
    }
    if (outcomes.len > 0)
        log_debug(s->log, "cycle", log_str("id", cycle.id), log_int("decisions", outcomes.len),
                  log_duration("took", cycle.ended - cycle.begun));
    vec_foreach (&outcomes, outcome)
        free(outcome->text);
    vec_done(&outcomes);
}

/*
 * Names are never given back, and pods never stop coming: when most names are those of objects that are long gone, the
 * state is made anew, as after a restart.
 */
static bool is_worn_out(const struct scheduler *s)
{
    const struct state *state = s->state;
    uint64_t used = map64_len(&state->pod_by_name) + map64_len(&state->gang_by_name) + state->nodes.len;

    return intern_len(&state->names) > (uint64_t)s->flags->names_max + NAMES_OF_ONE * used && carry_is_idle(s) &&
           writes_len(s->writes) == 0;
}

/* Something may become possible, or due, by the clock alone. */
static bool waits_for_time(const struct scheduler *s)
{
    return s->state->pending_gangs.ids.len > 0 || s->state->stale_gangs.ids.len > 0 || map64_len(&s->leaving) > 0;
}

static void on_timer(void *arg)
{
    struct scheduler *s = arg;
    nsec_t began = nsec_now_monotonic();

    s->is_woken = false;
    if (!service_is_leading(s->service) || s->is_stopping)
        return;
    run(s);
    s->last_end = nsec_now_monotonic();
    s->last_duration = s->last_end - began;
    if (is_worn_out(s)) {
        loop_task_queue(&s->renewal);
        return;
    }
    if (s->is_woken)
        return;
    if (s->has_unreported)
        start_timer(s, 50 * NSEC_PER_MSEC);
    else if (waits_for_time(s))
        start_timer(s, MAX(s->held_for > 0 ? MIN(s->held_for, s->flags->schedule_period) : s->flags->schedule_period,
                           SETTLE_TIME));
}

void cycle_init(struct scheduler *s)
{
    loop_timer_init(&s->timer, s->loop, on_timer, s);
}

void cycle_set_clock(struct scheduler *s)
{
    engine_set_clock(s->engine, should_stop, s);
}

void cycle_done(struct scheduler *s)
{
    loop_timer_done(&s->timer);
}
