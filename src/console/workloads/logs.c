/* SPDX-License-Identifier: Apache-2.0 */

/* What a pod of a workload has written, as it comes from the cluster: all that there is, or until the reader goes. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/strbuf.h"
#include "base/time.h"
#include "console/rest/handlers.h"
#include "console/workloads/follow.h"
#include "console/workloads/workloads.h"
#include "frame/service.h"
#include "kube/client/client.h"
#include "kube/client/meta.h"
#include "net/loop.h"

/* A reader that is so far behind is let go. */
enum { PATH_BYTES_MAX = 4096, UNSENT_MAX = 8 << 20, LINES_MAX = 1000000 };

#define LINES_DEFAULT "1000"
#define CHECK_INTERVAL (5 * NSEC_PER_SEC)
#define FOREVER (365 * 24 * NSEC_PER_HOUR)

/* One request for a log. */
struct reading {
    struct request request;
    struct kube_call *call;
    struct loop_timer check;  // whether the reader may still read
    bool has_begun;
};

/* --- which pod --- */

struct choice {
    const char *name;  // that was asked for; NULL: any that has started
    char *found;
};

static void choose(void *arg, yyjson_val *pod)
{
    struct choice *choice = arg;
    const char *name = kube_text(pod, "name");
    bool has_started = strcmp(kube_text(pod, "k8sPhase"), "Pending") != 0;

    if (choice->name ? strcmp(choice->name, name) != 0 : !has_started)
        return;
    /* Pods of a gang have the first rank in the first name. */
    if (choice->found && strcmp(choice->found, name) <= 0)
        return;
    free(choice->found);
    choice->found = xstrdup(name);
}

static int find_pod(const struct reading *reading, char **ret_name, struct err *err)
{
    const struct request *request = &reading->request;
    struct choice choice = {.name = rest_query(request->exchange, "pod")};

    workload_each_pod(request->console->workloads, request->id, choose, &choice);
    *ret_name = choice.found;
    if (choice.found)
        return 0;
    return choice.name ? err_set(err, -ENOENT, "the workload has no pod '%.100s'", choice.name)
                       : err_set(err, -ENOENT, "the workload has no pod that has started");
}

/* --- the query --- */

static int put_flag(const struct request *request, const char *name, struct strbuf *path, struct err *err)
{
    const char *value = rest_query(request->exchange, name);

    if (value && strcmp(value, "true") != 0 && strcmp(value, "false") != 0)
        return err_set(err, -EINVAL, "%s: expected true or false", name);
    kube_query(path, name, value);
    return 0;
}

static int put_query(const struct request *request, struct strbuf *path, struct err *err)
{
    static const char *const flags[] = {"follow", "previous", "timestamps"};
    const char *lines = rest_query(request->exchange, "tailLines");
    int r = 0;

    for (size_t i = 0; r == 0 && i < ARRAY_LEN(flags); i++)
        r = put_flag(request, flags[i], path, err);
    if (r < 0)
        return r;
    if (lines && (!*lines || strspn(lines, "0123456789") != strlen(lines) || strtoll(lines, NULL, 10) > LINES_MAX))
        return err_set(err, -EINVAL, "tailLines: expected a number of up to %d", LINES_MAX);
    kube_query(path, "container", rest_query(request->exchange, "container"));
    kube_query(path, "tailLines", lines ? lines : LINES_DEFAULT);
    return 0;
}

/* --- the answer --- */

static void begin(struct reading *reading)
{
    if (!reading->has_begun)
        http_reply_begin(reading->request.exchange, 200, "text/plain; charset=utf-8");
    reading->has_begun = true;
}

static void finish(struct reading *reading, int r, const struct err *err)
{
    struct request *request = &reading->request;

    loop_timer_done(&reading->check);
    http_on_cancel(request->exchange, NULL, NULL);
    if (reading->has_begun) {
        http_reply_end(request->exchange);
        yyjson_mut_doc_free(request->doc);
    } else {
        request_reply(request, r, err);
    }
    free(reading);
}

static void on_begun(void *arg)
{
    begin(arg);
}

static int on_bytes(void *arg, const char *bytes, size_t len)
{
    struct reading *reading = arg;

    begin(reading);
    http_reply_write(reading->request.exchange, bytes, len);
    return http_reply_unsent(reading->request.exchange) > UNSENT_MAX ? -ENOBUFS : 0;
}

/* What the cluster refuses is about the request: a container that there is not, or one that has not started. */
static void on_done(void *arg, const struct kube_answer *answer)
{
    struct reading *reading = arg;
    struct err err = answer->err;

    reading->call = NULL;
    if (err.code == 0)
        begin(reading);
    else if (answer->status == 400 || answer->status == 404)
        err.code = answer->status == 404 ? -ENOENT : -EINVAL;
    finish(reading, err.code, &err);
}

static void on_cancel(void *arg)
{
    struct reading *reading = arg;
    struct err err = {0};

    kube_cancel(reading->call);
    finish(reading, err_set(&err, -ESHUTDOWN, "the request was given up"), &err);
}

/* A reader stays for as long as it may: its session, its roles and the workload may end. */
static void on_check(void *arg)
{
    struct reading *reading = arg;
    struct request *request = &reading->request;
    struct caller *caller = rest_attached(request->exchange);
    struct err err = {0};
    int r = caller_refresh(request->console, caller, &err);

    if (r == 0 && place_allows(&caller->access, RESOURCE_WORKLOADS, ACTION_READ, &request->place)) {
        loop_timer_start(&reading->check, CHECK_INTERVAL);
        return;
    }
    kube_cancel(reading->call);
    finish(reading, r < 0 ? r : err_set(&err, -EACCES, "the workload may no longer be read"), &err);
}

static int start(struct reading *reading, yyjson_val *item, struct err *err)
{
    struct request *request = &reading->request;
    _cleanup_(freep) char *pod = NULL;
    struct strbuf path;
    int r = find_pod(reading, &pod, err);

    if (r < 0)
        return r;
    strbuf_init(&path, PATH_BYTES_MAX);
    kube_path(&path, kube_known(KUBE_PODS), kube_text(item, "namespace"), pod, "log");
    r = put_query(request, &path, err);
    if (r == 0)
        reading->call = kube_send(request->console->service->client, &(struct kube_request){
                                                                         .verb = KUBE_GET,
                                                                         .path = path.text,
                                                                         .tries = 1,
                                                                         .timeout = FOREVER,
                                                                         .is_raw = true,
                                                                         .on_begun = on_begun,
                                                                         .on_item = on_bytes,
                                                                         .on_done = on_done,
                                                                         .arg = reading,
                                                                     });
    strbuf_done(&path);
    return r;
}

void handle_workload_logs(void *arg, struct http_exchange *exchange)
{
    static const char *const names[] = {"pod", "container", "follow", "previous", "timestamps", "tailLines", NULL};
    _cleanup_(json_doc_freep) yyjson_doc *item = NULL;
    struct reading *reading = xcalloc(1, sizeof *reading);
    struct err err = {0};
    int r = serve_begin(arg, exchange, names, &reading->request, &err);

    loop_timer_init(&reading->check, reading->request.console->service->loop, on_check, reading);
    if (r == 0)
        r = workload_take(&reading->request, ACTION_READ, &item, &err);
    if (r == 0)
        r = start(reading, yyjson_doc_get_root(item), &err);
    if (r < 0) {
        finish(reading, r, &err);
        return;
    }
    http_on_cancel(exchange, on_cancel, reading);
    loop_timer_start(&reading->check, CHECK_INTERVAL);
}
