/* SPDX-License-Identifier: Apache-2.0 */

/* All other kinds that show more than a name and an age. */
#include <stdio.h>
#include <string.h>

#include "base/strbuf.h"
#include "local/tables/tables.h"
#include "local/tables/tables_internal.h"

enum { TEXT_MAX = 4096 };

/* --- ConfigMaps, Secrets, namespaces --- */

static yyjson_mut_val *data_count(yyjson_val *object, nsec_t now, yyjson_mut_doc *out)
{
    (void)now;
    return yyjson_mut_uint(out, yyjson_obj_size(yyjson_obj_get(object, "data")) +
                                    yyjson_obj_size(yyjson_obj_get(object, "binaryData")));
}

static yyjson_mut_val *type(yyjson_val *object, nsec_t now, yyjson_mut_doc *out)
{
    (void)now;
    return cell_copy(object, "type", "", out);
}

static yyjson_mut_val *phase(yyjson_val *object, nsec_t now, yyjson_mut_doc *out)
{
    (void)now;
    return cell_copy(object, "status.phase", "", out);
}

static const struct table_column config_columns[] = {
    {"Data", "string", "", 0, data_count}, {"Age", "string", "", 0, cell_age}, {0}};

static const struct table_column secret_columns[] = {
    {"Type", "string", "", 0, type}, {"Data", "string", "", 0, data_count}, {"Age", "string", "", 0, cell_age}, {0}};

static const struct table_column namespace_columns[] = {
    {"Status", "string", "", 0, phase}, {"Age", "string", "", 0, cell_age}, {0}};

/* --- Leases and priority classes --- */

static yyjson_mut_val *holder(yyjson_val *object, nsec_t now, yyjson_mut_doc *out)
{
    (void)now;
    return cell_copy(object, "spec.holderIdentity", "", out);
}

static yyjson_mut_val *value(yyjson_val *object, nsec_t now, yyjson_mut_doc *out)
{
    (void)now;
    return yyjson_mut_sint(out, cell_number(object, "value"));
}

static yyjson_mut_val *global_default(yyjson_val *object, nsec_t now, yyjson_mut_doc *out)
{
    (void)now;
    return yyjson_mut_bool(out, yyjson_is_true(yyjson_obj_get(object, "globalDefault")));
}

static yyjson_mut_val *preemption(yyjson_val *object, nsec_t now, yyjson_mut_doc *out)
{
    (void)now;
    return cell_copy(object, "preemptionPolicy", "", out);
}

static yyjson_mut_val *handler(yyjson_val *object, nsec_t now, yyjson_mut_doc *out)
{
    (void)now;
    return cell_copy(object, "handler", "", out);
}

static const struct table_column runtime_class_columns[] = {
    {"Handler", "string", "", 0, handler},
    {"Age", "string", "", 0, cell_age},
    {0},
};

static const struct table_column lease_columns[] = {
    {"Holder", "string", "", 0, holder}, {"Age", "string", "", 0, cell_age}, {0}};

static const struct table_column priority_columns[] = {
    {"Value", "integer", "", 0, value},
    {"Global-Default", "boolean", "", 0, global_default},
    {"Age", "string", "", 0, cell_age},
    {"PreemptionPolicy", "string", "", 0, preemption},
    {0},
};

/* --- Events --- */

/* When an event was last seen is in one of several members. */
static yyjson_mut_val *since_any(yyjson_val *event, const char *const *paths, nsec_t now, yyjson_mut_doc *out)
{
    for (; *paths; paths++) {
        if (*cell_text(event, *paths, ""))
            return cell_since(event, *paths, now, out);
    }
    return yyjson_mut_str(out, "<unknown>");
}

static yyjson_mut_val *last_seen(yyjson_val *event, nsec_t now, yyjson_mut_doc *out)
{
    static const char *const paths[] = {"series.lastObservedTime", "lastTimestamp", "firstTimestamp", "eventTime",
                                        NULL};

    return since_any(event, paths, now, out);
}

static yyjson_mut_val *first_seen(yyjson_val *event, nsec_t now, yyjson_mut_doc *out)
{
    static const char *const paths[] = {"firstTimestamp", "eventTime", NULL};

    return since_any(event, paths, now, out);
}

static yyjson_mut_val *reason(yyjson_val *event, nsec_t now, yyjson_mut_doc *out)
{
    (void)now;
    return cell_copy(event, "reason", "", out);
}

static yyjson_mut_val *about(yyjson_val *event, nsec_t now, yyjson_mut_doc *out)
{
    const char *kind = cell_text(event, "involvedObject.kind", "");
    const char *name = cell_text(event, "involvedObject.name", "");
    char text[TEXT_MAX];
    size_t len;

    (void)now;
    (void)snprintf(text, sizeof text, "%s", kind);
    for (char *at = text; *at; at++)
        *at = (char)(*at >= 'A' && *at <= 'Z' ? *at - 'A' + 'a' : *at);
    len = strlen(text);
    if (*name)
        (void)snprintf(text + len, sizeof text - len, "/%s", name);
    return yyjson_mut_strcpy(out, text);
}

static yyjson_mut_val *part(yyjson_val *event, nsec_t now, yyjson_mut_doc *out)
{
    (void)now;
    return cell_copy(event, "involvedObject.fieldPath", "", out);
}

static yyjson_mut_val *source(yyjson_val *event, nsec_t now, yyjson_mut_doc *out)
{
    const char *component = cell_text(event, "source.component", "");
    const char *host = cell_text(event, "source.host", "");
    char text[TEXT_MAX];

    (void)now;
    if (!*component)
        component = cell_text(event, "reportingComponent", "");
    if (!*host)
        host = cell_text(event, "reportingInstance", "");
    (void)snprintf(text, sizeof text, "%s%s%s", component, *host ? ", " : "", host);
    return yyjson_mut_strcpy(out, text);
}

static yyjson_mut_val *message(yyjson_val *event, nsec_t now, yyjson_mut_doc *out)
{
    const char *text = cell_text(event, "message", "");
    size_t len = strlen(text);

    (void)now;
    while (len > 0 && strchr(" \n\t\r", text[len - 1]))
        len--;
    return yyjson_mut_strncpy(out, text, len);
}

static yyjson_mut_val *count(yyjson_val *event, nsec_t now, yyjson_mut_doc *out)
{
    int64_t times = cell_number(event, "series.count");

    (void)now;
    if (!times)
        times = cell_number(event, "count");
    return yyjson_mut_sint(out, times ? times : 1);
}

static yyjson_mut_val *name(yyjson_val *event, nsec_t now, yyjson_mut_doc *out)
{
    (void)now;
    return cell_copy(event, "metadata.name", "", out);
}

static const struct table_column event_columns[] = {
    {"Last Seen", "string", "", 0, last_seen},
    {"Type", "string", "", 0, type},
    {"Reason", "string", "", 0, reason},
    {"Object", "string", "", 0, about},
    {"Subobject", "string", "", 1, part},
    {"Source", "string", "", 1, source},
    {"Message", "string", "", 0, message},
    {"First Seen", "string", "", 1, first_seen},
    {"Count", "string", "", 1, count},
    {"Name", "string", "name", 1, name},
    {0},
};

/* --- Services --- */

static yyjson_mut_val *service_type(yyjson_val *service, nsec_t now, yyjson_mut_doc *out)
{
    (void)now;
    return cell_copy(service, "spec.type", "ClusterIP", out);
}

static yyjson_mut_val *cluster_ip(yyjson_val *service, nsec_t now, yyjson_mut_doc *out)
{
    (void)now;
    return cell_copy(service, "spec.clusterIP", "<none>", out);
}

static yyjson_mut_val *external_ip(yyjson_val *service, nsec_t now, yyjson_mut_doc *out)
{
    (void)now;
    return cell_copy(service, "spec.externalName", "<none>", out);
}

static yyjson_mut_val *ports(yyjson_val *service, nsec_t now, yyjson_mut_doc *out)
{
    yyjson_arr_iter iter = yyjson_arr_iter_with(cell_at(service, "spec.ports"));
    struct strbuf text;

    (void)now;
    strbuf_init(&text, TEXT_MAX);
    for (yyjson_val *item; (item = yyjson_arr_iter_next(&iter));) {
        strbuf_addf(&text, "%s%lld", text.len ? "," : "", (long long)cell_number(item, "port"));
        if (cell_number(item, "nodePort"))
            strbuf_addf(&text, ":%lld", (long long)cell_number(item, "nodePort"));
        strbuf_addf(&text, "/%s", cell_text(item, "protocol", "TCP"));
    }
    yyjson_mut_val *cell = yyjson_mut_strcpy(out, text.len ? text.text : "<none>");

    strbuf_done(&text);
    return cell;
}

/* A service selects by plain labels. */
static yyjson_mut_val *service_selector(yyjson_val *service, nsec_t now, yyjson_mut_doc *out)
{
    (void)now;
    return cell_labels(cell_at(service, "spec.selector"), out);
}

static const struct table_column service_columns[] = {
    {"Type", "string", "", 0, service_type},
    {"Cluster-IP", "string", "", 0, cluster_ip},
    {"External-IP", "string", "", 0, external_ip},
    {"Port(s)", "string", "", 0, ports},
    {"Age", "string", "", 0, cell_age},
    {"Selector", "string", "", 1, service_selector},
    {0},
};

const struct table_kind other_tables[] = {
    {"", "configmaps", config_columns},
    {"", "secrets", secret_columns},
    {"", "namespaces", namespace_columns},
    {"", "events", event_columns},
    {"", "services", service_columns},
    {"coordination.k8s.io", "leases", lease_columns},
    {"node.k8s.io", "runtimeclasses", runtime_class_columns},
    {"scheduling.k8s.io", "priorityclasses", priority_columns},
    {0},
};
