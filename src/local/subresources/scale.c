/* SPDX-License-Identifier: Apache-2.0 */

/* The scale of kinds that have replicas: an object of its own kind, whichever the kind behind it is. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/strbuf.h"
#include "local/api/kinds.h"
#include "local/api/meta.h"
#include "local/api/patch.h"
#include "local/api/problems.h"
#include "local/custom/definitions.h"
#include "local/server/object_text.h"
#include "local/server/request.h"
#include "local/server/server_parts.h"
#include "local/subresources/subresources_internal.h"
#include "local/verbs/body.h"
#include "local/verbs/patch.h"
#include "local/verbs/rules.h"
#include "local/verbs/write.h"
#include "text/json.h"

enum { SELECTOR_MAX = 64 << 10 };

static yyjson_mut_val *part_of(yyjson_mut_doc *doc, const char *part)
{
    return yyjson_mut_obj_get(yyjson_mut_doc_get_root(doc), part);
}

/* "app=web,tier=a": what the pods of the object have. */
static void write_selector(yyjson_mut_val *spec, struct strbuf *text)
{
    yyjson_mut_val *selector = yyjson_mut_obj_get(spec, "selector");
    yyjson_mut_val *labels = yyjson_mut_obj_get(selector, "matchLabels");
    yyjson_mut_obj_iter iter = yyjson_mut_obj_iter_with(labels ? labels : selector);

    for (yyjson_mut_val *key; (key = yyjson_mut_obj_iter_next(&iter));) {
        const char *value = yyjson_mut_get_str(yyjson_mut_obj_iter_get_val(key));
        if (value)
            strbuf_addf(text, "%s%s=%s", text->len ? "," : "", yyjson_mut_get_str(key), value);
    }
}

static yyjson_mut_doc *builtin_scale_of(yyjson_mut_doc *object)
{
    static const char *const kept[] = {"name", "namespace", "uid", "resourceVersion", "creationTimestamp"};
    yyjson_mut_val *root = NULL;
    yyjson_mut_doc *doc = json_new_object(&root);
    int64_t wanted = yyjson_mut_get_sint(yyjson_mut_obj_get(part_of(object, "spec"), "replicas"));
    int64_t present = yyjson_mut_get_sint(yyjson_mut_obj_get(part_of(object, "status"), "replicas"));
    struct strbuf selector;

    (void)yyjson_mut_obj_add_str(doc, root, "kind", "Scale");
    (void)yyjson_mut_obj_add_str(doc, root, "apiVersion", "autoscaling/v1");
    (void)yyjson_mut_obj_add_obj(doc, root, "metadata");
    for (size_t i = 0; i < ARRAY_LEN(kept); i++)
        meta_set_text(doc, kept[i], meta_text(object, kept[i]));
    yyjson_mut_val *spec = yyjson_mut_obj_add_obj(doc, root, "spec");

    if (wanted)
        (void)yyjson_mut_obj_add_sint(doc, spec, "replicas", wanted);
    yyjson_mut_val *status = yyjson_mut_obj_add_obj(doc, root, "status");

    (void)yyjson_mut_obj_add_sint(doc, status, "replicas", present);
    strbuf_init(&selector, SELECTOR_MAX);
    write_selector(part_of(object, "spec"), &selector);
    if (selector.len)
        (void)yyjson_mut_obj_add_strcpy(doc, status, "selector", selector.text);
    strbuf_done(&selector);
    return doc;
}

/* NULL when the object has no replicas where its definition says. */
static yyjson_mut_doc *custom_scale_of(const struct custom_kind *kind, yyjson_mut_doc *object)
{
    yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
    yyjson_mut_val *scale = custom_scale_read(kind, yyjson_mut_doc_get_root(object), doc);

    if (!scale) {
        yyjson_mut_doc_free(doc);
        return NULL;
    }
    yyjson_mut_doc_set_root(doc, scale);
    return doc;
}

static yyjson_mut_doc *scale_of(const struct api_kind *kind, yyjson_mut_doc *object)
{
    const struct custom_kind *custom = custom_kind_of(kind);

    return custom ? custom_scale_of(custom, object) : builtin_scale_of(object);
}

static void answer_scale(struct request *request, yyjson_mut_doc *object)
{
    yyjson_mut_doc *scale = scale_of(request->kind, object);
    size_t len = 0;

    if (!scale) {
        fail_internal(request, "the spec replicas field does not exist");
        return;
    }
    char *text = yyjson_mut_write(scale, 0, &len);

    answer_json(request, 200, text, len);
    free(text);
    yyjson_mut_doc_free(scale);
}

static void on_scaled(void *arg, int result, const struct store_object *object, const struct err *err)
{
    struct request *request = arg;

    if (!request_resume(request))
        return;
    if (result < 0) {
        write_failed(request, result, err);
        return;
    }
    yyjson_mut_doc *doc = object_doc(object);

    answer_scale(request, doc);
    yyjson_mut_doc_free(doc);
}

/* False after an answer. */
static bool set_replicas(struct request *request, yyjson_mut_doc *doc, int64_t replicas)
{
    const struct custom_kind *custom = custom_kind_of(request->kind);
    struct err err = {0};

    if (!custom) {
        (void)yyjson_mut_obj_put(part_of(doc, "spec"), yyjson_mut_str(doc, "replicas"), yyjson_mut_sint(doc, replicas));
        return true;
    }
    if (custom_scale_write(custom, doc, replicas, &err) == 0)
        return true;
    fail_internal(request, "%s", err.text);
    return false;
}

/* Writes the replicas of a Scale into the object. */
static void rescale(struct request *request, yyjson_mut_doc *scale, yyjson_mut_doc *old)
{
    yyjson_mut_val *replicas = yyjson_mut_obj_get(part_of(scale, "spec"), "replicas");
    const char *version = meta_text(scale, "resourceVersion");
    yyjson_mut_doc *doc;

    if (yyjson_mut_get_sint(replicas) < 0) {
        const struct field spec = field_member(NULL, "spec");
        struct problems problems = {0};

        problem_invalid_number(&problems, FIELD(&spec, "replicas"), yyjson_mut_get_sint(replicas),
                               "must be greater than or equal to 0");
        fail_invalid_type(request, "autoscaling", "Scale", request->name, &problems);
        problems_done(&problems);
        return;
    }
    if (*version && strcmp(version, meta_text(old, "resourceVersion")) != 0) {
        fail_modified(request);
        return;
    }
    doc = yyjson_mut_doc_mut_copy(old, NULL);
    if (!set_replicas(request, doc, yyjson_mut_get_sint(replicas))) {
        yyjson_mut_doc_free(doc);
        return;
    }
    meta_stamp_update(doc, request->kind, old);
    if (rules_complete(request, doc, old)) {
        if (request->is_dry_run || meta_is_same(doc, old))
            answer_scale(request, doc);
        else
            write_doc(request->server,
                      &(struct write){.kind = request->number, .namespace = request->namespace, .name = request->name},
                      doc, on_scaled, request);
    }
    yyjson_mut_doc_free(doc);
}

static void put_scale(struct request *request, yyjson_mut_doc *old)
{
    yyjson_mut_doc *scale = NULL;

    if (!body_read(request, &scale))
        return;
    rescale(request, scale, old);
    yyjson_mut_doc_free(scale);
}

static void patch_scale(struct request *request, yyjson_mut_doc *old)
{
    yyjson_mut_doc *scale = scale_of(request->kind, old);

    if (!scale) {
        fail_internal(request, "the spec replicas field does not exist");
        return;
    }
    if (patch_doc(request, scale))
        rescale(request, scale, old);
    yyjson_mut_doc_free(scale);
}

static void show_scale(struct request *request)
{
    const struct store_object *object =
        store_get(request->server->store, request->number, request->namespace, request->name);

    if (!object) {
        fail_not_found(request);
        return;
    }
    yyjson_mut_doc *doc = object_doc(object);
    answer_scale(request, doc);
    yyjson_mut_doc_free(doc);
}

void serve_scale(struct request *request)
{
    const struct store_object *latest = write_latest(request);
    yyjson_mut_doc *old;

    if (request->verb == VERB_GET) {
        verb_get_then(request, show_scale);
        return;
    }
    if (!latest) {
        fail_not_found(request);
        return;
    }
    old = object_doc(latest);
    if (request->verb == VERB_UPDATE)
        put_scale(request, old);
    else if (request->verb == VERB_PATCH)
        patch_scale(request, old);
    else
        fail_method(request);
    yyjson_mut_doc_free(old);
}
