/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <yyjson.h>

#include "base/macros.h"
#include "cluster/cluster_files.h"
#include "engine/config.h"
#include "sim/run/run.h"
#include "sim/scenario/scenario.h"

struct err;
struct requirements;
struct state;
struct table_view;
struct trace;

/* A cluster from files, simulated until nothing changes or through a trace, and the outcome. */
struct simulation {
    struct state *state;
    struct config config;
    struct cluster_notes notes;
    struct sim_run run;
    nsec_t start;      // the latest time that the files name, now for a running cluster, or the start of traces
    bool is_scenario;  // the cluster came as a scenario, whose own are the next two
    struct scenario scenario;
    yyjson_doc *doc;
};

/* Manifests, folders, snapshots and running clusters, or one scenario; `options.now` is when a running one was asked.
 * simulation_done is called in any case. */
MUST_CHECK int simulation_load(struct simulation *sim, const struct cluster_options *options, const char *const *paths,
                               size_t path_count, struct err *err);

/* Simulates it once. `trace` may be NULL; `options` are taken as they are but for the start. */
MUST_CHECK int simulation_run(struct simulation *sim, const struct sim_run_options *options, const struct trace *trace,
                              struct err *err);
void simulation_done(struct simulation *sim);

/* Time-based fair share as the cluster's own settings have it. */
struct sim_run_usage_options simulation_usage(const struct simulation *sim);

/* For people: queues, who runs where, and why the rest waits. */
void simulation_print(const struct simulation *sim, const struct table_view *view, FILE *out);

/* For people, after a trace: how each queue fared, and the cluster as a whole. */
void simulation_print_trace(const struct simulation *sim, const struct table_view *view, FILE *out);

/* For programs, as docs/simulate.md describes it. `requirements` have been judged. */
void simulation_write(const struct simulation *sim, const struct requirements *requirements, FILE *out);
