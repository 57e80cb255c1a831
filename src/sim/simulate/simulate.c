/* SPDX-License-Identifier: Apache-2.0 */

/* Loading a cluster, and simulating it. What kind of file a lone JSON file is follows from what it holds. */
#include "sim/simulate/simulate.h"

#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "model/state.h"
#include "sim/trace/trace.h"
#include "text/file.h"

enum { STATIC_CYCLES_MAX = 10000 };
#define SCENARIO_BYTES_MAX ((size_t)1 << 30)

static bool ends_with(const char *text, const char *end)
{
    size_t len = strlen(text);
    size_t end_len = strlen(end);

    return len >= end_len && strcmp(text + len - end_len, end) == 0;
}

/* A scenario has its cluster under "topology", which no Kubernetes object does. */
static int try_scenario(struct simulation *sim, const char *path, struct err *err)
{
    struct json_at root;
    int r;

    if (!ends_with(path, ".json") && !ends_with(path, ".json.gz"))
        return 0;
    r = json_read_file(path, SCENARIO_BYTES_MAX, &sim->doc, err);
    if (r < 0)
        return r;
    root = json_root(sim->doc);
    if (!yyjson_obj_get(root.val, "topology")) {
        yyjson_doc_free(sim->doc);
        sim->doc = NULL;
        return 0;
    }
    sim->is_scenario = true;
    r = scenario_read(&sim->scenario, &root, err);
    if (r < 0)
        return err_wrap(err, r, "%s", file_name(path));
    sim->state = sim->scenario.state;
    sim->config = sim->scenario.config;
    sim->start = SCENARIO_NOW;
    return 1;
}

/* The cluster is as old as the latest thing in it; one without dates starts where traces do. */
static nsec_t latest_time(const struct state *state)
{
    nsec_t latest = 0;

    for (uint32_t i = 0; i < state->gangs.len; i++) {
        const struct gang *gang = &state->gangs.items[i];

        latest = MAX(latest, MAX(gang->created, MAX(gang->last_start, gang->stale_since)));
    }
    for (uint32_t i = 0; i < state->pods.len; i++)
        latest = MAX(latest, state->pods.items[i].created);
    for (uint32_t i = 0; i < state->queues.len; i++)
        latest = MAX(latest, state->queues.items[i].created);
    /* Undated objects count nanoseconds from 1970 on. */
    return latest < 24 * NSEC_PER_HOUR ? TRACE_ORIGIN : latest + NSEC_PER_SEC;
}

static bool has_live(const char *const *paths, size_t path_count)
{
    for (size_t i = 0; i < path_count; i++)
        if (cluster_path_is_live(paths[i]))
            return true;
    return false;
}

int simulation_load(struct simulation *sim, const struct cluster_options *options, const char *const *paths,
                    size_t path_count, struct err *err)
{
    struct cluster_options own = *options;
    int r;

    *sim = (struct simulation){0};
    cluster_notes_init(&sim->notes);
    r = path_count == 1 ? try_scenario(sim, paths[0], err) : 0;
    if (r != 0)
        return MIN(r, 0);
    sim->state = state_new();
    /* Time passes for a running cluster alone; what files bring to it without a date comes now. */
    own.now = has_live(paths, path_count) ? options->now : 0;
    own.undated_from = own.now;
    r = cluster_read(&own, sim->state, &sim->config, paths, path_count, &sim->notes, err);
    if (r < 0)
        return r;
    sim->start = own.now ? own.now : latest_time(sim->state);
    return 0;
}

struct sim_run_usage_options simulation_usage(const struct simulation *sim)
{
    return (struct sim_run_usage_options){
        .is_on = sim->notes.usage.is_on,
        .window = sim->notes.usage.window,
        .half_life = sim->notes.usage.half_life,
        .interval = sim->notes.usage.interval,
    };
}

int simulation_run(struct simulation *sim, const struct sim_run_options *options, const struct trace *trace,
                   struct err *err)
{
    struct sim_run_options own = *options;

    own.start = sim->start;
    own.replicas = &sim->notes.found.replicas;
    /* What is asked for on the command line comes before what the cluster says. */
    if (!own.usage.is_on && sim->notes.usage.is_on)
        own.usage = simulation_usage(sim);
    if (!trace)
        own.max_cycles = STATIC_CYCLES_MAX;
    return sim_run_run(&sim->run, sim->state, &sim->config, &own, trace, err);
}

void simulation_done(struct simulation *sim)
{
    sim_run_done(&sim->run);
    if (sim->is_scenario)
        scenario_done(&sim->scenario);
    else
        state_free(sim->state);
    yyjson_doc_free(sim->doc);
    cluster_notes_done(&sim->notes);
}
