/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "objects/group/rules.h"

/*
 * A Karta says what the objects of a kind are made of: a root and components below it, how many pods each stands for,
 * and which pods are whose, all as jq expressions. Its instructions say which of that is a gang.
 */
enum { KARTA_COMPONENTS_MAX = 256, KARTA_NONE = -1 };

struct karta_component {
    const char *name;
    yyjson_val *val;
    int32_t parent;  // KARTA_NONE: it is the root
    bool has_pods;   // pods are made of it, not only other components
};

struct karta {
    struct grouping *g;
    yyjson_val *object;
    const char *name;
    VEC(struct karta_component) components;  // the root first
    bool has_scale;                          // of any component
};

/* Where an expression is looked up: the workload, the pod, or only whether it makes sense. */
enum { OF_CHECK = -1, OF_OWNER = 0, OF_POD = 1 };

/* Takes a Karta apart. Returns 0, or says what is wrong with it. `ret_karta` is to be done in both cases. */
MUST_CHECK int karta_load(struct grouping *g, yyjson_val *object, struct karta *ret_karta, struct err *err);
void karta_done(struct karta *karta);

yyjson_val *karta_gang(const struct karta *karta);
int32_t karta_find(const struct karta *karta, const char *component);

/* The expression that is true for pods of a component; NULL: it has no selector. The set's. */
const char *karta_selector(const struct karta *karta, const struct karta_component *component, bool *ret_is_presence);

/* Adds everything that the Karta asks, each question once. */
void karta_ask(const struct karta *karta, struct group_questions *questions);

/* What the expression came to. Returns 0, or why it came to nothing. */
MUST_CHECK int karta_results(const struct karta *karta, const char *expression, int document, yyjson_val **ret_results,
                             struct err *err);

/* The only result, which is neither null nor empty. */
MUST_CHECK int karta_result(const struct karta *karta, const char *expression, yyjson_val **ret_result,
                            struct err *err);

/* Whether the pod is one of the component by its selector. Returns 1 or 0, or why that cannot be said. */
MUST_CHECK int karta_is_pod_of(const struct karta *karta, const struct karta_component *component, struct err *err);

/* The IDs of a component's instances as texts; NULL: it has one instance without an ID. */
MUST_CHECK int karta_instances(const struct karta *karta, const struct karta_component *component, yyjson_val **ret_ids,
                               struct err *err);

/* Pods of a component and all below it, at the least; with an ID those of one of its instances. */
MUST_CHECK int karta_scale(const struct karta *karta, int32_t component, const char *instance, int32_t *ret_scale,
                           struct err *err);
