/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"
#include "local/openapi/openapi.h"

/* The documents of OpenAPI, one for each group and version, as they were when the kinds had this revision. */
struct openapi_page {
    char *path;  // "api/v1"
    char *text;
    size_t len;
    char hash[OPENAPI_HASH_MAX];
};

struct openapi_pages {
    VEC(struct openapi_page) items;
    uint64_t revision;
};

void openapi_pages_done(struct openapi_pages *pages);
