/* SPDX-License-Identifier: Apache-2.0 */

/*
 * PodGroups as gangs. Subgroups name their parents, in any order; the model wants a tree with parents first. A list
 * that is no tree (a parent that is not there, a name that stands twice, a circle) makes the gang one set that needs
 * one pod, as in KAI, and is marked so that the verdict can say it.
 */
#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "model/state.h"
#include "objects/decode/decode.h"
#include "objects/keys.h"
#include "objects/notes.h"

/* Gangs whose priority is below this are preemptible unless they say otherwise. */
enum { FIRST_FIXED_PRIORITY = 100 };

#define DEFAULT_SET "default"

struct pod_group_json {
    struct json_at spec;
    struct json_at status;
    int32_t min_member;
    int32_t min_subgroup;
    const char *queue;
    const char *priority_class;
    const char *preemptibility;
    int32_t backoff;
    nsec_t preemption_delay;
    nsec_t staleness_grace;
    struct json_at topology;
    struct json_at subgroups;
    struct json_at conditions;
};

static int pod_group_json_decode(const struct object *object, struct pod_group_json *json, struct err *err)
{
    static const struct field in_root[] = {
        FIELD(pod_group_json, spec, "spec", FIELD_OBJECT),
        FIELD(pod_group_json, status, "status", FIELD_OBJECT),
    };
    static const struct field in_spec[] = {
        FIELD(pod_group_json, min_member, "minMember", FIELD_COUNT),
        FIELD(pod_group_json, min_subgroup, "minSubGroup", FIELD_COUNT),
        FIELD(pod_group_json, queue, "queue", FIELD_STR),
        FIELD(pod_group_json, priority_class, "priorityClassName", FIELD_STR),
        FIELD(pod_group_json, preemptibility, "preemptibility", FIELD_STR),
        FIELD(pod_group_json, backoff, "schedulingBackoff", FIELD_INT32),
        FIELD(pod_group_json, preemption_delay, "preemptionDelay", FIELD_DURATION),
        FIELD(pod_group_json, staleness_grace, "stalenessGracePeriod", FIELD_DURATION),
        FIELD(pod_group_json, topology, "topologyConstraint", FIELD_OBJECT),
        FIELD(pod_group_json, subgroups, "subGroups", FIELD_ARRAY),
    };
    static const struct field in_status[] = {
        FIELD(pod_group_json, conditions, "schedulingConditions", FIELD_ARRAY),
    };

    TRY(FIELDS_DECODE(&object->root, in_root, json, err));
    TRY(FIELDS_DECODE(&json->spec, in_spec, json, err));
    return FIELDS_DECODE(&json->status, in_status, json, err);
}

/* NVLink domains are a topology of one level that no object describes. */
static int clique_topology_put(struct state *state, struct err *err)
{
    static const struct str_pair level = {KEY_GPU_CLIQUE, NULL};
    static const struct topology_spec spec = {.name = KEY_GPU_CLIQUE, .levels = &level, .level_count = 1};
    name_id name;

    if (intern_find(&state->names, KEY_GPU_CLIQUE, strlen(KEY_GPU_CLIQUE), &name) &&
        state_find_topology(state, name) != NO_ID)
        return 0;
    return state_put_topology(state, &spec, err);
}

static int constraint_decode(struct state *state, const struct json_at *at, struct topology_constraint_spec *spec,
                             struct err *err)
{
    static const struct field fields[] = {
        FIELD(topology_constraint_spec, topology, "topology", FIELD_STR),
        FIELD(topology_constraint_spec, required, "requiredTopologyLevel", FIELD_STR),
        FIELD(topology_constraint_spec, preferred, "preferredTopologyLevel", FIELD_STR),
    };

    TRY(FIELDS_DECODE(at, fields, spec, err));
    return spec->topology && strcmp(spec->topology, KEY_GPU_CLIQUE) == 0 ? clique_topology_put(state, err) : 0;
}

/* A subgroup as it is written. */
struct subgroup {
    const char *name;
    const char *parent;  // lower-cased; "" for the root
    int32_t min_member;
    int32_t min_subgroup;
    struct json_at topology_at;
    struct topology_constraint_spec topology;
    bool has_children;
    int32_t place;  // in the tree, -1 until it is in
};

static const char *lower(struct arena *arena, const char *text)
{
    char *copy = arena_strdup(arena, text);

    for (char *at = copy; *at; at++)
        *at = (char)tolower((unsigned char)*at);
    return copy;
}

static int subgroups_decode(struct object_reader *reader, const struct json_at *at, struct subgroup *subgroups,
                            struct err *err)
{
    static const struct field fields[] = {
        FIELD_NEEDED(subgroup, name, "name", FIELD_STR),
        FIELD(subgroup, parent, "parent", FIELD_STR),
        FIELD(subgroup, min_member, "minMember", FIELD_COUNT),
        FIELD(subgroup, min_subgroup, "minSubGroup", FIELD_COUNT),
        FIELD(subgroup, topology_at, "topologyConstraint", FIELD_OBJECT),
    };
    struct subgroup *to = subgroups;

    for (struct json_at item = {0}; json_next(at, &item); to++) {
        *to = (struct subgroup){.parent = "", .min_subgroup = -1, .place = -1};
        TRY(FIELDS_DECODE(&item, fields, to, err));
        TRY(constraint_decode(reader->state, &to->topology_at, &to->topology, err));
        to->parent = lower(&reader->scratch, to->parent);
    }
    return 0;
}

/* Names and their subgroups, so that large lists are not searched name by name. */
struct name_index {
    struct intern names;
    VEC(struct subgroup *) subgroups;  // by id
};

static struct subgroup *index_find(const struct name_index *index, const char *name)
{
    uint32_t id = 0;

    if (!intern_find(&index->names, name, strlen(name), &id) || id >= index->subgroups.len)
        return NULL;
    return index->subgroups.items[id];
}

/* Links children to parents; false when a name stands twice or a parent is not there. */
static bool link_subgroups(struct name_index *index, struct subgroup *subgroups, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint32_t id = intern_id(&index->names, subgroups[i].name, strlen(subgroups[i].name));

        if (id >= index->subgroups.len)
            vec_resize(&index->subgroups, id + 1);
        if (index->subgroups.items[id])
            return false;
        index->subgroups.items[id] = &subgroups[i];
    }
    for (size_t i = 0; i < count; i++) {
        if (!*subgroups[i].parent)
            continue;
        struct subgroup *parent = index_find(index, subgroups[i].parent);
        if (!parent)
            return false;
        parent->has_children = true;
    }
    return true;
}

/* Appends the subgroup to the tree, its ancestors first. False when it is its own ancestor. */
static bool place_subgroup(struct name_index *index, struct subgroup *subgroup, size_t depth_left,
                           struct group_spec *groups, size_t *count)
{
    int32_t parent_place = 0;

    if (subgroup->place >= 0)
        return true;
    if (depth_left == 0)
        return false;
    if (*subgroup->parent) {
        struct subgroup *parent = index_find(index, subgroup->parent);

        if (!place_subgroup(index, parent, depth_left - 1, groups, count))
            return false;
        parent_place = parent->place;
    }
    subgroup->place = (int32_t)*count;
    groups[(*count)++] = (struct group_spec){
        .name = subgroup->name,
        .parent = parent_place,
        .is_pod_set = !subgroup->has_children,
        .min = subgroup->has_children ? subgroup->min_subgroup : subgroup->min_member,
        .topology = subgroup->topology,
    };
    return true;
}

/* Trees deeper than this are refused like circles, which they most likely are; placing recurses so deep. */
enum { TREE_DEPTH_MAX = 64 };

static bool make_tree(struct subgroup *subgroups, size_t count, struct group_spec *groups, size_t *ret_count)
{
    struct name_index index = {0};
    size_t made = 1;

    intern_init(&index.names);
    bool is_tree = link_subgroups(&index, subgroups, count);
    for (size_t i = 0; is_tree && i < count; i++)
        is_tree = place_subgroup(&index, &subgroups[i], TREE_DEPTH_MAX, groups, &made);
    vec_done(&index.subgroups);
    intern_done(&index.names);
    *ret_count = made;
    return is_tree;
}

static int groups_decode(struct object_reader *reader, const struct pod_group_json *json, struct gang_spec *spec,
                         struct err *err)
{
    size_t len = json_len(&json->subgroups);
    struct subgroup *subgroups = arena_calloc(&reader->scratch, len, sizeof *subgroups);
    struct group_spec *groups = arena_calloc(&reader->scratch, len + 2, sizeof *groups);

    groups[0] = (struct group_spec){.name = "", .parent = -1, .min = json->min_subgroup};
    TRY(constraint_decode(reader->state, &json->topology, &groups[0].topology, err));
    TRY(subgroups_decode(reader, &json->subgroups, subgroups, err));
    spec->groups = groups;
    if (len > 0 && make_tree(subgroups, len, groups, &spec->group_count))
        return 0;

    spec->has_tree_error = len > 0;
    groups[0].min = -1;
    groups[1] = (struct group_spec){
        .name = DEFAULT_SET,
        .is_pod_set = true,
        .min = len > 0 || json->min_member < 0 ? 1 : json->min_member,
    };
    spec->group_count = 2;
    return 0;
}

static bool preemptible(const struct pod_group_json *json, int32_t priority)
{
    if (strcmp(json->preemptibility, "preemptible") == 0)
        return true;
    if (strcmp(json->preemptibility, "non-preemptible") == 0)
        return false;
    return priority < FIRST_FIXED_PRIORITY;
}

/* A time that the scheduler noted; one that cannot be read counts as none. */
static nsec_t noted_time(const struct object *object, const char *key)
{
    const char *text = object_annotation(object, key);
    nsec_t time = 0;

    return text && time_parse(text, &time, NULL) >= 0 ? time : 0;
}

/* With a backoff a group that failed in its pool is not tried there again. */
static bool has_backed_off(const struct object_reader *reader, const struct object *object,
                           const struct pod_group_json *json)
{
    const char *pool = object_label(object, reader->options->node_pool_label);
    const char *tried = NULL;
    int64_t newest = -1;

    if (json->backoff == -1)
        return false;
    for (struct json_at item = {0}; json_next(&json->conditions, &item);) {
        const char *id = json_peek_str(&item, "transitionID");
        int64_t number = 0;

        if (id && int_parse(id, 0, INT64_MAX, &number) && number > newest) {
            newest = number;
            tried = json_peek_str(&item, "nodePool");
        }
    }
    return tried && strcmp(tried, pool && *pool ? pool : "default") == 0;
}

int pod_group_decode(struct object_reader *reader, const struct object *object, struct err *err)
{
    struct pod_group_json json = {
        .min_member = -1, .min_subgroup = -1, .queue = "", .preemptibility = "", .backoff = -1};
    struct gang_spec spec = {.namespace = object->namespace, .name = object->name};

    TRY(pod_group_json_decode(object, &json, err));
    if (reader_skips_pool(reader, object) || has_backed_off(reader, object, &json)) {
        state_drop_gang(reader->state, object->namespace, object->name);
        return 0;
    }
    if (json.min_member >= 0 && json.min_subgroup >= 0)
        TRY(reader_object_to(reader, object, &json.spec, err, "minMember and minSubGroup cannot be used together"));
    TRY(groups_decode(reader, &json, &spec, err));
    if (spec.has_tree_error)
        TRY(reader_object_to(reader, object, &json.subgroups, err,
                             "expected a tree: different names, and parents that exist| taken as one group that "
                             "needs one pod"));

    /* KAI knows gangs by name alone and orders equals by it. A space sorts before all that a name may hold. */
    spec.uid = arena_printf(&reader->scratch, "%s %s", object->name, object->namespace);
    spec.queue = json.queue;
    spec.priority = state_priority(reader->state, json.priority_class ? json.priority_class : "");
    spec.is_preemptible = preemptible(&json, spec.priority);
    spec.created = object->created;
    spec.last_start = noted_time(object, KEY_LAST_START);
    spec.last_eviction = noted_time(object, KEY_LAST_EVICTION);
    spec.stale_since = noted_time(object, KEY_STALE_SINCE);
    spec.preemption_delay = MAX(json.preemption_delay, (nsec_t)0);
    spec.has_grace = json_peek_str(&json.spec, "stalenessGracePeriod") != NULL;
    spec.staleness_grace = json.staleness_grace;
    return state_put_gang(reader->state, &spec, err);
}
