/* SPDX-License-Identifier: Apache-2.0 */

/*
 * One cycle after the other. While something waits, or is stale, a cycle also comes with every schedule period: time alone
 * may have made it possible.
 */
#include "services/scheduler/cycles.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "frame/service.h"
#include "kube/client/chance.h"
#include "model/delta.h"
#include "services/scheduler/carry/carry.h"
#include "services/scheduler/carry/evictions.h"
#include "services/scheduler/carry/placements.h"
#include "services/scheduler/carry/writes.h"
#include "services/scheduler/cycles_internal.h"
#include "services/scheduler/flags.h"
#include "services/scheduler/intake/intake.h"
#include "services/scheduler/observe/observer.h"
#include "services/scheduler/pace.h"
#include "services/scheduler/pod_notes.h"
#include "services/scheduler/report/report.h"
#include "services/scheduler/setup.h"

/* What a pod has: name, UID, gang, and what of its labels is its own. */
enum { NAMES_OF_ONE = 8 };

/* Gangs are left to be explained: the next cycle comes soon. */
#define EXPLAIN_SOON (50 * NSEC_PER_MSEC)

/* Which budget a search has used up. The engine tells what it is at; how long it has been at it is ours to know. */
static bool should_stop(void *arg, enum search_stage stage, uint32_t which)
{
    struct cycles *cycles = arg;
    const struct search_budgets *budgets = &cycles->setup->config.budgets;
    nsec_t now = nsec_now_monotonic();
    nsec_t budget = stage == SEARCH_ACTION ? budgets->action[which]
                    : stage == SEARCH_JOB  ? budgets->job
                                           : budgets->generator[MIN(which, (uint32_t)GENERATORS_MAX - 1)];

    if (cycles->searches[stage].which != which || cycles->searches[stage].began == 0) {
        cycles->searches[stage].which = which;
        cycles->searches[stage].began = now;
        if (stage == SEARCH_JOB)
            cycles->searches[SEARCH_GENERATOR].began = 0;
    }
    if (stage != SEARCH_JOB && cycles->searches[SEARCH_JOB].began != 0 &&
        now - cycles->searches[SEARCH_JOB].began < budgets->min_job)
        return false;
    return budget > 0 && now - cycles->searches[stage].began >= budget;
}

/* Pods that have been leaving for too long give their room to nobody. */
static void find_stuck(struct cycles *cycles, nsec_t now)
{
    struct list_link *next;

    for (struct list_link *link = pod_notes_leaving(cycles->pod_notes)->first; link; link = next) {
        const struct pod_note *note = list_item(link, struct pod_note, in_leaving);
        pod_id id = key_pod(cycles->state, note->key);

        next = link->next;
        if (note->leaving_since + cycles->setup->options.stuck_threshold >= now)
            continue;
        pod_note_set_leaving(cycles->pod_notes, note->key, 0);
        if (id == NO_ID || cycles->state->pods.items[id].status != POD_RELEASING)
            continue;
        const struct pod *pod = &cycles->state->pods.items[id];
        state_move_pod(cycles->state, id, POD_STUCK, pod->node, pod->groups);
        OBSERVE(cycles->observers, on_moved, id);
    }
}

static void begin(struct cycles *cycles, struct scheduler_cycle *cycle)
{
    static const char letters[] = "bcdfghjklmnpqrstvwxz2456789";
    uint64_t chance = chance_next(kube_client_chance(cycles->service->client));

    cycles->held_for = 0;
    *cycle = (struct scheduler_cycle){
        .number = ++*cycles->count,
        .now = nsec_now_wall(),
        .begun = nsec_now_monotonic(),
        .deltas = intake_take_deltas(cycles->intake),
    };
    for (int i = 0; i < 6; i++, chance /= sizeof letters - 1)
        cycle->id[i] = letters[chance % (sizeof letters - 1)];
    find_stuck(cycles, cycle->now);
    placements_look_at_nodes(cycles->placements);
    if (!cycles->setup->flags->is_shadow)
        carry_delete_stale(cycles->carry);
}

static void run_actions(struct cycles *cycles, struct scheduler_cycle *cycle)
{
    for (uint32_t i = 0; i < cycles->setup->config.action_count; i++) {
        enum action action = cycles->setup->config.actions[i];
        nsec_t before = nsec_now_monotonic();

        memset(cycles->searches, 0, sizeof cycles->searches);
        engine_run(cycles->engine, action);
        cycle->ran[action] = MAX(nsec_now_monotonic() - before, (nsec_t)1);
    }
}

static void run(struct cycles *cycles)
{
    struct scheduler_cycle cycle;
    struct outcomes outcomes = {0};

    begin(cycles, &cycle);
    engine_take_in(cycles->engine);
    cycle.took_in = nsec_now_monotonic();
    engine_open(cycles->engine, cycle.now);
    cycle.opened = nsec_now_monotonic();
    OBSERVE(cycles->observers, on_cycle_begin, &cycle);
    run_actions(cycles, &cycle);
    cycles_take_decisions(cycles, &cycle, &outcomes);
    cycles->has_unreported = report_waiting(cycles->report, cycle.now);
    cycle.ended = nsec_now_monotonic();
    OBSERVE(cycles->observers, on_cycle_end, &cycle);
    engine_close(cycles->engine);
    /* A cycle may take longer than the lease lasts; then the decisions are another's to make. */
    if (cycles->setup->flags->is_shadow) {
        cycles_take_back(cycles, &outcomes);
    } else if (service_is_leading(cycles->service)) {
        cycles_execute(cycles, &outcomes);
        report_gangs(cycles->report);
    }
    if (outcomes.len > 0)
        log_debug(cycles->log, "cycle", log_str("id", cycle.id), log_int("decisions", outcomes.len),
                  log_duration("took", cycle.ended - cycle.begun));
    outcomes_done(&outcomes);
}

/*
 * Names, and the labels and constraints that are made of them, are never dropped one by one. Those of objects that are gone
 * may be as many as those in use, so that listing everything again costs little for each of them, but at least names_max.
 */
static bool is_worn_out(const struct cycles *cycles)
{
    const struct state *state = cycles->state;
    uint64_t used =
        NAMES_OF_ONE * (map64_len(&state->pod_by_name) + map64_len(&state->gang_by_name) + state->nodes.len);
    uint64_t gone_max = MAX((uint64_t)cycles->setup->flags->names_max, used);

    return intern_len(&state->names) > used + gone_max;
}

/* Nothing is under way that a state made anew would not know of. */
static bool is_idle(const struct cycles *cycles)
{
    return carry_is_idle(cycles->carry) && evictions_len(cycles->evictions) == 0 && writes_len(cycles->writes) == 0;
}

/* Something may become possible, or due, by the clock alone. What is worn out waits for the first idle moment. */
static bool waits_for_time(const struct cycles *cycles)
{
    return is_worn_out(cycles) || cycles->state->pending_gangs.ids.len > 0 || cycles->state->stale_gangs.ids.len > 0 ||
           pod_notes_leaving(cycles->pod_notes)->len > 0;
}

static nsec_t on_due(void *arg)
{
    struct cycles *cycles = arg;
    nsec_t period = cycles->setup->flags->schedule_period;

    if (!service_is_leading(cycles->service))
        return 0;
    /* Where pods never stop coming, something is under way after every cycle: the moment before one is as good. */
    if (!is_worn_out(cycles) || !is_idle(cycles))
        run(cycles);
    if (is_worn_out(cycles) && is_idle(cycles)) {
        cycles->on_worn_out(cycles->arg);
        return 0;
    }
    if (cycles->has_unreported)
        return EXPLAIN_SOON;
    if (!waits_for_time(cycles))
        return 0;
    return MAX(cycles->held_for > 0 ? MIN(cycles->held_for, period) : period, (nsec_t)1);
}

struct cycles *cycles_new(const struct cycles_options *options)
{
    struct cycles *cycles = xcalloc(1, sizeof *cycles);

    *cycles = (struct cycles){
        .service = options->service,
        .log = options->log,
        .setup = options->setup,
        .state = options->state,
        .engine = options->engine,
        .pod_notes = options->pod_notes,
        .gang_notes = options->gang_notes,
        .placements = options->placements,
        .setbacks = options->setbacks,
        .evictions = options->evictions,
        .carry = options->carry,
        .writes = options->writes,
        .report = options->report,
        .intake = options->intake,
        .observers = options->observers,
        .pace = options->pace,
        .count = options->count,
        .on_worn_out = options->on_worn_out,
        .arg = options->arg,
    };
    engine_set_clock(cycles->engine, should_stop, cycles);
    pace_set_run(cycles->pace, on_due, cycles);
    return cycles;
}

void cycles_free(struct cycles *cycles)
{
    if (!cycles)
        return;
    pace_set_run(cycles->pace, NULL, NULL);
    free(cycles);
}
