/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/macros.h"
#include "base/time.h"
#include "local/node/image/name.h"

struct loop;

/*
 * Images that containers run in. podman has them; each one in use is mounted, read-only, at STATE/images/ID with its
 * configuration beside it in ID.json, until its last pod releases it. The mounts outlive the daemon, as pods do.
 *
 * What is asked for is done by commands of podman, three pulls and one other command at a time. Requests for the same
 * thing share a command.
 */
struct image_store;

/* Opens the folder of the images, which is made where it is missing, and finds images that are mounted already. */
MUST_CHECK int image_store_open(struct loop *loop, const char *folder, struct image_store **ret_store, struct err *err);

/* Ends commands that run. Mounts stay; requests have been cancelled. */
void image_store_free(struct image_store *store);

enum image_problem {
    IMAGE_FINE,
    IMAGE_BAD_NAME,
    IMAGE_ABSENT,  // and it may not be pulled
    IMAGE_NOT_PULLED,
    IMAGE_NOT_READ,
    IMAGE_NOT_MOUNTED,
};

struct image_result {
    enum image_problem problem;
    struct err err;
    const char *id;  // of the image, which is mounted; it stays so if the callback holds it
    bool is_pulled;
    nsec_t took;  // the pull, with the wait for its turn
    int64_t bytes;
};

struct image_request {
    const char *name;
    enum pull_policy policy;
    const char *id;  // not NULL: this image is mounted again, never pulled, and its name does not count
    void (*on_pulling)(void *arg);
    void (*on_done)(void *arg, const struct image_result *result);  // the fetch is freed after this returns
    void *arg;
};

/* Finds the image, pulls it as its policy says, and mounts it. Callbacks come later, never at once. */
struct image_fetch;
struct image_fetch *image_fetch_start(struct image_store *store, const struct image_request *request);

/* No callback comes after it. A pull that nobody waits for is ended. */
void image_fetch_cancel(struct image_fetch *fetch);

/* Counts a user of an image, or discounts one; the mount goes with the last. An id without an image is left alone. */
void image_store_hold(struct image_store *store, const char *id);
void image_store_release(struct image_store *store, const char *id);

/* Ends mounts that nobody holds, of pods that have gone while no daemon ran. */
void image_store_sweep(struct image_store *store);

bool image_store_is_mounted(const struct image_store *store, const char *id);

/* The folder of an image; to be freed. */
char *image_store_folder(const struct image_store *store, const char *id);

/* The id of the image with this folder, borrowed from its text; NULL: it is no folder of the store. */
const char *image_store_id(const struct image_store *store, const char *folder);
