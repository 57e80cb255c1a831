/* SPDX-License-Identifier: Apache-2.0 */

/* The rules are those of Kubernetes' own scheduler, so that a claim gets the volume that it would get from it. */
#include "services/binder/documents/volume.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/err.h"
#include "kube/client/meta.h"
#include "objects/selector.h"
#include "services/binder/documents/document.h"
#include "services/binder/documents/names.h"
#include "text/quantity.h"

#define KEY_BIND_COMPLETED "pv.kubernetes.io/bind-completed"
#define KEY_BOUND_BY_US "pv.kubernetes.io/bound-by-controller"
#define KEY_OLD_CLASS "volume.beta.kubernetes.io/storage-class"

bool volume_claim_name(yyjson_val *pod, yyjson_val *volume, char name[static CLAIM_NAME_MAX], bool *ret_is_ephemeral)
{
    const char *claim = kube_text(volume, "persistentVolumeClaim", "claimName");

    *ret_is_ephemeral = !claim[0] && yyjson_obj_get(volume, "ephemeral");
    if (*ret_is_ephemeral)
        (void)snprintf(name, CLAIM_NAME_MAX, "%s-%s", kube_text(pod, "metadata", "name"), kube_text(volume, "name"));
    else
        (void)snprintf(name, CLAIM_NAME_MAX, "%s", claim);
    return claim[0] || *ret_is_ephemeral;
}

bool volume_claim_is_bound(yyjson_val *claim)
{
    return kube_text(claim, "spec", "volumeName")[0] && annotation_of(claim, KEY_BIND_COMPLETED)[0];
}

const char *volume_class(yyjson_val *claim)
{
    const char *old = annotation_of(claim, KEY_OLD_CLASS);

    return old[0] ? old : kube_text(claim, "spec", "storageClassName");
}

int volume_decide(yyjson_val *claim, yyjson_val *class, const char *node, enum volume_need *ret_need, struct err *err)
{
    const char *name = kube_text(claim, "metadata", "name");
    const char *chosen = annotation_of(claim, KEY_SELECTED_NODE);

    if (kube_text(claim, "metadata", "deletionTimestamp")[0])
        return err_set(err, -ESTALE, "persistentvolumeclaim \"%s\" is being deleted", name);
    if (volume_claim_is_bound(claim)) {
        *ret_need = VOLUME_BOUND;
        return 0;
    }
    if (kube_text(claim, "spec", "volumeName")[0]) {
        *ret_need = VOLUME_WAIT;
        return 0;
    }
    if (volume_class(claim)[0] && !class)
        return err_set(err, -ENOENT, "persistentvolumeclaim \"%s\": storage class \"%s\" does not exist", name,
                       volume_class(claim));
    if (strcmp(kube_text(class, "volumeBindingMode"), "WaitForFirstConsumer") != 0)
        return err_set(err, -EAGAIN, "pod has unbound immediate PersistentVolumeClaims: \"%s\"", name);
    if (chosen[0] && strcmp(chosen, node) != 0)
        return err_set(err, -EXDEV, "persistentvolumeclaim \"%s\": its volume is being provisioned for node %s", name,
                       chosen);
    *ret_need = chosen[0] ? VOLUME_WAIT : VOLUME_CHOOSE;
    return 0;
}

static struct json_at at(yyjson_val *val, const char *key)
{
    return (struct json_at){.val = val, .key = key};
}

bool volume_is_reachable(yyjson_val *volume, yyjson_val *node)
{
    yyjson_val *required = yyjson_obj_get(yyjson_obj_get(yyjson_obj_get(volume, "spec"), "nodeAffinity"), "required");
    struct json_at terms_at = at(yyjson_obj_get(required, "nodeSelectorTerms"), "nodeSelectorTerms");
    struct json_at labels = at(yyjson_obj_get(yyjson_obj_get(node, "metadata"), "labels"), "labels");
    const char *name = yyjson_get_str(yyjson_obj_get(yyjson_obj_get(node, "metadata"), "name"));
    const struct selector_spec *terms = NULL;
    size_t count = 0;
    bool is_reachable = false;
    struct arena arena;

    if (!required)
        return true;
    arena_init(&arena);
    if (node_terms_decode(&arena, &terms_at, &terms, &count, NULL) == 0)
        for (size_t i = 0; i < count && !is_reachable; i++)
            is_reachable = selector_spec_matches(&terms[i], &labels, name);
    arena_done(&arena);
    return is_reachable;
}

static bool is_selected(yyjson_val *volume, yyjson_val *claim)
{
    struct json_at selector_at = at(yyjson_obj_get(yyjson_obj_get(claim, "spec"), "selector"), "selector");
    struct json_at labels = at(yyjson_obj_get(yyjson_obj_get(volume, "metadata"), "labels"), "labels");
    struct selector_spec selector = {0};
    struct arena arena;

    if (!selector_at.val || yyjson_is_null(selector_at.val))
        return true;
    arena_init(&arena);
    bool is_match = label_selector_decode(&arena, &selector_at, &selector, NULL) == 0 &&
                    selector_spec_matches(&selector, &labels, NULL);
    arena_done(&arena);
    return is_match;
}

static bool has_text(yyjson_val *list, const char *text)
{
    yyjson_val *one;
    size_t i, max;

    yyjson_arr_foreach(list, i, max, one)
    {
        if (yyjson_equals_str(one, text))
            return true;
    }
    return false;
}

static bool has_modes(yyjson_val *volume, yyjson_val *claim)
{
    yyjson_val *offered = yyjson_obj_get(yyjson_obj_get(volume, "spec"), "accessModes");
    yyjson_val *wanted = yyjson_obj_get(yyjson_obj_get(claim, "spec"), "accessModes");
    yyjson_val *mode;
    size_t i, max;

    yyjson_arr_foreach(wanted, i, max, mode)
    {
        if (!has_text(offered, yyjson_get_str(mode) ? yyjson_get_str(mode) : ""))
            return false;
    }
    const char *volume_mode = kube_text(volume, "spec", "volumeMode");
    const char *claim_mode = kube_text(claim, "spec", "volumeMode");

    return strcmp(volume_mode[0] ? volume_mode : "Filesystem", claim_mode[0] ? claim_mode : "Filesystem") == 0;
}

static int64_t capacity_of(yyjson_val *volume)
{
    int64_t bytes = 0;

    return quantity_parse(kube_text(volume, "spec", "capacity", "storage"), QUANTITY_ONE, &bytes, NULL) < 0 ? 0 : bytes;
}

static bool is_large_enough(yyjson_val *volume, yyjson_val *claim)
{
    int64_t wanted = 0;

    return quantity_parse(kube_text(claim, "spec", "resources", "requests", "storage"), QUANTITY_ONE, &wanted, NULL) ==
               0 &&
           capacity_of(volume) >= wanted;
}

/* Kept for this claim by whoever made the volume, or given to it before. */
static bool is_kept_for(yyjson_val *volume, yyjson_val *claim)
{
    yyjson_val *ref = yyjson_obj_get(yyjson_obj_get(volume, "spec"), "claimRef");
    const char *uid = kube_text(ref, "uid");

    return ref && strcmp(kube_text(ref, "name"), kube_text(claim, "metadata", "name")) == 0 &&
           strcmp(kube_text(ref, "namespace"), kube_text(claim, "metadata", "namespace")) == 0 &&
           (!uid[0] || strcmp(uid, kube_text(claim, "metadata", "uid")) == 0);
}

static bool is_free(yyjson_val *volume, yyjson_val *claim)
{
    if (kube_text(volume, "metadata", "deletionTimestamp")[0])
        return false;
    if (is_kept_for(volume, claim))
        return true;
    return !yyjson_obj_get(yyjson_obj_get(volume, "spec"), "claimRef") &&
           strcmp(kube_text(volume, "status", "phase"), "Available") == 0;
}

bool volume_fits(yyjson_val *volume, yyjson_val *claim, yyjson_val *node)
{
    const char *old = annotation_of(volume, KEY_OLD_CLASS);
    const char *class = old[0] ? old : kube_text(volume, "spec", "storageClassName");

    return is_free(volume, claim) && strcmp(class, volume_class(claim)) == 0 &&
           strcmp(kube_text(volume, "spec", "volumeAttributesClassName"),
                  kube_text(claim, "spec", "volumeAttributesClassName")) == 0 &&
           has_modes(volume, claim) && is_large_enough(volume, claim) && is_selected(volume, claim) &&
           volume_is_reachable(volume, node);
}

bool volume_is_better(yyjson_val *a, yyjson_val *b, yyjson_val *claim)
{
    if (!b || is_kept_for(a, claim) != is_kept_for(b, claim))
        return !b || is_kept_for(a, claim);
    if (capacity_of(a) != capacity_of(b))
        return capacity_of(a) < capacity_of(b);
    return strcmp(kube_text(a, "metadata", "name"), kube_text(b, "metadata", "name")) < 0;
}

static bool topology_allows(yyjson_val *term, yyjson_val *node)
{
    yyjson_val *expressions = yyjson_obj_get(term, "matchLabelExpressions");
    yyjson_val *one;
    size_t i, max;

    yyjson_arr_foreach(expressions, i, max, one)
    {
        if (!has_text(yyjson_obj_get(one, "values"), label_of(node, kube_text(one, "key"))))
            return false;
    }
    return true;
}

int volume_class_serves(yyjson_val *class, yyjson_val *node, struct err *err)
{
    yyjson_val *terms = yyjson_obj_get(class, "allowedTopologies");
    yyjson_val *term;
    size_t i, max;

    if (strcmp(kube_text(class, "provisioner"), "kubernetes.io/no-provisioner") == 0)
        return err_set(err, -ENOTSUP, "no free volume fits, and storage class \"%s\" has no provisioner",
                       kube_text(class, "metadata", "name"));
    if (yyjson_arr_size(terms) == 0)
        return 0;
    yyjson_arr_foreach(terms, i, max, term)
    {
        if (topology_allows(term, node))
            return 0;
    }
    return err_set(err, -EXDEV, "storage class \"%s\" cannot provision volumes for node %s",
                   kube_text(class, "metadata", "name"), kube_text(node, "metadata", "name"));
}

int volume_give(yyjson_mut_doc *volume, yyjson_val *claim, struct err *err)
{
    yyjson_mut_val *root = yyjson_mut_doc_get_root(volume);
    yyjson_mut_val *meta = document_member(volume, root, "metadata");
    yyjson_mut_val *spec = document_member(volume, root, "spec");
    yyjson_mut_val *ref = yyjson_mut_obj_get(spec, "claimRef");
    const char *uid = kube_text(claim, "metadata", "uid");
    struct kube_meta of;

    (void)kube_meta_read(claim, &of);
    if (ref && strcmp(document_text(ref, "uid"), uid) == 0)
        return 0;
    if (ref && (document_text(ref, "uid")[0] || strcmp(document_text(ref, "name"), of.name) != 0 ||
                strcmp(document_text(ref, "namespace"), of.namespace) != 0))
        return err_set(err, -EBUSY, "persistentvolume %s is bound to another claim", document_text(meta, "name"));
    if (!ref)
        document_set(volume, document_member(volume, meta, "annotations"), KEY_BOUND_BY_US, "yes");
    ref = document_member(volume, spec, "claimRef");
    document_set(volume, ref, "apiVersion", "v1");
    document_set(volume, ref, "kind", "PersistentVolumeClaim");
    document_set(volume, ref, "namespace", of.namespace);
    document_set(volume, ref, "name", of.name);
    document_set(volume, ref, "uid", of.uid);
    document_set(volume, ref, "resourceVersion", of.resource_version);
    return 1;
}

bool volume_take_back(yyjson_mut_doc *volume, const char *claim_uid)
{
    yyjson_mut_val *root = yyjson_mut_doc_get_root(volume);
    yyjson_mut_val *spec = document_member(volume, root, "spec");
    yyjson_mut_val *annotations = document_member(volume, document_member(volume, root, "metadata"), "annotations");
    yyjson_mut_val *ref = yyjson_mut_obj_get(spec, "claimRef");
    bool is_bound = strcmp(document_text(yyjson_mut_obj_get(root, "status"), "phase"), "Bound") == 0;

    if (!ref || is_bound || strcmp(document_text(ref, "uid"), claim_uid) != 0)
        return false;
    if (yyjson_mut_obj_remove_key(annotations, KEY_BOUND_BY_US)) {
        (void)yyjson_mut_obj_remove_key(spec, "claimRef");
        return true;
    }
    /* It was kept for the claim before we came. */
    (void)yyjson_mut_obj_remove_key(ref, "uid");
    (void)yyjson_mut_obj_remove_key(ref, "resourceVersion");
    return true;
}
