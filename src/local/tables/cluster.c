/* SPDX-License-Identifier: Apache-2.0 */

/* Rights, networks, devices and other kinds that belong to a cluster. */
#include <stdio.h>
#include <string.h>

#include "base/strbuf.h"
#include "local/tables/tables.h"
#include "local/tables/tables_internal.h"

enum { TEXT_MAX = 4096, SHOWN_MAX = 3 };

static yyjson_mut_val *take(struct strbuf *text, const char *fallback, yyjson_mut_doc *out)
{
    yyjson_mut_val *cell = yyjson_mut_strcpy(out, text->len ? text->text : fallback);

    strbuf_done(text);
    return cell;
}

static const struct table_column age_columns[] = {{"Age", "string", "", 0, cell_age}, {0}};

/* --- Rights --- */

static yyjson_mut_val *role(yyjson_val *binding, nsec_t now, yyjson_mut_doc *out)
{
    char text[TEXT_MAX];

    (void)now;
    (void)snprintf(text, sizeof text, "%s/%s", cell_text(binding, "roleRef.kind", ""),
                   cell_text(binding, "roleRef.name", ""));
    return yyjson_mut_strcpy(out, text);
}

static yyjson_mut_val *subjects(yyjson_val *binding, const char *kind, yyjson_mut_doc *out)
{
    yyjson_arr_iter iter = yyjson_arr_iter_with(cell_at(binding, "subjects"));
    struct strbuf text;

    strbuf_init(&text, TEXT_MAX);
    for (yyjson_val *subject; (subject = yyjson_arr_iter_next(&iter));) {
        const char *namespace = cell_text(subject, "namespace", "");
        bool is_account = strcmp(kind, "ServiceAccount") == 0;
        if (strcmp(cell_text(subject, "kind", ""), kind) == 0)
            strbuf_addf(&text, "%s%s%s%s", text.len ? ", " : "", is_account ? namespace : "", is_account ? "/" : "",
                        cell_text(subject, "name", ""));
    }
    return take(&text, "", out);
}

static yyjson_mut_val *users(yyjson_val *binding, nsec_t now, yyjson_mut_doc *out)
{
    (void)now;
    return subjects(binding, "User", out);
}

static yyjson_mut_val *groups(yyjson_val *binding, nsec_t now, yyjson_mut_doc *out)
{
    (void)now;
    return subjects(binding, "Group", out);
}

static yyjson_mut_val *accounts(yyjson_val *binding, nsec_t now, yyjson_mut_doc *out)
{
    (void)now;
    return subjects(binding, "ServiceAccount", out);
}

static const struct table_column binding_columns[] = {
    {"Role", "string", "", 0, role},
    {"Age", "string", "", 0, cell_age},
    {"Users", "string", "", 1, users},
    {"Groups", "string", "", 1, groups},
    {"ServiceAccounts", "string", "", 1, accounts},
    {0},
};

/* --- Webhooks --- */

CELL_COUNT(webhook_count, "webhooks")

static const struct table_column webhook_columns[] = {
    {"Webhooks", "integer", "", 0, webhook_count}, {"Age", "string", "", 0, cell_age}, {0}};

/* --- Networks --- */

static yyjson_mut_val *policy_pods(yyjson_val *policy, nsec_t now, yyjson_mut_doc *out)
{
    (void)now;
    return cell_selector(cell_at(policy, "spec.podSelector"), out);
}

static yyjson_mut_val *hosts(yyjson_val *ingress, nsec_t now, yyjson_mut_doc *out)
{
    yyjson_arr_iter iter = yyjson_arr_iter_with(cell_at(ingress, "spec.rules"));
    size_t rest = 0, count = 0;
    struct strbuf text;

    (void)now;
    strbuf_init(&text, TEXT_MAX);
    for (yyjson_val *rule; (rule = yyjson_arr_iter_next(&iter));) {
        const char *host = cell_text(rule, "host", "");
        if (!*host)
            continue;
        if (count++ < SHOWN_MAX)
            strbuf_addf(&text, "%s%s", text.len ? "," : "", host);
        else
            rest++;
    }
    if (rest)
        strbuf_addf(&text, " + %zu more...", rest);
    return take(&text, "*", out);
}

static yyjson_mut_val *ingress_address(yyjson_val *ingress, nsec_t now, yyjson_mut_doc *out)
{
    yyjson_arr_iter iter = yyjson_arr_iter_with(cell_at(ingress, "status.loadBalancer.ingress"));
    struct strbuf text;

    (void)now;
    strbuf_init(&text, TEXT_MAX);
    for (yyjson_val *item; (item = yyjson_arr_iter_next(&iter));)
        strbuf_addf(&text, "%s%s", text.len ? "," : "", cell_text(item, "ip", cell_text(item, "hostname", "")));
    return take(&text, "", out);
}

static yyjson_mut_val *ingress_ports(yyjson_val *ingress, nsec_t now, yyjson_mut_doc *out)
{
    (void)now;
    return yyjson_mut_str(out, yyjson_arr_size(cell_at(ingress, "spec.tls")) ? "80, 443" : "80");
}

CELL_TEXT(ingress_class, "spec.ingressClassName", "<none>")

static const struct table_column policy_columns[] = {
    {"Pod-Selector", "string", "", 0, policy_pods}, {"Age", "string", "", 0, cell_age}, {0}};

static const struct table_column ingress_columns[] = {
    {"Class", "string", "", 0, ingress_class},
    {"Hosts", "string", "", 0, hosts},
    {"Address", "string", "", 0, ingress_address},
    {"Ports", "string", "", 0, ingress_ports},
    {"Age", "string", "", 0, cell_age},
    {0},
};

/* "10.0.0.1:80,10.0.0.2:80 + 1 more..." */
static void add_subset(yyjson_val *subset, struct strbuf *text, size_t *count)
{
    yyjson_val *ports = cell_at(subset, "ports");
    yyjson_arr_iter addresses = yyjson_arr_iter_with(cell_at(subset, "addresses"));

    for (yyjson_val *address; (address = yyjson_arr_iter_next(&addresses));) {
        yyjson_arr_iter iter = yyjson_arr_iter_with(ports);
        if (!yyjson_arr_size(ports) && (*count)++ < SHOWN_MAX)
            strbuf_addf(text, "%s%s", text->len ? "," : "", cell_text(address, "ip", ""));
        for (yyjson_val *port; (port = yyjson_arr_iter_next(&iter));)
            if ((*count)++ < SHOWN_MAX)
                strbuf_addf(text, "%s%s:%lld", text->len ? "," : "", cell_text(address, "ip", ""),
                            (long long)cell_number(port, "port"));
    }
}

static yyjson_mut_val *endpoints(yyjson_val *object, nsec_t now, yyjson_mut_doc *out)
{
    yyjson_arr_iter iter = yyjson_arr_iter_with(cell_at(object, "subsets"));
    size_t count = 0;
    struct strbuf text;

    (void)now;
    strbuf_init(&text, TEXT_MAX);
    for (yyjson_val *subset; (subset = yyjson_arr_iter_next(&iter));)
        add_subset(subset, &text, &count);
    if (count > SHOWN_MAX)
        strbuf_addf(&text, " + %zu more...", count - SHOWN_MAX);
    return take(&text, "<none>", out);
}

static yyjson_mut_val *slice_ports(yyjson_val *slice, nsec_t now, yyjson_mut_doc *out)
{
    yyjson_arr_iter iter = yyjson_arr_iter_with(cell_at(slice, "ports"));
    size_t count = 0;
    struct strbuf text;

    (void)now;
    strbuf_init(&text, TEXT_MAX);
    for (yyjson_val *port; (port = yyjson_arr_iter_next(&iter));) {
        if (count++ >= SHOWN_MAX)
            continue;
        strbuf_addstr(&text, text.len ? "," : "");
        if (cell_at(port, "port"))
            strbuf_addf(&text, "%lld", (long long)cell_number(port, "port"));
        else
            strbuf_addch(&text, '*');
    }
    if (count > SHOWN_MAX)
        strbuf_addf(&text, " + %zu more...", count - SHOWN_MAX);
    return take(&text, "<unset>", out);
}

static yyjson_mut_val *slice_endpoints(yyjson_val *slice, nsec_t now, yyjson_mut_doc *out)
{
    yyjson_arr_iter iter = yyjson_arr_iter_with(cell_at(slice, "endpoints"));
    size_t count = 0;
    struct strbuf text;

    (void)now;
    strbuf_init(&text, TEXT_MAX);
    for (yyjson_val *endpoint; (endpoint = yyjson_arr_iter_next(&iter));) {
        yyjson_arr_iter addresses = yyjson_arr_iter_with(cell_at(endpoint, "addresses"));
        for (yyjson_val *address; (address = yyjson_arr_iter_next(&addresses));)
            if (count++ < SHOWN_MAX)
                strbuf_addf(&text, "%s%s", text.len ? "," : "", yyjson_get_str(address) ? yyjson_get_str(address) : "");
    }
    if (count > SHOWN_MAX)
        strbuf_addf(&text, " + %zu more...", count - SHOWN_MAX);
    return take(&text, "<unset>", out);
}

CELL_TEXT(address_type, "addressType", "")

static const struct table_column endpoints_columns[] = {
    {"Endpoints", "string", "", 0, endpoints}, {"Age", "string", "", 0, cell_age}, {0}};

static const struct table_column slice_columns[] = {
    {"AddressType", "string", "", 0, address_type},
    {"Ports", "string", "", 0, slice_ports},
    {"Endpoints", "string", "", 0, slice_endpoints},
    {"Age", "string", "", 0, cell_age},
    {0},
};

/* --- Devices --- */

/* "allocated,reserved" */
static yyjson_mut_val *claim_state(yyjson_val *claim, nsec_t now, yyjson_mut_doc *out)
{
    struct strbuf text;

    (void)now;
    strbuf_init(&text, TEXT_MAX);
    if (cell_at(claim, "metadata.deletionTimestamp"))
        strbuf_addstr(&text, "deleted");
    if (cell_at(claim, "status.allocation"))
        strbuf_addf(&text, "%sallocated", text.len ? "," : "");
    if (yyjson_arr_size(cell_at(claim, "status.reservedFor")))
        strbuf_addf(&text, "%sreserved", text.len ? "," : "");
    return take(&text, "pending", out);
}

static yyjson_mut_val *device_node(yyjson_val *slice, nsec_t now, yyjson_mut_doc *out)
{
    (void)now;
    return cell_copy(slice, "spec.nodeName", "", out);
}

CELL_TEXT(device_driver, "spec.driver", "")
CELL_TEXT(device_pool, "spec.pool.name", "")

static const struct table_column claim_columns[] = {
    {"State", "string", "", 0, claim_state}, {"Age", "string", "", 0, cell_age}, {0}};

static const struct table_column device_columns[] = {
    {"Node", "string", "", 0, device_node},
    {"Driver", "string", "", 0, device_driver},
    {"Pool", "string", "", 0, device_pool},
    {"Age", "string", "", 0, cell_age},
    {0},
};

const struct table_kind cluster_tables[] = {
    {"", "serviceaccounts", age_columns},
    {"", "endpoints", endpoints_columns},
    {"rbac.authorization.k8s.io", "rolebindings", binding_columns},
    {"rbac.authorization.k8s.io", "clusterrolebindings", binding_columns},
    {"networking.k8s.io", "networkpolicies", policy_columns},
    {"networking.k8s.io", "ingresses", ingress_columns},
    {"discovery.k8s.io", "endpointslices", slice_columns},
    {"resource.k8s.io", "resourceclaims", claim_columns},
    {"resource.k8s.io", "resourceclaimtemplates", age_columns},
    {"resource.k8s.io", "deviceclasses", age_columns},
    {"resource.k8s.io", "resourceslices", device_columns},
    {"admissionregistration.k8s.io", "mutatingwebhookconfigurations", webhook_columns},
    {"admissionregistration.k8s.io", "validatingwebhookconfigurations", webhook_columns},
    {0},
};
