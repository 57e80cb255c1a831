/* SPDX-License-Identifier: Apache-2.0 */
#include "services/queues/tree.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/map.h"
#include "base/mem.h"
#include "kube/client/meta.h"

static const char *const list_keys[_QUEUE_LIST_MAX] = {
    [LIST_REQUESTED] = "requested",
    [LIST_ALLOCATED] = "allocated",
    [LIST_NON_PREEMPTIBLE] = "allocatedNonPreemptible",
};

static const char *const resource_keys[_QUEUE_RESOURCE_MAX] = {
    [RESOURCE_GPU] = "gpu",
    [RESOURCE_CPU] = "cpu",
    [RESOURCE_MEMORY] = "memory",
};

/* A PodGroup: what it has added to its queue. */
struct member {
    struct queue *queue;
    const struct resource_list *lists[_QUEUE_LIST_MAX];
};

struct tree {
    struct tree_options options;
    struct resource_lists lists;
    struct strmap queues;
    struct map64 members;  // hash of the UID -> struct member *
    bool is_settled;
};

/* Queues. */

static struct queue *queue_of(struct tree *tree, const char *name)
{
    struct queue *queue = strmap_get(&tree->queues, "", name);

    if (queue)
        return queue;
    queue = xcalloc(1, sizeof *queue);
    queue->owner = tree->options.arg;
    queue->name = xstrdup(name);
    queue->parent_name = xstrdup("");
    queue->display_name = xstrdup("");
    (void)strmap_put(&tree->queues, "", queue->name, queue);
    return queue;
}

static void clear_status(struct tree *tree, struct queue *queue)
{
    for (int i = 0; i < _QUEUE_LIST_MAX; i++) {
        resource_list_unref(&tree->lists, queue->status[i]);
        queue->status[i] = NULL;
    }
    queue->status_children = 0;
    queue->version = 0;
}

static void clear_labels(struct queue *queue)
{
    vec_foreach (&queue->labels, label)
        free(*label);
    vec_clear(&queue->labels);
}

static void queue_free(struct tree *tree, struct queue *queue)
{
    clear_status(tree, queue);
    clear_labels(queue);
    vec_done(&queue->labels);
    vec_done(&queue->children);
    for (int i = 0; i < _QUEUE_LIST_MAX; i++) {
        resource_sum_done(&queue->own[i]);
        resource_sum_done(&queue->total[i]);
    }
    free(queue->name);
    free(queue->uid);
    free(queue->parent_name);
    free(queue->display_name);
    free(queue);
}

static void unsettle(struct tree *tree)
{
    if (tree->is_settled)
        tree->options.on_unsettled(tree->options.arg);
    tree->is_settled = false;
}

/* The status. */

static uint64_t children_digest(const struct queue *queue)
{
    uint64_t digest = 0;

    vec_foreach (&queue->children, child)
        digest = hash_str((*child)->name, digest + 1);
    return digest;
}

static uint64_t names_digest(yyjson_val *names)
{
    uint64_t digest = 0;
    size_t i, max;
    yyjson_val *name;

    yyjson_arr_foreach(names, i, max, name) digest =
        hash_str(yyjson_is_str(name) ? yyjson_get_str(name) : "", digest + 1);
    return digest;
}

static void look_at(struct tree *tree, struct queue *queue)
{
    bool differs = children_digest(queue) != queue->status_children;

    if (!queue->uid)
        return;
    for (int i = 0; i < _QUEUE_LIST_MAX && !differs; i++) {
        const struct resource_list *wanted = resource_sum_list(&tree->lists, &queue->total[i]);

        differs = !resource_list_is_equal(wanted, queue->status[i]);
        resource_list_unref(&tree->lists, wanted);
    }
    if (differs)
        tree->options.on_differs(tree->options.arg, queue);
}

static void add_children(const struct queue *queue, yyjson_mut_doc *doc, yyjson_mut_val *status)
{
    if (children_digest(queue) == queue->status_children)
        return;
    if (queue->children.len == 0) {
        (void)yyjson_mut_obj_add_null(doc, status, "childQueues");
        return;
    }
    yyjson_mut_val *names = yyjson_mut_obj_add_arr(doc, status, "childQueues");
    vec_foreach (&queue->children, child)
        (void)yyjson_mut_arr_add_str(doc, names, (*child)->name);
}

char *tree_patch(struct tree *tree, struct queue *queue, size_t *ret_len)
{
    yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
    yyjson_mut_val *root = yyjson_mut_obj(doc), *status = yyjson_mut_obj(doc);
    char *text = NULL;

    add_children(queue, doc, status);
    for (int i = 0; i < _QUEUE_LIST_MAX; i++) {
        const struct resource_list *wanted = resource_sum_list(&tree->lists, &queue->total[i]);
        yyjson_mut_val *patch = resource_list_patch(&tree->lists, queue->status[i], wanted, doc);

        if (patch)
            (void)yyjson_mut_obj_add_val(doc, status, list_keys[i], patch);
        resource_list_unref(&tree->lists, wanted);
    }
    if (yyjson_mut_obj_size(status) > 0) {
        yyjson_mut_doc_set_root(doc, root);
        (void)yyjson_mut_obj_add_str(doc, yyjson_mut_obj_add_obj(doc, root, "metadata"), "uid", queue->uid);
        (void)yyjson_mut_obj_add_val(doc, root, "status", status);
        text = yyjson_mut_write(doc, 0, ret_len);
    }
    yyjson_mut_doc_free(doc);
    return text;
}

/* Queues from objects. */

/* Whether the text changed. */
static bool set_text(char **text, const char *value)
{
    if (*text && strcmp(*text, value) == 0)
        return false;
    free(*text);
    *text = xstrdup(value);
    return true;
}

static void read_status(struct tree *tree, struct queue *queue, yyjson_val *status)
{
    clear_status(tree, queue);
    if (!yyjson_is_obj(status))
        return;
    for (int i = 0; i < _QUEUE_LIST_MAX; i++)
        queue->status[i] = resource_list_read(&tree->lists, yyjson_obj_get(status, list_keys[i]), NULL);
    queue->status_children = names_digest(yyjson_obj_get(status, "childQueues"));
}

static void read_quotas(struct queue *queue, yyjson_val *object)
{
    yyjson_val *resources = yyjson_ptr_get(object, "/spec/resources");

    for (int i = 0; i < _QUEUE_RESOURCE_MAX; i++) {
        yyjson_val *one = yyjson_is_obj(resources) ? yyjson_obj_get(resources, resource_keys[i]) : NULL;
        yyjson_val *quota = yyjson_is_obj(one) ? yyjson_obj_get(one, "quota") : NULL;

        queue->quota[i] = yyjson_get_num(quota);
    }
}

static const char *default_of(const struct flag_pairs *defaults, const char *key)
{
    vec_foreach (defaults, pair) {
        if (strcmp(pair->key, key) == 0)
            return pair->value;
    }
    return "";
}

static void read_labels(const struct tree *tree, struct queue *queue, yyjson_val *object)
{
    yyjson_val *labels = yyjson_ptr_get(object, "/metadata/labels");

    clear_labels(queue);
    vec_foreach (tree->options.labels, pair) {
        const char *value = yyjson_is_obj(labels) ? yyjson_get_str(yyjson_obj_get(labels, pair->key)) : NULL;

        vec_push(&queue->labels, xstrdup(value ? value : default_of(tree->options.label_defaults, pair->key)));
    }
}

void tree_put_queue(struct tree *tree, yyjson_val *object)
{
    struct kube_meta meta;

    if (!kube_meta_read(object, &meta))
        return;
    struct queue *queue = queue_of(tree, meta.name);
    uint64_t version = strtoull(meta.resource_version, NULL, 10);

    /* The answer to our own write may be newer than what the watch shows. */
    if (queue->uid && strcmp(queue->uid, meta.uid) == 0 && version < queue->version)
        return;
    bool is_moved = !queue->uid;
    is_moved |= set_text(&queue->parent_name, kube_text(object, "spec", "parentQueue"));
    (void)set_text(&queue->uid, meta.uid);
    (void)set_text(&queue->display_name, kube_text(object, "spec", "displayName"));
    read_quotas(queue, object);
    read_labels(tree, queue, object);
    read_status(tree, queue, yyjson_obj_get(object, "status"));
    queue->version = version;
    if (is_moved)
        unsettle(tree);
    else if (tree->is_settled)
        look_at(tree, queue);
}

void tree_drop_queue(struct tree *tree, const char *name)
{
    struct queue *queue = strmap_get(&tree->queues, "", name);

    if (!queue || !queue->uid)
        return;
    tree->options.on_gone(tree->options.arg, queue);
    clear_status(tree, queue);
    clear_labels(queue);
    free(TAKE_PTR(queue->uid));
    (void)set_text(&queue->parent_name, "");
    unsettle(tree);
}

/* PodGroups. */

static void change(struct resource_sum *sum, const struct resource_list *old, const struct resource_list *now)
{
    resource_sum_subtract(sum, old);
    resource_sum_add(sum, now);
}

/* Replaces one list of the PodGroup, in its queue and those above. Takes over `list`. Whether it changed. */
static bool account(struct tree *tree, struct member *member, int which, const struct resource_list *list)
{
    const struct resource_list *old = member->lists[which];
    bool has_changed = old != list;

    if (has_changed) {
        change(&member->queue->own[which], old, list);
        for (struct queue *at = member->queue; at && tree->is_settled; at = at->parent)
            change(&at->total[which], old, list);
    }
    member->lists[which] = list;
    resource_list_unref(&tree->lists, old);
    return has_changed;
}

static void look_at_chain(struct tree *tree, struct queue *queue)
{
    for (struct queue *at = queue; at && tree->is_settled; at = at->parent)
        look_at(tree, at);
}

static void leave_queue(struct tree *tree, struct member *member)
{
    struct queue *queue = member->queue;

    if (!queue)
        return;
    for (int i = 0; i < _QUEUE_LIST_MAX; i++)
        (void)account(tree, member, i, NULL);
    queue->groups--;
    member->queue = NULL;
    look_at_chain(tree, queue);
    /* What nobody speaks of any more goes with the next settling. */
    if (!queue->uid && queue->groups == 0)
        unsettle(tree);
}

static struct member *member_of(const struct tree *tree, uint64_t key)
{
    uint64_t at = 0;

    return map64_get(&tree->members, key, &at) ? (struct member *)(uintptr_t)at : NULL;
}

void tree_drop_group(struct tree *tree, const char *uid)
{
    uint64_t key = hash_str(uid, 0);
    struct member *member = member_of(tree, key);

    if (!member)
        return;
    leave_queue(tree, member);
    (void)map64_remove(&tree->members, key);
    free(member);
}

void tree_put_group(struct tree *tree, const char *uid, yyjson_val *object)
{
    const char *queue = kube_text(object, "spec", "queue");
    yyjson_val *status = yyjson_ptr_get(object, "/status/resourcesStatus");
    uint64_t key = hash_str(uid, 0);
    struct member *member = member_of(tree, key);
    bool has_changed = false;

    if (!*queue) {
        tree_drop_group(tree, uid);
        return;
    }
    if (!member) {
        member = xcalloc(1, sizeof *member);
        map64_put(&tree->members, key, (uintptr_t)member);
    }
    if (member->queue && strcmp(member->queue->name, queue) != 0)
        leave_queue(tree, member);
    if (!member->queue) {
        member->queue = queue_of(tree, queue);
        member->queue->groups++;
    }
    for (int i = 0; i < _QUEUE_LIST_MAX; i++) {
        yyjson_val *list = yyjson_is_obj(status) ? yyjson_obj_get(status, list_keys[i]) : NULL;

        has_changed |= account(tree, member, i, resource_list_read(&tree->lists, list, NULL));
    }
    if (has_changed)
        look_at_chain(tree, member->queue);
}

/* Settling. */

struct queue *tree_next(const struct tree *tree, size_t *cursor)
{
    struct queue *queue;

    do {
        queue = strmap_next(&tree->queues, cursor);
    } while (queue && !queue->uid);
    return queue;
}

static struct queue *named_parent(const struct tree *tree, const struct queue *queue)
{
    struct queue *parent = *queue->parent_name ? strmap_get(&tree->queues, "", queue->parent_name) : NULL;

    return parent && parent->uid ? parent : NULL;
}

/* Whether the way up from the queue comes back to it. A way that is longer than there are queues is in another circle. */
static bool is_in_circle(const struct tree *tree, const struct queue *queue)
{
    const struct queue *at = named_parent(tree, queue);

    for (size_t steps = tree->queues.len; at && steps > 0; steps--) {
        if (at == queue)
            return true;
        at = named_parent(tree, at);
    }
    return false;
}

static int by_name(const void *one, const void *other)
{
    return strcmp((*(struct queue *const *)one)->name, (*(struct queue *const *)other)->name);
}

/* Queues that are not there and that no PodGroup names any more. */
static void sweep(struct tree *tree)
{
    VEC(struct queue *) unused = {0};
    struct queue *queue;

    for (size_t cursor = 0; (queue = strmap_next(&tree->queues, &cursor));) {
        if (!queue->uid && queue->groups == 0)
            vec_push(&unused, queue);
    }
    vec_foreach (&unused, at) {
        (void)strmap_remove(&tree->queues, "", (*at)->name);
        queue_free(tree, *at);
    }
    vec_done(&unused);
}

static void link_queues(struct tree *tree)
{
    struct queue *queue, *parent;

    for (size_t cursor = 0; (queue = strmap_next(&tree->queues, &cursor));) {
        vec_clear(&queue->children);
        for (int i = 0; i < _QUEUE_LIST_MAX; i++)
            resource_sum_clear(&queue->total[i]);
    }
    for (size_t cursor = 0; (queue = strmap_next(&tree->queues, &cursor));) {
        parent = named_parent(tree, queue);
        queue->parent = parent && !is_in_circle(tree, queue) ? parent : NULL;
        if (parent)
            vec_push(&parent->children, queue);
    }
}

void tree_settle(struct tree *tree)
{
    struct queue *queue;

    if (tree->is_settled)
        return;
    sweep(tree);
    link_queues(tree);
    for (size_t cursor = 0; (queue = strmap_next(&tree->queues, &cursor));) {
        if (queue->children.len > 1)
            qsort(queue->children.items, queue->children.len, sizeof *queue->children.items, by_name);
        for (struct queue *at = queue; at; at = at->parent) {
            for (int i = 0; i < _QUEUE_LIST_MAX; i++)
                resource_sum_add_all(&at->total[i], &queue->own[i]);
        }
    }
    tree->is_settled = true;
    for (size_t cursor = 0; (queue = tree_next(tree, &cursor));)
        look_at(tree, queue);
}

double queue_allocated(struct tree *tree, const struct queue *queue, enum queue_resource resource)
{
    const struct resource_list *list = resource_sum_list(&tree->lists, &queue->total[LIST_ALLOCATED]);
    struct quantity amount = {0};
    bool is_there = resource == RESOURCE_GPU ? resource_list_get_suffix(&tree->lists, list, "/gpu", &amount)
                                             : resource_list_get(&tree->lists, list, resource_keys[resource], &amount);

    resource_list_unref(&tree->lists, list);
    /* KAI shows four decimals. */
    return is_there ? round((double)amount.nano / 1e9 * 1e4) / 1e4 : 0;
}

struct tree *tree_new(const struct tree_options *options)
{
    struct tree *tree = xcalloc(1, sizeof *tree);

    tree->options = *options;
    tree->is_settled = true;
    resource_lists_init(&tree->lists);
    return tree;
}

void tree_free(struct tree *tree)
{
    struct queue *queue;
    uint64_t key, at;

    if (!tree)
        return;
    for (size_t cursor = 0; map64_next(&tree->members, &cursor, &key, &at);) {
        struct member *member = (struct member *)(uintptr_t)at;

        for (int i = 0; i < _QUEUE_LIST_MAX; i++)
            resource_list_unref(&tree->lists, member->lists[i]);
        free(member);
    }
    map64_done(&tree->members);
    for (size_t cursor = 0; (queue = strmap_next(&tree->queues, &cursor));)
        queue_free(tree, queue);
    strmap_done(&tree->queues);
    resource_lists_done(&tree->lists);
    free(tree);
}
