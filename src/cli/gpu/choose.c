/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/gpu/choose.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "text/json.h"

/* How many slices of a profile would still fit on a GPU; -1 when it has no such slices. */
static int64_t room_for_slices(const struct json_at *gpu, const char *profile)
{
    yyjson_val *list = yyjson_obj_get(yyjson_obj_get(gpu->val, "mig"), "profiles");
    yyjson_val *one;
    size_t i, count;

    yyjson_arr_foreach(list, i, count, one)
    {
        const char *name = yyjson_get_str(yyjson_obj_get(one, "name"));

        if (name && strcmp(name, profile) == 0)
            return (int64_t)yyjson_get_uint(yyjson_obj_get(one, "room"));
    }
    return -1;
}

/* Whether programs can only use slices of it. */
static bool is_cut(const struct json_at *gpu)
{
    const char *mode = yyjson_get_str(yyjson_obj_get(yyjson_obj_get(gpu->val, "mig"), "mode"));

    return mode && strcmp(mode, "on") == 0;
}

/* The GPU that was named, or the one with room for most of these slices. What it does not have, the daemon says. */
static int choose_for_slice(const struct json_at *gpus, const char *wanted, const char *profile,
                            struct gpu_choice *ret_choice, struct err *err)
{
    int64_t best = -1;
    size_t index = 0;

    for (struct json_at item = {0}; json_next(gpus, &item); index++) {
        char number[24];
        const char *uuid;
        int64_t room = room_for_slices(&item, profile);
        int r = json_member_str(&item, "uuid", JSON_REQUIRED, &uuid, err);

        if (r < 0)
            return r;
        (void)snprintf(number, sizeof number, "%zu", index);
        if (wanted ? strcmp(wanted, uuid) != 0 && strcmp(wanted, number) != 0 : room <= best)
            continue;
        best = room;
        (void)snprintf(ret_choice->uuid, sizeof ret_choice->uuid, "%s", uuid);
    }
    if (ret_choice->uuid[0])
        return 0;
    return err_set(
        err, -ENOENT,
        wanted ? "this machine has no GPU '%s': 'muster gpu status' lists its GPUs"
               : "no GPU in MIG mode has slices '%s': 'muster gpu status -o json' lists the slices of this machine",
        wanted ? wanted : profile);
}

int gpu_choose(const char *status, const char *wanted, const char *profile, struct gpu_choice *ret_choice,
               struct err *err)
{
    _cleanup_(json_doc_freep) yyjson_doc *doc = NULL;
    struct json_at gpus;
    struct gpu_choice best = {0};
    int r = json_parse(status, strlen(status), "the daemon's answer", &doc, err);
    size_t index = 0;

    if (r < 0)
        return r;
    struct json_at root = json_root(doc);
    r = json_member_array(&root, "gpus", JSON_REQUIRED, &gpus, err);
    if (r >= 0 && profile) {
        *ret_choice = (struct gpu_choice){0};
        return choose_for_slice(&gpus, wanted, profile, ret_choice, err);
    }
    for (struct json_at item = {0}; r >= 0 && json_next(&gpus, &item); index++) {
        const char *uuid;
        int64_t capacity;
        int64_t requested;
        char number[24];

        r = json_member_str(&item, "uuid", JSON_REQUIRED, &uuid, err);
        if (r >= 0)
            r = json_member_int64(&item, "capacityBytes", JSON_REQUIRED, 0, INT64_MAX, &capacity, err);
        if (r >= 0)
            r = json_member_int64(&item, "requestedBytes", JSON_REQUIRED, 0, INT64_MAX, &requested, err);
        if (r < 0)
            return r;
        (void)snprintf(number, sizeof number, "%zu", index);
        if (wanted ? strcmp(wanted, uuid) != 0 && strcmp(wanted, number) != 0 : is_cut(&item))
            continue;
        if (!best.uuid[0] || (uint64_t)(capacity - requested) > best.left) {
            (void)snprintf(best.uuid, sizeof best.uuid, "%s", uuid);
            best.capacity = (uint64_t)capacity;
            best.left = (uint64_t)(capacity - requested);
        }
    }
    if (r < 0)
        return r;
    if (!best.uuid[0])
        return err_set(err, -ENOENT,
                       wanted ? "this machine has no GPU '%s': 'muster gpu status' lists its GPUs"
                              : "this machine has no GPU that can be shared%s",
                       wanted ? wanted : "");
    *ret_choice = best;
    return 0;
}
