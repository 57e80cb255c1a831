/* SPDX-License-Identifier: Apache-2.0 */

/* What is on a GPU, for those who show it. */
#include <stdio.h>

#include "gpu/mig/mig_internal.h"

static enum mig_use use_of(const struct mig *mig, const struct mig_seen_instance *instance)
{
    if (instance->record < 0)
        return MIG_FOREIGN;
    return mig->records.items[instance->record].owner[0] ? MIG_USED : MIG_IDLE;
}

static void view_slice(const struct mig *mig, const struct mig_gpu *gpu, const struct mig_seen_instance *instance,
                       struct mig_view_slice *slice)
{
    const struct mig_profile *profile = mig_layout_find(&gpu->layout, instance->at.profile);

    *slice = (struct mig_view_slice){.place = instance->at.place, .use = use_of(mig, instance)};
    (void)snprintf(slice->profile, sizeof slice->profile, "%s", profile ? profile->name : "");
    (void)snprintf(slice->uuid, sizeof slice->uuid, "%s", instance->at.uuid);
    if (instance->record >= 0)
        (void)snprintf(slice->owner, sizeof slice->owner, "%s", mig->records.items[instance->record].owner);
}

void mig_look(struct mig *mig, const char *gpu_uuid, struct mig_view *ret_view)
{
    struct mig_gpu *gpu = mig_find_gpu(mig, gpu_uuid);
    struct mig_seen seen;

    *ret_view = (struct mig_view){.mode = gpu ? mig_read_mode(mig, gpu) : MIG_UNSUPPORTED};
    if (ret_view->mode != MIG_ON)
        return;
    if (mig_read(mig, gpu, &seen, NULL) < 0) {
        ret_view->mode = MIG_UNKNOWN;
        return;
    }
    for (uint32_t i = 0; i < gpu->layout.count; i++) {
        const struct mig_profile *profile = &gpu->layout.profiles[i];

        (void)snprintf(ret_view->profiles[i].name, sizeof ret_view->profiles[i].name, "%s", profile->name);
        ret_view->profiles[i].bytes = profile->bytes;
        ret_view->profiles[i].room = MIN(mig_layout_room(profile, seen.kept),
                                         profile->most - MIN(mig_count_kept(&seen, profile->id), profile->most));
    }
    ret_view->profile_count = gpu->layout.count;
    for (uint32_t i = 0; i < seen.count; i++)
        view_slice(mig, gpu, &seen.instances[i], &ret_view->slices[i]);
    ret_view->slice_count = seen.count;
}
