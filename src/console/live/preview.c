/* SPDX-License-Identifier: Apache-2.0 */

/*
 * What the next scheduling cycle would do with a draft, or with other quotas: `muster whatif` on the cluster as it is now. A draft
 * that would wait is asked about as well: `muster why` says whether it is never.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "console/live/cut.h"
#include "console/live/live_internal.h"
#include "console/rest/handlers.h"
#include "frame/service.h"
#include "objects/keys.h"
#include "text/json.h"
#include "text/quantity.h"

#define DRAFT_NAMESPACE "preview"
#define DRAFT_NAME "draft"

/* The program reads the draft from its standard input. */
#define DRAFT_FILE "-"

static const char draft_path[] = DRAFT_NAMESPACE "/" DRAFT_NAME;

enum { DRAFT_PODS_MAX = 10000, DRAFT_GPUS_MAX = 64, CHANGES_MAX = 192, CHANGE_MAX = 512 };

struct preview {
    struct console *console;
    yyjson_doc *body;
    char *draft;  // the manifest; NULL: there is none
    size_t draft_len;
    VEC(char *) changes;
};

static void preview_free(void *arg)
{
    struct preview *preview = arg;

    vec_foreach (&preview->changes, change)
        free(*change);
    vec_done(&preview->changes);
    free(preview->draft);
    yyjson_doc_free(preview->body);
    free(preview);
}

/* --- the draft --- */

/* What one pod asks for, as its annotations and the limits of its container. */
static int put_ask(const struct json_at *ask, yyjson_mut_doc *doc, yyjson_mut_val *notes, yyjson_mut_val *limits,
                   struct err *err)
{
    const char *memory = NULL;
    const char *cpus = NULL;
    const char *gpu_memory = NULL;
    char text[32];
    double gpus = 0;
    int r;

    if ((r = json_member_double(ask, "gpus", JSON_OPTIONAL, 0, DRAFT_GPUS_MAX, &gpus, err)) < 0 ||
        (r = json_member_str(ask, "gpuMemory", JSON_OPTIONAL, &gpu_memory, err)) < 0 ||
        (r = json_member_str(ask, "cpus", JSON_OPTIONAL, &cpus, err)) < 0 ||
        (r = json_member_str(ask, "memory", JSON_OPTIONAL, &memory, err)) < 0)
        return r;
    if (cpus)
        put_text(doc, limits, "cpu", cpus);
    if (memory)
        put_text(doc, limits, "memory", memory);
    if (gpu_memory && gpus > 0)
        return err_set(err, -EINVAL, "workload: gpus and gpuMemory cannot be used together");
    if (gpu_memory) {
        int64_t bytes = 0;

        r = quantity_parse(gpu_memory, QUANTITY_ONE, &bytes, err);
        if (r < 0 || bytes < 1 << 20)
            return r < 0 ? err_wrap(err, r, "workload.gpuMemory")
                         : err_set(err, -EINVAL, "workload.gpuMemory: expected at least 1Mi");
        (void)snprintf(text, sizeof text, "%lld", (long long)(bytes >> 20));
        put_text(doc, notes, KEY_GPU_MEMORY, text);
    }
    if (gpus > 0 && gpus < 1) {
        (void)snprintf(text, sizeof text, "%.4g", gpus);
        put_text(doc, notes, KEY_GPU_FRACTION, text);
    } else if (gpus > (double)(int64_t)gpus) {
        return err_set(err, -EINVAL, "workload.gpus: expected a whole number, or less than 1");
    } else if (gpus >= 1) {
        (void)yyjson_mut_obj_add_sint(doc, limits, "nvidia.com/gpu", (int64_t)gpus);
    }
    return 0;
}

static int put_labels(const struct json_at *ask, const char *queue, yyjson_mut_doc *doc, yyjson_mut_val *labels,
                      struct err *err)
{
    const char *priority = NULL;
    const char *pool = NULL;
    bool is_preemptible = false;
    int r;

    if ((r = json_member_str(ask, "priorityClassName", JSON_OPTIONAL, &priority, err)) < 0 ||
        (r = json_member_str(ask, "nodePool", JSON_OPTIONAL, &pool, err)) < 0)
        return r;
    put_text(doc, labels, KEY_QUEUE, queue);
    if (priority)
        put_text(doc, labels, KEY_PRIORITY_CLASS, priority);
    if (pool && *pool)
        put_text(doc, labels, KEY_NODE_POOL, pool);
    r = json_member_bool(ask, "isPreemptible", JSON_OPTIONAL, &is_preemptible, err);
    if (r > 0)
        put_text(doc, labels, KEY_PREEMPTIBILITY, is_preemptible ? "preemptible" : "non-preemptible");
    return r < 0 ? r : 0;
}

/* A Job, all pods of which start together. */
static int make_draft(struct preview *preview, const struct json_at *ask, const char *queue, struct err *err)
{
    yyjson_mut_val *root;
    yyjson_mut_doc *doc = json_new_object(&root);
    yyjson_mut_val *metadata = yyjson_mut_obj_add_obj(doc, root, "metadata");
    yyjson_mut_val *labels = yyjson_mut_obj_add_obj(doc, metadata, "labels");
    yyjson_mut_val *notes = yyjson_mut_obj_add_obj(doc, metadata, "annotations");
    yyjson_mut_val *spec = yyjson_mut_obj_add_obj(doc, root, "spec");
    yyjson_mut_val *template = yyjson_mut_obj_add_obj(doc, spec, "template");
    yyjson_mut_val *pod_notes = yyjson_mut_obj(doc);
    yyjson_mut_val *limits = yyjson_mut_obj(doc);
    char number[32];
    int64_t pods = 1;
    int r = json_member_int64(ask, "pods", JSON_OPTIONAL, 1, DRAFT_PODS_MAX, &pods, err);

    if (r >= 0)
        r = put_labels(ask, queue, doc, labels, err);
    if (r == 0)
        r = put_ask(ask, doc, pod_notes, limits, err);
    put_text(doc, root, "apiVersion", "batch/v1");
    put_text(doc, root, "kind", "Job");
    put_text(doc, metadata, "namespace", DRAFT_NAMESPACE);
    put_text(doc, metadata, "name", DRAFT_NAME);
    (void)snprintf(number, sizeof number, "%lld", (long long)pods);
    put_text(doc, notes, KEY_MIN_MEMBER, number);
    (void)yyjson_mut_obj_add_sint(doc, spec, "parallelism", pods);
    (void)yyjson_mut_obj_add_sint(doc, spec, "completions", pods);

    yyjson_mut_val *pod = yyjson_mut_obj_add_obj(doc, template, "metadata");
    (void)yyjson_mut_obj_add_val(doc, pod, "labels", yyjson_mut_val_mut_copy(doc, labels));
    (void)yyjson_mut_obj_add_val(doc, pod, "annotations", pod_notes);
    pod = yyjson_mut_obj_add_obj(doc, template, "spec");
    put_text(doc, pod, "schedulerName", KEY_SCHEDULER_NAME);
    put_text(doc, pod, "restartPolicy", "Never");
    yyjson_mut_val *container = yyjson_mut_arr_add_obj(doc, yyjson_mut_obj_add_arr(doc, pod, "containers"));
    put_text(doc, container, "name", "main");
    put_text(doc, container, "image", DRAFT_NAME);
    (void)yyjson_mut_obj_add_val(doc, yyjson_mut_obj_add_obj(doc, container, "resources"), "limits", limits);
    preview->draft = yyjson_mut_write(doc, 0, &preview->draft_len);
    BUG_ON(!preview->draft);
    yyjson_mut_doc_free(doc);
    return r;
}

static int read_draft(struct preview *preview, const struct caller *caller, const struct json_at *ask, struct err *err)
{
    const struct units *units = preview->console->live->units;
    const char *queue = NULL;
    int r;

    if (!ask->val)
        return 0;
    r = json_member_str(ask, "queue", JSON_REQUIRED, &queue, err);
    if (r < 0)
        return r;
    if (!units_show_queue(units, &caller->access, queue) && !units_show_work(units, &caller->access, "", queue))
        return err_set(err, -EACCES, "there is no queue '%.100s' that you may use", queue);
    return make_draft(preview, ask, queue, err);
}

/* --- the quotas --- */

/* An amount of a queue, as a change of `muster whatif`; -1 is unlimited. */
static int add_change(struct preview *preview, const struct json_at *row, const char *queue, const char *key,
                      const char *member, struct err *err)
{
    double amount = 0;
    char change[CHANGE_MAX];
    int r = json_member_double(row, key, JSON_OPTIONAL, -1, 1e9, &amount, err);

    if (r <= 0)
        return r;
    if (amount < 0)
        (void)snprintf(change, sizeof change, "queue/%s.%s=unlimited", queue, member);
    else
        (void)snprintf(change, sizeof change, "queue/%s.%s=%.10g", queue, member, amount);
    vec_push(&preview->changes, xstrdup(change));
    return preview->changes.len > CHANGES_MAX ? json_fail(row, err, -EINVAL, "more than %d changes", CHANGES_MAX) : 0;
}

static bool is_queue_name(const char *name)
{
    size_t len = strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-.");

    return len > 0 && len <= 253 && !name[len];
}

static int read_queues(struct preview *preview, const struct caller *caller, const struct json_at *rows,
                       struct err *err)
{
    for (struct json_at row = {0}; json_next(rows, &row);) {
        const char *queue = NULL;
        int r = json_member_str(&row, "name", JSON_REQUIRED, &queue, err);

        if (r < 0)
            return r;
        if (!is_queue_name(queue) || !units_show_queue(preview->console->live->units, &caller->access, queue))
            return err_set(err, -EACCES, "there is no queue '%.100s' that you may see", queue);
        if ((r = add_change(preview, &row, queue, "quota", "quota", err)) < 0 ||
            (r = add_change(preview, &row, queue, "limit", "limit", err)) < 0 ||
            (r = add_change(preview, &row, queue, "overQuotaWeight", "weight", err)) < 0)
            return r;
    }
    return 0;
}

static int read_body(struct preview *preview, struct http_exchange *exchange, struct err *err)
{
    const struct caller *caller = rest_attached(exchange);
    struct json_at root, ask, queues;
    size_t len = 0;
    const char *text = http_exchange_body(exchange, &len);
    int r = json_parse(text, len, "the body", &preview->body, err);

    if (r < 0)
        return r;
    root = json_root(preview->body);
    if ((r = json_member_object(&root, "workload", JSON_OPTIONAL, &ask, err)) < 0 ||
        (r = json_member_array(&root, "queues", JSON_OPTIONAL, &queues, err)) < 0 ||
        (r = units_refresh(preview->console->live->units, err)) < 0 ||
        (r = read_draft(preview, caller, &ask, err)) < 0 || (r = read_queues(preview, caller, &queues, err)) < 0)
        return r;
    return preview->draft || preview->changes.len > 0
               ? 0
               : err_set(err, -EINVAL, "expected a workload or queues to change");
}

/* --- the answer --- */

/* What becomes of the draft; NULL: there is none. */
static const char *outcome_of(const struct preview *preview, yyjson_mut_doc *doc)
{
    yyjson_mut_val *row;
    size_t i, count;

    if (!preview->draft)
        return NULL;
    yyjson_mut_arr_foreach(yyjson_mut_obj_get(yyjson_mut_doc_get_root(doc), "workloads"), i, count, row)
    {
        const char *name = yyjson_mut_get_str(yyjson_mut_obj_get(row, "workload"));
        const char *state = yyjson_mut_get_str(yyjson_mut_obj_get(yyjson_mut_obj_get(row, "with"), "state"));

        if (!name || strcmp(name, draft_path) != 0 || !state)
            continue;
        return strcmp(state, "Starting") == 0 || strcmp(state, "Running") == 0 ? "starts"
               : strcmp(state, "Preempting") == 0                              ? "preempts"
                                                                               : "waits";
    }
    return "waits";
}

/* The answer of the first program, and the draft, while the second one runs. */
struct told {
    struct console *console;
    yyjson_mut_doc *doc;
    char *draft;
};

static void told_free(void *arg)
{
    struct told *told = arg;

    yyjson_mut_doc_free(told->doc);
    free(told->draft);
    free(told);
}

static void send_with_why(void *arg, struct http_exchange *exchange, const char *output, size_t len)
{
    struct told *told = arg;
    _cleanup_(json_doc_freep) yyjson_doc *doc = NULL;
    struct err err = {0};

    if (json_parse(output, len, "the answer", &doc, &err) < 0) {
        rest_fail(exchange, -EIO, "%s", err.text);
        return;
    }
    yyjson_mut_doc *why = yyjson_doc_mut_copy(doc, NULL);
    yyjson_mut_val *root = yyjson_mut_doc_get_root(told->doc);
    bool is_never = yyjson_get_bool(yyjson_doc_ptr_get(doc, "/never"));

    live_cut_why(told->console->live, rest_attached(exchange), why);
    put_text(told->doc, root, "outcome", is_never ? "never" : "waits");
    (void)yyjson_mut_obj_add_val(told->doc, root, "why",
                                 yyjson_mut_val_mut_copy(told->doc, yyjson_mut_doc_get_root(why)));
    yyjson_mut_doc_free(why);
    live_reply(exchange, TAKE_PTR(told->doc));
}

static void ask_why(struct preview *preview, struct http_exchange *exchange, yyjson_mut_doc *doc)
{
    struct console *console = preview->console;
    const char *const words[] = {"why", "-o",       "json",  "--kubeconfig", console->service->settings.kubeconfig,
                                 "--",  draft_path, "kube:", DRAFT_FILE,     NULL};
    struct told *told = xcalloc(1, sizeof *told);

    *told = (struct told){console, doc, preview->draft};
    preview->draft = NULL;
    asks_program(console->live->asks, exchange,
                 &(struct asks_program){
                     .words = words,
                     .input = told->draft,
                     .input_len = preview->draft_len,
                     .fn = send_with_why,
                     .free_arg = told_free,
                     .arg = told,
                 });
}

static void send_preview(void *arg, struct http_exchange *exchange, const char *output, size_t len)
{
    struct preview *preview = arg;
    _cleanup_(json_doc_freep) yyjson_doc *doc = NULL;
    struct err err = {0};

    if (json_parse(output, len, "the answer", &doc, &err) < 0) {
        rest_fail(exchange, -EIO, "%s", err.text);
        return;
    }
    yyjson_mut_doc *copy = yyjson_doc_mut_copy(doc, NULL);
    yyjson_mut_val *root = yyjson_mut_doc_get_root(copy);
    const char *outcome = outcome_of(preview, copy);

    (void)yyjson_mut_obj_remove_key(root, "changes");
    (void)yyjson_mut_obj_remove_key(root, "requirements");
    live_cut_whatif(preview->console->live, rest_attached(exchange), copy);
    if (outcome && strcmp(outcome, "waits") == 0) {
        ask_why(preview, exchange, copy);
        return;
    }
    if (outcome)
        put_text(copy, root, "outcome", outcome);
    live_reply(exchange, copy);
}

static void run_preview(struct preview *preview, struct http_exchange *exchange)
{
    VEC(const char *) words = {0};

    vec_push(&words, "whatif");
    vec_push(&words, "-o");
    vec_push(&words, "json");
    vec_push(&words, "--kubeconfig");
    vec_push(&words, preview->console->service->settings.kubeconfig);
    vec_push(&words, "--");
    vec_push(&words, "kube:");
    if (preview->draft)
        vec_push(&words, "new=" DRAFT_FILE);
    vec_foreach (&preview->changes, change)
        vec_push(&words, *change);
    vec_push(&words, NULL);
    asks_program(preview->console->live->asks, exchange,
                 &(struct asks_program){
                     .words = words.items,
                     .input = preview->draft,
                     .input_len = preview->draft_len,
                     .fn = send_preview,
                     .free_arg = preview_free,
                     .arg = preview,
                 });
    vec_done(&words);
}

/* The program reads the cluster by itself: nothing has to be ready here. */
void handle_live_preview(void *arg, struct http_exchange *exchange)
{
    struct preview *preview = xcalloc(1, sizeof *preview);
    struct err err = {0};

    preview->console = arg;
    if (read_body(preview, exchange, &err) < 0) {
        rest_fail_err(exchange, &err);
        preview_free(preview);
        return;
    }
    run_preview(preview, exchange);
}

/* Answers over hours are made of the history of a cluster, which the console does not keep. */
void handle_live_later(void *arg, struct http_exchange *exchange)
{
    (void)arg;
    rest_fail(
        exchange, -ENOSYS,
        "this answer needs the history of the cluster, which the console does not keep yet: muster when, whatif and "
        "replay read a trace or a journal");
}
