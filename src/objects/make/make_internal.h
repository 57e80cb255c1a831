/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/macros.h"
#include "model/delta.h"
#include "objects/fields.h"
#include "objects/keys.h"
#include "objects/kinds.h"
#include "objects/object.h"

struct object_options;

/* Makes what a workload's controller would make. */
struct maker {
    struct object_set *set;
    const struct object_options *options;
    struct object_notes *notes;
    struct arena *arena;  // for names, of one workload
};

/* A child of a workload: metadata and spec of its template, with labels and annotations of its own put over them. */
struct child {
    const char *api_version;  // NULL: a Pod
    const char *kind;
    const char *name;
    const struct json_at *template;  // {metadata, spec}; without a value: nothing
    const struct json_at *metadata;  // labels and annotations; NULL: the template's
    const struct json_at *spec;      // NULL: the template's
    struct str_pair labels[8];       // up to the first without a key
    struct str_pair annotations[4];
};

/* Adds the child to the set, owned by `owner`. Pods of other schedulers are left out, with one warning a workload. */
MUST_CHECK int make_child(struct maker *maker, const struct object *owner, const struct child *child, struct err *err);

/* A decimal number as text in the maker's arena. */
const char *make_number(struct maker *maker, int64_t number);

/* Has the workload ended, or is it told to wait? Then it has no pods. */
bool workload_is_over(const struct object *workload);
bool workload_is_suspended(const struct json_at *at);

int make_job(struct maker *maker, const struct object *owner, struct err *err);
int make_replicas(struct maker *maker, const struct object *owner, struct err *err);
int make_stateful_set(struct maker *maker, const struct object *owner, struct err *err);
int make_notebook(struct maker *maker, const struct object *owner, struct err *err);
int make_nothing(struct maker *maker, const struct object *owner, struct err *err);
int make_kubeflow(struct maker *maker, const struct object *owner, struct err *err);
int make_ray_cluster(struct maker *maker, const struct object *owner, struct err *err);
int make_ray_wrapper(struct maker *maker, const struct object *owner, struct err *err);
int make_job_set(struct maker *maker, const struct object *owner, struct err *err);
int make_leader_worker_set(struct maker *maker, const struct object *owner, struct err *err);
int make_knative(struct maker *maker, const struct object *owner, struct err *err);
int make_train_job(struct maker *maker, const struct object *owner, struct err *err);
int make_grove(struct maker *maker, const struct object *owner, struct err *err);
int make_compute_domain(struct maker *maker, const struct object *owner, struct err *err);
int make_spark(struct maker *maker, const struct object *owner, struct err *err);
