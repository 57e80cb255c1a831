/* SPDX-License-Identifier: Apache-2.0 */

/* Every change is written down before the driver is told, so that whatever step a crash comes after, the next daemon knows
 * which instances are ours. */
#include "gpu/mig/slices.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "gpu/mig/mig_internal.h"

/* Somebody else may make an instance between the look and the change. */
enum { ATTEMPTS = 3 };

static void set_owner(struct mig_record *record, const char *owner, nsec_t now)
{
    (void)snprintf(record->owner, sizeof record->owner, "%s", owner);
    record->idle_since = now;
}

static void drop(struct mig *mig, const struct mig_record *record)
{
    vec_remove_at(&mig->records, (uint32_t)(record - mig->records.items));
}

/* Without a compute instance it becomes an intent first: should we end after the driver has removed it, and somebody else
 * make one of the same number in its place, theirs would have one. */
static int destroy(struct mig *mig, const struct mig_gpu *gpu, struct mig_record *record, struct err *err)
{
    int64_t instance = record->instance;
    int r = 0;

    if (!record->uuid[0]) {
        record->instance = MIG_NOT_MADE;
        r = mig_save(mig, err);
    }
    if (r >= 0)
        r = nvml_mig_destroy(mig->nvml, gpu->index, (uint32_t)instance, err);
    if (r < 0) {
        record->instance = instance;
        return r;
    }
    drop(mig, record);
    return mig_save(mig, err);
}

/* An instance that is to be opened: gets its compute instance where it has none. */
static int finish(struct mig *mig, const struct mig_gpu *gpu, struct mig_record *record, struct mig_slice *ret_slice,
                  struct err *err)
{
    const struct mig_profile *profile = mig_layout_find(&gpu->layout, record->profile);
    char uuid[NVML_UUID_SIZE];
    int r = 0;

    if (!record->uuid[0]) {
        r = nvml_mig_create_compute(mig->nvml, gpu->index, (uint32_t)record->instance, profile->slices, uuid, err);
        if (r < 0) {
            set_owner(record, "", record->idle_since);
            (void)destroy(mig, gpu, record, NULL);
            return r;
        }
        (void)snprintf(record->uuid, sizeof record->uuid, "%s", uuid);
        mig_save_if_possible(mig);
    }
    *ret_slice = (struct mig_slice){.bytes = profile->bytes};
    (void)snprintf(ret_slice->uuid, sizeof ret_slice->uuid, "%s", record->uuid);
    return 0;
}

/* In two steps, of which the first writes down where, and the second what has been made there. */
static int make(struct mig *mig, const struct mig_gpu *gpu, const struct mig_profile *profile, uint32_t start,
                const char *group, struct err *err)
{
    struct mig_record record = {.profile = profile->id, .place = {start, profile->size}, .instance = MIG_NOT_MADE};
    uint32_t id = 0;

    if (mig->records.len == MIG_RECORDS_MAX)
        return err_set(err, -EBUSY, "the limit of %d slices is reached", MIG_RECORDS_MAX);
    (void)snprintf(record.gpu, sizeof record.gpu, "%s", gpu->uuid);
    (void)snprintf(record.owner, sizeof record.owner, "%s", group);
    vec_push(&mig->records, record);
    int r = mig_save(mig, err);
    if (r >= 0)
        r = nvml_mig_create(mig->nvml, gpu->index, profile->id, record.place, &id, err);
    if (r < 0) {
        /* Where there was room, the driver may have failed after it had made it: the next look finds it or drops this. */
        set_owner(&vec_last(&mig->records), "", 0);
        if (r == -ENOSPC)
            drop(mig, &vec_last(&mig->records));
        mig_save_if_possible(mig);
        return r;
    }
    vec_last(&mig->records).instance = id;
    r = mig_save(mig, err);
    if (r < 0)
        (void)destroy(mig, gpu, &vec_last(&mig->records), NULL);
    return r;
}

/* Of instances like the wanted one that nobody uses, the one whose place is the best. */
static struct mig_record *find_idle(struct mig *mig, const struct mig_gpu *gpu, const struct mig_seen *seen,
                                    uint32_t profile)
{
    struct mig_record *best = NULL;
    uint32_t best_mask = 0;

    for (uint32_t i = 0; i < seen->count; i++) {
        const struct mig_seen_instance *at = &seen->instances[i];
        uint32_t mask = seen->kept | mig_mask(at->at.place.start, at->at.place.size);

        if (at->record < 0 || at->is_busy || at->at.profile != profile || mig->records.items[at->record].owner[0])
            continue;
        if (best && mig_layout_compare(&gpu->layout, mask, best_mask) <= 0)
            continue;
        best = &mig->records.items[at->record];
        best_mask = mask;
    }
    return best;
}

/* Removes what nobody uses in a place. */
static int clear(struct mig *mig, const struct mig_gpu *gpu, const struct mig_seen *seen, uint32_t mask,
                 struct err *err)
{
    for (uint32_t i = 0; i < seen->count; i++) {
        const struct nvml_mig_instance *at = &seen->instances[i].at;

        if (!(mig_mask(at->place.start, at->place.size) & mask))
            continue;
        /* Records move when one is removed. */
        vec_foreach (&mig->records, record) {
            if (strcmp(record->gpu, gpu->uuid) != 0 || record->instance != at->id)
                continue;
            int r = destroy(mig, gpu, record, err);
            if (r < 0)
                return r;
            break;
        }
    }
    return 0;
}

static int no_room(const struct mig_gpu *gpu, const struct mig_seen *seen, const struct mig_profile *profile,
                   struct err *err)
{
    return err_set(
        err, -EBUSY,
        "GPU %s has no room for a slice %s in addition to its %u existing ones; 'muster gpu status -o json' lists "
        "them",
        gpu->uuid, profile->name, seen->count);
}

/* A slice that nobody uses, or a new one. -EAGAIN when the GPU has changed since it was looked at. */
static int take_other(struct mig *mig, const struct mig_gpu *gpu, const struct mig_seen *seen,
                      const struct mig_profile *profile, const char *group, nsec_t now, struct mig_slice *ret_slice,
                      struct err *err)
{
    struct mig_record *idle = find_idle(mig, gpu, seen, profile->id);
    int r;

    if (idle) {
        set_owner(idle, group, now);
        r = mig_save(mig, err);
        if (r < 0)
            set_owner(idle, "", now);
        return r < 0 ? r : finish(mig, gpu, idle, ret_slice, err);
    }
    int start = mig_layout_place(&gpu->layout, profile, seen->kept, seen->idle);
    if (start < 0 || mig_count_kept(seen, profile->id) >= profile->most)
        return no_room(gpu, seen, profile, err);
    r = clear(mig, gpu, seen, mig_mask((uint32_t)start, profile->size), err);
    if (r >= 0)
        r = make(mig, gpu, profile, (uint32_t)start, group, err);
    if (r < 0)
        return r == -ENOSPC || r == -EBUSY ? -EAGAIN : r;
    return finish(mig, gpu, &vec_last(&mig->records), ret_slice, err);
}

/* What the group has already; another slice of its is given up, since it asks for this one now. NULL when it has none. */
static struct mig_record *find_own(struct mig *mig, const struct mig_gpu *gpu, uint32_t profile, const char *group,
                                   nsec_t now)
{
    struct mig_record *own = NULL;

    vec_foreach (&mig->records, at) {
        if (strcmp(at->owner, group) != 0)
            continue;
        if (!own && strcmp(at->gpu, gpu->uuid) == 0 && at->profile == profile && at->instance != MIG_NOT_MADE)
            own = at;
        else
            set_owner(at, "", now);
    }
    return own;
}

static int unknown_profile(const struct mig_gpu *gpu, const char *profile, struct err *err)
{
    char names[256] = "";
    size_t len = 0;

    for (uint32_t i = gpu->layout.count; i > 0 && len < sizeof names; i--)
        len += (size_t)snprintf(names + len, sizeof names - len, "%s%s", len ? ", " : "",
                                gpu->layout.profiles[i - 1].name);
    return err_set(err, -EINVAL, "GPU %s has no slices '%s'; it has %s", gpu->uuid, profile, names);
}

int mig_take(struct mig *mig, const char *gpu_uuid, const char *profile_name, const char *group, nsec_t now,
             struct mig_slice *ret_slice, struct err *err)
{
    struct mig_gpu *gpu = mig_find_gpu(mig, gpu_uuid);
    enum mig_mode mode = gpu ? mig_read_mode(mig, gpu) : MIG_UNSUPPORTED;
    int r = -EAGAIN;

    if (mode == MIG_UNSUPPORTED)
        return err_set(err, -ENOTSUP, "GPU %s has no MIG", gpu_uuid);
    if (mode == MIG_OFF)
        return err_set(err, -ENOTSUP,
                       "MIG mode of GPU %s is off, so it has no slices; its administrator can switch it on", gpu_uuid);
    if (mode == MIG_UNKNOWN)
        return err_set(err, -EIO, "the driver does not say whether GPU %s is in MIG mode", gpu_uuid);
    const struct mig_profile *profile = mig_layout_find_name(&gpu->layout, profile_name);
    if (!profile)
        return unknown_profile(gpu, profile_name, err);
    for (int i = 0; i < ATTEMPTS && r == -EAGAIN; i++) {
        struct mig_seen seen;
        struct mig_record *own;

        r = mig_read(mig, gpu, &seen, err);
        if (r < 0)
            return r;
        own = find_own(mig, gpu, profile->id, group, now);
        r = own ? finish(mig, gpu, own, ret_slice, err)
                : take_other(mig, gpu, &seen, profile, group, now, ret_slice, err);
    }
    return r == -EAGAIN ? err_wrap(err, -EBUSY, "GPU %s", gpu_uuid) : r;
}

void mig_give(struct mig *mig, const char *group, nsec_t now)
{
    vec_foreach (&mig->records, at) {
        if (strcmp(at->owner, group) == 0)
            set_owner(at, "", now);
    }
    mig_save_if_possible(mig);
}

uint32_t mig_tidy(struct mig *mig, nsec_t before)
{
    uint32_t left = 0;

    for (uint32_t i = 0; i < mig->gpu_count; i++) {
        struct mig_seen seen;

        if (mig_read(mig, &mig->gpus[i], &seen, NULL) < 0)
            continue;
        for (uint32_t j = mig->records.len; j > 0; j--) {
            struct mig_record *at = &mig->records.items[j - 1];
            uint32_t mask = mig_mask(at->place.start, at->place.size);

            if (strcmp(at->gpu, mig->gpus[i].uuid) == 0 && !at->owner[0] && at->idle_since <= before &&
                (seen.idle & mask) == mask)
                (void)destroy(mig, &mig->gpus[i], at, NULL);
        }
    }
    vec_foreach (&mig->records, at)
        left += !at->owner[0];
    return left;
}

void mig_keep_groups(struct mig *mig, bool (*has)(void *arg, const char *group), void *arg, nsec_t now)
{
    bool has_changed = false;

    vec_foreach (&mig->records, at) {
        if (at->owner[0] && has(arg, at->owner))
            continue;
        has_changed |= at->owner[0] != '\0';
        set_owner(at, "", now);
    }
    if (has_changed)
        mig_save_if_possible(mig);
}

static void find_gpus(struct mig *mig)
{
    for (uint32_t i = 0; i < nvml_gpu_count(mig->nvml) && mig->gpu_count < ARRAY_LEN(mig->gpus); i++) {
        struct mig_gpu *at = &mig->gpus[mig->gpu_count];
        struct nvml_gpu gpu;

        if (nvml_gpu(mig->nvml, i, &gpu, NULL) < 0)
            continue;
        at->index = i;
        at->bytes = gpu.total_bytes;
        memcpy(at->uuid, gpu.uuid, sizeof at->uuid);
        memcpy(at->name, gpu.name, sizeof at->name);
        mig->gpu_count++;
    }
}

/* A daemon that does not start helps nobody: a file that makes no sense is put aside. */
static bool read_records(struct mig *mig)
{
    _cleanup_(freep) char *aside = NULL;
    size_t size = strlen(mig->path) + sizeof ".damaged";

    if (mig_records_read(mig->path, &mig->records, NULL) >= 0)
        return true;
    aside = xcalloc(1, size);
    (void)snprintf(aside, size, "%s.damaged", mig->path);
    (void)rename(mig->path, aside);
    return false;
}

int mig_open(const char *library, const char *path, struct mig **ret_mig, bool *ret_is_damaged, struct err *err)
{
    struct nvml *nvml;
    int r = nvml_open(library, &nvml, err);

    if (r < 0)
        return r;
    struct mig *mig = xcalloc(1, sizeof *mig);
    mig->nvml = nvml;
    mig->path = xstrdup(path);
    find_gpus(mig);
    *ret_is_damaged = !read_records(mig);
    for (uint32_t i = 0; i < mig->gpu_count; i++) {
        struct mig_seen seen;

        /* What cannot be read now is compared with the next look. */
        (void)(mig_read(mig, &mig->gpus[i], &seen, NULL) < 0);
    }
    *ret_mig = mig;
    return 0;
}

void mig_close(struct mig *mig)
{
    if (!mig)
        return;
    nvml_close(mig->nvml);
    vec_done(&mig->records);
    free(mig->path);
    free(mig);
}
