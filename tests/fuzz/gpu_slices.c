/* SPDX-License-Identifier: Apache-2.0 */

/* Any text is a list of slices that some GPU could have, or an error. And whatever a driver
 * says of profiles, an instance is put beside what is kept. */
#include <stdio.h>
#include <string.h>

#include "base/macros.h"
#include "fuzz.h"
#include "gpu/mig/layout.h"
#include "gpu/mig/records.h"

static void place(const uint8_t *data, size_t size)
{
    struct mig_layout layout = {0};
    uint32_t kept = 0, idle = 0;

    for (; size >= 8; data += 8, size -= 8) {
        struct mig_profile profile = {.id = data[0], .slices = data[1] % 9, .size = data[2] % 40, .most = data[3]};

        memcpy(&profile.starts, data + 4, sizeof profile.starts);
        mig_layout_add(&layout, &profile);
    }
    if (size >= 4)
        memcpy(&kept, data, sizeof kept);
    idle = kept << 7 & ~kept;
    for (uint32_t i = 0; i < layout.count; i++) {
        const struct mig_profile *profile = &layout.profiles[i];
        int start = mig_layout_place(&layout, profile, kept, idle);

        BUG_ON(start >= 0 && (!(profile->starts >> start & 1) || (uint32_t)start + profile->size > MIG_ROW_MAX));
        BUG_ON(start >= 0 && (mig_mask((uint32_t)start, profile->size) & kept));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct mig_records records = {0};

    place(data, size);
    if (mig_records_parse((const char *)data, size, &records, NULL) < 0) {
        BUG_ON(records.len != 0);
        return 0;
    }
    BUG_ON(records.len > MIG_RECORDS_MAX);
    vec_foreach (&records, at) {
        BUG_ON(at->place.size == 0 || at->place.start + at->place.size > MIG_ROW_MAX);
        BUG_ON(at->instance < MIG_NOT_MADE || at->instance > UINT32_MAX);
        BUG_ON(strnlen(at->owner, sizeof at->owner) == sizeof at->owner);
    }
    vec_done(&records);
    return 0;
}
