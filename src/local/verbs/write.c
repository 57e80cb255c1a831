/* SPDX-License-Identifier: Apache-2.0 */
#include "local/verbs/write.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/time.h"
#include "local/api/kinds.h"
#include "local/api/meta.h"
#include "local/builtin/event_forms.h"
#include "local/server/object_text.h"
#include "local/server/request.h"
#include "local/server/server_parts.h"
#include "net/rest/errors.h"

/* Events are kept for an hour, as a cluster does. */
enum { EVENT_LIFETIME_S = 3600 };

const struct store_object *write_latest(const struct request *request)
{
    return store_latest(request->server->store, request->number, request->namespace, request->name);
}

void write_doc(struct server *server, const struct write *write, yyjson_mut_doc *doc, store_done_fn done, void *arg)
{
    size_t len = 0;

    meta_set_version(doc, store_next_version(server->store));
    char *body = object_text(doc, &len);

    store_change(server->store,
                 &(struct store_change_request){
                     .kind = write->kind,
                     .namespace = write->namespace,
                     .name = write->name,
                     .body = body,
                     .body_len = len,
                     .expires = write->expires,
                     .is_removal = write->is_removal,
                 },
                 done, arg);
    free(body);
}

void write_failed(struct request *request, int code, const struct err *err)
{
    switch (code) {
    case -E2BIG:
        fail_problem(request, &(struct rest_problem){.status = 413, .message = err->text});
        return;
    case -ECANCELED:
        fail_problem(request, &(struct rest_problem){.status = 503, .message = "the server is shutting down"});
        return;
    default:
        fail_internal(request, "the object could not be stored: %s", err->text);
    }
}

static void on_written(void *arg, int result, const struct store_object *object, const struct err *err)
{
    struct request *request = arg;

    if (!request_resume(request))
        return;
    if (result < 0)
        write_failed(request, result, err);
    else if (request->final)
        answer_object(request, request->status, request->final, request->final_len);
    else
        answer_object(request, request->status, object->body, object->body_len);
}

static void on_removed(void *arg, int result, const struct store_object *object, const struct err *err)
{
    struct request *request = arg;
    yyjson_mut_doc *doc;

    if (!request_resume(request))
        return;
    if (result < 0) {
        write_failed(request, result, err);
        return;
    }
    doc = object_doc(object);
    answer_success(request, meta_text(doc, "uid"));
    yyjson_mut_doc_free(doc);
}

static int64_t expiry_of(const struct request *request)
{
    bool is_event = strcmp(request->kind->plural, "events") == 0 && !(request->kind->flags & KIND_IS_CUSTOM);

    return is_event ? nsec_now_wall() / NSEC_PER_SEC + EVENT_LIFETIME_S : 0;
}

static void write_request(struct request *request, const char *name, yyjson_mut_doc *doc, bool is_removal,
                          store_done_fn done)
{
    event_form_store(request->kind, doc);
    write_doc(request->server,
              &(struct write){.kind = request->number,
                              .namespace = request->namespace,
                              .name = name,
                              .expires = expiry_of(request),
                              .is_removal = is_removal},
              doc, done, request);
}

void write_and_answer(struct request *request, const char *name, yyjson_mut_doc *doc, int status)
{
    request->status = status;
    if (request->is_dry_run)
        answer_doc(request, status, doc);
    else
        write_request(request, name, doc, false, on_written);
}

void write_removal_and_answer(struct request *request, yyjson_mut_doc *doc, bool shows_object)
{
    request->status = 200;
    if (!request->is_dry_run)
        write_request(request, request->name, doc, true, shows_object ? on_written : on_removed);
    else if (shows_object)
        answer_doc(request, 200, doc);
    else
        answer_success(request, meta_text(doc, "uid"));
}

bool write_is_over(const struct api_kind *kind, yyjson_mut_doc *doc)
{
    yyjson_mut_val *root = yyjson_mut_doc_get_root(doc);
    bool is_namespace = strcmp(kind->kind, "Namespace") == 0 && !*kind->group;

    if (!meta_has(doc, "deletionTimestamp") || meta_has_finalizers(doc))
        return false;
    if (is_namespace && yyjson_mut_arr_size(yyjson_mut_obj_get(yyjson_mut_obj_get(root, "spec"), "finalizers")) > 0)
        return false;
    yyjson_mut_val *grace = yyjson_mut_obj_get(yyjson_mut_obj_get(root, "metadata"), "deletionGracePeriodSeconds");
    return yyjson_mut_get_sint(grace) == 0;
}

void write_update(struct request *request, yyjson_mut_doc *doc, yyjson_mut_doc *old)
{
    const struct store_object *stored =
        store_get(request->server->store, request->number, request->namespace, request->name);

    meta_set_text(doc, "resourceVersion", meta_text(old, "resourceVersion"));
    if (write_is_over(request->kind, doc)) {
        /* The API server answers with the version before the removal. */
        event_form_store(request->kind, doc);
        request->final = object_text(doc, &request->final_len);
        /* Watchers see the last state that was stored, with the finalizers that have just gone. */
        write_removal_and_answer(request, request->is_dry_run ? doc : old, true);
        return;
    }
    /* A state that still waits for the disk is not shown: it is written again, to the same effect. */
    if (meta_is_same(doc, old) && stored == write_latest(request))
        answer_object(request, 200, stored->body, stored->body_len);
    else
        write_and_answer(request, request->name, doc, 200);
}
