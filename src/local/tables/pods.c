/* SPDX-License-Identifier: Apache-2.0 */

/* Pods and nodes. */
#include <stdio.h>
#include <string.h>

#include "base/strbuf.h"
#include "local/tables/tables.h"
#include "local/tables/tables_internal.h"

enum { STATUS_MAX = 256, ROLES_MAX = 1024 };

/* --- Pods --- */

static yyjson_val *status_of(yyjson_val *pod, const char *list)
{
    return yyjson_obj_get(yyjson_obj_get(pod, "status"), list);
}

static yyjson_mut_val *pod_ready(yyjson_val *pod, nsec_t now, yyjson_mut_doc *out)
{
    yyjson_arr_iter iter = yyjson_arr_iter_with(status_of(pod, "containerStatuses"));
    int ready = 0;
    char text[64];

    (void)now;
    for (yyjson_val *item; (item = yyjson_arr_iter_next(&iter));)
        ready += yyjson_is_true(yyjson_obj_get(item, "ready"));
    (void)snprintf(text, sizeof text, "%d/%zu", ready, yyjson_arr_size(cell_at(pod, "spec.containers")));
    return yyjson_mut_strcpy(out, text);
}

/* The reason that a container waits for or ended with; "" while it runs. */
static void container_state(yyjson_val *container, char text[static STATUS_MAX])
{
    yyjson_val *ended = cell_at(container, "state.terminated");
    const char *reason = cell_text(container, "state.waiting.reason", "");

    if (*reason)
        (void)snprintf(text, STATUS_MAX, "%s", reason);
    else if (*cell_text(ended, "reason", ""))
        (void)snprintf(text, STATUS_MAX, "%s", cell_text(ended, "reason", ""));
    else if (ended && cell_number(ended, "signal"))
        (void)snprintf(text, STATUS_MAX, "Signal:%lld", (long long)cell_number(ended, "signal"));
    else if (ended)
        (void)snprintf(text, STATUS_MAX, "ExitCode:%lld", (long long)cell_number(ended, "exitCode"));
    else
        text[0] = '\0';
}

/* "Init:1/2" or "Init:Error" while init containers are on; whether they are. */
static bool init_state(yyjson_val *pod, char text[static STATUS_MAX])
{
    yyjson_arr_iter iter = yyjson_arr_iter_with(status_of(pod, "initContainerStatuses"));
    size_t count = yyjson_arr_size(cell_at(pod, "spec.initContainers"));
    char state[STATUS_MAX];
    size_t done = 0;

    for (yyjson_val *item; (item = yyjson_arr_iter_next(&iter)); done++) {
        yyjson_val *ended = cell_at(item, "state.terminated");
        if ((ended && cell_number(ended, "exitCode") == 0) || yyjson_is_true(yyjson_obj_get(item, "started")))
            continue;
        container_state(item, state);
        if (!*state || strcmp(state, "PodInitializing") == 0)
            (void)snprintf(text, STATUS_MAX, "Init:%zu/%zu", done, count);
        else
            (void)snprintf(text, STATUS_MAX, "Init:%.200s", state);
        return true;
    }
    return false;
}

static void containers_state(yyjson_val *pod, char text[static STATUS_MAX])
{
    yyjson_val *list = status_of(pod, "containerStatuses");
    bool has_running = false;
    char state[STATUS_MAX];

    /* The first container counts most. */
    for (size_t i = yyjson_arr_size(list); i > 0; i--) {
        yyjson_val *item = yyjson_arr_get(list, i - 1);
        container_state(item, state);
        if (*state)
            (void)snprintf(text, STATUS_MAX, "%s", state);
        has_running |= cell_at(item, "state.running") && yyjson_is_true(yyjson_obj_get(item, "ready"));
    }
    if (has_running && strcmp(text, "Completed") == 0)
        (void)snprintf(text, STATUS_MAX, "Running");
}

static yyjson_mut_val *pod_status(yyjson_val *pod, nsec_t now, yyjson_mut_doc *out)
{
    char text[STATUS_MAX];
    const char *reason = cell_text(pod, "status.reason", "");

    (void)now;
    (void)snprintf(text, sizeof text, "%s", *reason ? reason : cell_text(pod, "status.phase", ""));
    if (!cell_at(pod, "metadata.deletionTimestamp") && yyjson_arr_size(cell_at(pod, "spec.schedulingGates")) > 0)
        (void)snprintf(text, sizeof text, "SchedulingGated");
    if (!init_state(pod, text))
        containers_state(pod, text);
    if (cell_at(pod, "metadata.deletionTimestamp"))
        (void)snprintf(text, sizeof text, "%s", strcmp(reason, "NodeLost") == 0 ? "Unknown" : "Terminating");
    return yyjson_mut_strcpy(out, text);
}

static yyjson_mut_val *pod_restarts(yyjson_val *pod, nsec_t now, yyjson_mut_doc *out)
{
    yyjson_arr_iter iter = yyjson_arr_iter_with(status_of(pod, "containerStatuses"));
    long long restarts = 0;
    nsec_t last = 0;
    char text[AGE_TEXT_MAX + 32];
    char age[AGE_TEXT_MAX];

    for (yyjson_val *item; (item = yyjson_arr_iter_next(&iter));) {
        nsec_t end = 0;
        restarts += cell_number(item, "restartCount");
        if (time_parse(cell_text(item, "lastState.terminated.finishedAt", ""), &end, NULL) == 0 && end > last)
            last = end;
    }
    if (restarts > 0 && last > 0)
        (void)snprintf(text, sizeof text, "%lld (%s ago)", restarts, table_age(now - last, age));
    else
        (void)snprintf(text, sizeof text, "%lld", restarts);
    return yyjson_mut_strcpy(out, text);
}

static yyjson_mut_val *pod_ip(yyjson_val *pod, nsec_t now, yyjson_mut_doc *out)
{
    (void)now;
    return cell_copy(pod, "status.podIP", "<none>", out);
}

static yyjson_mut_val *pod_node(yyjson_val *pod, nsec_t now, yyjson_mut_doc *out)
{
    (void)now;
    return cell_copy(pod, "spec.nodeName", "<none>", out);
}

static yyjson_mut_val *pod_nominated(yyjson_val *pod, nsec_t now, yyjson_mut_doc *out)
{
    (void)now;
    return cell_copy(pod, "status.nominatedNodeName", "<none>", out);
}

static bool is_true_condition(yyjson_val *pod, const char *type)
{
    yyjson_arr_iter iter = yyjson_arr_iter_with(status_of(pod, "conditions"));

    for (yyjson_val *item; (item = yyjson_arr_iter_next(&iter));) {
        if (strcmp(cell_text(item, "type", ""), type) == 0)
            return strcmp(cell_text(item, "status", ""), "True") == 0;
    }
    return false;
}

static yyjson_mut_val *pod_gates(yyjson_val *pod, nsec_t now, yyjson_mut_doc *out)
{
    yyjson_val *gates = cell_at(pod, "spec.readinessGates");
    yyjson_arr_iter iter = yyjson_arr_iter_with(gates);
    size_t passed = 0;
    char text[64];

    (void)now;
    for (yyjson_val *gate; (gate = yyjson_arr_iter_next(&iter));)
        passed += is_true_condition(pod, cell_text(gate, "conditionType", ""));
    if (yyjson_arr_size(gates) == 0)
        return yyjson_mut_str(out, "<none>");
    (void)snprintf(text, sizeof text, "%zu/%zu", passed, yyjson_arr_size(gates));
    return yyjson_mut_strcpy(out, text);
}

static const struct table_column pod_columns[] = {
    {"Ready", "string", "", 0, pod_ready},
    {"Status", "string", "", 0, pod_status},
    {"Restarts", "string", "", 0, pod_restarts},
    {"Age", "string", "", 0, cell_age},
    {"IP", "string", "", 1, pod_ip},
    {"Node", "string", "", 1, pod_node},
    {"Nominated Node", "string", "", 1, pod_nominated},
    {"Readiness Gates", "string", "", 1, pod_gates},
    {0},
};

/* --- Nodes --- */

static yyjson_mut_val *node_status(yyjson_val *node, nsec_t now, yyjson_mut_doc *out)
{
    yyjson_arr_iter iter = yyjson_arr_iter_with(cell_at(node, "status.conditions"));
    const char *ready = "Unknown";
    char text[64];

    (void)now;
    for (yyjson_val *item; (item = yyjson_arr_iter_next(&iter));) {
        if (strcmp(cell_text(item, "type", ""), "Ready") == 0)
            ready = strcmp(cell_text(item, "status", ""), "True") == 0 ? "Ready" : "NotReady";
    }
    (void)snprintf(text, sizeof text, "%s%s", ready,
                   yyjson_is_true(cell_at(node, "spec.unschedulable")) ? ",SchedulingDisabled" : "");
    return yyjson_mut_strcpy(out, text);
}

static yyjson_mut_val *node_roles(yyjson_val *node, nsec_t now, yyjson_mut_doc *out)
{
    static const char prefix[] = "node-role.kubernetes.io/";
    yyjson_obj_iter iter = yyjson_obj_iter_with(cell_at(node, "metadata.labels"));
    struct strbuf text;

    (void)now;
    strbuf_init(&text, ROLES_MAX);
    for (yyjson_val *key; (key = yyjson_obj_iter_next(&iter));) {
        const char *label = yyjson_get_str(key);
        const char *role = NULL;
        if (strncmp(label, prefix, strlen(prefix)) == 0 && label[strlen(prefix)])
            role = label + strlen(prefix);
        else if (strcmp(label, "kubernetes.io/role") == 0)
            role = yyjson_get_str(yyjson_obj_iter_get_val(key));
        if (role)
            strbuf_addf(&text, "%s%s", text.len ? "," : "", role);
    }
    yyjson_mut_val *value = yyjson_mut_strcpy(out, text.len ? text.text : "<none>");

    strbuf_done(&text);
    return value;
}

static yyjson_mut_val *node_address(yyjson_val *node, const char *type, yyjson_mut_doc *out)
{
    yyjson_arr_iter iter = yyjson_arr_iter_with(cell_at(node, "status.addresses"));

    for (yyjson_val *item; (item = yyjson_arr_iter_next(&iter));) {
        if (strcmp(cell_text(item, "type", ""), type) == 0)
            return cell_copy(item, "address", "<none>", out);
    }
    return yyjson_mut_str(out, "<none>");
}

static yyjson_mut_val *node_internal(yyjson_val *node, nsec_t now, yyjson_mut_doc *out)
{
    (void)now;
    return node_address(node, "InternalIP", out);
}

static yyjson_mut_val *node_external(yyjson_val *node, nsec_t now, yyjson_mut_doc *out)
{
    (void)now;
    return node_address(node, "ExternalIP", out);
}

/* Of what nodes report about themselves, the part that is missing or empty is unknown. */
static yyjson_mut_val *node_info(yyjson_val *node, const char *member, const char *fallback, yyjson_mut_doc *out)
{
    const char *text = cell_text(cell_at(node, "status.nodeInfo"), member, "");

    return yyjson_mut_strcpy(out, *text ? text : fallback);
}

static yyjson_mut_val *node_version(yyjson_val *node, nsec_t now, yyjson_mut_doc *out)
{
    (void)now;
    return node_info(node, "kubeletVersion", "", out);
}

static yyjson_mut_val *node_image(yyjson_val *node, nsec_t now, yyjson_mut_doc *out)
{
    (void)now;
    return node_info(node, "osImage", "<unknown>", out);
}

static yyjson_mut_val *node_kernel(yyjson_val *node, nsec_t now, yyjson_mut_doc *out)
{
    (void)now;
    return node_info(node, "kernelVersion", "<unknown>", out);
}

static yyjson_mut_val *node_runtime(yyjson_val *node, nsec_t now, yyjson_mut_doc *out)
{
    (void)now;
    return node_info(node, "containerRuntimeVersion", "<unknown>", out);
}

static const struct table_column node_columns[] = {
    {"Status", "string", "", 0, node_status},
    {"Roles", "string", "", 0, node_roles},
    {"Age", "string", "", 0, cell_age},
    {"Version", "string", "", 0, node_version},
    {"Internal-IP", "string", "", 1, node_internal},
    {"External-IP", "string", "", 1, node_external},
    {"OS-Image", "string", "", 1, node_image},
    {"Kernel-Version", "string", "", 1, node_kernel},
    {"Container-Runtime", "string", "", 1, node_runtime},
    {0},
};

const struct table_kind pod_tables[] = {{"", "pods", pod_columns}, {"", "nodes", node_columns}, {0}};
