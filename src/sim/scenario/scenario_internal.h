/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/map.h"
#include "model/delta.h"
#include "model/resources.h"
#include "sim/scenario/scenario.h"

/* Whose names must differ. */
enum scenario_name_kind { NAME_JOB, NAME_TASK, NAME_TOPOLOGY, NAME_SLICE, NAME_CLAIM, _NAME_KIND_MAX };

/* The parts of reading a scenario, one file each. All return 0 or -EINVAL. */
struct scenario_reader {
    struct scenario *s;
    struct state *state;
    struct arena scratch;                // what specs point to, for one object at a time
    struct map64 taken[_NAME_KIND_MAX];  // ids of namespace and name
    int64_t total[RES_FIXED];            // of all nodes, then of all pods: sums have to fit
    bool has_numa;
};

MUST_CHECK int scenario_read_config(struct scenario_reader *r, const struct json_at *scenario, struct err *err);
MUST_CHECK int scenario_read_nodes(struct scenario_reader *r, const struct json_at *topology, struct err *err);
MUST_CHECK int scenario_read_queues(struct scenario_reader *r, const struct json_at *topology, struct err *err);
MUST_CHECK int scenario_read_dra(struct scenario_reader *r, const struct json_at *topology, struct err *err);
MUST_CHECK int scenario_read_jobs(struct scenario_reader *r, const struct json_at *topology, struct err *err);

/* What the tasks of one job have in common. */
struct scenario_owner {
    const char *job;
    const char *namespace;
    enum qos_class qos;
    gang_id gang;
};

/* Puts all tasks in the array at `tasks`; says whether one of them holds its place (ALLOCATED_SET). */
MUST_CHECK int scenario_read_tasks(struct scenario_reader *r, const struct json_at *tasks,
                                   const struct scenario_owner *owner, bool *ret_has_started, struct err *err);
MUST_CHECK int scenario_read_request(struct scenario_reader *r, const struct json_at *task,
                                     struct request_spec *request, struct err *err);

/* Common to all parts. */

/* The longest duration and the greatest age; sums of both with the time of the scenario fit into nsec_t. */
#define SCENARIO_SECONDS_MAX 7e9
#define SCENARIO_AGE_MAX 1e9

/* The member `key` in seconds as nanoseconds: 1 when it is there, 0 when it is missing or null. */
MUST_CHECK int scenario_seconds(const struct json_at *at, const char *key, double min, double max, nsec_t *ret,
                                struct err *err);

/* The member `key` as text that is not empty. */
MUST_CHECK int scenario_name(const struct json_at *at, const char *key, const char **ret, struct err *err);

/* Reports that something is wrong with the member `key` of the object at `at`, which need not be there. */
#define scenario_fail(at, name, err, ...) \
    json_fail(&(struct json_at){.parent = (at), .key = (name)}, err, -EINVAL, __VA_ARGS__)

/* Puts the path of `at` in front of what a delta said. */
int scenario_wrap(const struct json_at *at, int code, struct err *err);

/* An object of strings as pairs, with room for `extra` more. */
MUST_CHECK int scenario_pairs(struct scenario_reader *r, const struct json_at *at, const char *key, size_t extra,
                              struct str_pair **ret, size_t *ret_count, struct err *err);

/* An array of strings. */
MUST_CHECK int scenario_strings(struct scenario_reader *r, const struct json_at *at, const char *key,
                                const char *const **ret, size_t *ret_count, struct err *err);

/*
 * An object of resources to amounts, with room for `extra` more in front. Names as the format writes them: "cpu_milli",
 * "memory_bytes", "gpus", "pods", and everything else as it is.
 */
MUST_CHECK int scenario_amounts(struct scenario_reader *r, const struct json_at *at, const char *key, size_t extra,
                                struct amount_spec **ret, size_t *ret_count, struct err *err);

/* Adds to the running sums, which must not overflow. */
MUST_CHECK int scenario_count(struct scenario_reader *r, const struct json_at *at, const struct amount_spec *amounts,
                              size_t count, struct err *err);

/* Marks the name as taken; fails when it is already. `namespace` may be NULL. */
MUST_CHECK int scenario_take_name(struct scenario_reader *r, enum scenario_name_kind kind, const struct json_at *at,
                                  const char *namespace, const char *name, struct err *err);
