/* SPDX-License-Identifier: Apache-2.0 */

/* What a deletion does to an object: times, grace and finalizers. */
#include <string.h>

#include "base/time.h"
#include "local/api/kinds.h"
#include "local/api/meta.h"
#include "local/server/namespaces.h"
#include "local/verbs/delete.h"
#include "local/verbs/write.h"

#define FINALIZER_ORPHAN "orphan"
#define FINALIZER_FOREGROUND "foregroundDeletion"

enum { GRACE_DEFAULT_S = 30 };

static yyjson_mut_val *member(yyjson_mut_doc *doc, const char *part, const char *name)
{
    return yyjson_mut_obj_get(yyjson_mut_obj_get(yyjson_mut_doc_get_root(doc), part), name);
}

static bool has_finalizer(yyjson_mut_doc *doc, const char *name)
{
    yyjson_mut_arr_iter iter = yyjson_mut_arr_iter_with(member(doc, "metadata", "finalizers"));

    for (yyjson_mut_val *item; (item = yyjson_mut_arr_iter_next(&iter));) {
        if (yyjson_mut_equals_str(item, name))
            return true;
    }
    return false;
}

static void drop_finalizer(yyjson_mut_doc *doc, const char *name)
{
    yyjson_mut_arr_iter iter = yyjson_mut_arr_iter_with(member(doc, "metadata", "finalizers"));

    for (yyjson_mut_val *item; (item = yyjson_mut_arr_iter_next(&iter));) {
        if (yyjson_mut_equals_str(item, name))
            (void)yyjson_mut_arr_iter_remove(&iter);
    }
    if (!meta_has_finalizers(doc))
        meta_remove(doc, "finalizers");
}

static void add_finalizer(yyjson_mut_doc *doc, const char *name)
{
    yyjson_mut_val *meta = yyjson_mut_obj_get(yyjson_mut_doc_get_root(doc), "metadata");
    yyjson_mut_val *list = yyjson_mut_obj_get(meta, "finalizers");

    if (has_finalizer(doc, name))
        return;
    if (!list)
        list = yyjson_mut_obj_add_arr(doc, meta, "finalizers");
    (void)yyjson_mut_arr_add_str(doc, list, name);
}

/* A policy that is not given is that of an earlier deletion, or else the kind's. */
static enum delete_policy policy_of(const struct api_kind *kind, const struct delete_options *options,
                                    yyjson_mut_doc *doc)
{
    /* Events own nothing, and expire by themselves: nobody collects what is behind them. */
    if (strcmp(api_kind_stored(kind)->plural, "events") == 0 && !(kind->flags & KIND_IS_CUSTOM))
        return DELETE_BACKGROUND;
    if (options->policy != DELETE_DEFAULT)
        return options->policy;
    if (has_finalizer(doc, FINALIZER_ORPHAN))
        return DELETE_ORPHAN;
    if (has_finalizer(doc, FINALIZER_FOREGROUND))
        return DELETE_FOREGROUND;
    return kind->flags & KIND_ORPHANS ? DELETE_ORPHAN : DELETE_BACKGROUND;
}

static void set_finalizers(yyjson_mut_doc *doc, enum delete_policy policy)
{
    drop_finalizer(doc, FINALIZER_ORPHAN);
    drop_finalizer(doc, FINALIZER_FOREGROUND);
    if (policy == DELETE_ORPHAN)
        add_finalizer(doc, FINALIZER_ORPHAN);
    else if (policy == DELETE_FOREGROUND)
        add_finalizer(doc, FINALIZER_FOREGROUND);
}

/* Only pods on a node that have not finished need time to end. */
static int64_t grace_of(const struct api_kind *kind, const struct delete_options *options, yyjson_mut_doc *doc)
{
    const char *phase = yyjson_mut_get_str(member(doc, "status", "phase"));
    const char *node = yyjson_mut_get_str(member(doc, "spec", "nodeName"));
    yyjson_mut_val *own = member(doc, "spec", "terminationGracePeriodSeconds");
    int64_t grace = options->has_grace ? options->grace_s : own ? yyjson_mut_get_sint(own) : GRACE_DEFAULT_S;

    if (!(kind->flags & KIND_GRACE) || !node || !*node)
        return 0;
    if (phase && (strcmp(phase, "Succeeded") == 0 || strcmp(phase, "Failed") == 0))
        return 0;
    return grace < 0 ? 1 : grace;
}

static void set_end(yyjson_mut_doc *doc, nsec_t now, int64_t grace_s)
{
    meta_set_time(doc, "deletionTimestamp", now + grace_s * NSEC_PER_SEC);
    meta_set_number(doc, "deletionGracePeriodSeconds", grace_s);
}

static void begin_end(const struct api_kind *kind, yyjson_mut_doc *doc, int64_t grace_s)
{
    yyjson_mut_val *generation = member(doc, "metadata", "generation");
    yyjson_mut_val *root = yyjson_mut_doc_get_root(doc);

    set_end(doc, nsec_now_wall(), grace_s);
    if (generation && yyjson_mut_get_sint(generation) > 0)
        meta_set_number(doc, "generation", yyjson_mut_get_sint(generation) + 1);
    if (namespace_is_kind(kind)) {
        meta_remove(doc, "deletionGracePeriodSeconds");
        (void)yyjson_mut_obj_put(yyjson_mut_obj_get(root, "status"), yyjson_mut_str(doc, "phase"),
                                 yyjson_mut_str(doc, "Terminating"));
    }
}

/* A later deletion may only shorten the time. Whether it did. */
static bool shorten(yyjson_mut_doc *doc, int64_t grace_s)
{
    yyjson_mut_val *left = member(doc, "metadata", "deletionGracePeriodSeconds");

    if (!left || yyjson_mut_get_sint(left) <= grace_s)
        return false;
    const char *end = meta_text(doc, "deletionTimestamp");
    nsec_t time = 0;

    /* The time counts from the first deletion. */
    if (time_parse(end, &time, NULL) < 0)
        time = nsec_now_wall();
    set_end(doc, time - yyjson_mut_get_sint(left) * NSEC_PER_SEC, grace_s);
    return true;
}

/* Whether nothing has to happen before the object goes. */
static bool is_free(const struct api_kind *kind, enum delete_policy policy, yyjson_mut_doc *doc)
{
    return policy == DELETE_BACKGROUND && !meta_has_finalizers(doc) && !namespace_is_kind(kind);
}

enum delete_step delete_mark(const struct api_kind *kind, const struct delete_options *options, yyjson_mut_doc *doc)
{
    enum delete_policy policy = policy_of(kind, options, doc);
    bool was_deleted = meta_has(doc, "deletionTimestamp");
    bool has_changed = policy != policy_of(kind, &(struct delete_options){0}, doc);
    int64_t grace_s = grace_of(kind, options, doc);

    /* An object that need not wait goes as it is. */
    if (!was_deleted && !(kind->flags & KIND_GRACE) && is_free(kind, policy, doc))
        return DELETE_REMOVE;
    /* Who deletes a second time without naming a policy changes none. */
    if (!was_deleted || options->policy != DELETE_DEFAULT)
        set_finalizers(doc, policy);
    if (was_deleted)
        has_changed |= shorten(doc, grace_s);
    else
        begin_end(kind, doc, grace_s);
    if (write_is_over(kind, doc))
        return DELETE_REMOVE;
    return was_deleted && !has_changed ? DELETE_LEAVE : DELETE_MARK;
}
