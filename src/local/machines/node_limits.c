/* SPDX-License-Identifier: Apache-2.0 */
#include "local/machines/node_limits.h"

#include <string.h>

#include "base/macros.h"
#include "local/api/kinds.h"
#include "local/api/meta.h"
#include "local/machines/joined.h"
#include "local/machines/node_rights.h"
#include "local/rights/identity.h"
#include "local/server/request.h"
#include "objects/keys.h"

/* Labels that say what the machine is (local/node/machine_node.c). */
static const char *const own_labels[] = {"kubernetes.io/hostname", "kubernetes.io/arch", "kubernetes.io/os",
                                         "muster.scheduler/node", "muster.scheduler/numa-nodes"};
static const char gpu_labels[] = "nvidia.com/gpu.";

/* Members of metadata that the server writes with each change. */
static const char *const kept_by_server[] = {"resourceVersion", "generation", "managedFields", "uid"};

static yyjson_mut_val *part(yyjson_mut_doc *doc, const char *name)
{
    return yyjson_mut_obj_get(yyjson_mut_doc_get_root(doc), name);
}

static const char *text_in(yyjson_mut_val *object, const char *name)
{
    const char *text = yyjson_mut_get_str(yyjson_mut_obj_get(object, name));

    return text ? text : "";
}

static bool is_equal(yyjson_mut_val *a, yyjson_mut_val *b)
{
    bool is_nothing_a = !a || yyjson_mut_is_null(a) || (yyjson_mut_is_obj(a) && yyjson_mut_obj_size(a) == 0);
    bool is_nothing_b = !b || yyjson_mut_is_null(b) || (yyjson_mut_is_obj(b) && yyjson_mut_obj_size(b) == 0);

    return is_nothing_a || is_nothing_b ? is_nothing_a == is_nothing_b : yyjson_mut_equals(a, b);
}

static bool is_own_label(const char *key)
{
    for (size_t i = 0; i < ARRAY_LEN(own_labels); i++) {
        if (strcmp(own_labels[i], key) == 0)
            return true;
    }
    return strncmp(key, gpu_labels, strlen(gpu_labels)) == 0;
}

static void drop_own_labels(yyjson_mut_val *labels)
{
    yyjson_mut_obj_iter iter = yyjson_mut_obj_iter_with(labels);

    for (yyjson_mut_val *key; (key = yyjson_mut_obj_iter_next(&iter));) {
        if (is_own_label(yyjson_mut_get_str(key)))
            (void)yyjson_mut_obj_iter_remove(&iter);
    }
}

/* The metadata that the sender must leave as it was. */
static yyjson_mut_doc *fixed_metadata(yyjson_mut_doc *doc, const struct request *request)
{
    yyjson_mut_doc *copy = yyjson_mut_doc_new(NULL);
    yyjson_mut_val *meta = yyjson_mut_val_mut_copy(copy, part(doc, "metadata"));
    yyjson_mut_val *labels = yyjson_mut_obj_get(meta, "labels");
    yyjson_mut_val *notes = yyjson_mut_obj_get(meta, "annotations");

    yyjson_mut_doc_set_root(copy, meta);
    for (size_t i = 0; i < ARRAY_LEN(kept_by_server); i++)
        (void)yyjson_mut_obj_remove_key(meta, kept_by_server[i]);
    if (strcmp(request->kind->plural, "nodes") == 0)
        drop_own_labels(labels);
    if (strcmp(request->namespace, KEY_RESERVATION_NAMESPACE) == 0)
        (void)yyjson_mut_obj_remove_key(notes, KEY_RESERVED_GPU);
    if (yyjson_mut_obj_size(labels) == 0)
        (void)yyjson_mut_obj_remove_key(meta, "labels");
    if (yyjson_mut_obj_size(notes) == 0)
        (void)yyjson_mut_obj_remove_key(meta, "annotations");
    return copy;
}

static bool keeps_the_rest(const struct request *request, yyjson_mut_doc *doc, yyjson_mut_doc *old)
{
    yyjson_mut_doc *now = fixed_metadata(doc, request), *before = fixed_metadata(old, request);
    bool result = is_equal(yyjson_mut_doc_get_root(now), yyjson_mut_doc_get_root(before)) &&
                  is_equal(part(doc, "spec"), part(old, "spec"));

    yyjson_mut_doc_free(now);
    yyjson_mut_doc_free(before);
    return result;
}

static bool is_about_own(struct request *request, yyjson_mut_doc *doc)
{
    yyjson_mut_val *object = part(doc, "involvedObject");
    const char *kind = text_in(object, "kind"), *name = text_in(object, "name");
    const char *node = request->identity->node;

    if (strcmp(kind, "Node") == 0)
        return strcmp(name, node) == 0;
    return strcmp(kind, "Pod") == 0 && node_has_pod(request->server, node, text_in(object, "namespace"), name);
}

bool node_limits_check(struct request *request, yyjson_mut_doc *doc, yyjson_mut_doc *old)
{
    const char *plural = request->kind->plural, *name = meta_text(doc, "name");
    const char *problem = NULL;

    if (!request->identity->node)
        return true;
    if (strcmp(plural, "events") == 0) {
        if (!is_about_own(request, doc) || (old && !is_about_own(request, old)))
            problem = "a node may record events only about itself and the pods that are bound to it";
    } else if (strcmp(plural, "leases") == 0) {
        if (strcmp(name, request->identity->node) != 0)
            problem = "a node may have only the lease with its own name";
    } else if (!old || !keeps_the_rest(request, doc, old)) {
        problem = "a node may change only its status and the labels that describe its machine";
    }
    if (problem)
        fail_forbidden(request, name, "%s", problem);
    return !problem;
}
