/* SPDX-License-Identifier: Apache-2.0 */

/*
 * A pod holds the two lists that it has added to its group, so that a change takes away exactly what was added. Claims and
 * nodes know the pods that depend on them, which are few: pods with device claims, and pods that were given GPU memory.
 */
#include "services/podgroups/book.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/vec.h"
#include "kube/client/meta.h"
#include "objects/keys.h"
#include "services/podgroups/facts.h"

#define RESOURCE_GPU "nvidia.com/gpu"

/* What KAI takes for the priority of a group whose class is not there, and where priorities are not preemptible. */
enum { PRIORITY_FALLBACK = 50, PRIORITY_NON_PREEMPTIBLE = 100 };

const char *const group_list_keys[_GROUP_LIST_MAX] = {
    [LIST_REQUESTED] = "requested",
    [LIST_ALLOCATED] = "allocated",
    [LIST_NON_PREEMPTIBLE] = "allocatedNonPreemptible",
};

struct pod;

/* A claim or a node that pods depend on, whether it is there or not. */
struct source {
    char *namespace, *name;
    bool is_there;
    const struct resource_list *devices;  // of a claim
    int64_t gpu_mib;                      // of a node
    VEC(struct pod *) pods;
};

/* What only pods with claims or GPU memory need. */
struct pod_more {
    const struct resource_list *asked, *given;  // without what the sources add
    bool is_allocated;
    int64_t memory_mib;
    struct source *node;
    VEC(struct source *) claims;
};

struct pod {
    struct group *group;
    const struct resource_list *requested, *allocated;  // as they were added to the group
    struct pod_more *more;                              // NULL: nothing else counts
    uint64_t problem;                                   // hash of what was last said of it
};

struct class
{
    char *name;
    int32_t value;
    bool is_default;
};

struct book {
    struct book_options options;
    struct resource_lists lists;
    struct strmap groups;
    struct strmap claims, nodes;  // struct source
    struct strmap classes;
    struct map64 pods;  // hash of the UID -> struct pod *
};

struct resource_lists *book_lists(struct book *book)
{
    return &book->lists;
}

uint64_t book_pods(const struct book *book)
{
    return map64_len(&book->pods);
}

/* Groups. */

static struct group *group_of(struct book *book, const char *namespace, const char *name)
{
    struct group *group = strmap_get(&book->groups, namespace, name);

    if (group)
        return group;
    group = xcalloc(1, sizeof *group);
    group->owner = book->options.arg;
    group->namespace = xstrdup(namespace);
    group->name = xstrdup(name);
    (void)strmap_put(&book->groups, group->namespace, group->name, group);
    return group;
}

static void clear_status(struct book *book, struct group *group)
{
    for (int i = 0; i < _GROUP_LIST_MAX; i++) {
        resource_list_unref(&book->lists, group->status[i]);
        group->status[i] = NULL;
    }
    group->version = 0;
}

static void group_free(struct book *book, struct group *group)
{
    clear_status(book, group);
    resource_sum_done(&group->requested);
    resource_sum_done(&group->allocated);
    free(group->namespace);
    free(group->name);
    free(group->uid);
    free(group->priority_class);
    free(group->preemptibility);
    free(group);
}

static void drop_group_if_unused(struct book *book, struct group *group)
{
    if (group->uid || group->pods > 0)
        return;
    (void)strmap_remove(&book->groups, group->namespace, group->name);
    group_free(book, group);
}

static int32_t priority_of(const struct book *book, const struct group *group)
{
    const struct class *class = strmap_get(&book->classes, "", group->priority_class);

    for (size_t cursor = 0; !class && (class = strmap_next(&book->classes, &cursor));) {
        if (!class->is_default)
            class = NULL;
    }
    return class ? class->value : PRIORITY_FALLBACK;
}

static bool is_preemptible(const struct book *book, const struct group *group)
{
    if (strcmp(group->preemptibility, "preemptible") == 0)
        return true;
    if (strcmp(group->preemptibility, "non-preemptible") == 0)
        return false;
    return priority_of(book, group) < PRIORITY_NON_PREEMPTIBLE;
}

/* What the status should be; the lists are to be given back. */
static void wanted_status(struct book *book, const struct group *group,
                          const struct resource_list *ret_lists[static _GROUP_LIST_MAX])
{
    ret_lists[LIST_REQUESTED] = resource_sum_list(&book->lists, &group->requested);
    ret_lists[LIST_ALLOCATED] = resource_sum_list(&book->lists, &group->allocated);
    ret_lists[LIST_NON_PREEMPTIBLE] = is_preemptible(book, group) ? NULL : resource_list_ref(ret_lists[LIST_ALLOCATED]);
}

static void look_at(struct book *book, struct group *group)
{
    const struct resource_list *wanted[_GROUP_LIST_MAX];
    bool differs = false;

    if (!group->uid)
        return;
    wanted_status(book, group, wanted);
    for (int i = 0; i < _GROUP_LIST_MAX; i++) {
        differs = differs || !resource_list_is_equal(wanted[i], group->status[i]);
        resource_list_unref(&book->lists, wanted[i]);
    }
    if (differs)
        book->options.on_differs(book->options.arg, group);
}

char *book_patch(struct book *book, struct group *group, size_t *ret_len)
{
    const struct resource_list *wanted[_GROUP_LIST_MAX];
    yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
    yyjson_mut_val *root = yyjson_mut_obj(doc), *lists = yyjson_mut_obj(doc);
    char *text = NULL;

    wanted_status(book, group, wanted);
    for (int i = 0; i < _GROUP_LIST_MAX; i++) {
        yyjson_mut_val *patch = resource_list_patch(&book->lists, group->status[i], wanted[i], doc);

        if (patch)
            (void)yyjson_mut_obj_add_val(doc, lists, group_list_keys[i], patch);
        resource_list_unref(&book->lists, wanted[i]);
    }
    if (yyjson_mut_obj_size(lists) > 0) {
        yyjson_mut_doc_set_root(doc, root);
        (void)yyjson_mut_obj_add_str(doc, yyjson_mut_obj_add_obj(doc, root, "metadata"), "uid", group->uid);
        (void)yyjson_mut_obj_add_val(doc, yyjson_mut_obj_add_obj(doc, root, "status"), "resourcesStatus", lists);
        text = yyjson_mut_write(doc, 0, ret_len);
    }
    yyjson_mut_doc_free(doc);
    return text;
}

static void set_text(char **text, const char *value)
{
    if (*text && strcmp(*text, value) == 0)
        return;
    free(*text);
    *text = xstrdup(value);
}

static void read_status(struct book *book, struct group *group, yyjson_val *object)
{
    yyjson_val *lists = yyjson_ptr_get(object, "/status/resourcesStatus");

    clear_status(book, group);
    for (int i = 0; i < _GROUP_LIST_MAX; i++) {
        yyjson_val *list = yyjson_is_obj(lists) ? yyjson_obj_get(lists, group_list_keys[i]) : NULL;

        group->status[i] = resource_list_read(&book->lists, list, NULL);
    }
}

void book_put_group(struct book *book, yyjson_val *object)
{
    struct kube_meta meta;

    if (!kube_meta_read(object, &meta))
        return;
    struct group *group = group_of(book, meta.namespace, meta.name);
    uint64_t version = strtoull(meta.resource_version, NULL, 10);
    /* The answer to our own write may be newer than what the watch shows. */
    bool is_stale = group->uid && strcmp(group->uid, meta.uid) == 0 && version < group->version;

    if (is_stale)
        return;
    set_text(&group->uid, meta.uid);
    set_text(&group->priority_class, kube_text(object, "spec", "priorityClassName"));
    set_text(&group->preemptibility, kube_text(object, "spec", "preemptibility"));
    read_status(book, group, object);
    group->version = version;
    look_at(book, group);
}

void book_drop_group(struct book *book, const char *namespace, const char *name)
{
    struct group *group = strmap_get(&book->groups, namespace, name);

    if (!group || !group->uid)
        return;
    book->options.on_gone(book->options.arg, group);
    clear_status(book, group);
    free(TAKE_PTR(group->uid));
    drop_group_if_unused(book, group);
}

/* Claims and nodes. */

static struct source *source_of(struct strmap *sources, const char *namespace, const char *name)
{
    struct source *source = strmap_get(sources, namespace, name);

    if (source)
        return source;
    source = xcalloc(1, sizeof *source);
    source->namespace = xstrdup(namespace);
    source->name = xstrdup(name);
    (void)strmap_put(sources, source->namespace, source->name, source);
    return source;
}

static void source_free(struct book *book, struct source *source)
{
    resource_list_unref(&book->lists, source->devices);
    free(source->namespace);
    free(source->name);
    vec_done(&source->pods);
    free(source);
}

static void drop_source_if_unused(struct book *book, struct strmap *sources, struct source *source)
{
    if (source->is_there || source->pods.len > 0)
        return;
    (void)strmap_remove(sources, source->namespace, source->name);
    source_free(book, source);
}

static void leave(struct book *book, struct strmap *sources, struct source *source, const struct pod *pod)
{
    for (uint32_t i = 0; i < source->pods.len; i++) {
        if (source->pods.items[i] == pod) {
            vec_swap_remove(&source->pods, i);
            break;
        }
    }
    drop_source_if_unused(book, sources, source);
}

/* Pods. */

static void add_claims(struct resource_sum *sum, const struct pod_more *more)
{
    vec_foreach (&more->claims, claim)
        resource_sum_add(sum, (*claim)->devices);
}

/* What a pod with sources adds now; the lists are to be given back. */
static void sum_up(struct book *book, const struct pod_more *more, const struct resource_list **ret_requested,
                   const struct resource_list **ret_allocated)
{
    struct resource_sum sum = {0};

    resource_sum_add(&sum, more->asked);
    add_claims(&sum, more);
    *ret_requested = resource_sum_list(&book->lists, &sum);
    resource_sum_clear(&sum);
    if (more->is_allocated) {
        resource_sum_add(&sum, more->given);
        add_claims(&sum, more);
        if (more->node && more->node->gpu_mib > 0)
            resource_sum_add_one(&book->lists, &sum, RESOURCE_GPU, memory_share(more->memory_mib, more->node->gpu_mib));
    }
    *ret_allocated = resource_sum_list(&book->lists, &sum);
    resource_sum_done(&sum);
}

/* Replaces what the pod has added to its group. Takes over the lists. */
static void account(struct book *book, struct pod *pod, const struct resource_list *requested,
                    const struct resource_list *allocated)
{
    struct group *group = pod->group;

    if (pod->requested != requested) {
        resource_sum_subtract(&group->requested, pod->requested);
        resource_sum_add(&group->requested, requested);
    }
    if (pod->allocated != allocated) {
        resource_sum_subtract(&group->allocated, pod->allocated);
        resource_sum_add(&group->allocated, allocated);
    }
    bool has_changed = pod->requested != requested || pod->allocated != allocated;
    resource_list_unref(&book->lists, pod->requested);
    resource_list_unref(&book->lists, pod->allocated);
    pod->requested = requested;
    pod->allocated = allocated;
    if (has_changed)
        look_at(book, group);
}

static void account_again(struct book *book, struct pod *pod)
{
    const struct resource_list *requested, *allocated;

    sum_up(book, pod->more, &requested, &allocated);
    account(book, pod, requested, allocated);
}

static void source_changed(struct book *book, const struct source *source)
{
    vec_foreach (&source->pods, pod)
        account_again(book, *pod);
}

static void more_free(struct book *book, struct pod *pod)
{
    struct pod_more *more = pod->more;

    if (!more)
        return;
    vec_foreach (&more->claims, claim)
        leave(book, &book->claims, *claim, pod);
    if (more->node)
        leave(book, &book->nodes, more->node, pod);
    resource_list_unref(&book->lists, more->asked);
    resource_list_unref(&book->lists, more->given);
    vec_done(&more->claims);
    free(more);
    pod->more = NULL;
}

static struct pod_more *more_new(struct book *book, struct pod *pod, const struct pod_facts *facts,
                                 const struct claim_names *claims)
{
    struct pod_more *more = xcalloc(1, sizeof *more);

    *more = (struct pod_more){
        .asked = resource_list_ref(facts->asked),
        .given = resource_list_ref(facts->given),
        .is_allocated = facts->is_allocated,
        .memory_mib = facts->memory_mib,
    };
    vec_foreach (claims, name) {
        struct source *claim = source_of(&book->claims, pod->group->namespace, *name);

        vec_push(&claim->pods, pod);
        vec_push(&more->claims, claim);
    }
    if (facts->memory_mib > 0 && *facts->node) {
        more->node = source_of(&book->nodes, "", facts->node);
        vec_push(&more->node->pods, pod);
    }
    return more;
}

static void put_in_group(struct book *book, struct pod *pod, yyjson_val *object, struct pod_facts *facts)
{
    const struct resource_list *requested = NULL, *allocated = NULL;
    struct claim_names claims = {0};
    struct pod_more *more = NULL;

    if (facts->is_counted)
        pod_claim_names(object, &claims);
    if (claims.len > 0 || facts->memory_mib > 0)
        more = more_new(book, pod, facts, &claims);
    /* The old sources go only now, so that those which are still needed stay. */
    more_free(book, pod);
    pod->more = more;
    if (more) {
        sum_up(book, more, &requested, &allocated);
    } else {
        requested = resource_list_ref(facts->asked);
        allocated = resource_list_ref(facts->given);
    }
    account(book, pod, requested, allocated);
    vec_done(&claims);
}

static struct pod *pod_of(const struct book *book, uint64_t key)
{
    uint64_t at = 0;

    return map64_get(&book->pods, key, &at) ? (struct pod *)(uintptr_t)at : NULL;
}

static void leave_group(struct book *book, struct pod *pod)
{
    struct group *group = pod->group;

    if (!group)
        return;
    more_free(book, pod);
    group->pods--;
    account(book, pod, NULL, NULL);
    pod->group = NULL;
    drop_group_if_unused(book, group);
}

void book_drop_pod(struct book *book, const char *uid)
{
    uint64_t key = hash_str(uid, 0);
    struct pod *pod = pod_of(book, key);

    if (!pod)
        return;
    leave_group(book, pod);
    (void)map64_remove(&book->pods, key);
    free(pod);
}

const char *book_put_pod(struct book *book, const char *uid, yyjson_val *object)
{
    const char *namespace = kube_text(object, "metadata", "namespace");
    const char *name = kube_text(object, "metadata", "annotations", KEY_POD_GROUP);
    uint64_t key = hash_str(uid, 0);
    struct pod *pod = pod_of(book, key);
    struct pod_facts facts;

    if (!*name) {
        book_drop_pod(book, uid);
        return NULL;
    }
    if (!pod) {
        pod = xcalloc(1, sizeof *pod);
        map64_put(&book->pods, key, (uintptr_t)pod);
    }
    if (pod->group && strcmp(pod->group->name, name) != 0)
        leave_group(book, pod);
    if (!pod->group) {
        pod->group = group_of(book, namespace, name);
        pod->group->pods++;
    }
    pod_facts_read(&facts, &book->lists, object);
    put_in_group(book, pod, object, &facts);
    resource_list_unref(&book->lists, facts.asked);
    resource_list_unref(&book->lists, facts.given);

    uint64_t problem = facts.problem ? hash_str(facts.problem, 1) : 0;
    bool is_news = problem != 0 && problem != pod->problem;
    pod->problem = problem;
    return is_news ? facts.problem : NULL;
}

void book_put_claim(struct book *book, yyjson_val *object)
{
    struct kube_meta meta;

    if (!kube_meta_read(object, &meta))
        return;
    struct source *claim = source_of(&book->claims, meta.namespace, meta.name);
    const struct resource_list *old = claim->devices;

    claim->is_there = true;
    claim->devices = claim_devices(&book->lists, object);
    if (claim->devices != old)
        source_changed(book, claim);
    resource_list_unref(&book->lists, old);
}

void book_drop_claim(struct book *book, const char *namespace, const char *name)
{
    struct source *claim = strmap_get(&book->claims, namespace, name);

    if (!claim)
        return;
    resource_list_unref(&book->lists, claim->devices);
    claim->devices = NULL;
    claim->is_there = false;
    source_changed(book, claim);
    drop_source_if_unused(book, &book->claims, claim);
}

static void set_node(struct book *book, const char *name, bool is_there, int64_t gpu_mib)
{
    struct source *node = source_of(&book->nodes, "", name);
    bool has_changed = node->gpu_mib != gpu_mib;

    node->is_there = is_there;
    node->gpu_mib = gpu_mib;
    if (has_changed)
        source_changed(book, node);
    drop_source_if_unused(book, &book->nodes, node);
}

void book_put_node(struct book *book, const char *name, yyjson_val *node)
{
    set_node(book, name, true, node_gpu_memory(node));
}

void book_drop_node(struct book *book, const char *name)
{
    set_node(book, name, false, 0);
}

/* Priority classes. */

static void look_at_all(struct book *book)
{
    struct group *group;

    for (size_t cursor = 0; (group = strmap_next(&book->groups, &cursor));)
        look_at(book, group);
}

static void class_free(struct class *class)
{
    if (!class)
        return;
    free(class->name);
    free(class);
}

void book_put_class(struct book *book, const char *name, yyjson_val *object)
{
    struct class *class = xcalloc(1, sizeof *class);
    struct class *old;

    class->name = xstrdup(name);
    class->value = (int32_t)yyjson_get_sint(yyjson_obj_get(object, "value"));
    class->is_default = yyjson_get_bool(yyjson_obj_get(object, "globalDefault"));
    old = strmap_put(&book->classes, "", class->name, class);
    if (!old || old->value != class->value || old->is_default != class->is_default)
        look_at_all(book);
    class_free(old);
}

void book_drop_class(struct book *book, const char *name)
{
    class_free(strmap_remove(&book->classes, "", name));
    look_at_all(book);
}

/* The book. */

struct book *book_new(const struct book_options *options)
{
    struct book *book = xcalloc(1, sizeof *book);

    book->options = *options;
    resource_lists_init(&book->lists);
    return book;
}

static void sources_free(struct book *book, struct strmap *sources)
{
    struct source *source;

    for (size_t cursor = 0; (source = strmap_next(sources, &cursor));)
        source_free(book, source);
    strmap_done(sources);
}

void book_free(struct book *book)
{
    struct group *group;
    struct class *class;
    uint64_t key, at;

    if (!book)
        return;
    for (size_t cursor = 0; map64_next(&book->pods, &cursor, &key, &at);) {
        struct pod *pod = (struct pod *)(uintptr_t)at;

        more_free(book, pod);
        resource_list_unref(&book->lists, pod->requested);
        resource_list_unref(&book->lists, pod->allocated);
        free(pod);
    }
    map64_done(&book->pods);
    for (size_t cursor = 0; (group = strmap_next(&book->groups, &cursor));)
        group_free(book, group);
    strmap_done(&book->groups);
    sources_free(book, &book->claims);
    sources_free(book, &book->nodes);
    for (size_t cursor = 0; (class = strmap_next(&book->classes, &cursor));)
        class_free(class);
    strmap_done(&book->classes);
    resource_lists_done(&book->lists);
    free(book);
}
