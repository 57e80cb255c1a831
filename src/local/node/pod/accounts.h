/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

#include "base/macros.h"

struct err;

/*
 * Looks up a user as images name them, USER or USER:GROUP, each by its name or its number, in the files /etc/passwd and
 * /etc/group of a root folder; links in it lead nowhere else. NULL as the folder: numbers only. `ret_gid` is -1 where neither the
 * text nor the files name a group. Returns 0, or -EINVAL for a user or group that is not there.
 */
MUST_CHECK int account_find(const char *folder, const char *text, int64_t *ret_uid, int64_t *ret_gid, struct err *err);
