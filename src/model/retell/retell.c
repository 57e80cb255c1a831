/* SPDX-License-Identifier: Apache-2.0 */

/* Copies a state object by object, in the order in which each finds what it refers to. */
#include "model/retell/retell.h"

#include "base/err.h"
#include "base/macros.h"
#include "model/delta.h"
#include "model/retell/retell_internal.h"
#include "model/state.h"

void copy_say(const struct copier *c, enum delta_kind kind, const void *spec)
{
    c->fn(c->arg, &(struct delta){kind, spec});
}

const char *copy_name(const struct copier *c, name_id name)
{
    return state_name(c->from, name);
}

const char *copy_node_name(const struct copier *c, node_id node)
{
    return node == NO_ID ? "" : copy_name(c, c->from->nodes.items[node].name);
}

struct str_pair *copy_labels(struct copier *c, labels_id id, size_t *ret_count)
{
    struct labels labels = state_labels(c->from, id);
    struct str_pair *pairs = arena_alloc(&c->scratch, labels.count * sizeof *pairs);

    for (uint32_t i = 0; i < labels.count; i++)
        pairs[i] = (struct str_pair){copy_name(c, labels.pairs[i].key), copy_name(c, labels.pairs[i].value)};
    *ret_count = labels.count;
    return pairs;
}

const char *const *copy_names(struct copier *c, const name_id *names, uint32_t count)
{
    const char **texts = arena_alloc(&c->scratch, count * sizeof *texts);

    for (uint32_t i = 0; i < count; i++)
        texts[i] = copy_name(c, names[i]);
    return texts;
}

struct selector_spec *copy_selectors(struct copier *c, const struct selector *selectors, uint32_t count)
{
    struct selector_spec *specs = arena_alloc(&c->scratch, count * sizeof *specs);

    for (uint32_t i = 0; i < count; i++) {
        struct match_spec *all = arena_calloc(&c->scratch, selectors[i].count, sizeof *all);

        for (uint32_t k = 0; k < selectors[i].count; k++) {
            const struct match *from = &selectors[i].all[k];
            all[k] = (struct match_spec){
                .op = from->op,
                .key = copy_name(c, from->key),
                .values = copy_names(c, from->values, from->value_count),
                .value_count = from->value_count,
            };
        }
        specs[i] = (struct selector_spec){all, selectors[i].count};
    }
    return specs;
}

struct amount_spec *copy_amounts(struct copier *c, const int64_t *v, uint32_t count, bool keeps_zero, size_t *ret_count)
{
    struct amount_spec *amounts = arena_alloc(&c->scratch, count * sizeof *amounts);

    *ret_count = 0;
    for (uint32_t dim = 0; dim < count; dim++) {
        if (keeps_zero ? v[dim] >= 0 : v[dim] != 0)
            amounts[(*ret_count)++] = (struct amount_spec){copy_name(c, c->from->res.name[dim]), v[dim]};
    }
    return amounts;
}

static struct numa_spec *copy_numa(struct copier *c, const struct numa *from)
{
    struct numa_spec *numa = ARENA_NEW(&c->scratch, struct numa_spec);
    struct numa_zone_spec *zones = arena_calloc(&c->scratch, from->zone_count, sizeof *zones);

    for (uint32_t z = 0; z < from->zone_count; z++) {
        zones[z].name = copy_name(c, from->zones[z].name);
        zones[z].allocatable =
            copy_amounts(c, from->zones[z].allocatable, from->dims, true, &zones[z].allocatable_count);
        zones[z].available = copy_amounts(c, from->zones[z].reported, from->dims, true, &zones[z].available_count);
    }
    *numa = (struct numa_spec){
        .policy = from->policy,
        .is_pod_scope = from->is_pod_scope,
        .reconstructs_available = from->reconstructs_available,
        .zones = zones,
        .zone_count = from->zone_count,
    };
    return numa;
}

/* The node as what puts it there; what the spec points to lives as long as the scratch. */
static struct node_spec node_spec_of(struct copier *c, node_id id)
{
    const struct node *node = &c->from->nodes.items[id];
    struct taint_spec *taints = arena_calloc(&c->scratch, node->taint_count, sizeof *taints);
    struct attach_limit_spec *limits = arena_calloc(&c->scratch, node->attach_limit_count, sizeof *limits);
    int64_t allocatable[RES_MAX] = {0};
    struct node_spec spec = {
        .name = copy_name(c, node->name),
        .taints = taints,
        .taint_count = node->taint_count,
        .troubles = node->troubles,
        .device_count = node->has_derived_devices ? -1 : node->device_count,
        .gpu_memory_mib = node->gpu_memory_mib,
        .is_gpu_memory_known = node->is_gpu_memory_known,
        .is_mig_enabled = node->is_mig_enabled,
        .mig_strategy = node->mig_strategy,
        .workers = node->workers,
        .hides_gpus = node->hides_gpus,
        .clamps_idle_pods = node->clamps_idle_pods,
        .attach_limits = limits,
        .attach_limit_count = node->attach_limit_count,
    };

    for (uint32_t i = 0; i < node->attach_limit_count; i++)
        limits[i] =
            (struct attach_limit_spec){copy_name(c, node->attach_limits[i].driver), node->attach_limits[i].count};
    for (uint32_t i = 0; i < node->taint_count; i++)
        taints[i] = (struct taint_spec){copy_name(c, node->taints[i].key), copy_name(c, node->taints[i].value),
                                        node->taints[i].effect};
    for (uint32_t dim = 0; dim < c->from->book_dims; dim++)
        allocatable[dim] = state_books(c->from, id).allocatable[dim];
    /* Devices of slices are added again when those are copied. */
    allocatable[RES_GPU] = node->plugin_gpus;
    spec.labels = copy_labels(c, node->labels, &spec.label_count);
    spec.allocatable = copy_amounts(c, allocatable, c->from->book_dims, false, &spec.allocatable_count);
    spec.numa = node->numa ? copy_numa(c, node->numa) : NULL;
    return spec;
}

int state_set_troubles(struct state *state, node_id id, uint32_t troubles, struct err *err)
{
    struct copier copier = {.from = state};

    arena_init(&copier.scratch);
    struct node_spec spec = node_spec_of(&copier, id);
    spec.troubles = troubles;
    int r = state_put_node(state, &spec, err);
    arena_done(&copier.scratch);
    return r;
}

static void copy_nodes(struct copier *c)
{
    for (node_id id = 0; id < c->from->nodes.len; id++) {
        if (c->from->nodes.items[id].is_present) {
            struct node_spec spec = node_spec_of(c, id);

            copy_say(c, DELTA_PUT_NODE, &spec);
        }
        arena_clear(&c->scratch);
    }
}

static void change_queue(const struct copier *c, queue_id id, struct queue_spec *spec)
{
    for (size_t i = 0; i < c->change->queue_count; i++) {
        const struct queue_change *change = &c->change->queues[i];
        if (change->queue == id)
            (change->is_limit ? spec->limit : spec->deserved)[change->resource] = change->value;
    }
    for (int r = 0; r < SHARE_COUNT && c->change->is_emptied; r++)
        spec->limit[r] = spec->deserved[r] = UNLIMITED;
}

static void copy_queues(struct copier *c)
{
    for (queue_id id = 0; id < c->from->queues.len; id++) {
        const struct queue *queue = &c->from->queues.items[id];
        struct queue_spec spec = {
            .name = copy_name(c, queue->name),
            .display_name = copy_name(c, queue->display_name),
            .uid = copy_name(c, queue->uid),
            .parent = copy_name(c, queue->parent_name),
            .priority = queue->priority,
            .created = queue->created,
            .has_preempt_min_runtime = queue->has_preempt_min_runtime,
            .has_reclaim_min_runtime = queue->has_reclaim_min_runtime,
            .preempt_min_runtime = queue->preempt_min_runtime,
            .reclaim_min_runtime = queue->reclaim_min_runtime,
        };

        if (!queue->is_present)
            continue;
        for (int r = 0; r < SHARE_COUNT; r++) {
            spec.deserved[r] = queue->deserved[r];
            spec.limit[r] = queue->limit[r];
            spec.weight[r] = queue->weight[r];
            spec.usage[r] = queue->usage[r];
        }
        change_queue(c, id, &spec);
        copy_say(c, DELTA_PUT_QUEUE, &spec);
    }
}

static void copy_topologies(struct copier *c)
{
    for (uint32_t i = 0; i < c->from->topologies.len; i++) {
        const struct topology *topology = &c->from->topologies.items[i];
        struct str_pair levels[TOPOLOGY_LEVELS_MAX];
        struct topology_spec spec = {copy_name(c, topology->name), levels, topology->level_count};

        if (!topology->is_present)
            continue;
        for (uint32_t l = 0; l < topology->level_count; l++)
            levels[l] = (struct str_pair){copy_name(c, topology->levels[l]), copy_name(c, topology->aliases[l])};
        copy_say(c, DELTA_PUT_TOPOLOGY, &spec);
    }
}

static void copy_classes(struct copier *c)
{
    for (uint32_t i = 0; i < c->from->priority_classes.len; i++) {
        const struct priority_class *class = &c->from->priority_classes.items[i];
        struct priority_class_spec spec = {copy_name(c, class->name), class->value, class->is_default};

        copy_say(c, DELTA_PUT_PRIORITY_CLASS, &spec);
    }
    for (uint32_t i = 0; i < c->from->device_classes.len; i++) {
        const struct device_class *class = &c->from->device_classes.items[i];
        struct device_class_spec spec = {copy_name(c, class->name),
                                         copy_name(c, class->resource),
                                         copy_name(c, class->driver),
                                         class->created,
                                         class->selectors,
                                         class->selector_count,
                                         class->configs,
                                         class->config_count};

        copy_say(c, DELTA_PUT_DEVICE_CLASS, &spec);
    }
}

static void copy_slices(struct copier *c)
{
    for (uint32_t i = 0; i < c->from->slices.len; i++) {
        const struct slice *slice = &c->from->slices.items[i];
        struct slice_spec spec = {
            .name = copy_name(c, slice->name),
            .driver = copy_name(c, slice->driver),
            .pool = copy_name(c, slice->pool),
            .device_class = copy_name(c, slice->device_class),
            .node = copy_node_name(c, slice->node),
            .is_for_all_nodes = slice->is_for_all_nodes,
            .device_count = slice->offered,
            .generation = slice->generation,
            .slice_count = slice->slice_count,
            .has_device_nodes = slice->has_device_nodes,
            .reach = slice->reach,
            .offers = slice->offers,
            .offer_count = slice->offers ? slice->device_count : 0,
            .counters = slice->counters,
            .counter_count = slice->counter_count,
        };

        if (!slice->is_present)
            continue;
        /* More devices than have names are numbered anyway. */
        if (slice->device_count == slice->offered)
            spec.devices = copy_names(c, slice->devices, slice->device_count);
        copy_say(c, DELTA_PUT_SLICE, &spec);
        arena_clear(&c->scratch);
    }
}

static void copy_storage(struct copier *c)
{
    uint64_t key;
    uint64_t unused;

    for (uint32_t i = 0; i < c->from->storages.len; i++) {
        const struct storage *storage = &c->from->storages.items[i];

        if (!storage->is_present)
            continue;
        copy_say(c, DELTA_PUT_STORAGE,
                 &(struct storage_spec){
                     .namespace = copy_name(c, storage->namespace),
                     .name = copy_name(c, storage->name),
                     .class = copy_name(c, storage->class),
                     .nodes = *copy_selectors(c, storage->nodes, 1),
                     .bytes = storage->bytes,
                 });
        arena_clear(&c->scratch);
    }
    for (size_t cursor = 0; map64_next(&c->from->config_maps, &cursor, &key, &unused);)
        copy_say(c, DELTA_PUT_CONFIG_MAP,
                 &(struct name_spec){copy_name(c, (name_id)(key >> 32)), copy_name(c, (name_id)key)});
}

static void copy_all(struct copier *c)
{
    arena_init(&c->scratch);
    copy_classes(c);
    copy_topologies(c);
    copy_queues(c);
    copy_nodes(c);
    copy_slices(c);
    copy_volumes(c);
    copy_storage(c);
    copy_claims(c);
    copy_gangs(c);
    copy_pods(c);
    arena_done(&c->scratch);
}

void retell_put(void *arg, const struct delta *delta)
{
    struct err err;

    if (state_apply(arg, delta, &err) < 0)
        bug_abort(__FILE__, __LINE__, err.text);
}

struct state *state_retell(const struct state *from, const struct retell_change *change)
{
    struct state *to = state_new();

    copy_all(&(struct copier){.from = from, .fn = retell_put, .arg = to, .change = change});
    return to;
}

void state_as_deltas(const struct state *from, delta_fn fn, void *arg)
{
    const struct retell_change nothing = RETELL_CHANGE_INIT(NO_ID);

    copy_all(&(struct copier){.from = from, .fn = fn, .arg = arg, .change = &nothing, .keeps_fresh = true});
}
