/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/macros.h"
#include "base/vec.h"
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
    GROUP_NEEDS_KARTAS,  // those for the kind: `kartas`; their labels are those of `selector`
    GROUP_NEEDS_POD,     // all of the pod: `pod`
    GROUP_NEEDS_VALUES,  // what `questions` come to: `answers`, or `senseless` where they make no sense
};

/* A jq expression of a Karta, and which document it is about: 0 is the top owner, 1 the pod, -1 none (it is checked). */
struct group_question {
    const char *expression;
    int document;
};

struct group_questions VEC_OF(struct group_question);

/* An expression that makes no sense, and why. */
struct group_senseless {
    const char *expression;
    const char *wrong;
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
    bool uses_kartas;      // for kinds without a rule
    bool has_kartas;
    yyjson_val *kartas;  // a list of them; NULL: there are none
    yyjson_val *pod;
    yyjson_val *answers;  // to `questions`, as text/jq.h has them
    VEC(struct group_senseless) senseless;

    /* What is missing, when group_pod_live() returns -EAGAIN. The strings are the set's. */
    enum group_need need;
    const struct object *object;
    const char *api_version;
    const char *kind;
    const char *name;
    const char *selector;
    struct group_questions questions;

    /* What was passed over, for those who run the cluster; NULL: nothing. The set's. */
    const char *warning;
};

/* Frees what it holds itself; what it points to is the caller's. */
void group_live_done(struct group_live *live);

/* An owner, known or not. `val` is all of it or, with `is_partial`, its metadata; borrowed like everything in a set. */
const struct object *group_add_owner(struct object_set *set, const char *api_version, const char *kind, yyjson_val *val,
                                     bool is_partial);

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
