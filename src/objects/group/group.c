/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Grouping: from a pod to its top owner, by the rules of that owner's kind to a pod group, and that as a PodGroup
 * object, so that made groups and written ones are decoded alike.
 */
#include "objects/group/group.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/err.h"
#include "objects/group/rules.h"
#include "objects/notes.h"
#include "objects/reader.h"

static struct json_at owner_references(const struct object *object, struct json_at *meta)
{
    *meta = json_member(&object->root, "metadata");
    return json_member(meta, "ownerReferences");
}

/* What a pod says of its owner, when the owner is not in the input. */
struct reference {
    const char *api_version;
    const char *kind;
    const char *name;
    const char *uid;
};

static int reference_decode(const struct object *object, struct reference *ret_reference, struct err *err)
{
    static const struct field fields[] = {
        FIELD(reference, api_version, "apiVersion", FIELD_STR),
        FIELD_NEEDED(reference, kind, "kind", FIELD_STR),
        FIELD_NEEDED(reference, name, "name", FIELD_STR),
        FIELD(reference, uid, "uid", FIELD_STR),
    };
    struct json_at meta;
    struct json_at references = owner_references(object, &meta);
    struct json_at first = {0};

    if (!json_next(&references, &first))
        return 0;
    *ret_reference = (struct reference){.api_version = "v1", .uid = ""};
    TRY(FIELDS_DECODE(&first, fields, ret_reference, err));
    return 1;
}

/* The kind of an owner that is not in the input. Bare ReplicaSets are rare: one that is not there is a Deployment's. */
static const struct object_kind *kind_of_missing(struct grouping *g, const struct reference *reference)
{
    const struct object_kind *known = object_kind_find(reference->api_version, reference->kind);
    bool is_replica_set = known && strcmp(known->kind, "ReplicaSet") == 0;

    if (known && !is_replica_set)
        return known;

    struct object_kind *kind = ARENA_NEW(&g->objects->arena, struct object_kind);
    *kind = (struct object_kind){
        .group = "",
        .kind = reference->kind,
        .group_pods = is_replica_set ? group_deployment : NULL,
    };
    return kind;
}

/* An object that stands for an owner which is not in the input: its name and UID, and nothing else. */
static const struct object *stand_in(struct grouping *g, const struct object *child, const struct reference *reference)
{
    struct object *object = ARENA_NEW(&g->objects->arena, struct object);

    *object = (struct object){
        .kind = kind_of_missing(g, reference),
        .api_version = reference->api_version,
        .namespace = child->namespace,
        .name = reference->name,
        .uid = reference->uid,
        .has_uid = *reference->uid,
        .created = child->created,
        .source = child->source,
    };
    return object;
}

static const struct object *owner_of(struct grouping *g, const struct object *object, const struct reference *reference)
{
    const struct object *owner = *reference->uid ? object_set_find_uid(g->objects, reference->uid) : NULL;
    const struct object_kind *kind = object_kind_find(reference->api_version, reference->kind);

    if (!owner && kind)
        owner = object_set_find(g->objects, kind, kind->is_cluster_wide ? "" : object->namespace, reference->name);
    return owner ? owner : stand_in(g, object, reference);
}

/* Follows the first owner of each object up to the top. */
static int walk_owners(struct grouping *g, struct err *err)
{
    const struct object *at = g->pod;
    struct reference reference;

    for (;;) {
        if (!at->root.val)
            break;
        int r = reference_decode(at, &reference, err);
        if (r < 0)
            return r;
        if (r == 0)
            break;
        if (g->owner_count == OWNERS_MAX)
            return err_set(err, -EINVAL, "metadata.ownerReferences: expected at most %d levels of owners", OWNERS_MAX);
        at = owner_of(g, at, &reference);
        g->owners[g->owner_count++] = at;
    }
    if (g->owner_count == 0)
        g->owners[g->owner_count++] = g->pod;
    g->top = g->owners[g->owner_count - 1];
    return 0;
}

static bool says_skip(const struct object *object)
{
    const char *skip = object_annotation(object, KEY_SKIP_GROUPER);

    return skip && strcmp(skip, "true") == 0;
}

bool group_is_to_skip(const struct object *pod, const struct object *const *owners, size_t owner_count)
{
    bool skips = says_skip(pod);

    for (size_t i = 0; i < owner_count; i++)
        skips |= says_skip(owners[i]);
    return skips;
}

const char *owner_label(const struct grouping *g, const struct object *owner, const char *key)
{
    const char *value = object_label(owner, key);

    return value || owner != g->top || !g->skipped ? value : object_label(g->skipped, key);
}

const char *owner_annotation(const struct grouping *g, const struct object *owner, const char *key)
{
    const char *value = object_annotation(owner, key);

    return value || owner != g->top || !g->skipped ? value : object_annotation(g->skipped, key);
}

/* Of names of objects, in characters. */
enum { OBJECT_NAME_MAX = 253, NUMBER_TEXT = 16 };

const char *group_fitting_name(struct arena *arena, const char *name)
{
    size_t len = strlen(name);
    size_t kept = OBJECT_NAME_MAX - NUMBER_TEXT - 1;

    if (len <= OBJECT_NAME_MAX)
        return name;
    /* What comes before the dash has to end in a letter or digit. */
    while (kept > 0 && !isalnum((unsigned char)name[kept - 1]))
        kept--;
    return arena_printf(arena, "%.*s-%016llx", (int)kept, name, (unsigned long long)XXH3_64bits(name, len));
}

const char *group_name_of(struct grouping *g, const struct object *object)
{
    if (object->has_uid)
        return arena_printf(&g->objects->arena, "pg-%s-%s", object->name, object->uid);

    char *kind = arena_strdup(g->arena, object->kind->kind);
    for (char *at = kind; *at; at++)
        *at = (char)tolower((unsigned char)*at);
    return arena_printf(&g->objects->arena, "pg-%s-%s", object->name, kind);
}

/* The queue that labels name, by KAI's label or by the older one of projects. */
static const char *queue_of(struct grouping *g)
{
    const char *queue_key = g->options->queue_label;
    const char *queue = owner_label(g, g->top, queue_key);
    const char *pool = object_label(g->pod, g->options->node_pool_label);

    if (!queue)
        queue = object_label(g->pod, queue_key);
    if (queue)
        return queue;

    const char *project = owner_label(g, g->top, KEY_PROJECT);
    if (!project)
        project = object_label(g->pod, KEY_PROJECT);
    if (!project || !*project)
        return KEY_DEFAULT_QUEUE;
    return pool ? arena_printf(g->arena, "%s-%s", project, pool) : project;
}

/* The classes that KAI's chart installs: an input of manifests takes them as given. */
static bool has_priority_class(const struct grouping *g, const char *name)
{
    static const char *const installed[] = {"train", "build-preemptible", "build", "inference"};

    if (g->live)
        return g->live->has_priority_class(g->live->arg, name);
    for (size_t i = 0; !g->options->is_whole && i < ARRAY_LEN(installed); i++) {
        if (strcmp(name, installed[i]) == 0)
            return true;
    }
    return object_set_find(g->objects, object_kind_of("scheduling.k8s.io", "PriorityClass"), "", name) != NULL;
}

static bool find_defaults(const struct grouping *g, const struct object *owner, struct group_defaults *ret_defaults)
{
    return g->live && g->live->find_defaults(g->live->arg, owner->kind->group, owner->kind->kind, ret_defaults);
}

/* A class that is asked for and does not exist; it is named by its top owner, so that a gang's pods warn once. */
static void warn_of_class(const struct grouping *g, const char *unknown, const char *instead)
{
    if (unknown)
        object_notes_warn(g->notes, "%s %s/%s: PriorityClass %s does not exist; %s is used instead", g->top->kind->kind,
                          g->top->namespace, g->top->name, unknown, instead);
}

/* The class that a pod and its owners ask for, if there is such a class; else `fallback`. */
static const char *find_priority_class(const struct grouping *g, bool has_whole_chain, const char *fallback)
{
    struct json_at spec = json_member(&g->pod->root, "spec");
    const char *of_label = object_label(g->pod, KEY_PRIORITY_CLASS);
    const char *of_pod = of_label ? of_label : json_peek_str(&spec, "priorityClassName");
    const char *unknown = NULL;

    for (size_t i = has_whole_chain ? 0 : g->owner_count - 1; i < g->owner_count; i++) {
        const struct object *owner = has_whole_chain ? g->owners[i] : g->top;
        const char *of_owner = owner_label(g, owner, KEY_PRIORITY_CLASS);
        const char *name = of_owner ? of_owner : of_pod;

        if (name && *name && has_priority_class(g, name))
            return name;
        if (name && *name && !unknown)
            unknown = name;
    }
    struct group_defaults defaults;
    for (size_t i = has_whole_chain ? 0 : g->owner_count - 1; i < g->owner_count; i++) {
        if (find_defaults(g, has_whole_chain ? g->owners[i] : g->top, &defaults) && defaults.priority_class &&
            has_priority_class(g, defaults.priority_class)) {
            warn_of_class(g, unknown, defaults.priority_class);
            return defaults.priority_class;
        }
    }
    if (g->skipped && find_defaults(g, g->skipped, &defaults) && defaults.priority_class &&
        has_priority_class(g, defaults.priority_class)) {
        warn_of_class(g, unknown, defaults.priority_class);
        return defaults.priority_class;
    }
    warn_of_class(g, unknown, fallback);
    return fallback;
}

static bool is_preemptibility(const char *text)
{
    return strcmp(text, "preemptible") == 0 || strcmp(text, "non-preemptible") == 0;
}

static bool is_delay(const char *text)
{
    nsec_t duration;

    return duration_parse(text, &duration, NULL) >= 0 && duration >= 0;
}

static bool is_duration(const char *text)
{
    nsec_t duration;

    return duration_parse(text, &duration, NULL) >= 0;
}

/* How one value is found, and what is said of one that makes no sense. */
struct choice {
    const char *key;
    bool is_in_label;
    bool (*is_valid)(const char *text);
    const char *expected;
};

static bool is_chosen(const struct grouping *g, const struct choice *choice, const char *text)
{
    if (!text)
        return false;
    if (choice->is_valid(text))
        return true;
    /* It is named by its top owner, so that the pods of a gang are told about once. */
    object_notes_warn(g->notes, "%s %s/%s: %s: expected %s, found '%s'; it is ignored", g->top->kind->kind,
                      g->top->namespace, g->top->name, choice->key, choice->expected, text);
    return false;
}

/* The first value that makes sense, on the owners from the nearest up and then on the pod. */
static const char *first_valid(const struct grouping *g, bool has_whole_chain, const struct choice *choice)
{
    const char *text;

    for (size_t i = has_whole_chain ? 0 : g->owner_count - 1; i < g->owner_count; i++) {
        const struct object *owner = has_whole_chain ? g->owners[i] : g->top;

        text = choice->is_in_label ? owner_label(g, owner, choice->key) : owner_annotation(g, owner, choice->key);
        if (is_chosen(g, choice, text))
            return text;
    }
    text = choice->is_in_label ? object_label(g->pod, choice->key) : object_annotation(g->pod, choice->key);
    return is_chosen(g, choice, text) ? text : NULL;
}

static const struct choice preemptibility = {KEY_PREEMPTIBILITY, true, is_preemptibility,
                                             "preemptible or non-preemptible"};
static const struct choice preemption_delay = {KEY_PREEMPTION_DELAY, false, is_delay, "a duration such as 5m"};
static const struct choice staleness_grace = {KEY_STALENESS_GRACE, false, is_duration, "a duration such as 5m"};

/* What the cluster's administrator wants for the nearest owner that anything is said about. */
static const char *default_preemptibility(const struct grouping *g, bool has_whole_chain)
{
    struct group_defaults defaults;

    for (size_t i = has_whole_chain ? 0 : g->owner_count - 1; i < g->owner_count; i++) {
        if (find_defaults(g, has_whole_chain ? g->owners[i] : g->top, &defaults) && defaults.preemptibility)
            return defaults.preemptibility;
    }
    if (g->skipped && find_defaults(g, g->skipped, &defaults))
        return defaults.preemptibility;
    return NULL;
}

static bool is_nvlink_wish(const char *text)
{
    return strcmp(text, "None") == 0 || strcmp(text, "Preferred") == 0 || strcmp(text, "Required") == 0;
}

static const struct choice nvlink_wish = {KEY_MNNVL, true, is_nvlink_wish, "None, Preferred or Required"};

/* Where the gang has to be or should be. A topology that is named goes before the wish for one NVLink domain. */
static struct topology_constraint_spec topology_of_owner(const struct grouping *g, bool has_whole_chain)
{
    struct topology_constraint_spec named = {
        .topology = owner_annotation(g, g->top, KEY_TOPOLOGY),
        .required = owner_annotation(g, g->top, KEY_TOPOLOGY_REQUIRED),
        .preferred = owner_annotation(g, g->top, KEY_TOPOLOGY_PREFERRED),
    };
    const char *wish = first_valid(g, has_whole_chain, &nvlink_wish);

    if ((named.topology && *named.topology) || !wish || strcmp(wish, "None") == 0)
        return named;
    if (strcmp(wish, "Required") == 0)
        return (struct topology_constraint_spec){KEY_GPU_CLIQUE, KEY_GPU_CLIQUE, NULL};
    return (struct topology_constraint_spec){KEY_GPU_CLIQUE, NULL, KEY_GPU_CLIQUE};
}

int group_base(struct grouping *g, bool has_whole_chain, const char *fallback_priority, struct err *err)
{
    (void)err;
    g->name = group_name_of(g, g->top);
    g->owner = g->top;
    g->queue = queue_of(g);
    g->priority_class = find_priority_class(g, has_whole_chain, fallback_priority);
    g->preemptibility = first_valid(g, has_whole_chain, &preemptibility);
    if (!g->preemptibility)
        g->preemptibility = default_preemptibility(g, has_whole_chain);
    g->preemption_delay = first_valid(g, has_whole_chain, &preemption_delay);
    g->staleness_grace = first_valid(g, has_whole_chain, &staleness_grace);
    g->topology = topology_of_owner(g, has_whole_chain);
    g->min_member = 1;
    g->min_subgroup = -1;
    return 0;
}

struct topology_constraint_spec topology_of(const struct json_at *template, const char *required_key,
                                            const char *preferred_key)
{
    struct json_at meta = json_member(template, "metadata");
    struct json_at annotations = json_member(&meta, "annotations");

    return (struct topology_constraint_spec){
        .topology = json_peek_str(&annotations, KEY_TOPOLOGY),
        .required = json_peek_str(&annotations, required_key),
        .preferred = json_peek_str(&annotations, preferred_key),
    };
}

int spec_int(const struct object *object, const char *const *path, size_t path_len, int64_t *ret_value, struct err *err)
{
    struct json_at places[8] = {json_member(&object->root, "spec")};

    BUG_ON(path_len > ARRAY_LEN(places));
    for (size_t i = 0; i + 1 < path_len; i++)
        places[i + 1] = json_member(&places[i], path[i]);
    return json_member_int64(&places[path_len - 1], path[path_len - 1], JSON_OPTIONAL, 0, INT32_MAX, ret_value, err);
}

int annotation_int(const struct object *object, const char *key, int64_t min, int64_t fallback, int64_t *ret_value,
                   struct err *err)
{
    const char *text = object_annotation(object, key);

    *ret_value = fallback;
    if (text && !int_parse(text, min, INT32_MAX, ret_value))
        return err_set(err, -EINVAL, "metadata.annotations[\"%s\"]: expected a whole number >= %lld, found '%s'", key,
                       (long long)min, text);
    return 0;
}

void add_subgroup(struct grouping *g, struct subgroup_draft draft)
{
    vec_push(&g->subgroups, draft);
}

static int group_by_kind(struct grouping *g, struct object *pod, struct err *err)
{
    object_group_fn group = g->top->kind->group_pods ? g->top->kind->group_pods : group_default;
    const char *annotated = object_annotation(pod, KEY_POD_GROUP);

    /* What an owner that is not there would say is not known: the rules that need it cannot be followed. */
    if (!g->top->root.val && group != group_deployment && group != group_plain_pod) {
        if (group != group_default && group != group_job)
            object_notes_warn(g->notes,
                              "Pod %s/%s: its owner, %s %s, is not in the input; it is grouped as a single pod",
                              pod->namespace, pod->name, g->top->kind->kind, g->top->name);
        group = group_default;
    }
    int r = group(g, err);
    if (r < 0)
        return object_wrap(g->top->root.val ? g->top : pod, r, err);
    g->name = annotated && *annotated ? annotated : group_fitting_name(&g->objects->arena, g->name);
    pod->gang = g->name;
    pod->pod_set = g->pod_subgroup;
    return group_encode(g, err);
}

static bool is_finished(const struct object *pod)
{
    struct json_at status = json_member(&pod->root, "status");
    const char *phase = json_peek_str(&status, "phase");

    return phase && (strcmp(phase, "Succeeded") == 0 || strcmp(phase, "Failed") == 0);
}

int group_pod(struct object_set *set, struct object *pod, const struct object_options *options,
              struct object_notes *notes, struct err *err)
{
    const struct object_kind *kind = object_kind_of("scheduling.run.ai", "PodGroup");
    struct json_at spec = json_member(&pod->root, "spec");
    const char *scheduler = json_peek_str(&spec, "schedulerName");
    const char *annotated = object_annotation(pod, KEY_POD_GROUP);
    struct arena scratch;
    struct grouping g = {.objects = set, .options = options, .notes = notes, .arena = &scratch, .pod = pod};

    if (!scheduler || strcmp(scheduler, options->scheduler_name) != 0 || is_finished(pod))
        return 0;
    if (annotated && object_set_find(set, kind, pod->namespace, annotated))
        return 0;

    arena_init(&scratch);
    int r = walk_owners(&g, err);
    if (r < 0) {
        (void)object_wrap(pod, r, err);
    } else if (!group_is_to_skip(pod, g.owners, g.owner_count)) {
        if (annotated && g.top == pod)
            object_notes_warn(notes, "Pod %s/%s: PodGroup %s does not exist; the pod waits for it", pod->namespace,
                              pod->name, annotated);
        else
            r = group_by_kind(&g, pod, err);
    }
    vec_done(&g.subgroups);
    arena_done(&scratch);
    return r;
}
