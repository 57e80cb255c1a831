/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "base/macros.h"
#include "services/live/live.h"
#include "sim/cluster/cluster_files.h"
#include "sim/play/play.h"

struct err;
struct simulation;

/* What the commands that play traces share. */

/* A bar on standard error while a play goes on; nothing when that is no terminal. */
struct progress {
    bool is_on;
    const char *title;
    nsec_t started;
    nsec_t drawn;
};

void progress_start(struct progress *progress, const char *title, struct play_options *options);
void progress_end(struct progress *progress);

/* "12h" from the start, or a point in time. */
struct moment {
    bool is_set;
    bool is_relative;
    nsec_t value;
};

nsec_t moment_at(const struct moment *moment, nsec_t start);

/* Options that all of them have, in this order; a command's own come after them. */
enum play_option {
    PLAY_OUTPUT,
    PLAY_TRACE,
    PLAY_REPORT,
    PLAY_KUBECONFIG,
    PLAY_UNTIL,
    PLAY_GRACE,
    PLAY_USAGE_WINDOW,
    PLAY_USAGE_HALF_LIFE,
    _PLAY_OPTION_MAX
};

/* Their values. */
struct play_call {
    bool as_json;
    const char *trace;
    const char *report;
    const char *kubeconfig;
    struct moment until;
    struct play_options options;
};

void play_call_init(struct play_call *call);

/* Takes one of the options. Returns 0, or what is wrong with its value. */
MUST_CHECK int play_call_set(struct play_call *call, int option, const char *value, struct err *err);

/*
 * How commands read clusters: files, and with PATH "kube:" or "kube:CONTEXT" a running one. `kubeconfig` is NULL for
 * where kubectl looks.
 */
struct cluster_source {
    struct live_source live;
    struct cluster_options options;  // points to `live`
};

void cluster_source_init(struct cluster_source *source, const char *kubeconfig);

/* "1Gi", for a journal. */
MUST_CHECK int journal_size_parse(const char *text, uint64_t *ret, struct err *err);

/* Warnings of reading the cluster, on standard error. */
void warn_about(const struct simulation *sim);

/* Writes a file by way of `write`, whole or not at all. */
MUST_CHECK int write_file(const char *path, void (*write)(void *context, FILE *out), void *context, struct err *err);
