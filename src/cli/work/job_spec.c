/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/work/job_spec.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "objects/keys.h"
#include "text/json.h"

enum { WEEK_S = 7 * 24 * 3600 };

void job_spec_done(struct job_spec *spec)
{
    vec_done(&spec->command);
    vec_done(&spec->env);
    vec_done(&spec->annotations);
    vec_done(&spec->node_names);
    vec_done(&spec->excluded_nodes);
}

bool job_spec_needs_service(const struct job_spec *spec)
{
    return spec->needs_number || spec->array || (spec->dependency && *spec->dependency) || spec->begin;
}

const char *job_base_name(const char *from, char text[static JOB_NAME_BYTES])
{
    const char *slash = strrchr(from, '/');
    size_t len = 0;

    for (const char *at = slash ? slash + 1 : from; *at && len < JOB_NAME_BYTES - 1; at++) {
        char c = (char)tolower((unsigned char)*at);
        bool is_fine = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');

        if (is_fine)
            text[len++] = c;
        else if (len > 0 && text[len - 1] != '-')
            text[len++] = '-';
    }
    while (len > 0 && text[len - 1] == '-')
        len--;
    text[len] = '\0';
    /* A name that begins with a digit is none everywhere. */
    if (len == 0)
        (void)snprintf(text, JOB_NAME_BYTES, "job");
    return text;
}

struct encoding {
    const struct job_spec *spec;
    yyjson_mut_doc *doc;
    yyjson_mut_val *root;
};

static void put(const struct encoding *e, yyjson_mut_val *in, const char *key, const char *value)
{
    if (value)
        (void)yyjson_mut_obj_add_strcpy(e->doc, in, key, value);
}

/* The API replaces $(NAME) in words and values; here a '$' is a '$', which two of them mean. */
static char *escape(const char *text)
{
    char *to = xcalloc(1, strlen(text) * 2 + 1);
    size_t len = 0;

    for (const char *at = text; *at; at++) {
        to[len++] = *at;
        if (*at == '$')
            to[len++] = '$';
    }
    return to;
}

/* Of the Job and of its pods alike. */
static void add_labels(const struct encoding *e, yyjson_mut_val *metadata, bool is_pod)
{
    const struct job_spec *spec = e->spec;
    yyjson_mut_val *labels = yyjson_mut_obj_add_obj(e->doc, metadata, "labels");
    char index[24];

    put(e, labels, KEY_QUEUE, spec->queue);
    put(e, labels, KEY_PRIORITY_CLASS, spec->priority_class);
    put(e, labels, KEY_NODE_POOL, spec->node_pool);
    put(e, labels, KEY_SUBMIT_USER, spec->user);
    if (!is_pod || job_spec_needs_service(spec))
        put(e, labels, KEY_JOB_ID, "");
    if (!spec->array)
        return;
    (void)snprintf(index, sizeof index, "%lld", (long long)spec->array_index);
    put(e, labels, KEY_ARRAY, spec->array);
    put(e, labels, KEY_ARRAY_ID, "");
    put(e, labels, KEY_ARRAY_INDEX, index);
}

static void add_annotations(const struct encoding *e, yyjson_mut_val *metadata)
{
    const struct job_spec *spec = e->spec;
    yyjson_mut_val *annotations = yyjson_mut_obj_add_obj(e->doc, metadata, "annotations");
    char number[24];

    put(e, annotations, KEY_SUBMIT_NAME, spec->job_name);
    put(e, annotations, "muster.scheduler/comment", spec->comment);
    if (spec->is_held || job_spec_needs_service(spec))
        put(e, annotations, KEY_START, spec->is_held ? KEY_START_HELD : KEY_START_WHEN_READY);
    if (spec->dependency && *spec->dependency)
        put(e, annotations, KEY_DEPENDENCY, spec->dependency);
    put(e, annotations, KEY_BEGIN, spec->begin);
    if (spec->array_limit > 0) {
        (void)snprintf(number, sizeof number, "%lld", (long long)spec->array_limit);
        put(e, annotations, KEY_ARRAY_LIMIT, number);
    }
    if (spec->tasks > 1) {
        (void)snprintf(number, sizeof number, "%lld", (long long)spec->tasks);
        put(e, annotations, KEY_MIN_MEMBER, number);
    }
}

static void add_metadata(const struct encoding *e)
{
    const struct job_spec *spec = e->spec;
    yyjson_mut_val *metadata = yyjson_mut_obj_add_obj(e->doc, e->root, "metadata");
    char prefix[JOB_NAME_BYTES + 2];

    if (spec->name) {
        put(e, metadata, "name", spec->name);
    } else {
        (void)snprintf(prefix, sizeof prefix, "%s-", spec->base_name);
        put(e, metadata, "generateName", prefix);
    }
    put(e, metadata, "namespace", spec->namespace);
    add_labels(e, metadata, false);
    add_annotations(e, metadata);
}

static void add_resources(const struct encoding *e, yyjson_mut_val *container)
{
    const struct job_spec *spec = e->spec;
    yyjson_mut_val *resources = yyjson_mut_obj_add_obj(e->doc, container, "resources");
    yyjson_mut_val *requests, *limits;
    char count[24];

    if (spec->cpus || spec->memory) {
        requests = yyjson_mut_obj_add_obj(e->doc, resources, "requests");
        put(e, requests, "cpu", spec->cpus);
        put(e, requests, "memory", spec->memory);
    }
    if (spec->memory || spec->gpus > 0) {
        limits = yyjson_mut_obj_add_obj(e->doc, resources, "limits");
        put(e, limits, "memory", spec->memory);
        (void)snprintf(count, sizeof count, "%lld", (long long)spec->gpus);
        if (spec->gpus > 0)
            put(e, limits, "nvidia.com/gpu", count);
    }
}

static void add_environment(const struct encoding *e, yyjson_mut_val *container)
{
    yyjson_mut_val *list = yyjson_mut_obj_add_arr(e->doc, container, "env");

    vec_foreach (&e->spec->env, variable) {
        yyjson_mut_val *item = yyjson_mut_arr_add_obj(e->doc, list);

        put(e, item, "name", variable->name);
        if (variable->field) {
            yyjson_mut_val *from = yyjson_mut_obj_add_obj(e->doc, item, "valueFrom");

            put(e, yyjson_mut_obj_add_obj(e->doc, from, "fieldRef"), "fieldPath", variable->field);
        } else {
            _cleanup_(freep) char *escaped = escape(variable->value ? variable->value : "");

            put(e, item, "value", escaped);
        }
    }
}

static void add_container(const struct encoding *e, yyjson_mut_val *pod)
{
    const struct job_spec *spec = e->spec;
    yyjson_mut_val *containers = yyjson_mut_obj_add_arr(e->doc, pod, "containers");
    yyjson_mut_val *container = yyjson_mut_arr_add_obj(e->doc, containers);

    put(e, container, "name", "main");
    put(e, container, "image", spec->image ? spec->image : PROCESS_IMAGE);
    if (!spec->image)
        put(e, container, "imagePullPolicy", "IfNotPresent");
    if (spec->command.len > 0) {
        yyjson_mut_val *words = yyjson_mut_obj_add_arr(e->doc, container, "command");

        vec_foreach (&spec->command, word) {
            _cleanup_(freep) char *escaped = escape(*word);

            (void)yyjson_mut_arr_add_strcpy(e->doc, words, escaped);
        }
    }
    put(e, container, "workingDir", spec->workdir);
    if (spec->has_stdin) {
        (void)yyjson_mut_obj_add_bool(e->doc, container, "stdin", true);
        (void)yyjson_mut_obj_add_bool(e->doc, container, "stdinOnce", true);
    }
    if (spec->has_terminal)
        (void)yyjson_mut_obj_add_bool(e->doc, container, "tty", true);
    add_environment(e, container);
    add_resources(e, container);
}

static void add_expression(const struct encoding *e, yyjson_mut_val *list, const char *operator,
                           const struct job_words * names)
{
    yyjson_mut_val *expression, *values;

    if (names->len == 0)
        return;
    expression = yyjson_mut_arr_add_obj(e->doc, list);
    put(e, expression, "key", "kubernetes.io/hostname");
    put(e, expression, "operator", operator);
    values = yyjson_mut_obj_add_arr(e->doc, expression, "values");
    vec_foreach (names, name)
        (void)yyjson_mut_arr_add_strcpy(e->doc, values, *name);
}

static void add_placement(const struct encoding *e, yyjson_mut_val *pod)
{
    const struct job_spec *spec = e->spec;
    yyjson_mut_val *at;

    if (spec->gpu_product)
        put(e, yyjson_mut_obj_add_obj(e->doc, pod, "nodeSelector"), "nvidia.com/gpu.product", spec->gpu_product);
    if (spec->node_names.len == 0 && spec->excluded_nodes.len == 0)
        return;
    at = yyjson_mut_obj_add_obj(e->doc, pod, "affinity");
    at = yyjson_mut_obj_add_obj(e->doc, at, "nodeAffinity");
    at = yyjson_mut_obj_add_obj(e->doc, at, "requiredDuringSchedulingIgnoredDuringExecution");
    at = yyjson_mut_arr_add_obj(e->doc, yyjson_mut_obj_add_arr(e->doc, at, "nodeSelectorTerms"));
    at = yyjson_mut_obj_add_arr(e->doc, at, "matchExpressions");
    add_expression(e, at, "In", &spec->node_names);
    add_expression(e, at, "NotIn", &spec->excluded_nodes);
}

static void add_template(const struct encoding *e, yyjson_mut_val *job)
{
    const struct job_spec *spec = e->spec;
    yyjson_mut_val *template = yyjson_mut_obj_add_obj(e->doc, job, "template");
    yyjson_mut_val *metadata = yyjson_mut_obj_add_obj(e->doc, template, "metadata");
    yyjson_mut_val *annotations;
    yyjson_mut_val *pod;
    char mib[24];

    add_labels(e, metadata, true);
    if (spec->gpu_part || spec->gpu_memory_mib > 0 || spec->annotations.len > 0) {
        annotations = yyjson_mut_obj_add_obj(e->doc, metadata, "annotations");
        vec_foreach (&spec->annotations, annotation)
            put(e, annotations, annotation->name, annotation->value);
        put(e, annotations, KEY_GPU_FRACTION, spec->gpu_part);
        (void)snprintf(mib, sizeof mib, "%lld", (long long)spec->gpu_memory_mib);
        if (spec->gpu_memory_mib > 0)
            put(e, annotations, KEY_GPU_MEMORY, mib);
    }
    pod = yyjson_mut_obj_add_obj(e->doc, template, "spec");
    put(e, pod, "schedulerName", KEY_SCHEDULER_NAME);
    put(e, pod, "restartPolicy", "Never");
    add_placement(e, pod);
    add_container(e, pod);
}

yyjson_mut_doc *job_spec_encode(const struct job_spec *spec)
{
    struct encoding e = {.spec = spec};
    int64_t tasks = MAX(spec->tasks, (int64_t)1);
    yyjson_mut_val *job;

    e.doc = json_new_object(&e.root);
    put(&e, e.root, "apiVersion", "batch/v1");
    put(&e, e.root, "kind", "Job");
    add_metadata(&e);
    job = yyjson_mut_obj_add_obj(e.doc, e.root, "spec");
    (void)yyjson_mut_obj_add_sint(e.doc, job, "parallelism", tasks);
    (void)yyjson_mut_obj_add_sint(e.doc, job, "completions", tasks);
    if (tasks > 1)
        put(&e, job, "completionMode", "Indexed");
    (void)yyjson_mut_obj_add_sint(e.doc, job, "backoffLimit", spec->retries);
    (void)yyjson_mut_obj_add_sint(e.doc, job, "ttlSecondsAfterFinished", spec->keep_s > 0 ? spec->keep_s : WEEK_S);
    if (spec->time_limit_s > 0)
        (void)yyjson_mut_obj_add_sint(e.doc, job, "activeDeadlineSeconds", spec->time_limit_s);
    if (spec->is_held || job_spec_needs_service(spec))
        (void)yyjson_mut_obj_add_bool(e.doc, job, "suspend", true);
    add_template(&e, job);
    return e.doc;
}
