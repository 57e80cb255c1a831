/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/macros.h"
#include "base/time.h"
#include "objects/notes.h"
#include "objects/settings/settings.h"

struct cluster_reading;
struct config;
struct err;
struct state;

/*
 * A cluster from files: Kubernetes manifests, what `kubectl get -o yaml` prints, snapshots of KAI's scheduler; and a
 * running one, where the caller knows how to read that.
 */

/* A path that begins so is a running cluster; what follows is the context of a kubeconfig, "" for the current one. */
#define CLUSTER_LIVE "kube:"

bool cluster_path_is_live(const char *path);

/* Adds the objects of a running cluster to the reading (cluster_reading_add_live). */
typedef int (*cluster_live_fn)(void *arg, const char *context, struct cluster_reading *reading, struct err *err);

/* What reading has to tell besides the cluster. */
struct cluster_notes {
    struct object_notes found;  // kinds that were skipped, and warnings
    uint32_t files;
    uint32_t objects;            // of known kinds
    uint32_t made;               // pods, pod groups and workloads between them that were made from workloads
    struct usage_setting usage;  // time-based fair share, as the settings have it
};

void cluster_notes_init(struct cluster_notes *notes);
void cluster_notes_done(struct cluster_notes *notes);

/* What to read of it. All zeros is everything. */
struct cluster_options {
    const char *shard;      // the SchedulingShard to go by; NULL: "default", else the first
    bool has_partition;     // only one node pool, whatever the shard says
    const char *partition;  // its label's value; "": what has no label
    nsec_t now;             // tells pods that are stuck in leaving; 0: none are
    nsec_t undated_from;  // the creation time of the first object that has none; each further one is a nanosecond later
    cluster_live_fn read_live;  // NULL: every path is a file's
    void *live_arg;
    struct cluster_reading **ret_reading;  // where the objects go that were read, which the caller frees; NULL: nowhere
};

/*
 * Reads files, folders (all .yaml, .yml, .json and .zip files in them, plain or with .gz, in the order of their names)
 * and "-", standard input, into `state`, and the settings of the scheduler into `config`, which starts as
 * KAI's operator would set it up. Objects may come in any order. Nothing may be in `state` yet.
 *
 * Returns 0, or what is wrong, in one line: "a.yaml:12:9: Pod team-a/train-0: spec.containers[0]...: '0.1x' is no
 * quantity; ...". The state is of no use then. `notes` may be NULL.
 */
MUST_CHECK int cluster_read(const struct cluster_options *options, struct state *state, struct config *config,
                            const char *const *paths, size_t path_count, struct cluster_notes *notes, struct err *err);
