/* SPDX-License-Identifier: Apache-2.0 */

/* Any bytes are an answer of a kubelet or none. A placement that comes of it is JSON with zones that hold something, and belongs to
 * a pod with a name. */
#include <string.h>

#include "base/macros.h"
#include "fuzz.h"
#include "services/numa_exporter/cpu_zones.h"
#include "services/numa_exporter/placement.h"
#include "text/json.h"

static void check(const struct placed_pod *pod)
{
    _cleanup_(json_doc_freep) yyjson_doc *doc = NULL;
    size_t i, max;
    yyjson_val *item;

    BUG_ON(!*pod->namespace || !*pod->name);
    BUG_ON(json_parse(pod->placement, strlen(pod->placement), "placement", &doc, NULL) < 0);
    BUG_ON(yyjson_arr_size(yyjson_doc_get_root(doc)) == 0);
    yyjson_arr_foreach(yyjson_doc_get_root(doc), i, max, item)
    {
        BUG_ON(!yyjson_is_str(yyjson_obj_get(item, "zone")));
        BUG_ON(yyjson_obj_size(yyjson_obj_get(item, "amount")) == 0);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct placed_pods pods = {0};
    struct cpu_zones zones = {0};

    for (int cpu = 0; cpu < 16; cpu++)
        vec_push(&zones.zone_plus_one, cpu % 3);
    if (placed_pods_decode((const char *)data, size, &zones, &pods, NULL) >= 0) {
        vec_foreach (&pods, pod)
            check(pod);
    }
    placed_pods_done(&pods);
    cpu_zones_done(&zones);
    return 0;
}
