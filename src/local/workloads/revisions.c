/* SPDX-License-Identifier: Apache-2.0 */
#include "local/workloads/revisions.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "kube/client/meta.h"
#include "local/controllers/actions.h"
#include "local/controllers/template.h"
#include "local/controllers/values.h"
#include "local/workloads/revision_data.h"
#include "text/json.h"

enum { HASH_LEN = 10, HISTORY_DEFAULT = 10 };

static int64_t number(const struct child *revision)
{
    return number_at(yyjson_doc_get_root(revision->doc), 0, "revision");
}

static int compare_numbers(const void *left, const void *right)
{
    const struct child *a = *(struct child *const *)left, *b = *(struct child *const *)right;

    return number(a) < number(b) ? -1 : number(a) > number(b);
}

yyjson_val *revision_template(const struct child *revision)
{
    return value_at(yyjson_doc_get_root(revision->doc), "data", "spec", "template");
}

static bool is_same(const struct child *revision, yyjson_val *set)
{
    yyjson_val *kept = revision_template(revision), *wanted = value_at(set, "spec", "template"), *key, *val;
    /* One has the mark of the patch besides. */
    bool is_equal = yyjson_is_obj(kept) && yyjson_obj_size(kept) == yyjson_obj_size(wanted) + 1;
    size_t i, max;

    yyjson_obj_foreach(wanted, i, max, key, val)
    {
        yyjson_val *same = yyjson_obj_getn(kept, yyjson_get_str(key), yyjson_get_len(key));
        is_equal = is_equal && yyjson_equals(same, val);
    }
    return is_equal;
}

void revisions_init(struct revisions *revisions, struct owner *set)
{
    *revisions = (struct revisions){0};
    owner_foreach(set, child)
    {
        if (child->kind == REVISION_CHILD_KIND && child->doc)
            vec_push(&revisions->all, child);
    }
    if (revisions->all.len > 1)
        qsort(revisions->all.items, revisions->all.len, sizeof *revisions->all.items, compare_numbers);
    vec_foreach (&revisions->all, revision) {
        if (is_same(*revision, set->object))
            revisions->update = *revision;
    }
}

void revisions_done(struct revisions *revisions)
{
    vec_done(&revisions->all);
}

struct child *revisions_find(const struct revisions *revisions, const char *name)
{
    vec_foreach (&revisions->all, revision) {
        if (strcmp((*revision)->name, name) == 0)
            return *revision;
    }
    return NULL;
}

static void create(struct owner *set, int64_t next)
{
    yyjson_val *template = value_at(set->object, "spec", "template");
    yyjson_mut_doc *scratch = yyjson_mut_doc_new(NULL);
    yyjson_mut_val *data = revision_data(scratch, template), *revision = NULL;
    char hash[HASH_TEXT_MAX], name[CHILD_NAME_MAX + HASH_TEXT_MAX];
    uint64_t failures = set->work.backoff.failures;

    (void)hash_text(hash_bytes(&failures, sizeof failures,
                               hash_bytes(yyjson_mut_get_raw(data), yyjson_mut_get_len(data), hash_str(set->uid, 0))),
                    hash, HASH_LEN);
    (void)snprintf(name, sizeof name, "%.*s-%s", CHILD_NAME_MAX - HASH_TEXT_MAX, set->name, hash);
    yyjson_mut_doc *doc = template_child(set, REVISION_CHILD_KIND, template, name, NULL, &revision);
    (void)yyjson_mut_obj_remove_str(yyjson_mut_obj_get(revision, "metadata"), "annotations");
    template_mark(doc, revision, "labels", "controller.kubernetes.io/hash", hash);
    (void)yyjson_mut_obj_add_val(doc, revision, "data", yyjson_mut_val_mut_copy(doc, data));
    yyjson_mut_doc_free(scratch);
    (void)yyjson_mut_obj_add_int(doc, revision, "revision", next);
    owner_create(set, REVISION_CHILD_KIND, doc);
}

bool revisions_settle(struct owner *set, const struct revisions *revisions)
{
    int64_t highest = revisions->all.len > 0 ? number(vec_last(&revisions->all)) : 0;

    if (!revisions->update) {
        create(set, highest + 1);
        return false;
    }
    if (number(revisions->update) == highest)
        return true;
    yyjson_mut_val *root = NULL;
    yyjson_mut_doc *doc = json_new_object(&root);
    (void)yyjson_mut_obj_add_int(doc, root, "revision", highest + 1);
    owner_patch_child(set, revisions->update, KUBE_PATCH_MERGE, doc, NULL);
    return false;
}

static bool is_live(struct owner *set, const struct revisions *revisions, const struct child *revision,
                    const char *current)
{
    if (revision == revisions->update || strcmp(revision->name, current) == 0)
        return true;
    owner_foreach(set, pod)
    {
        if (pod->kind != REVISION_CHILD_KIND && strcmp(pod->mark, revision->name) == 0)
            return true;
    }
    return false;
}

void revisions_clean(struct owner *set, const struct revisions *revisions, const char *current)
{
    int64_t limit = number_at(set->object, HISTORY_DEFAULT, "spec", "revisionHistoryLimit"), dead = 0;

    vec_foreach (&revisions->all, revision)
        dead += !is_live(set, revisions, *revision, current);
    vec_foreach (&revisions->all, revision) {
        if (dead <= limit)
            return;
        if (is_live(set, revisions, *revision, current))
            continue;
        owner_delete(set, *revision);
        dead--;
    }
}
