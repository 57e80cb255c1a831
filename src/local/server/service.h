/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

#include "base/time.h"

/*
 * The API server as a service of the frame, so that everything else of local mode runs in the same process and reaches it
 * over its socket. It is the first service of its process: it is opened before the others, and closed after them.
 */
struct service_kind;

extern const struct service_kind api_service;

/* The values of its flags. */
struct api_flags {
    const char *state;
    const char *listen;
    const char *shared_folders;
    nsec_t node_certificate_lifetime;
    bool foreground;
    bool api_only;
    const char *metrics_address;
    const char *health_address;
};

/* Where the state is kept unless a flag says otherwise: /var/lib/muster for root, else $XDG_STATE_HOME/muster or
 * ~/.local/state/muster. To be freed by the caller. */
char *state_folder(const char *flag);
