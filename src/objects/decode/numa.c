/* SPDX-License-Identifier: Apache-2.0 */

/* NodeResourceTopology: the zones of a node, read together with the node of its name. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "objects/amounts.h"
#include "objects/decode/decode.h"
#include "objects/kinds.h"

static const struct policy_word {
    const char *word;
    enum numa_policy policy;
} policy_words[] = {
    {"none", NUMA_NONE},
    {"best-effort", NUMA_BEST_EFFORT},
    {"restricted", NUMA_RESTRICTED},
    {"single-numa-node", NUMA_SINGLE_NODE},
};

/* The deprecated field, which says policy and scope in one word. */
static const struct legacy_word {
    const char *word;
    enum numa_policy policy;
    bool is_pod_scope;
} legacy_words[] = {
    {"None", NUMA_NONE, false},
    {"BestEffort", NUMA_BEST_EFFORT, false},
    {"BestEffortContainerLevel", NUMA_BEST_EFFORT, false},
    {"BestEffortPodLevel", NUMA_BEST_EFFORT, true},
    {"Restricted", NUMA_RESTRICTED, false},
    {"RestrictedContainerLevel", NUMA_RESTRICTED, false},
    {"RestrictedPodLevel", NUMA_RESTRICTED, true},
    {"SingleNUMANodeContainerLevel", NUMA_SINGLE_NODE, false},
    {"SingleNUMANodePodLevel", NUMA_SINGLE_NODE, true},
};

struct topology_json {
    struct json_at attributes;
    struct json_at policies;
    struct json_at zones;
};

static void policy_decode(const struct topology_json *json, struct numa_spec *spec)
{
    bool has_policy = false;

    for (struct json_at item = {0}; json_next(&json->attributes, &item);) {
        const char *name = json_peek_str(&item, "name");
        const char *value = json_peek_str(&item, "value");

        if (!name || !value)
            continue;
        if (strcmp(name, "topologyManagerScope") == 0)
            spec->is_pod_scope = strcmp(value, "pod") == 0;
        for (size_t i = 0; strcmp(name, "topologyManagerPolicy") == 0 && i < ARRAY_LEN(policy_words); i++) {
            if (strcmp(value, policy_words[i].word) == 0) {
                spec->policy = policy_words[i].policy;
                has_policy = true;
            }
        }
    }
    const char *legacy = yyjson_get_str(yyjson_arr_get_first(json->policies.val));
    for (size_t i = 0; !has_policy && legacy && i < ARRAY_LEN(legacy_words); i++) {
        if (strcmp(legacy, legacy_words[i].word) == 0) {
            spec->policy = legacy_words[i].policy;
            spec->is_pod_scope = legacy_words[i].is_pod_scope;
        }
    }
}

/* Whether a list such as "memory, cpu" has the name. */
static bool list_has(const char *list, const char *name)
{
    static const char separators[] = ", \t";
    size_t len = strlen(name);

    for (const char *at = list + strspn(list, separators); *at; at += strspn(at, separators)) {
        size_t word = strcspn(at, separators);

        if (word == len && strncmp(at, name, len) == 0)
            return true;
        at += word;
    }
    return false;
}

/* One of the two amounts of each resource of a zone. To the scheduler, a zone does not have a resource that is ignored. */
static int zone_amounts(struct arena *arena, const struct json_at *resources, const char *ignored, const char *key,
                        const struct amount_spec **ret_amounts, size_t *ret_count, struct err *err)
{
    struct amounts_list list;

    amounts_init(&list, arena);
    for (struct json_at item = {0}; json_next(resources, &item);) {
        const char *name = NULL;
        int64_t amount = 0;
        struct json_at quantity = json_member(&item, key);

        TRY(json_member_str(&item, "name", JSON_REQUIRED, &name, err));
        if (!quantity.val || (ignored && list_has(ignored, name)))
            continue;
        TRY(amount_decode(&quantity, name, &amount, err));
        TRY(amounts_add(&list, name, amount, err));
    }
    *ret_amounts = list.items;
    *ret_count = list.count;
    return 0;
}

/* The number at the end of the zone's name; those without one come last. */
static long zone_number(const char *name)
{
    size_t len = strlen(name);

    while (len > 0 && isdigit((unsigned char)name[len - 1]))
        len--;
    return name[len] ? strtol(name + len, NULL, 10) : -1;
}

static int compare_zones(const void *left, const void *right)
{
    const struct numa_zone_spec *a = left;
    const struct numa_zone_spec *b = right;
    unsigned long number_a = (unsigned long)zone_number(a->name);
    unsigned long number_b = (unsigned long)zone_number(b->name);

    if (number_a != number_b)
        return number_a < number_b ? -1 : 1;
    return strcmp(a->name, b->name);
}

static int zones_decode(struct object_reader *reader, const struct json_at *at, struct numa_spec *spec, struct err *err)
{
    struct arena *arena = &reader->scratch;
    const char *ignored = reader->options->numa_ignored;
    struct numa_zone_spec *zones = arena_calloc(arena, json_len(at), sizeof *zones);
    size_t count = 0;

    for (struct json_at item = {0}; json_next(at, &item);) {
        const char *type = json_peek_str(&item, "type");
        struct numa_zone_spec *zone = &zones[count];
        struct json_at resources;

        if (!type || strcmp(type, "Node") != 0)
            continue;
        TRY(json_member_str(&item, "name", JSON_REQUIRED, &zone->name, err));
        TRY(json_member_array(&item, "resources", JSON_OPTIONAL, &resources, err));
        TRY(zone_amounts(arena, &resources, ignored, "allocatable", &zone->allocatable, &zone->allocatable_count, err));
        TRY(zone_amounts(arena, &resources, ignored, "available", &zone->available, &zone->available_count, err));
        count++;
    }
    if (count)
        qsort(zones, count, sizeof *zones, compare_zones);
    spec->zones = zones;
    spec->zone_count = count;
    return 0;
}

int numa_decode(struct object_reader *reader, const char *node, const struct numa_spec **ret_numa, struct err *err)
{
    static const struct field fields[] = {
        FIELD(topology_json, attributes, "attributes", FIELD_ARRAY),
        FIELD(topology_json, policies, "topologyPolicies", FIELD_ARRAY),
        FIELD(topology_json, zones, "zones", FIELD_ARRAY),
    };
    struct topology_json json = {0};
    const struct object *object =
        object_set_find(reader->objects, object_kind_of("topology.node.k8s.io", "NodeResourceTopology"), "", node);

    if (!object)
        return 0;

    struct numa_spec *spec = ARENA_NEW(&reader->scratch, struct numa_spec);
    int r = FIELDS_DECODE(&object->root, fields, &json, err);
    if (r >= 0)
        r = zones_decode(reader, &json.zones, spec, err);
    if (r < 0)
        return object_wrap(object, r, err);
    spec->reconstructs_available = !reader->options->trusts_numa_available;
    policy_decode(&json, spec);
    *ret_numa = spec;
    return 0;
}
