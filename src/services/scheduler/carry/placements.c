/* SPDX-License-Identifier: Apache-2.0 */
#include "services/scheduler/carry/placements.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/log.h"
#include "base/mem.h"
#include "kube/client/meta.h"
#include "model/delta.h"
#include "objects/reader.h"
#include "services/scheduler/carry/request.h"
#include "services/scheduler/carry/zones.h"
#include "services/scheduler/observe/observer.h"
#include "services/scheduler/pace.h"
#include "services/scheduler/pod_notes.h"
#include "services/scheduler/setup.h"
#include "text/json.h"

/* Shared GPUs of one request; the annotation that asks for them allows no more. */
enum { GROUPS_MAX = 1024 };

struct placements {
    struct state *state;
    const struct setup *setup;
    struct pod_notes *notes;
    struct observers *observers;
    struct pace *pace;
    struct log *log;
    struct list all;
    bool have_nodes_changed;
    bool has_stale;
};

struct placements *placements_new(const struct placements_options *options)
{
    struct placements *placements = xcalloc(1, sizeof *placements);

    *placements = (struct placements){
        .state = options->state,
        .setup = options->setup,
        .notes = options->notes,
        .observers = options->observers,
        .pace = options->pace,
        .log = options->log,
    };
    return placements;
}

static void clear(struct placement *placement)
{
    free(placement->groups);
    free(placement->zones);
    free(placement->claims);
    free(placement->extended);
    placement->groups = NULL;
    placement->zones = NULL;
    placement->claims = NULL;
    placement->extended = NULL;
    placement->group_count = 0;
}

void placement_drop(struct placements *placements, struct placement *placement)
{
    struct pod_note *note = pod_note_find(placements->notes, placement->key);

    list_remove(&placements->all, &placement->in_all);
    note->placement = NULL;
    pod_note_settle(placements->notes, note);
    clear(placement);
    free(placement);
}

void placements_free(struct placements *placements)
{
    struct placement *placement;

    if (!placements)
        return;
    while ((placement = list_first(&placements->all, struct placement, in_all)))
        placement_drop(placements, placement);
    free(placements);
}

struct placement *placement_find(const struct placements *placements, object_key key)
{
    const struct pod_note *note = pod_note_find(placements->notes, key);

    return note ? note->placement : NULL;
}

struct placement *placement_put(struct placements *placements, object_key key)
{
    struct pod_note *note = pod_note_put(placements->notes, key);

    if (note->placement)
        return note->placement;
    note->placement = xcalloc(1, sizeof *note->placement);
    note->placement->key = key;
    list_push(&placements->all, &note->placement->in_all);
    return note->placement;
}

static bool has_node(const struct placements *placements, name_id name, node_id *ret_node)
{
    uint64_t node = NO_ID;

    if (!map64_get(&placements->state->node_by_name, name, &node) || !placements->state->nodes.items[node].is_present)
        return false;
    *ret_node = (node_id)node;
    return true;
}

bool placement_is_live(const struct placements *placements, const struct placement *placement, name_id pod_uid)
{
    node_id node;

    return placement && !placement->has_failed && !placement->is_being_deleted &&
           has_node(placements, placement->node, &node) && (placement->pod_uid == 0 || placement->pod_uid == pod_uid);
}

/* A request carries the label of the pool whose scheduler made it. */
static bool is_in_partition(const struct placements *placements, yyjson_val *request)
{
    yyjson_val *labels = yyjson_obj_get(yyjson_obj_get(request, "metadata"), "labels");
    const char *pool = yyjson_get_str(yyjson_obj_get(labels, placements->setup->options.node_pool_label));

    if (!placements->setup->options.has_partition)
        return true;
    return *placements->setup->options.partition ? pool && strcmp(pool, placements->setup->options.partition) == 0
                                                 : !pool;
}

static void read_groups(struct placements *placements, struct placement *placement, yyjson_val *list)
{
    size_t i, count;
    yyjson_val *item;

    if (yyjson_arr_size(list) == 0 || yyjson_arr_size(list) > GROUPS_MAX)
        return;
    placement->groups = xcalloc(yyjson_arr_size(list), sizeof *placement->groups);
    yyjson_arr_foreach(list, i, count, item)
    {
        if (yyjson_is_str(item))
            placement->groups[placement->group_count++] = name_put(placements->state, yyjson_get_str(item));
    }
}

void placement_read(struct placements *placements, struct placement *placement, yyjson_val *request)
{
    yyjson_val *spec = yyjson_obj_get(request, "spec");
    yyjson_val *zones = yyjson_obj_get(spec, "predictedNUMAZones");
    yyjson_val *claims = yyjson_obj_get(spec, "resourceClaimAllocations");
    yyjson_val *extended = yyjson_obj_get(spec, "extendedResourceClaimAllocation");

    clear(placement);
    placement->pod_uid = name_put(placements->state, request_pod_uid(request));
    placement->node = name_put(placements->state, kube_text(request, "spec", "selectedNode"));
    read_groups(placements, placement, yyjson_obj_get(spec, "selectedGPUGroups"));
    if (yyjson_arr_size(zones) > 0)
        placement->zones = yyjson_val_write(zones, 0, NULL);
    if (yyjson_arr_size(claims) > 0)
        placement->claims = yyjson_val_write(claims, 0, NULL);
    if (yyjson_is_obj(extended))
        placement->extended = yyjson_val_write(extended, 0, NULL);
    placement->has_request = true;
    placement->is_direct = false;
    placement->request_uid = name_put(placements->state, kube_text(request, "metadata", "uid"));
    placement->has_failed = request_has_failed(request);
    placement->is_ours = is_in_partition(placements, request);
    placement->is_being_deleted = kube_text(request, "metadata", "deletionTimestamp")[0] != '\0';
    placements->has_stale |= placement->has_failed;
}

bool placement_catch_up(struct placements *placements, struct placement *placement)
{
    bool is_about_it = placement->has_request && placement->early_uid == placement->request_uid;

    placement->early_uid = 0;
    if (is_about_it && placement->early == EARLY_GONE)
        return false;
    placement->has_failed |= is_about_it && placement->early == EARLY_FAILED;
    placements->has_stale |= placement->has_request && placement->has_failed;
    return true;
}

void placement_take(struct placements *placements, struct placement *placement, pod_id id)
{
    const struct pod *pod = &placements->state->pods.items[id];

    clear(placement);
    placement->pod_uid = pod->uid;
    placement->node = placements->state->nodes.items[pod->node].name;
    placement->has_failed = false;
    placement->is_being_deleted = false;
    placement->is_ours = true;
    placement->early_uid = 0;
    placement->zones = zones_encode(placements->state, pod->numa);
    if (pod->groups.count == 0)
        return;
    placement->groups = xcalloc(pod->groups.count, sizeof *placement->groups);
    for (uint32_t i = 0; i < pod->groups.count; i++) {
        gpu_group group = group_at(&pod->groups, i);

        if (!gpu_group_is_fresh(group))
            placement->groups[placement->group_count++] = (name_id)group;
    }
}

void placement_move(struct placements *placements, struct placement *placement, const char *node)
{
    clear(placement);
    placement->node = name_put(placements->state, node);
    placement->is_direct = true;
}

yyjson_doc *placement_encode(const struct placements *placements, const struct placement *placement)
{
    yyjson_mut_val *root;
    yyjson_mut_doc *doc = json_new_object(&root);

    yyjson_mut_val *meta = yyjson_mut_obj_add_obj(doc, root, "metadata");
    yyjson_mut_val *spec = yyjson_mut_obj_add_obj(doc, root, "spec");

    (void)yyjson_mut_obj_add_str(doc, meta, "name", key_name(placements->state, placement->key));
    (void)yyjson_mut_obj_add_str(doc, meta, "namespace", key_namespace(placements->state, placement->key));
    (void)yyjson_mut_obj_add_str(doc, spec, "selectedNode", state_name(placements->state, placement->node));
    yyjson_mut_val *groups = yyjson_mut_obj_add_arr(doc, spec, "selectedGPUGroups");
    for (uint32_t i = 0; i < placement->group_count; i++)
        (void)yyjson_mut_arr_add_str(doc, groups, state_name(placements->state, placement->groups[i]));
    if (placement->zones)
        (void)yyjson_mut_obj_add_val(doc, spec, "predictedNUMAZones", yyjson_mut_raw(doc, placement->zones));
    if (placement->claims)
        (void)yyjson_mut_obj_add_val(doc, spec, "resourceClaimAllocations", yyjson_mut_raw(doc, placement->claims));
    if (placement->extended)
        (void)yyjson_mut_obj_add_val(doc, spec, "extendedResourceClaimAllocation",
                                     yyjson_mut_raw(doc, placement->extended));

    size_t len = 0;
    char *text = yyjson_mut_write(doc, 0, &len);
    BUG_ON(!text);
    yyjson_doc *read = yyjson_read(text, len, 0);
    BUG_ON(!read);
    free(text);
    yyjson_mut_doc_free(doc);
    return read;
}

static struct group_list group_list_of(const struct placement *placement, gpu_group *room)
{
    struct group_list list = {.count = placement->group_count, .many = room};

    for (uint32_t i = 0; i < placement->group_count; i++)
        room[i] = gpu_group_named(placement->groups[i]);
    if (list.count == 1)
        list.one = room[0];
    return list;
}

/* The same shared GPUs, in the same order? */
static bool has_groups(const struct pod *pod, const struct placement *placement)
{
    if (pod->groups.count != placement->group_count)
        return false;
    for (uint32_t i = 0; i < pod->groups.count; i++) {
        if (group_at(&pod->groups, i) != gpu_group_named(placement->groups[i]))
            return false;
    }
    return true;
}

static void move(struct placements *placements, pod_id id, enum pod_status status, node_id node,
                 const struct placement *placement)
{
    gpu_group room[GROUPS_MAX];

    state_move_pod(placements->state, id, status, node,
                   placement ? group_list_of(placement, room) : (struct group_list){0});
    OBSERVE(placements->observers, on_moved, id);
    pace_wake(placements->pace);
}

/* Devices that a scheduler before us has chosen are the pod's, before the binder has written them. */
static void take_devices(struct placements *placements, const struct placement *placement, pod_id id)
{
    struct arena arena;
    yyjson_doc *doc = NULL;

    if (!placement->extended || json_parse(placement->extended, strlen(placement->extended), "", &doc, NULL) < 0)
        return;
    arena_init(&arena);
    struct json_at root = json_root(doc);
    struct json_at allocation;
    struct err err = {0};
    if (json_member_object(&root, "allocation", JSON_REQUIRED, &allocation, &err) < 0 ||
        claim_put_planned(placements->state, &arena, id, &allocation, &err) < 0)
        log_warn(placements->log, "the devices of a BindRequest cannot be read; treating them as free",
                 log_str("namespace", key_namespace(placements->state, placement->key)),
                 log_str("name", key_name(placements->state, placement->key)), log_error(&err));
    arena_done(&arena);
    yyjson_doc_free(doc);
}

void placement_apply(struct placements *placements, object_key key)
{
    const struct placement *placement = placement_find(placements, key);
    pod_id id = key_pod(placements->state, key);
    node_id node = NO_ID;

    if (id == NO_ID)
        return;
    const struct pod *pod = &placements->state->pods.items[id];
    bool is_live = placement_is_live(placements, placement, pod->uid);
    bool waits = pod->status == POD_PENDING || pod->status == POD_BINDING;

    if (waits && is_live) {
        (void)has_node(placements, placement->node, &node);
        if (pod->status != POD_BINDING || pod->node != node || !has_groups(pod, placement)) {
            move(placements, id, POD_BINDING, node, placement);
            take_devices(placements, placement, id);
        }
    } else if (waits && pod->status == POD_BINDING) {
        move(placements, id, POD_PENDING, NO_ID, NULL);
    } else if (is_live && status_in(pod->status, ACTIVE_USED) && placement->group_count > 0 &&
               !has_groups(pod, placement)) {
        move(placements, id, (enum pod_status)pod->status, pod->node, placement);
    }
}

void placements_apply_all(struct placements *placements)
{
    for (struct list_link *link = placements->all.first; link; link = link->next)
        placement_apply(placements, list_item(link, struct placement, in_all)->key);
}

void placements_nodes_changed(struct placements *placements)
{
    placements->have_nodes_changed = true;
}

void placements_look_at_nodes(struct placements *placements)
{
    if (!placements->have_nodes_changed)
        return;
    placements->have_nodes_changed = false;
    placements->has_stale = true;
    placements_apply_all(placements);
}

static bool is_stale(const struct placements *placements, const struct placement *placement)
{
    node_id node;

    return placement->has_request && !placement->carrying && !placement->is_being_deleted && placement->is_ours &&
           (placement->has_failed || !has_node(placements, placement->node, &node));
}

bool placements_has_stale(const struct placements *placements)
{
    return placements->has_stale;
}

void placements_take_stale(struct placements *placements, void (*remove)(void *arg, const struct placement *placement),
                           void *arg)
{
    if (!placements->has_stale)
        return;
    placements->has_stale = false;
    for (struct list_link *link = placements->all.first; link; link = link->next) {
        struct placement *placement = list_item(link, struct placement, in_all);

        if (!is_stale(placements, placement))
            continue;
        placement->is_being_deleted = true;
        remove(arg, placement);
    }
}
