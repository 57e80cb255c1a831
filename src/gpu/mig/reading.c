/* SPDX-License-Identifier: Apache-2.0 */

/* What the driver says is on a GPU, against the records. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "gpu/mig/mig_internal.h"
#include "gpu/mig/models.h"

const char *mig_mode_name(enum mig_mode mode)
{
    static const char *const names[] = {"unsupported", "off", "on", "unknown"};

    return names[mode];
}

struct mig_gpu *mig_find_gpu(struct mig *mig, const char *uuid)
{
    for (uint32_t i = 0; i < mig->gpu_count; i++) {
        if (strcmp(mig->gpus[i].uuid, uuid) == 0)
            return &mig->gpus[i];
    }
    return NULL;
}

int mig_save(const struct mig *mig, struct err *err)
{
    return mig_records_write(mig->path, &mig->records, err);
}

void mig_save_if_possible(const struct mig *mig)
{
    (void)(mig_save(mig, NULL) < 0);
}

/* The driver's places; the table's where it has none to say. */
static void set_places(struct mig *mig, const struct mig_gpu *gpu, const struct mig_profile *known,
                       struct mig_profile *profile)
{
    struct nvml_mig_place places[NVML_MIG_PLACES_MAX];
    int count = nvml_mig_places(mig->nvml, gpu->index, profile->id, places, NULL);

    if (count <= 0 && known) {
        profile->size = known->size;
        profile->starts = known->starts;
    }
    for (int i = 0; i < count; i++) {
        /* Places of one profile have one size. */
        if (places[i].start >= MIG_ROW_MAX || (i > 0 && places[i].size != profile->size))
            continue;
        profile->size = places[i].size;
        profile->starts |= UINT32_C(1) << places[i].start;
    }
}

static void read_layout(struct mig *mig, struct mig_gpu *gpu)
{
    const struct mig_model *model = mig_model_find(gpu->name, gpu->bytes);
    struct nvml_mig_profile found[NVML_MIG_PROFILES_MAX];
    int count = nvml_mig_profiles(mig->nvml, gpu->index, found, NULL);

    for (int i = 0; i < count; i++) {
        const struct mig_profile *known = mig_model_profile(model, found[i].id);
        struct mig_profile profile = {
            .id = found[i].id, .slices = found[i].slices, .most = found[i].most, .bytes = found[i].bytes};

        (void)snprintf(profile.name, sizeof profile.name, "%s",
                       found[i].name[0] || !known ? found[i].name : known->name);
        set_places(mig, gpu, known, &profile);
        mig_layout_add(&gpu->layout, &profile);
    }
}

enum mig_mode mig_read_mode(struct mig *mig, struct mig_gpu *gpu)
{
    bool is_on = false;
    int r = nvml_mig_is_on(mig->nvml, gpu->index, &is_on, NULL);

    if (r < 0)
        return r == -ENOTSUP ? MIG_UNSUPPORTED : MIG_UNKNOWN;
    if (is_on && gpu->layout.count == 0)
        read_layout(mig, gpu);
    return is_on ? MIG_ON : MIG_OFF;
}

static int read_instances(struct mig *mig, const struct mig_gpu *gpu, struct mig_seen *seen, struct err *err)
{
    for (uint32_t i = 0; i < gpu->layout.count; i++) {
        struct nvml_mig_instance found[NVML_MIG_INSTANCES_MAX];
        int count = nvml_mig_instances(mig->nvml, gpu->index, gpu->layout.profiles[i].id, found, err);

        if (count < 0)
            return count;
        for (int j = 0; j < count; j++) {
            if (seen->count == NVML_MIG_INSTANCES_MAX || found[j].place.size > MIG_ROW_MAX ||
                found[j].place.start > MIG_ROW_MAX - found[j].place.size)
                return err_set(err, -EIO, "the driver reports MIG instances that no GPU can have");
            seen->instances[seen->count++] = (struct mig_seen_instance){.at = found[j], .record = -1};
        }
    }
    return 0;
}

/* Whether an instance is the one of a record. What was only intended is ours if programs cannot open it yet: its number is
 * written down before it gets a compute instance. Numbers are used again, so a UUID has to be the same. */
static bool is_of(const struct nvml_mig_instance *instance, const struct mig_record *record)
{
    if (instance->profile != record->profile || instance->place.start != record->place.start ||
        instance->place.size != record->place.size)
        return false;
    if (record->instance == MIG_NOT_MADE)
        return !instance->has_compute;
    if (instance->id != record->instance)
        return false;
    return !record->uuid[0] || !instance->has_compute || strcmp(instance->uuid, record->uuid) == 0;
}

static struct mig_seen_instance *find_instance(struct mig_seen *seen, const struct mig_record *record)
{
    for (uint32_t i = 0; i < seen->count; i++) {
        if (seen->instances[i].record < 0 && is_of(&seen->instances[i].at, record))
            return &seen->instances[i];
    }
    return NULL;
}

/* Returns whether a record has changed. */
static bool match(struct mig *mig, const struct mig_gpu *gpu, struct mig_seen *seen)
{
    bool has_changed = false;

    for (uint32_t i = 0; i < mig->records.len;) {
        struct mig_record *record = &mig->records.items[i];
        struct mig_seen_instance *instance;

        if (strcmp(record->gpu, gpu->uuid) != 0) {
            i++;
            continue;
        }
        instance = find_instance(seen, record);
        if (!instance) {
            vec_remove_at(&mig->records, i);
            has_changed = true;
            continue;
        }
        instance->record = i++;
        if (record->instance == instance->at.id && strcmp(record->uuid, instance->at.uuid) == 0)
            continue;
        record->instance = instance->at.id;
        (void)snprintf(record->uuid, sizeof record->uuid, "%s", instance->at.uuid);
        has_changed = true;
    }
    return has_changed;
}

/* A driver that does not say which processes there are leaves everything as it is. */
static void find_busy(struct mig *mig, const struct mig_gpu *gpu, struct mig_seen *seen)
{
    struct nvml_use uses[NVML_PROCESSES_MAX];
    int count = nvml_processes(mig->nvml, gpu->index, uses);

    for (uint32_t i = 0; i < seen->count; i++) {
        seen->instances[i].is_busy = count < 0;
        for (int j = 0; j < count; j++)
            seen->instances[i].is_busy |= uses[j].instance == seen->instances[i].at.id;
    }
}

static void sum_up(const struct mig *mig, struct mig_seen *seen)
{
    for (uint32_t i = 0; i < seen->count; i++) {
        const struct mig_seen_instance *at = &seen->instances[i];
        bool is_idle = at->record >= 0 && !at->is_busy && !mig->records.items[at->record].owner[0];

        *(is_idle ? &seen->idle : &seen->kept) |= mig_mask(at->at.place.start, at->at.place.size);
    }
}

uint32_t mig_count_kept(const struct mig_seen *seen, uint32_t profile)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < seen->count; i++) {
        const struct nvml_mig_instance *at = &seen->instances[i].at;

        count += at->profile == profile && (mig_mask(at->place.start, at->place.size) & seen->kept);
    }
    return count;
}

int mig_read(struct mig *mig, struct mig_gpu *gpu, struct mig_seen *ret_seen, struct err *err)
{
    enum mig_mode mode = mig_read_mode(mig, gpu);

    *ret_seen = (struct mig_seen){0};
    if (mode == MIG_UNKNOWN)
        return err_set(err, -EIO, "the driver does not say whether GPU %s is in MIG mode", gpu->uuid);
    int r = mode == MIG_ON ? read_instances(mig, gpu, ret_seen, err) : 0;
    if (r < 0)
        return r;
    if (match(mig, gpu, ret_seen))
        r = mig_save(mig, err);
    /* The driver may take long to list processes, and without instances nobody asks. */
    if (ret_seen->count > 0)
        find_busy(mig, gpu, ret_seen);
    sum_up(mig, ret_seen);
    return r;
}
