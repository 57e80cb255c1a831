/* SPDX-License-Identifier: Apache-2.0 */
#include "local/workloads/deployment_sets.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "kube/client/meta.h"
#include "local/controllers/actions.h"
#include "local/controllers/template.h"
#include "local/controllers/values.h"
#include "text/json.h"

enum { HASH_LEN = 10, HISTORY_DEFAULT = 10 };

#define DESIRED "deployment.kubernetes.io/desired-replicas"
#define MAX_REPLICAS "deployment.kubernetes.io/max-replicas"

static yyjson_val *object_of(const struct child *set)
{
    return yyjson_doc_get_root(set->doc);
}

int64_t set_wanted(const struct child *set)
{
    return set ? number_at(object_of(set), 1, "spec", "replicas") : 0;
}

int64_t set_count(const struct child *set, const char *member)
{
    return set ? number_at(object_of(set), 0, "status", member) : 0;
}

int64_t set_revision(const struct child *set)
{
    return strtoll(kube_text(object_of(set), "metadata", "annotations", DEPLOYMENT_REVISION), NULL, 10);
}

/* A template without the label that its ReplicaSet has added. */
static yyjson_mut_val *bare_template(yyjson_mut_doc *doc, yyjson_val *template)
{
    yyjson_mut_val *copy = yyjson_val_mut_copy(doc, template);
    yyjson_mut_val *labels = yyjson_mut_obj_get(yyjson_mut_obj_get(copy, "metadata"), "labels");

    (void)yyjson_mut_obj_remove_str(labels, DEPLOYMENT_HASH);
    return copy;
}

static bool has_template(yyjson_val *deployment, const struct child *set)
{
    yyjson_mut_doc *doc = json_new_object(NULL);
    bool is_same = yyjson_mut_equals(bare_template(doc, value_at(deployment, "spec", "template")),
                                     bare_template(doc, value_at(object_of(set), "spec", "template")));

    yyjson_mut_doc_free(doc);
    return is_same;
}

static int compare_age(const void *left, const void *right)
{
    const struct child *a = *(struct child *const *)left, *b = *(struct child *const *)right;

    if (a->created != b->created)
        return a->created < b->created ? -1 : 1;
    /* Times have seconds, and several may be created within one. */
    if (set_revision(a) != set_revision(b))
        return set_revision(a) < set_revision(b) ? -1 : 1;
    return strcmp(a->name, b->name);
}

void deployment_sets_init(struct deployment_sets *sets, struct owner *deployment)
{
    int64_t highest = 0;

    *sets = (struct deployment_sets){0};
    owner_foreach(deployment, set) vec_push(&sets->old, set);
    if (sets->old.len > 1)
        qsort(sets->old.items, sets->old.len, sizeof *sets->old.items, compare_age);
    for (uint32_t i = 0; i < sets->old.len; i++) {
        if (has_template(deployment->object, sets->old.items[i])) {
            sets->current = sets->old.items[i];
            vec_remove_at(&sets->old, i);
            break;
        }
    }
    vec_foreach (&sets->old, set)
        highest = MAX(highest, set_revision(*set));
    /* A template that comes back gets a new revision. */
    sets->revision = sets->current ? MAX(set_revision(sets->current), highest + 1) : highest + 1;
}

void deployment_sets_done(struct deployment_sets *sets)
{
    vec_done(&sets->old);
}

/* Annotations of the Deployment are those of its ReplicaSets as well, but for those about itself. */
static bool is_own_annotation(const char *key)
{
    return strcmp(key, "kubectl.kubernetes.io/last-applied-configuration") == 0 ||
           strncmp(key, "deployment.kubernetes.io/", strlen("deployment.kubernetes.io/")) == 0 ||
           strcmp(key, "deprecated.deployment.rollback.to") == 0;
}

static yyjson_mut_val *annotations_of(yyjson_mut_doc *doc, struct owner *deployment, const struct deployment_sets *sets,
                                      bool is_current, int64_t surge)
{
    yyjson_mut_val *annotations = yyjson_mut_obj(doc);
    int64_t wanted = number_at(deployment->object, 1, "spec", "replicas");
    size_t i, max;
    yyjson_val *key, *value;
    char text[32];

    if (is_current) {
        yyjson_obj_foreach(value_at(deployment->object, "metadata", "annotations"), i, max, key, value)
        {
            if (!is_own_annotation(yyjson_get_str(key)))
                (void)yyjson_mut_obj_add(annotations, yyjson_val_mut_copy(doc, key), yyjson_val_mut_copy(doc, value));
        }
        (void)snprintf(text, sizeof text, "%lld", (long long)sets->revision);
        (void)yyjson_mut_obj_add_strcpy(doc, annotations, DEPLOYMENT_REVISION, text);
    }
    (void)snprintf(text, sizeof text, "%lld", (long long)wanted);
    (void)yyjson_mut_obj_add_strcpy(doc, annotations, DESIRED, text);
    (void)snprintf(text, sizeof text, "%lld", (long long)wanted + (long long)surge);
    (void)yyjson_mut_obj_add_strcpy(doc, annotations, MAX_REPLICAS, text);
    return annotations;
}

static void hash_of(struct owner *deployment, char text[static HASH_TEXT_MAX])
{
    yyjson_mut_doc *doc = json_new_object(NULL);
    yyjson_mut_doc_set_root(doc, bare_template(doc, value_at(deployment->object, "spec", "template")));
    size_t len = 0;
    _cleanup_(freep) char *template = yyjson_mut_write(doc, 0, &len);
    int64_t known[] = {number_at(deployment->object, 0, "status", "collisionCount"), deployment->work.backoff.failures};

    yyjson_mut_doc_free(doc);
    BUG_ON(!template);
    /* The version is no part of it: a restart makes the same ReplicaSet. A name that somebody else has is left alone. */
    (void)hash_text(hash_bytes(known, sizeof known, hash_bytes(template, len, hash_str(deployment->uid, 0))), text,
                    HASH_LEN);
}

void deployment_create_set(struct owner *deployment, const struct deployment_sets *sets, int64_t replicas,
                           int64_t surge)
{
    yyjson_val *template = value_at(deployment->object, "spec", "template");
    yyjson_mut_val *set = NULL;
    char hash[HASH_TEXT_MAX], name[CHILD_NAME_MAX + HASH_TEXT_MAX];

    hash_of(deployment, hash);
    (void)snprintf(name, sizeof name, "%.*s-%s", CHILD_NAME_MAX - HASH_TEXT_MAX, deployment->name, hash);
    yyjson_mut_doc *doc = template_child(deployment, 0, NULL, name, NULL, &set);
    yyjson_mut_val *metadata = yyjson_mut_obj_get(set, "metadata");
    yyjson_val *labels = value_at(template, "metadata", "labels");
    if (labels)
        (void)yyjson_mut_obj_add_val(doc, metadata, "labels", yyjson_val_mut_copy(doc, labels));
    template_mark(doc, set, "labels", DEPLOYMENT_HASH, hash);
    (void)yyjson_mut_obj_add_val(doc, metadata, "annotations", annotations_of(doc, deployment, sets, true, surge));

    yyjson_mut_val *spec = yyjson_mut_obj_add_obj(doc, set, "spec");
    (void)yyjson_mut_obj_add_int(doc, spec, "replicas", replicas);
    yyjson_val *min_ready = value_at(deployment->object, "spec", "minReadySeconds");
    if (min_ready)
        (void)yyjson_mut_obj_add_val(doc, spec, "minReadySeconds", yyjson_val_mut_copy(doc, min_ready));
    yyjson_mut_val *selector = yyjson_val_mut_copy(doc, value_at(deployment->object, "spec", "selector"));
    (void)yyjson_mut_obj_add_val(doc, spec, "selector", selector);
    (void)yyjson_mut_obj_add_strcpy(doc, object_member(doc, selector, "matchLabels"), DEPLOYMENT_HASH, hash);
    yyjson_mut_val *pods = bare_template(doc, template);
    (void)yyjson_mut_obj_add_val(doc, spec, "template", pods);
    template_mark(doc, pods, "labels", DEPLOYMENT_HASH, hash);
    owner_create(deployment, 0, doc);
}

static bool has_annotations(yyjson_mut_val *wanted, const struct child *set)
{
    yyjson_val *have = value_at(object_of(set), "metadata", "annotations");
    size_t i, max;
    yyjson_mut_val *key, *value;

    yyjson_mut_obj_foreach(wanted, i, max, key, value)
    {
        if (!yyjson_equals_str(yyjson_obj_get(have, yyjson_mut_get_str(key)), yyjson_mut_get_str(value)))
            return false;
    }
    return true;
}

void deployment_scale_set(struct owner *deployment, const struct deployment_sets *sets, struct child *set,
                          int64_t replicas, int64_t surge)
{
    yyjson_mut_val *root = NULL;
    yyjson_mut_doc *doc = json_new_object(&root);
    yyjson_mut_val *annotations = annotations_of(doc, deployment, sets, set == sets->current, surge);
    int64_t had = set_wanted(set);
    int64_t min_ready = number_at(deployment->object, 0, "spec", "minReadySeconds");
    bool is_ready_same = set != sets->current || min_ready == number_at(object_of(set), 0, "spec", "minReadySeconds");

    if (had == replicas && is_ready_same && has_annotations(annotations, set)) {
        yyjson_mut_doc_free(doc);
        return;
    }
    yyjson_mut_val *metadata = yyjson_mut_obj_add_obj(doc, root, "metadata");
    (void)yyjson_mut_obj_add_strcpy(doc, metadata, "uid", set->uid);
    (void)yyjson_mut_obj_add_strcpy(doc, metadata, "resourceVersion",
                                    kube_text(object_of(set), "metadata", "resourceVersion"));
    (void)yyjson_mut_obj_add_val(doc, metadata, "annotations", annotations);
    yyjson_mut_val *spec = yyjson_mut_obj_add_obj(doc, root, "spec");
    (void)yyjson_mut_obj_add_int(doc, spec, "replicas", replicas);
    if (set == sets->current)
        (void)yyjson_mut_obj_add_int(doc, spec, "minReadySeconds", min_ready);
    if (had != replicas)
        owner_event(deployment, "Normal", "ScalingReplicaSet", "Scaled %s replica set %s from %lld to %lld",
                    had < replicas ? "up" : "down", set->name, (long long)had, (long long)replicas);
    owner_patch_child(deployment, set, KUBE_PATCH_MERGE, doc, NULL);
}

void deployment_clean_sets(struct owner *deployment, const struct deployment_sets *sets)
{
    int64_t limit = number_at(deployment->object, HISTORY_DEFAULT, "spec", "revisionHistoryLimit");

    for (uint32_t i = 0; i < sets->old.len && (int64_t)sets->old.len - i > limit; i++) {
        struct child *set = sets->old.items[i];

        if (set_wanted(set) == 0 && set_count(set, "replicas") == 0 && !set->is_ending &&
            set_count(set, "observedGeneration") >= number_at(object_of(set), 0, "metadata", "generation"))
            owner_delete(deployment, set);
    }
}
