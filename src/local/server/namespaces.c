/* SPDX-License-Identifier: Apache-2.0 */
#include "local/server/namespaces.h"

#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/log.h"
#include "base/macros.h"
#include "base/time.h"
#include "local/api/kinds.h"
#include "local/api/meta.h"
#include "local/server/object_text.h"
#include "local/server/request.h"
#include "local/server/resources.h"
#include "local/server/server_parts.h"
#include "local/verbs/write.h"
#include "net/rest/errors.h"
#include "text/json.h"

static const struct {
    const char *name;
    bool is_immortal;
} present[] = {{"default", true}, {"kube-system", true}, {"kube-public", true}, {"kube-node-lease", false}};

bool namespace_is_kind(const struct api_kind *kind)
{
    return strcmp(kind->plural, "namespaces") == 0 && !*kind->group;
}

bool namespace_is_immortal(const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(present); i++) {
        if (strcmp(present[i].name, name) == 0)
            return present[i].is_immortal;
    }
    return false;
}

/* The member of an object that is an object, made where it is missing. */
static yyjson_mut_val *object_in(yyjson_mut_doc *doc, yyjson_mut_val *parent, const char *member)
{
    yyjson_mut_val *value = yyjson_mut_obj_get(parent, member);

    if (!yyjson_mut_is_obj(value)) {
        value = yyjson_mut_obj(doc);
        (void)yyjson_mut_obj_put(parent, yyjson_mut_str(doc, member), value);
    }
    return value;
}

void namespace_prepare(yyjson_mut_doc *doc)
{
    yyjson_mut_val *root = yyjson_mut_doc_get_root(doc);
    yyjson_mut_val *labels = object_in(doc, object_in(doc, root, "metadata"), "labels");
    yyjson_mut_val *spec = object_in(doc, root, "spec");
    yyjson_mut_val *status = object_in(doc, root, "status");

    (void)yyjson_mut_obj_put(labels, yyjson_mut_str(doc, "kubernetes.io/metadata.name"),
                             yyjson_mut_strcpy(doc, meta_text(doc, "name")));
    if (yyjson_mut_arr_size(yyjson_mut_obj_get(spec, "finalizers")) == 0) {
        yyjson_mut_val *finalizers = yyjson_mut_arr(doc);
        (void)yyjson_mut_arr_add_str(doc, finalizers, "kubernetes");
        (void)yyjson_mut_obj_put(spec, yyjson_mut_str(doc, "finalizers"), finalizers);
    }
    (void)yyjson_mut_obj_put(status, yyjson_mut_str(doc, "phase"), yyjson_mut_str(doc, "Active"));
}

void namespace_keep_finalizers(yyjson_mut_doc *doc, yyjson_mut_doc *old)
{
    yyjson_mut_val *spec = object_in(doc, yyjson_mut_doc_get_root(doc), "spec");
    yyjson_mut_val *kept = yyjson_mut_obj_get(yyjson_mut_obj_get(yyjson_mut_doc_get_root(old), "spec"), "finalizers");

    if (kept)
        (void)yyjson_mut_obj_put(spec, yyjson_mut_str(doc, "finalizers"), yyjson_mut_val_mut_copy(doc, kept));
    else
        (void)yyjson_mut_obj_remove_key(spec, "finalizers");
}

static void fail_terminating(struct request *request, const char *name)
{
    char message[1024];
    char cause_text[512];
    char plural[QUALIFIED_MAX];
    const struct rest_cause cause = {
        .reason = "NamespaceTerminating", .message = cause_text, .field = "metadata.namespace"};

    (void)snprintf(cause_text, sizeof cause_text, "namespace %s is being terminated", request->namespace);
    (void)snprintf(
        message, sizeof message,
        "%s \"%s\" is forbidden: unable to create new content in namespace %s because it is being terminated",
        qualified_plural(request->kind, plural), name, request->namespace);
    fail_problem(request, &(struct rest_problem){
                              .status = 403,
                              .message = message,
                              .name = name,
                              .group = request->kind->group,
                              .kind = request->kind->plural,
                              .causes = &cause,
                              .cause_count = 1,
                          });
}

bool namespace_allows(struct request *request, yyjson_mut_doc *doc)
{
    struct server *server = request->server;
    const struct api_kind *kind = builtin_kind_find("", "v1", "namespaces");
    const struct store_object *object;
    char message[512];

    if (!(request->kind->flags & KIND_NAMESPACED))
        return true;
    object = store_latest(server->store, resource_number(server, kind), "", request->namespace);
    if (!object) {
        (void)snprintf(message, sizeof message, "namespaces \"%s\" not found", request->namespace);
        fail_problem(request, &(struct rest_problem){
                                  .status = 404, .message = message, .name = request->namespace, .kind = "namespaces"});
        return false;
    }
    yyjson_mut_doc *namespace = object_doc(object);
    bool is_ending = meta_has(namespace, "deletionTimestamp");

    yyjson_mut_doc_free(namespace);
    if (is_ending)
        fail_terminating(request, meta_text(doc, "name"));
    return !is_ending;
}

static void on_made(void *arg, int result, const struct store_object *object, const struct err *err)
{
    struct server *server = arg;

    (void)object;
    if (result < 0)
        log_warn(server->log, "a namespace could not be created", log_error(err));
}

void server_make_namespaces(struct server *server)
{
    const struct api_kind *kind = builtin_kind_find("", "v1", "namespaces");
    uint32_t number = resource_number(server, kind);

    for (size_t i = 0; i < ARRAY_LEN(present); i++) {
        const char *name = present[i].name;
        if (store_get(server->store, number, "", name))
            continue;
        yyjson_mut_doc *doc = json_new_object(NULL);
        meta_set_text(doc, "name", name);
        meta_stamp_new(doc, kind, nsec_now_wall());
        namespace_prepare(doc);
        write_doc(server, &(struct write){.kind = number, .namespace = "", .name = name}, doc, on_made, server);
        yyjson_mut_doc_free(doc);
    }
}
