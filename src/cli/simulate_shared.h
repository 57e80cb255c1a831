/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "base/macros.h"
#include "cluster/cluster_files.h"
#include "live/live.h"
#include "sim/run/run.h"

struct err;
struct simulation;
struct strbuf;

/* The rows of options that commands which read clusters share. */
#define KUBECONFIG_OPTION {0, "kubeconfig", "FILE", NULL, "credentials for kube: (default: the file that kubectl uses)"}

/* Shared by the commands that simulate. */

/* A bar on standard error while a simulation goes on; nothing when that is no terminal. */
struct progress {
    bool is_on;
    const char *title;
    nsec_t started;
    nsec_t drawn;
};

void progress_start(struct progress *progress, const char *title, struct sim_run_options *options);
void progress_end(struct progress *progress);

/* "12h" from the start, or a point in time. */
struct moment {
    bool is_set;
    bool is_relative;
    nsec_t value;
};

nsec_t moment_at(const struct moment *moment, nsec_t start);

/* Options that all of them have, in this order; a command's own come after them. */
enum sim_run_option {
    SIM_RUN_OUTPUT,
    SIM_RUN_TRACE,
    SIM_RUN_REPORT,
    SIM_RUN_KUBECONFIG,
    SIM_RUN_UNTIL,
    SIM_RUN_GRACE,
    SIM_RUN_USAGE_WINDOW,
    SIM_RUN_USAGE_HALF_LIFE,
    _SIM_RUN_OPTION_MAX
};

/* Their rows. */
#define SIM_RUN_OPTIONS                                                                                      \
    [SIM_RUN_OUTPUT] = OUTPUT_OPTION,                                                                        \
    [SIM_RUN_TRACE] = {'t', "trace", "FILE", NULL,                                                           \
                       "workloads that arrive and end over time, as CSV (docs/traces.md)"},                  \
    [SIM_RUN_REPORT] = {'r', "report", "FILE", NULL, "write a self-contained HTML page with charts"},        \
    [SIM_RUN_KUBECONFIG] = KUBECONFIG_OPTION,                                                                \
    [SIM_RUN_UNTIL] = {0, "until", "WHEN", NULL, "stop after a duration such as 7d, or at a time"},          \
    [SIM_RUN_GRACE] = {0, "grace", "TIME", NULL, "time between a pod's eviction and its end (default 30s)"}, \
    [SIM_RUN_USAGE_WINDOW] = {0, "usage-window", "TIME", NULL,                                               \
                              "time-based fair share: how far back usage counts (default 7d when on)"},      \
    [SIM_RUN_USAGE_HALF_LIFE] = {0, "usage-half-life", "TIME", NULL,                                         \
                                 "time-based fair share: age at which usage counts half"}

/* Their values. */
struct sim_run_call {
    bool as_json;
    const char *trace;
    const char *report;
    const char *kubeconfig;
    struct moment until;
    struct sim_run_options options;
};

void sim_run_call_init(struct sim_run_call *call);

/* Takes one of the options. Returns 0, or what is wrong with its value. */
MUST_CHECK int sim_run_call_set(struct sim_run_call *call, int option, const char *value, struct err *err);

/*
 * How commands read clusters: files, and with PATH "kube:" or "kube:CONTEXT" a running one. `kubeconfig` is NULL for
 * where kubectl looks.
 */
struct cluster_source {
    struct live_source live;
    struct cluster_options options;  // points to `live`
};

void cluster_source_init(struct cluster_source *source, const char *kubeconfig);

/* Appends the inputs for a title: "examples/gang", "cluster, quotas.yaml with day.csv". `trace` may be NULL. */
void add_inputs(struct strbuf *text, const char *const *paths, size_t count, const char *trace);

/* "1Gi", for a journal. */
MUST_CHECK int journal_size_parse(const char *text, uint64_t *ret, struct err *err);

/* A number of `min` to `max`, without a sign or anything behind it. */
MUST_CHECK int whole_number_parse(const char *text, uint64_t min, uint64_t max, uint64_t *ret, struct err *err);

/* Warnings of reading the cluster, on standard error. */
void warn_about(const struct simulation *sim);

/* Writes a file by way of `write`, whole or not at all. */
MUST_CHECK int write_file(const char *path, void (*write)(void *context, FILE *out), void *context, struct err *err);
