/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <yyjson.h>

#include "base/macros.h"

struct err;
struct machine;
struct sources;
struct user;

/*
 * The volumes of a pod, as folders: FOLDER/NAME of each emptyDir, configMap, secret, downwardAPI and projected volume.
 * Files belong to `user` and are reached through the link ..data, as
 * a kubelet writes them. Returns 0, or a negative errno with the reason for the event FailedMount.
 */
MUST_CHECK int volumes_make(const char *folder, yyjson_val *pod, const struct sources *sources, const struct user *user,
                            const struct machine *machine, struct err *err);

/*
 * Brings the files of a running pod's volumes up to date with their sources; all files of a volume are exchanged at once.
 * Returns 0; -ENOKEY when a new token is needed and the sources have none; or another negative errno, after which a volume
 * is as it was.
 */
MUST_CHECK int volumes_update(const char *folder, yyjson_val *pod, const struct sources *sources,
                              const struct user *user, const struct machine *machine, struct err *err);

/* Whether a pod has volumes whose files can change while it runs. */
bool volumes_can_change(yyjson_val *pod);

/* Removes what was mounted for the volumes, before their folders can be removed. */
void volumes_unmount(const char *folder);

/* Where the volume of that name is on this machine; to be freed by the caller. NULL for one that the pod does not have. */
char *volume_path(const char *folder, yyjson_val *pod, const char *name, bool *ret_is_users);
