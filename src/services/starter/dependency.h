/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>

#include "base/macros.h"

struct err;

/*
 * Conditions under which a Job starts, as Slurm writes them: "afterok:12:13,afterany:train" for all of these, with '?' in
 * place of the commas for one of them. A job is named by its number, an element of an array as 12_3, or by its name.
 *
 *     after       has started, or has ended
 *     afterany    has ended
 *     afterok     has ended well
 *     afternotok  has not ended well
 *     aftercorr   the element of the same index of that array has ended well
 *     singleton   no earlier job of the same name and user is left
 */
enum dependency_type {
    DEPENDENCY_AFTER,
    DEPENDENCY_AFTER_ANY,
    DEPENDENCY_AFTER_OK,
    DEPENDENCY_AFTER_NOT_OK,
    DEPENDENCY_AFTER_CORR,
    DEPENDENCY_SINGLETON,
    _DEPENDENCY_TYPE_MAX
};

/* What is known about a condition. */
enum dependency_state { DEPENDENCY_MET, DEPENDENCY_OPEN, DEPENDENCY_NEVER };

enum { DEPENDENCY_BYTES_MAX = 16384, DEPENDENCY_NAME_MAX = 254 };

/* How one condition stands. `name` is "" for `singleton`. */
typedef enum dependency_state (*dependency_look_fn)(void *arg, enum dependency_type type, const char *name);

/*
 * How all of it stands. A text that is no good is never met; `err` says what is wrong with it (may be NULL). Returns 0 or
 * -EINVAL.
 */
MUST_CHECK int dependency_judge(const char *text, dependency_look_fn look, void *arg, enum dependency_state *ret,
                                struct err *err);
