/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/macros.h"
#include "text/json.h"

struct err;
struct object;
struct object_notes;
struct object_options;
struct object_set;

/*
 * Grouping in a running cluster, by the same rules as for files. The rules are pure: what they miss they name, and end;
 * whoever drives them gets it, adds it to the set, and asks again.
 */

/* A pod group that is there already keeps its shape where that has changed since it was made. */
enum group_presence { GROUP_ABSENT, GROUP_FLAT, GROUP_WITH_SUBGROUPS };

/* What a cluster's administrator wants for a kind of owner. */
struct group_defaults {
    const char *priority_class;  // NULL: nothing
    const char *preemptibility;
};

enum group_need {
    GROUP_NEEDS_NOTHING,
    GROUP_NEEDS_OWNER,   // all of `object`, of which only the metadata is known
    GROUP_NEEDS_OBJECT,  // the object of `api_version`, `kind` and `name` in the pod's namespace
    GROUP_NEEDS_PODS,    // those of the pod's namespace that `selector` chooses
};

struct group_live {
    /* What is known without asking. */
    bool (*has_priority_class)(void *arg, const char *name);
    enum group_presence (*find_group)(void *arg, const char *namespace, const char *name);
    bool (*find_defaults)(void *arg, const char *group, const char *kind, struct group_defaults *ret_defaults);
    void *arg;
    bool searches_legacy;  // groups under the names of older releases are kept
    bool gangs_knative;    // a revision is a gang, not each of its pods
    bool has_pods;         // what GROUP_NEEDS_PODS asked for is in the set

    /* What is missing, when group_pod_live() returns -EAGAIN. The strings are the set's. */
    enum group_need need;
    const struct object *object;
    const char *api_version;
    const char *kind;
    const char *name;
    const char *selector;
};

/* An owner, known or not. `val` is all of it or, with `is_partial`, its metadata; borrowed like everything in a set. */
const struct object *group_add_owner(struct object_set *set, const char *api_version, const char *kind, yyjson_val *val,
                                     bool is_partial);

/* Whether pods of the owner are grouped as KAI's default does, for want of a rule of its kind. */
bool group_has_no_rule(const struct object *owner);

/* What became of a pod. */
struct group_outcome {
    yyjson_val *pod_group;  // as it should be; the set's
    const char *name;       // of it
    const char *subgroup;   // of the pod in it; NULL: none
};

/*
 * The pod group of a pod whose owners are known: nearest first, the top last; none for a pod without owners. Returns 0;
 * -EAGAIN when something has to be read first, which `live` names; or what is wrong with the pod or its owners.
 */
MUST_CHECK int group_pod_live(struct object_set *set, const struct object *pod, const struct object *const *owners,
                              size_t owner_count, const struct object_options *options, struct group_live *live,
                              struct group_outcome *ret_outcome, struct err *err);

/* Whether the pod or one of its owners asks to be left alone. */
bool group_is_to_skip(const struct object *pod, const struct object *const *owners, size_t owner_count);
