/* SPDX-License-Identifier: Apache-2.0 */

/* deletecollection: all objects that the selectors match. */
#include <stdlib.h>

#include "base/err.h"
#include "base/mem.h"
#include "local/api/meta.h"
#include "local/server/namespaces.h"
#include "local/server/object_text.h"
#include "local/server/request.h"
#include "local/server/server_parts.h"
#include "local/verbs/delete.h"
#include "local/verbs/list_internal.h"
#include "local/verbs/selection_internal.h"
#include "local/verbs/write.h"

/* The objects on their way out; the answer lists them as they were before. */
struct sweep {
    struct request *request;
    struct page_objects objects;
    uint32_t under_way;
    struct err err;
};

static void finish(struct sweep *sweep)
{
    struct request *request = sweep->request;

    if (!request_resume(request))
        request = NULL;
    else if (sweep->err.code < 0)
        write_failed(request, sweep->err.code, &sweep->err);
    else
        list_answer(request, &sweep->objects, store_version(request->server->store));
    vec_foreach (&sweep->objects, object)
        store_object_unref(*object);
    vec_done(&sweep->objects);
    free(sweep);
}

static void on_deleted(void *arg, int result, const struct store_object *object, const struct err *err)
{
    struct sweep *sweep = arg;

    (void)object;
    if (result < 0 && sweep->err.code == 0) {
        sweep->err = *err;
        sweep->err.code = result;
    }
    if (--sweep->under_way == 0)
        finish(sweep);
}

static void delete_each(struct sweep *sweep, const struct delete_options *options)
{
    struct request *request = sweep->request;

    vec_foreach (&sweep->objects, at) {
        const struct store_object *latest =
            store_latest(request->server->store, request->number, (*at)->namespace, (*at)->name);
        if (!latest)
            continue;
        yyjson_mut_doc *doc = object_doc(latest);
        enum delete_step step = delete_mark(request->kind, options, doc);
        if (step != DELETE_LEAVE && !request->is_dry_run) {
            sweep->under_way++;
            write_doc(request->server,
                      &(struct write){.kind = request->number,
                                      .namespace = latest->namespace,
                                      .name = latest->name,
                                      .is_removal = step == DELETE_REMOVE},
                      doc, on_deleted, sweep);
        }
        yyjson_mut_doc_free(doc);
    }
}

void verb_delete_all(struct request *request)
{
    yyjson_mut_doc *body = NULL;
    struct delete_options options;
    struct selection selection;
    struct sweep *sweep;

    if (namespace_is_kind(request->kind)) {
        fail_method(request);
        return;
    }
    if (!delete_options_read(request, &options, &body) || !selection_read(request, &selection)) {
        yyjson_mut_doc_free(body);
        return;
    }
    delete_warn(request, &options);
    sweep = xcalloc(1, sizeof *sweep);
    *sweep = (struct sweep){.request = request, .under_way = 1};
    selection_collect(&selection, request, "", "", &sweep->objects);
    selection_done(&selection);
    delete_each(sweep, &options);
    yyjson_mut_doc_free(body);
    if (--sweep->under_way == 0)
        finish(sweep);
}
