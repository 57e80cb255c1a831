/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>

#include "base/macros.h"
#include "cluster/cluster_files.h"

/*
 * Reads the objects of a cluster as cluster_read() does, those of other schedulers among them (objects/foreign.h), and
 * leaves them as they are: no state is built. The reading is the caller's, to be freed.
 */
MUST_CHECK int cluster_survey(const struct cluster_options *options, const char *const *paths, size_t path_count,
                              struct cluster_notes *notes, struct cluster_reading **ret_reading, struct err *err);
