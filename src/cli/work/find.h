/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>

#include "base/arena.h"
#include "base/macros.h"
#include "base/vec.h"
#include "cli/work/api.h"
#include "views/workloads.h"

/* The workloads that the words of a command name. */
struct found VEC_OF(const struct workload_row *);

struct workload_set {
    struct api_view view;
    struct arena arena;
    struct workload_rows rows;
};

/* Reads all workloads of the namespace, NULL for all of them. */
MUST_CHECK int workload_set_read(struct workload_set *set, struct api *api, const char *namespace, struct err *err);
void workload_set_done(struct workload_set *set);

/*
 * Adds the workloads that a word names: "train", "team-a/train", the number "12", the array "12" with all its elements, one
 * of them "12_3". A name without a namespace is one of `namespace`. A name that was given to several Jobs means the newest.
 * Returns 0, or -EINVAL with the nearest name.
 */
MUST_CHECK int workload_find(const struct workload_set *set, const char *word, const char *namespace,
                             struct found *found, struct err *err);

/* The same for one workload alone. */
MUST_CHECK int workload_find_one(const struct workload_set *set, const char *word, const char *namespace,
                                 const struct workload_row **ret, struct err *err);

/* The namespace to read for all these words: that of `namespace` for names, NULL for all where a word names another one. */
const char *find_namespace(const char *const *words, size_t count, const char *namespace);
