/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <sys/types.h>
#include <yyjson.h>

#include "base/macros.h"

struct err;

/*
 * Root folders in place of images. A file maps names of images to folders, a line each:
 *
 *     # comment
 *     registry.example/tools/python:3.12 = /srv/images/python
 *     busybox = /srv/images/busybox
 *
 * A name without a tag stands for all its tags and digests; one with a tag comes first. FOLDER.json, where it is there,
 * is the configuration of the image in OCI's form; its `config` says what runs by default.
 */
enum { IMAGE_MAP_BYTES_MAX = 1 << 20, IMAGE_MAP_ROWS_MAX = 4096 };

struct image_map;

/* Reads a map from its text; `name` stands for the file in messages. Returns 0 or -EINVAL with the line that is wrong. */
MUST_CHECK int image_map_parse(const char *text, const char *name, struct image_map **ret_map, struct err *err);

/* Reads the file, and checks that the folders are there. */
MUST_CHECK int image_map_read(const char *path, struct image_map **ret_map, struct err *err);
void image_map_free(struct image_map *map);

/* The folder of an image; borrowed. NULL: the map, which may be NULL, does not have it. */
const char *image_map_folder(const struct image_map *map, const char *image);

/* An image that a container runs in. */
struct image {
    const char *folder;  // NULL: the container has the file system of the machine
    const char *id;      // that clients see
    yyjson_doc *doc;
    yyjson_val *config;  // NULL: there is no configuration
};

/* Reads the configuration of an image in a folder, whose name is borrowed. Returns 0, also when there is none, or a negative
 * errno for one that is wrong. */
MUST_CHECK int image_open(struct image *image, const char *folder, struct err *err);
void image_done(struct image *image);

/* The user and group that the image names; -1: none. One that its accounts do not have is -EINVAL. */
MUST_CHECK int image_user(const struct image *image, int64_t *ret_uid, int64_t *ret_gid, struct err *err);
