/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>
#include <sys/types.h>
#include <yyjson.h>

#include "base/macros.h"

struct err;
struct machine;
struct sources;
struct user;

/* The files of a configMap, secret, downwardAPI or projected volume, as a kubelet writes them. */
struct filling {
    char *folder;    // of the files: VOLUME/..HASH.SECONDS; NULL: they are only looked at
    uint64_t *hash;  // of all files
    const struct user *user;
    int64_t mode;
    const struct sources *sources;
    yyjson_val *pod;
    const struct machine *machine;
};

/* The part of a volume that says what its files are; NULL for a volume of another kind. */
yyjson_val *volume_filled_part(yyjson_val *volume);

/* Brings the files of a volume, whose folder is there, up to date; all of them are exchanged at once. Of `base` the user, the
 * sources, the pod and the machine count. Returns 0, -ENOKEY when a new token is missing, or another negative errno. */
MUST_CHECK int volume_fill(const char *path, yyjson_val *volume, const struct filling *base, struct err *err);

/* Makes a folder that belongs to the user, and gives the user something. Return 0 or a negative errno. */
MUST_CHECK int volume_make_folder(const char *path, const struct user *user, mode_t mode);
MUST_CHECK int volume_hand_over(int fd, const struct user *user, mode_t mode);

/* Calls for each entry of a folder but those that begin with "..", of which there is none in a volume but ours. */
int folder_each(const char *folder, int (*call)(const char *volume, const char *name, const char *files),
                const char *volume, const char *files);
