/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <yyjson.h>

struct api_kind;
struct server;

/* The documents of discovery; each is freed by the caller. */

/* APIGroupDiscoveryList of the version of that API: the core alone, or all other groups. */
yyjson_mut_doc *discovery_aggregated(const struct server *server, const char *version, bool is_core);

yyjson_mut_doc *discovery_core_versions(const struct server *server);                // APIVersions
yyjson_mut_doc *discovery_groups(const struct server *server);                       // APIGroupList
yyjson_mut_doc *discovery_group(const struct server *server, const char *group);     // APIGroup; NULL: no such one
yyjson_mut_doc *discovery_resources(const struct server *server, const char *group,  // APIResourceList
                                    const char *version);

/* The subresources of a kind: the row at `index`, false past the last one. */
struct discovery_part {
    const char *name;
    const char *group, *version, *kind;  // of what it takes and gives
    const char *verbs;
};
bool discovery_part_at(const struct api_kind *kind, size_t index, struct discovery_part *ret_part);

/* The verbs of the kind itself, separated by spaces. */
const char *discovery_verbs(const struct api_kind *kind);
