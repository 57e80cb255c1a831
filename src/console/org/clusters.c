/* SPDX-License-Identifier: Apache-2.0 */

/* The cluster that the console writes to. */
#include <errno.h>
#include <string.h>

#include "console/org/sync.h"
#include "console/rest/handlers.h"

static yyjson_mut_val *encode_cluster(struct request *request)
{
    struct console *console = request->console;
    yyjson_mut_doc *doc = request->doc;
    yyjson_mut_val *cluster = yyjson_mut_obj(doc);

    put_text(doc, cluster, "uuid", console->cluster_id);
    (void)yyjson_mut_obj_add_int(doc, cluster, "tenantId", TENANT_ID);
    put_text(doc, cluster, "name", console->flags->cluster_name);
    put_text(doc, cluster, "createdAt", console->cluster_since);
    (void)yyjson_mut_obj_add_null(doc, cluster, "domain");
    yyjson_mut_val *status = yyjson_mut_obj_add_obj(doc, cluster, "status");
    put_text(doc, status, "state", sync_is_connected(console->sync) ? "Connected" : "Disconnected");
    return cluster;
}

static int list_clusters(struct request *request, struct err *err)
{
    (void)err;
    request->answer = yyjson_mut_arr(request->doc);
    (void)yyjson_mut_arr_append(request->answer, encode_cluster(request));
    return 0;
}
READS(handle_list_clusters, list_clusters)

static int get_cluster(struct request *request, struct err *err)
{
    const char *id = rest_param(request->exchange, "clusterUuid");

    if (strcmp(id, request->console->cluster_id) != 0)
        return err_set(err, -ENOENT, "there is no cluster '%.50s'", id);
    request->answer = encode_cluster(request);
    return 0;
}
READS(handle_get_cluster, get_cluster)
