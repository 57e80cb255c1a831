/* SPDX-License-Identifier: Apache-2.0 */
#include "local/streams/target.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/macros.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "kube/client/meta.h"
#include "local/api/meta.h"
#include "local/controllers/values.h"
#include "local/server/files.h"
#include "local/server/object_text.h"
#include "local/server/request.h"
#include "local/server/server_parts.h"
#include "local/shim/shim.h"
#include "local/verbs/write.h"
#include "text/json.h"

enum { STATUS_BYTES_MAX = 4 << 20, NAMES_MAX = 4096 };

static const char *name_of(yyjson_mut_val *container)
{
    const char *name = yyjson_mut_get_str(yyjson_mut_obj_get(container, "name"));

    return name ? name : "";
}

static const char *find_container(yyjson_mut_val *spec, const char *wanted, struct strbuf *names)
{
    static const char *const lists[] = {"containers", "initContainers"};
    const char *found = NULL;

    for (size_t k = 0; k < ARRAY_LEN(lists); k++) {
        size_t i, max;
        yyjson_mut_val *container;

        yyjson_mut_arr_foreach(yyjson_mut_obj_get(spec, lists[k]), i, max, container)
        {
            if (strcmp(name_of(container), wanted) == 0)
                found = name_of(container);
            if (k == 0)
                strbuf_addf(names, "%s%s", i > 0 ? " " : "", name_of(container));
        }
    }
    yyjson_mut_val *own = yyjson_mut_obj_get(spec, "containers");
    return !*wanted && yyjson_mut_arr_size(own) == 1 ? name_of(yyjson_mut_arr_get_first(own)) : found;
}

bool target_find(struct request *request, struct target *ret_target)
{
    const struct store_object *object =
        store_get(request->server->store, request->number, request->namespace, request->name);
    const char *wanted = request_query(request, "container");
    struct strbuf names;

    if (!object) {
        fail_not_found(request);
        return false;
    }
    struct target target = {.pod = object_doc(object)};
    strbuf_init(&names, NAMES_MAX);
    target.container = find_container(yyjson_mut_obj_get(yyjson_mut_doc_get_root(target.pod), "spec"), wanted, &names);
    if (!target.container && *wanted)
        fail_bad(request, "container %s is not valid for pod %s", wanted, request->name);
    else if (!target.container)
        fail_bad(request, "a container name must be specified for pod %s, choose one of: [%s]", request->name,
                 names.text);
    strbuf_done(&names);
    if (!target.container) {
        yyjson_mut_doc_free(target.pod);
        return false;
    }
    _cleanup_(freep) char *pods = file_path(request->server->folder, "pods");
    target.folder = file_path(pods, meta_text(target.pod, "uid"));
    *ret_target = target;
    return true;
}

void target_done(struct target *target)
{
    yyjson_mut_doc_free(target->pod);
    free(target->folder);
    *target = (struct target){0};
}

struct target_run target_run(const char *folder, const char *container)
{
    static const char *const lists[] = {"initContainerStatuses", "containerStatuses"};
    _cleanup_(freep) char *path = file_path(folder, POD_STATUS);
    _cleanup_(json_doc_freep) yyjson_doc *doc = NULL;
    struct target_run run = {0};

    if (access(path, F_OK) < 0 || json_read_file(path, STATUS_BYTES_MAX, &doc, NULL) < 0)
        return run;
    yyjson_val *root = yyjson_doc_get_root(doc);
    for (size_t k = 0; k < ARRAY_LEN(lists); k++) {
        size_t i, max;
        yyjson_val *status;

        yyjson_arr_foreach(value_at(root, "status", lists[k]), i, max, status)
        {
            if (strcmp(kube_text(status, "name"), container) != 0)
                continue;
            run.is_known = true;
            run.is_running = value_at(status, "state", "running") != NULL;
            run.has_run = bool_at(root, "runs", container, "hasRun");
            run.restarts = (unsigned)number_at(status, 0, "restartCount");
            (void)snprintf(run.waiting, sizeof run.waiting, "%s", kube_text(status, "state", "waiting", "reason"));
        }
    }
    return run;
}
