/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Microsoft's Philly trace: a JSON array of jobs, each with the attempts at running it and the GPUs of each machine that
 * an attempt had. A job becomes a gang whose pods are the machines' parts; its run time is that of all attempts together,
 * as each of them was work that the cluster did.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "sim/trace/trace_convert_internal.h"
#include "text/file.h"
#include "text/json.h"

enum { CORES_A_GPU = 4 };

/* "2017-10-07 01:12:09"; false for null, "None" and whatever else stands for a time that is not known. */
static bool read_moment(const struct json_at *at, const char *key, nsec_t *ret)
{
    const char *text = NULL;
    char form[32];

    if (json_member_str(at, key, JSON_OPTIONAL, &text, NULL) <= 0 || strlen(text) != 19)
        return false;
    (void)snprintf(form, sizeof form, "%.10sT%sZ", text, text + 11);
    return time_parse(form, ret, NULL) == 0;
}

static uint32_t divisor(uint32_t a, uint32_t b)
{
    while (b) {
        uint32_t rest = a % b;

        a = b;
        b = rest;
    }
    return a;
}

/* Pods are equal: machines with 8 and 4 GPUs make three pods of 4. */
static int read_machines(const struct json_at *attempt, struct trace_job *job, struct err *err)
{
    struct json_at machines;
    uint32_t total = 0;
    uint32_t each = 0;
    int rc = json_member_array(attempt, "detail", JSON_OPTIONAL, &machines, err);

    if (rc <= 0)
        return rc;
    for (struct json_at machine = {0}; json_next(&machines, &machine);) {
        struct json_at gpus;
        size_t count;

        if ((rc = json_object(&machine, err)) < 0 ||
            (rc = json_member_array(&machine, "gpus", JSON_OPTIONAL, &gpus, err)) < 0)
            return rc;
        count = rc > 0 ? yyjson_arr_size(gpus.val) : 0;
        if (count > TRACE_GPUS_MAX || total + count > TRACE_PODS_MAX)
            return json_fail(&machine, err, -EINVAL, "expected at most %d GPUs, found %zu", TRACE_GPUS_MAX, count);
        total += (uint32_t)count;
        each = divisor(each, (uint32_t)count);
    }
    if (total > 0) {
        job->gpus = each;
        job->pods = total / each;
    }
    return 0;
}

static int read_attempts(const struct json_at *item, struct trace_job *job, struct err *err)
{
    struct json_at attempts;
    int rc = json_member_array(item, "attempts", JSON_OPTIONAL, &attempts, err);

    job->run = 0;
    if (rc <= 0)
        return rc;
    for (struct json_at attempt = {0}; json_next(&attempts, &attempt);) {
        nsec_t start;
        nsec_t end;

        if ((rc = json_object(&attempt, err)) < 0 || (rc = read_machines(&attempt, job, err)) < 0)
            return rc;
        if (read_moment(&attempt, "start_time", &start) && read_moment(&attempt, "end_time", &end) && end > start)
            job->run += end - start;
    }
    return 0;
}

static int read_job(struct trace *trace, struct trace_conversion *conversion, const struct json_at *item,
                    struct err *err)
{
    struct trace_job job = TRACE_JOB_INIT;
    const char *name = "";
    const char *group = "";
    nsec_t submitted;
    int rc;

    if ((rc = json_object(item, err)) < 0 || (rc = json_member_str(item, "jobid", JSON_REQUIRED, &name, err)) < 0 ||
        (rc = json_member_str(item, "vc", JSON_OPTIONAL, &group, err)) < 0 || (rc = read_attempts(item, &job, err)) < 0)
        return rc;
    if (job.run <= 0 || job.gpus == 0 || !read_moment(item, "submitted_time", &submitted)) {
        conversion->skipped++;
        return 0;
    }
    job.name = trace_intern(trace, name);
    job.queue = convert_queue(trace, conversion, group);
    job.min_available = job.pods;
    job.is_preemptible = true;
    job.cpu_milli = job.gpus * INT64_C(1000) * CORES_A_GPU;
    trace_submit(trace, submitted, &job);
    return 0;
}

static int read_file(struct trace *trace, struct trace_conversion *conversion, const char *path, struct err *err)
{
    _cleanup_(json_doc_freep) yyjson_doc *doc = NULL;
    struct json_at root;
    int rc = json_read_file(path, CONVERT_BYTES_MAX, &doc, err);

    if (rc == -EINVAL) {
        struct err inner = *err;

        return err_set(err, rc, "%s; expected Philly's cluster_job_log, a JSON array of jobs", inner.text);
    }
    if (rc < 0)
        return rc;
    root = json_root(doc);
    rc = json_array(&root, err);
    for (struct json_at item = {0}; rc >= 0 && json_next(&root, &item);)
        rc = read_job(trace, conversion, &item, err);
    return rc < 0 ? err_wrap(err, rc, "%s", file_name(path)) : 0;
}

int convert_philly(struct trace *trace, const char *const *paths, size_t path_count,
                   struct trace_conversion *conversion, struct err *err)
{
    for (size_t i = 0; i < path_count; i++) {
        int rc = read_file(trace, conversion, paths[i], err);

        if (rc < 0)
            return rc;
    }
    return 0;
}
