/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

#include "base/macros.h"
#include "engine/config.h"
#include "objects/reader.h"
#include "objects/settings/settings.h"

struct err;
struct log;
struct scheduler_flags;
struct strbuf;

/* What the scheduler was told to do: flags, and the file that they name. Nothing of it changes while the scheduler runs. */
struct setup {
    const struct scheduler_flags *flags;
    struct settings settings;       // in KAI's words
    struct config config;           // the same in the engine's
    struct object_options options;  // how objects are read
    const char *pool_name;          // in texts: "default" where the label is missing
    bool always_requests;           // every bind goes by a BindRequest, as in KAI
};

/* Borrows the flags. Returns 0, or a negative errno with the reason; then there is nothing to be done with setup_done(). */
MUST_CHECK int setup_init(struct setup *setup, const struct scheduler_flags *flags, struct log *log, struct err *err);
void setup_done(struct setup *setup);

/* The label selector for objects of the node pool, in `text`: objects of the default pool do not have its label. NULL when
 * the scheduler serves all pools. */
const char *setup_pool_selector(const struct object_options *options, struct strbuf *text);
