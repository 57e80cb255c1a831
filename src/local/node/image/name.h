/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <yyjson.h>

#include "base/macros.h"

struct err;

/* Names of images: [HOST[:PORT]/]PATH[:TAG][@DIGEST]. */
enum { IMAGE_NAME_MAX = 1024 };

/* Whether a container with this image is a process of the machine: the names that stand for no image. */
bool image_name_is_process(const char *name);

/*
 * The name as podman is asked for it: with the tag `latest` where it has neither a tag nor a digest, and without its tag where it
 * has both, because a digest says everything. Nothing that podman takes for an option, a file or the number of an image
 * passes. To be freed; -EINVAL for text that is no name.
 */
MUST_CHECK int image_name_full(const char *name, char **ret_full, struct err *err);

/* When an image is pulled, as Kubernetes defines it. */
enum pull_policy { PULL_IF_NOT_PRESENT, PULL_ALWAYS, PULL_NEVER };

/* The policy of a container; the server has filled in its default. */
enum pull_policy pull_policy_of(yyjson_val *container);
