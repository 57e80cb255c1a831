/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* The CRDs of the release, which are part of the program: deploy/crds, as the build found it. */
struct release_crd {
    const char *name;
    const char *text;  // YAML
    const uint64_t *len;
};

/* NULL past the last one. */
const struct release_crd *release_crd_at(size_t i);
