/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <yyjson.h>

#include "base/strmap.h"

/*
 * Which scaling pods there should be. It knows nothing of the API: it is told of pods, and says what to delete and what to
 * create.
 */

/* What a pod says of its place. */
enum sharer_state {
    SHARER_UNKNOWN,        // nothing yet
    SHARER_UNSCHEDULABLE,  // there is none for it
    SHARER_SETTLED,        // it has one, or is at its end
};

/* A pod that asks for a part of a GPU. */
struct sharer {
    char *namespace, *name;
    enum sharer_state state;
    int64_t devices;
    int64_t hundredths;  // of GPUs, over all devices
    char *body;          // of its scaling pod; NULL unless it is unschedulable
};

/* A scaling pod. */
struct scaling_pod {
    char *name;
    char *uid;
    char *for_namespace, *for_name;
    int64_t devices;
    bool is_over;      // it ran
    bool is_leaving;   // its deletion is under way
    bool is_expected;  // it was created, and the watch has not shown it yet
};

struct plan_options {
    const char *namespace;  // of scaling pods
    const char *app;        // their label `app`
    const char *image;
    const char *service_account;
    double memory_ratio;  // that a request for GPU memory counts as
};

struct plan {
    const struct plan_options *options;
    struct strmap sharers;
    struct strmap pods;  // scaling pods by name
};

void plan_init(struct plan *plan, const struct plan_options *options);
void plan_done(struct plan *plan);

/* Pods of the scheduler; those without a part of a GPU are passed over. */
void plan_put_pod(struct plan *plan, yyjson_val *pod);
void plan_drop_pod(struct plan *plan, const char *namespace, const char *name);

/* Pods of the namespace of scaling pods. */
void plan_put_scaling(struct plan *plan, yyjson_val *pod);
void plan_drop_scaling(struct plan *plan, const char *name);

/* The next scaling pod that is not needed any more; NULL: none. The caller marks it as leaving. */
struct scaling_pod *plan_next_unneeded(const struct plan *plan);

/* The next pod that a scaling pod has to be created for; NULL: none. By namespace and name. */
struct sharer *plan_next_missing(const struct plan *plan);

/* One is being created for the pod, or could not be. */
void plan_expect(struct plan *plan, const struct sharer *sharer);
void plan_expect_not(struct plan *plan, const char *name);

/* "<namespace>-<pod>-<hash>", no longer than names may be. Two pods never have the same. */
enum { SCALING_NAME_MAX = 253 };
void scaling_name(const char *namespace, const char *name, char text[static SCALING_NAME_MAX + 1]);
