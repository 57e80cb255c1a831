/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/macros.h"

struct config;
struct err;
struct object_notes;
struct settings;

/*
 * The scheduler's settings as the engine's. Plugins that the engine does not know are left out with a warning, as KAI
 * does; an action that is not known is -EINVAL. The settings have to be sorted.
 */
MUST_CHECK int cluster_config(const struct settings *settings, struct config *config, struct object_notes *notes,
                              struct err *err);
