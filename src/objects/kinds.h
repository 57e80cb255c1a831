/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/macros.h"

struct err;
struct grouping;
struct maker;
struct object;
struct object_reader;
struct state;

/*
 * What is done with the kinds of the input, as one table.
 *
 * Objects refer to each other, so that they are decoded in phases: what others look up comes first. A delta may come in
 * any order; the phases are for what is worked out here, such as a pod's status from its BindRequest and the nodes.
 */
enum object_phase {
    PHASE_NEVER,    // only looked at for the sake of others: owners, templates, bind requests, settings
    PHASE_CLASSES,  // priority classes, device classes, topologies
    PHASE_QUEUES,
    PHASE_NODES,
    PHASE_DEVICES,  // slices, claims, volumes, config maps
    PHASE_GANGS,
    PHASE_PODS,
    _PHASE_MAX
};

typedef int (*object_decode_fn)(struct object_reader *reader, const struct object *object, struct err *err);
typedef void (*object_drop_fn)(struct state *state, const struct object *object);
typedef int (*object_make_fn)(struct maker *maker, const struct object *owner, struct err *err);
typedef int (*object_group_fn)(struct grouping *grouping, struct err *err);

struct object_kind {
    const char *group;  // of the API
    const char *kind;
    const char *versions;  // those that are known, with spaces between them; NULL: all that come are read alike
    enum object_phase phase;
    bool is_cluster_wide;        // has no namespace
    object_decode_fn decode;     // into deltas; NULL in PHASE_NEVER
    object_drop_fn drop;         // it is gone
    object_make_fn make;         // what its controller would make of it: pods, or workloads that make pods
    object_group_fn group_pods;  // how pods that it owns in the end are grouped; NULL: as KAI's default does
};

/* The row of a kind, NULL when it is not known. `api_version` is "v1", "batch/v1", ... */
const struct object_kind *object_kind_find(const char *api_version, const char *kind);

/* The row of a kind by its API group; NULL when it is not known. */
const struct object_kind *object_kind_of(const char *group, const char *kind);

/* The rows of the table one by one; NULL behind the last one. */
const struct object_kind *object_kind_at(size_t index);

/* The place of a row in the table, which is also the order of kinds in one phase. */
size_t object_kind_index(const struct object_kind *kind);

/* Copies the group of "group/version" ("" for "v1") into `group`, cut to fit. Returns `group`. */
enum { API_GROUP_MAX = 128 };
const char *api_group(const char *api_version, char group[static API_GROUP_MAX]);
