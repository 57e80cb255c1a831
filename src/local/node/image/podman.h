/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <limits.h>
#include <stdbool.h>

#include "base/macros.h"
#include "net/process.h"

/*
 * The commands of podman that images need, as child processes with a time limit and bounded output. podman runs with the
 * daemon's environment: its storage, registries and logins are those of root.
 */
enum podman_verb {
    PODMAN_INSPECT,  // of a name or an id
    PODMAN_PULL,     // of a name, from its registry
    PODMAN_MOUNT,    // of an id
    PODMAN_UNMOUNT,  // of an id, once
};

enum { PODMAN_ID_MAX = 65 };

/* Whether podman is in PATH. */
bool podman_is_installed(void);

/* Starts a command; fails as process_start() does. */
MUST_CHECK int podman_start(struct loop *loop, enum podman_verb verb, const char *object, process_done_fn on_done,
                            void *arg, struct process **ret_process, struct err *err);

/* What `inspect` says, as the configuration of an image in OCI's form with a few members more: `id`, `digests`, `size`. */
struct podman_image {
    char id[PODMAN_ID_MAX];
    int64_t bytes;
};

/* Each reads the result of its command: 0, or a negative errno with podman's own words. For `inspect` -ENOENT says that
 * podman does not have the image. */
MUST_CHECK int podman_read_image(const struct process_result *result, struct podman_image *ret_image, struct err *err);
MUST_CHECK int podman_read_pulled(const struct process_result *result, char ret_id[PODMAN_ID_MAX], struct err *err);
MUST_CHECK int podman_read_mount(const struct process_result *result, char ret_path[PATH_MAX], struct err *err);
MUST_CHECK int podman_read_nothing(const struct process_result *result, struct err *err);

/* Whether a text is the whole number of an image. */
bool podman_is_id(const char *text);
