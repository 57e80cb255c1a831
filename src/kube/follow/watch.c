/* SPDX-License-Identifier: Apache-2.0 */
#include "kube/follow/watch.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "kube/client/meta.h"
#include "text/json.h"

static const char *const change_names[] = {
    [KUBE_ADDED] = "ADDED",       [KUBE_MODIFIED] = "MODIFIED", [KUBE_DELETED] = "DELETED",
    [KUBE_BOOKMARK] = "BOOKMARK", [KUBE_ERROR] = "ERROR",
};
_Static_assert(ARRAY_LEN(change_names) == _KUBE_CHANGE_MAX, "every change has a name");

struct kube_watch {
    const char *plural;
    void (*on_begun)(void *arg);
    kube_event_fn on_event;
    kube_watched_fn on_done;
    void *arg;
    struct kube_call *call;
    struct kube_watch_end error;  // that the server sent in the stream; code 0: none
};

static int find_change(const char *name, enum kube_change *ret_change)
{
    for (size_t i = 0; i < ARRAY_LEN(change_names); i++) {
        if (strcmp(change_names[i], name) != 0)
            continue;
        *ret_change = (enum kube_change)i;
        return 0;
    }
    return -EINVAL;
}

int kube_event_parse(const char *text, size_t len, yyjson_doc **ret_doc, struct kube_event *ret_event, struct err *err)
{
    _cleanup_(json_doc_freep) yyjson_doc *doc = NULL;
    struct kube_event event = {0};
    int r = json_parse(text, len, "event", &doc, err);

    if (r < 0)
        return r;
    yyjson_val *root = yyjson_doc_get_root(doc);

    event.object = yyjson_obj_get(root, "object");
    if (find_change(kube_text(root, "type"), &event.change) < 0)
        return err_set(err, -EINVAL, "event: unknown type");
    if (!yyjson_is_obj(event.object))
        return err_set(err, -EINVAL, "event: has no object");
    if (event.change != KUBE_ERROR)
        event.resource_version = kube_text(event.object, "metadata", "resourceVersion");
    else
        event.resource_version = "";
    if (event.change == KUBE_BOOKMARK) {
        const char *mark = kube_text(event.object, "metadata", "annotations", "k8s.io/initial-events-end");

        event.is_initial_end = strcmp(mark, "true") == 0;
    }
    *ret_doc = TAKE_PTR(doc);
    *ret_event = event;
    return 0;
}

/* Kubernetes has a code for it among the causes; the text is what its older releases have. */
static bool is_ahead(yyjson_val *status)
{
    yyjson_val *causes = yyjson_obj_get(yyjson_obj_get(status, "details"), "causes");
    size_t i, count;
    yyjson_val *cause;

    yyjson_arr_foreach(causes, i, count, cause)
    {
        if (strcmp(kube_text(cause, "reason"), "ResourceVersionTooLarge") == 0)
            return true;
    }
    return strstr(kube_text(status, "message"), "Too large resource version") != NULL;
}

/* A Status that ends the stream. */
static int take_error(struct kube_watch *watch, yyjson_val *status)
{
    const char *reason = kube_text(status, "reason");
    int code = yyjson_get_int(yyjson_obj_get(status, "code"));

    watch->error.status = code;
    watch->error.is_expired = code == 410 || strcmp(reason, "Expired") == 0 || strcmp(reason, "Gone") == 0;
    watch->error.is_ahead = is_ahead(status);
    (void)err_set(&watch->error.err, watch->error.is_expired ? -ESTALE : -EIO, "watch %s: %.300s (status %d)",
                  watch->plural, kube_text(status, "message"), code);
    return watch->error.err.code;
}

static int on_item(void *arg, const char *text, size_t len)
{
    struct kube_watch *watch = arg;
    _cleanup_(json_doc_freep) yyjson_doc *doc = NULL;
    struct kube_event event;
    struct err err = {0};

    if (!text) {
        (void)err_set(&err, -EFBIG, "watch %s: skipped an event of more than %d bytes", watch->plural,
                      KUBE_ITEM_BYTES_MAX);
        return watch->on_event(watch->arg, NULL, &err);
    }
    int r = kube_event_parse(text, len, &doc, &event, &err);

    if (r < 0) {
        (void)err_wrap(&err, r, "watch %s: skipped an event", watch->plural);
        return watch->on_event(watch->arg, NULL, &err);
    }
    if (event.change == KUBE_ERROR)
        return take_error(watch, event.object);
    return watch->on_event(watch->arg, &event, NULL);
}

static void on_begun(void *arg)
{
    const struct kube_watch *watch = arg;

    watch->on_begun(watch->arg);
}

static void on_done(void *arg, const struct kube_answer *answer)
{
    struct kube_watch *watch = arg;
    yyjson_val *status = NULL;
    struct kube_watch_end end = {
        .status = answer->status,
        .err = answer->err,
        .is_expired = kube_answer_is_expired(answer),
        .is_refused = answer->status / 100 != 2,
    };

    if (end.is_refused && answer->status > 0 && kube_answer_object(answer, &status, NULL) == 0)
        end.is_ahead = is_ahead(status);
    if (watch->error.err.code)
        end = watch->error;
    watch->on_done(watch->arg, &end);
    free(watch);
}

struct kube_watch *kube_watch_start(struct kube_client *client, const struct kube_watch_request *request)
{
    struct kube_watch *watch = xcalloc(1, sizeof *watch);

    watch->plural = request->resource->plural;
    watch->on_begun = request->on_begun;
    watch->on_event = request->on_event;
    watch->on_done = request->on_done;
    watch->arg = request->arg;
    watch->call = kube_send(client, &(struct kube_request){
                                        .verb = KUBE_WATCH,
                                        .resource = request->resource,
                                        .namespace = request->namespace,
                                        .label_selector = request->label_selector,
                                        .field_selector = request->field_selector,
                                        .resource_version = request->resource_version,
                                        .resource_version_match = request->wants_initial_events ? "NotOlderThan" : NULL,
                                        .wants_initial_events = request->wants_initial_events,
                                        .wants_bookmarks = true,
                                        .is_metadata_only = request->is_metadata_only,
                                        .timeout_s = request->timeout_s,
                                        .idle_timeout = request->idle_timeout,
                                        /* Whoever goes on also backs off, and may have to list first. */
                                        .tries = 1,
                                        .on_begun = request->on_begun ? on_begun : NULL,
                                        .on_item = on_item,
                                        .on_done = on_done,
                                        .arg = watch,
                                    });
    return watch;
}

void kube_watch_cancel(struct kube_watch *watch)
{
    if (!watch)
        return;
    kube_cancel(watch->call);
    free(watch);
}
