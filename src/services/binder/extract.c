/* SPDX-License-Identifier: Apache-2.0 */
#include "services/binder/extract.h"

#include <stdlib.h>
#include <string.h>

#include "base/macros.h"
#include "kube/client/meta.h"
#include "objects/keys.h"
#include "services/binder/documents/names.h"
#include "text/json.h"

/* More than tolerations and references of any usual pod. */
enum { EXTRACT_BYTES_MAX = 8 << 10 };

static void copy_member(yyjson_mut_doc *doc, yyjson_mut_val *to, yyjson_val *from, const char *key)
{
    yyjson_val *value = yyjson_obj_get(from, key);

    if (value)
        yyjson_mut_obj_add_val(doc, to, key, yyjson_val_mut_copy(doc, value));
}

/* Of the variables, the one that names devices. */
static void copy_containers(yyjson_mut_doc *doc, yyjson_mut_val *spec, yyjson_val *pod, const char *list)
{
    yyjson_val *containers = yyjson_obj_get(yyjson_obj_get(pod, "spec"), list);
    yyjson_val *container, *env;
    size_t i, max, j, env_max;

    if (!containers)
        return;
    yyjson_mut_val *copies = yyjson_mut_obj_add_arr(doc, spec, list);
    yyjson_arr_foreach(containers, i, max, container)
    {
        yyjson_mut_val *copy = yyjson_mut_arr_add_obj(doc, copies);

        copy_member(doc, copy, container, "name");
        copy_member(doc, copy, container, "envFrom");
        yyjson_mut_val *envs = yyjson_mut_obj_add_arr(doc, copy, "env");
        yyjson_arr_foreach(yyjson_obj_get(container, "env"), j, env_max, env)
        {
            if (strcmp(kube_text(env, "name"), "NVIDIA_VISIBLE_DEVICES") == 0)
                yyjson_mut_arr_append(envs, yyjson_val_mut_copy(doc, env));
        }
    }
}

char *extract_sharer(yyjson_val *pod)
{
    yyjson_val *annotations = yyjson_obj_get(yyjson_obj_get(pod, "metadata"), "annotations");
    yyjson_mut_val *root;
    size_t len = 0;

    if (!yyjson_obj_get(annotations, KEY_GPU_FRACTION) && !yyjson_obj_get(annotations, KEY_GPU_MEMORY))
        return NULL;
    yyjson_mut_doc *doc = json_new_object(&root);
    yyjson_mut_val *meta = yyjson_mut_obj_add_obj(doc, root, "metadata");
    yyjson_mut_val *notes = yyjson_mut_obj_add_obj(doc, meta, "annotations");
    copy_member(doc, notes, annotations, KEY_SHARED_GPU_CONFIG);
    copy_member(doc, notes, annotations, KEY_GPU_CONTAINER);
    yyjson_mut_val *spec = yyjson_mut_obj_add_obj(doc, root, "spec");
    copy_containers(doc, spec, pod, "initContainers");
    copy_containers(doc, spec, pod, "containers");
    copy_member(doc, spec, yyjson_obj_get(pod, "spec"), "tolerations");
    char *text = yyjson_mut_write(doc, 0, &len);
    yyjson_mut_doc_free(doc);
    if (text && len <= EXTRACT_BYTES_MAX)
        return text;
    free(text);
    return NULL;
}
