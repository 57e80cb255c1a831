/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"
#include "model/delta.h"
#include "objects/fields.h"
#include "objects/group/group.h"
#include "objects/group/live.h"
#include "objects/keys.h"
#include "objects/kinds.h"
#include "objects/object.h"
#include "objects/owners.h"

/* Owners above a pod: more is a circle. */
enum { OWNERS_MAX = 16 };

struct subgroup_draft {
    const char *name;
    const char *parent;    // NULL: the root
    int32_t min_member;    // of a set of pods
    int32_t min_subgroup;  // of a group of subgroups; -1: it is a set of pods
    struct topology_constraint_spec topology;
};

/*
 * The pod group of one pod in the making: what is known of the pod and its owners, and what the rules of its top
 * owner's kind make of it.
 */
struct grouping {
    struct object_set *objects;
    const struct object_options *options;
    struct object_notes *notes;
    struct group_live *live;  // NULL: the input is all there is
    struct arena *arena;
    const struct object *pod;
    const struct object *owners[OWNERS_MAX];  // nearest first, the top last; the pod itself when it has none
    size_t owner_count;
    const struct object *top;      // whose kind decides
    const struct object *skipped;  // an owner above the top whose labels and annotations fill the top's gaps; or NULL

    const char *name;
    const struct object *owner;  // of the pod group
    const char *queue;
    const char *priority_class;
    const char *preemptibility;    // NULL: by priority
    const char *preemption_delay;  // as written; NULL: none
    const char *staleness_grace;
    struct topology_constraint_spec topology;
    int32_t min_member;
    int32_t min_subgroup;  // -1: min_member counts
    VEC(struct subgroup_draft) subgroups;
    const char *pod_subgroup;  // NULL: none
};

/* KAI's default rules. With `has_whole_chain` every owner is looked at, else only the top. */
int group_base(struct grouping *g, bool has_whole_chain, const char *fallback_priority, struct err *err);

/*
 * The name as the API server takes it: as it is up to 253 characters; of a longer one the beginning, and a number that the
 * whole of it makes, so that the same name always gives the same and two names never do.
 */
const char *group_fitting_name(struct arena *arena, const char *name);

/* pg-<name>-<uid>; without a UID the kind stands in its place. */
const char *group_name_of(struct grouping *g, const struct object *object);

/* A label or annotation of an owner; the top's gaps are filled by the owner that was skipped. */
const char *owner_label(const struct grouping *g, const struct object *owner, const char *key);
const char *owner_annotation(const struct grouping *g, const struct object *owner, const char *key);

/* Topology and levels from the annotations of a pod template, under the given keys. */
struct topology_constraint_spec topology_of(const struct json_at *template, const char *required_key,
                                            const char *preferred_key);

/* An owner's whole number `spec.<key>`; returns 1 when it is there. */
int spec_int(const struct object *object, const char *const *path, size_t path_len, int64_t *ret_value,
             struct err *err);

/* An annotation that has to be a whole number in a range; `fallback` when it is not there. */
int annotation_int(const struct object *object, const char *key, int64_t min, int64_t fallback, int64_t *ret_value,
                   struct err *err);

/* Rules that look into an owner: 0 when all of it is there, -EAGAIN when it has to be read first. */
int group_need_whole(struct grouping *g, const struct object *object, struct err *err);

/* An object beside the owners. Returns 0 with NULL when it is not in the input, -EAGAIN when it has to be read first. */
int group_look_up(struct grouping *g, const char *api_version, const char *kind, const char *name,
                  const struct object **ret_object, struct err *err);

/* Pods of the pod's namespace with the label are in the set. Returns 0, or -EAGAIN when they have to be read first. */
int group_need_pods(struct grouping *g, const char *selector, struct err *err);

/* Whether a pod group of that name is there already; never in files, which hold what is new. */
enum group_presence group_presence(const struct grouping *g, const char *name);

/* The group as an object of the set, unless it is there: the first pod of a gang makes it, the others join. */
int group_encode(struct grouping *g, struct err *err);

void add_subgroup(struct grouping *g, struct subgroup_draft draft);

/* Segments of one gang, at most. */
enum { SEGMENTS_MAX = 10000 };

/* By what a Karta of the cluster says of the top owner's kind; as by default where there is none. */
int group_karta(struct grouping *g, struct err *err);
