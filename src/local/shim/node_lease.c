/* SPDX-License-Identifier: Apache-2.0 */
#include "local/shim/node_lease.h"

#include <stdio.h>
#include <string.h>

#include "kube/client/meta.h"
#include "local/controllers/values.h"
#include "local/server/files.h"
#include "local/shim/process_id.h"
#include "text/json.h"

enum { LEASE_BYTES_MAX = 4096 };

/* A container that is told to end has this long at least (container.c). */
#define GRACE_MIN (2 * NSEC_PER_SEC)

struct node_lease node_lease_of(nsec_t duration, nsec_t renewed)
{
    nsec_t grace = MAX(duration / 5, GRACE_MIN);

    return (struct node_lease){.until = renewed + duration - duration / 10 - grace, .grace = grace};
}

int node_lease_write(const char *path, const struct node_lease *lease, struct err *err)
{
    char text[256], boot[BOOT_ID_MAX];
    int len = snprintf(text, sizeof text, "{\"bootId\":\"%s\",\"until\":%lld,\"grace\":%lld}\n", boot_id(boot),
                       (long long)lease->until, (long long)lease->grace);

    return file_replace(path, text, (size_t)len, err);
}

bool node_lease_read(const char *path, struct node_lease *ret_lease)
{
    _cleanup_(json_doc_freep) yyjson_doc *doc = NULL;
    char boot[BOOT_ID_MAX];

    if (json_read_file(path, LEASE_BYTES_MAX, &doc, NULL) < 0)
        return false;
    yyjson_val *root = yyjson_doc_get_root(doc);

    if (strcmp(kube_text(root, "bootId"), boot_id(boot)) != 0)
        return false;
    *ret_lease = (struct node_lease){.until = number_at(root, 0, "until"), .grace = number_at(root, 0, "grace")};
    return ret_lease->until > nsec_now_boot();
}
