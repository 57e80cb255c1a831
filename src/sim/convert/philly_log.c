/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Microsoft's Philly trace: a JSON array of jobs, each with the attempts at running it and the GPUs of each machine that
 * an attempt had. A job becomes a gang with a pod for each machine of its last attempt, of as many GPUs as it had there;
 * its run time is that of all attempts together, as each of them was work that the cluster did.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "sim/convert/convert_internal.h"

enum { CORES_A_GPU = 4, MACHINES_MAX = 4096 };

/* The jobs of one file, and what the job under way has had. */
struct reader {
    struct converter *c;
    VEC(uint32_t) machines;  // GPUs of each, of the last attempt that had some
    nsec_t started;          // first
    nsec_t run;
};

static bool read_moment(const struct json_at *at, const char *key, nsec_t *ret)
{
    const char *text = NULL;

    return json_member_str(at, key, JSON_OPTIONAL, &text, NULL) > 0 && convert_moment(text, ret);
}

static int read_machine(struct reader *r, const struct json_at *machine, struct err *err)
{
    struct json_at gpus;
    size_t count;
    int rc;

    if ((rc = json_object(machine, err)) < 0 ||
        (rc = json_member_array(machine, "gpus", JSON_OPTIONAL, &gpus, err)) <= 0)
        return rc;
    count = yyjson_arr_size(gpus.val);
    if (count > TRACE_GPUS_MAX || r->machines.len == MACHINES_MAX)
        return json_fail(machine, err, -EINVAL, "expected at most %d GPUs on each of %d machines, found %zu",
                         TRACE_GPUS_MAX, MACHINES_MAX, count);
    if (count > 0)
        vec_push(&r->machines, (uint32_t)count);
    return 0;
}

static int read_attempt(struct reader *r, const struct json_at *attempt, struct err *err)
{
    struct json_at machines;
    nsec_t start;
    nsec_t end;
    int rc;

    if ((rc = json_object(attempt, err)) < 0 ||
        (rc = json_member_array(attempt, "detail", JSON_OPTIONAL, &machines, err)) < 0)
        return rc;
    if (rc > 0 && yyjson_arr_size(machines.val) > 0)
        vec_clear(&r->machines);
    for (struct json_at machine = {0}; json_next(&machines, &machine);)
        if ((rc = read_machine(r, &machine, err)) < 0)
            return rc;
    if (!read_moment(attempt, "start_time", &start))
        return 0;
    if (r->started == 0)
        r->started = start;
    if (read_moment(attempt, "end_time", &end) && end > start)
        r->run += end - start;
    return 0;
}

static int compare_machines(const void *l, const void *r)
{
    uint32_t a = *(const uint32_t *)l;
    uint32_t b = *(const uint32_t *)r;

    return (a < b) - (a > b);
}

/* A pod for each machine, the largest first, so that equal ones stand together. */
static void set_pods(struct reader *r, struct trace_job *job)
{
    struct trace_part parts[TRACE_PARTS_MAX];
    uint32_t count = 0;

    qsort(r->machines.items, r->machines.len, sizeof *r->machines.items, compare_machines);
    vec_foreach (&r->machines, gpus) {
        if (count > 0 && (parts[count - 1].gpus == *gpus || count == TRACE_PARTS_MAX)) {
            parts[count - 1].pods++;
            continue;
        }
        parts[count++] = (struct trace_part){1, *gpus, *gpus * INT64_C(1000) * CORES_A_GPU, INT64_C(1) << 30};
    }
    trace_set_parts(r->c->trace, job, parts, count);
}

static int read_job(struct reader *r, const struct json_at *item, struct err *err)
{
    struct trace_job job = TRACE_JOB_INIT;
    struct json_at attempts;
    const char *name = "";
    const char *group = "";
    nsec_t submitted;
    int rc;

    vec_clear(&r->machines);
    r->started = r->run = 0;
    if ((rc = json_object(item, err)) < 0 || (rc = json_member_str(item, "jobid", JSON_REQUIRED, &name, err)) < 0 ||
        (rc = json_member_str(item, "vc", JSON_OPTIONAL, &group, err)) < 0 ||
        (rc = json_member_array(item, "attempts", JSON_OPTIONAL, &attempts, err)) < 0)
        return rc;
    for (struct json_at attempt = {0}; json_next(&attempts, &attempt);)
        if ((rc = read_attempt(r, &attempt, err)) < 0)
            return rc;
    if (r->run <= 0 || r->machines.len == 0 || !read_moment(item, "submitted_time", &submitted)) {
        convert_skip(r->c);
        return 0;
    }
    set_pods(r, &job);
    job.name = convert_name(r->c->trace, name);
    job.queue = convert_queue(r->c, group);
    return convert_ran(r->c, submitted, r->started, r->run, &job, err);
}

int convert_philly_log(struct converter *c, yyjson_doc *doc, const char *name, struct err *err)
{
    struct reader r = {.c = c};
    struct json_at root = json_root(doc);
    int rc = json_array(&root, err);

    for (struct json_at item = {0}; rc >= 0 && json_next(&root, &item);)
        rc = read_job(&r, &item, err);
    vec_done(&r.machines);
    return rc < 0 ? err_wrap(err, rc, "%s", name) : 0;
}
