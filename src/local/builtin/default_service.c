/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Services, whose address has three members that follow from each other: clusterIP, clusterIPs and ipFamilies. Clients may
 * leave out any of them, and send an object again without those that the server has filled in.
 */
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "base/macros.h"
#include "local/builtin/default_internal.h"
#include "local/builtin/members.h"

/* --- Defaults that the client owns --- */

static void default_affinity(struct defaulting *defaulting, yyjson_mut_val *spec)
{
    enum { CLIENT_SECONDS = 10800 };
    yyjson_mut_doc *doc = defaulting->doc;

    if (member_is(spec, "sessionAffinity", "None")) {
        (void)yyjson_mut_obj_remove_key(spec, "sessionAffinityConfig");
    } else if (member_is(spec, "sessionAffinity", "ClientIP") &&
               !member_get(spec, "sessionAffinityConfig.clientIP.timeoutSeconds")) {
        yyjson_mut_val *config = member_object(doc, spec, "sessionAffinityConfig");
        member_set(doc, member_object(doc, config, "clientIP"), "timeoutSeconds", yyjson_mut_int(doc, CLIENT_SECONDS));
    }
}

void default_service(struct defaulting *defaulting, yyjson_mut_val *service)
{
    yyjson_mut_doc *doc = defaulting->doc;
    yyjson_mut_val *spec = member_get(service, "spec");

    if (!spec)
        return;
    default_affinity(defaulting, spec);
    MEMBER_ITEMS (port, member_get(spec, "ports")) {
        yyjson_mut_val *target = member_get(port, "targetPort");
        bool is_unset = yyjson_mut_is_str(target) ? yyjson_mut_get_len(target) == 0 : yyjson_mut_get_sint(target) == 0;
        if (is_unset)
            member_set(doc, port, "targetPort", yyjson_mut_int(doc, member_number(port, "port", 0)));
    }
}

/* --- Addresses --- */

static bool is_external(yyjson_mut_val *spec)
{
    return member_is(spec, "type", "ExternalName");
}

static bool has_items(yyjson_mut_val *spec, const char *member)
{
    return yyjson_mut_arr_size(member_get(spec, member)) > 0;
}

static bool is_same(yyjson_mut_val *spec, yyjson_mut_val *before, const char *member)
{
    yyjson_mut_val *a = member_get(spec, member);
    yyjson_mut_val *b = member_get(before, member);

    return a && b ? yyjson_mut_equals(a, b) : a == b;
}

static void copy_member(yyjson_mut_doc *doc, yyjson_mut_val *spec, yyjson_mut_val *from, const char *member)
{
    yyjson_mut_val *value = member_get(from, member);

    if (value)
        member_set(doc, spec, member, yyjson_mut_val_mut_copy(doc, value));
}

static void set_list(yyjson_mut_doc *doc, yyjson_mut_val *spec, const char *member, const char *text)
{
    member_set(doc, spec, member, yyjson_mut_arr(doc));
    yyjson_mut_arr_add_strcpy(doc, member_get(spec, member), text);
}

/* A client that sends a service again leaves out what the server has filled in; one that changes the address leaves the list
 * of addresses as it is. */
static void take_before(yyjson_mut_doc *doc, yyjson_mut_val *spec, yyjson_mut_val *before)
{
    bool is_kept = !is_external(spec) && !is_external(before);

    if (is_kept && !*member_text(spec, "clusterIP"))
        copy_member(doc, spec, before, "clusterIP");
    if (!has_items(spec, "clusterIPs") && (is_kept || is_same(spec, before, "clusterIP")))
        copy_member(doc, spec, before, "clusterIPs");
    if (is_same(spec, before, "clusterIP") || !is_same(spec, before, "clusterIPs"))
        return;
    if (*member_text(spec, "clusterIP"))
        set_list(doc, spec, "clusterIPs", member_text(spec, "clusterIP"));
    else
        (void)yyjson_mut_obj_remove_key(spec, "clusterIPs");
}

/* A service that is reached by the addresses of its pods, which somebody else keeps: they can be of any family. */
static bool is_open(yyjson_mut_val *spec)
{
    return member_is(spec, "clusterIP", "None") && yyjson_mut_obj_size(member_get(spec, "selector")) == 0;
}

static void default_policy(yyjson_mut_doc *doc, yyjson_mut_val *spec, yyjson_mut_val *before)
{
    if (member_get(spec, "ipFamilyPolicy"))
        return;
    if (member_get(before, "ipFamilyPolicy"))
        copy_member(doc, spec, before, "ipFamilyPolicy");
    else
        member_set_text(doc, spec, "ipFamilyPolicy", is_open(spec) ? "RequireDualStack" : "SingleStack");
}

/* Of a service that asks for one family again, the first address and family stay. */
static void drop_second(yyjson_mut_val *spec, yyjson_mut_val *before, const char *member)
{
    yyjson_mut_val *list = member_get(spec, member);

    if (yyjson_mut_arr_size(list) > 1 && is_same(spec, before, member))
        (void)yyjson_mut_arr_remove_range(list, 1, yyjson_mut_arr_size(list) - 1);
}

static void default_families(yyjson_mut_doc *doc, yyjson_mut_val *spec)
{
    yyjson_mut_val *families = member_get(spec, "ipFamilies");
    const char *first = member_text(spec, "clusterIP");

    if (yyjson_mut_arr_size(families) == 0) {
        set_list(doc, spec, "ipFamilies", strchr(first, ':') ? "IPv6" : "IPv4");
        families = member_get(spec, "ipFamilies");
    }
    if (is_open(spec) && yyjson_mut_arr_size(families) == 1 && !member_is(spec, "ipFamilyPolicy", "SingleStack"))
        yyjson_mut_arr_add_str(doc, families,
                               yyjson_mut_equals_str(yyjson_mut_arr_get_first(families), "IPv4") ? "IPv6" : "IPv4");
}

/* Nothing answers at this address: it is there because charts wait for one and programs print it. It follows from the
 * name, so that it needs no book of addresses and survives a restore. */
static void make_address(yyjson_mut_val *service, char text[static 16])
{
    uint64_t hash =
        hash_str(member_text(service, "metadata.namespace"), hash_str(member_text(service, "metadata.name"), 0));

    (void)snprintf(text, 16, "10.%u.%u.%u", (unsigned)(96 + hash % 16), (unsigned)(hash >> 8 & 0xff),
                   (unsigned)(1 + (hash >> 16) % 254));
}

static void assign_address(yyjson_mut_doc *doc, yyjson_mut_val *service, yyjson_mut_val *spec)
{
    char address[16];

    if (*member_text(spec, "clusterIP") || has_items(spec, "clusterIPs"))
        return;
    make_address(service, address);
    member_set_text(doc, spec, "clusterIP", address);
    set_list(doc, spec, "clusterIPs", address);
}

/* --- Ports of nodes --- */

static bool needs_node_ports(yyjson_mut_val *spec)
{
    yyjson_mut_val *wanted = member_get(spec, "allocateLoadBalancerNodePorts");

    return member_is(spec, "type", "NodePort") ||
           (member_is(spec, "type", "LoadBalancer") && (!wanted || yyjson_mut_is_true(wanted)));
}

static bool has_node_port(yyjson_mut_val *spec, int64_t number)
{
    bool is_found = false;

    MEMBER_ITEMS (port, member_get(spec, "ports"))
        is_found = is_found || member_number(port, "nodePort", 0) == number;
    return is_found;
}

/* The number that the port of this name had before; 0 for none that is still free in the service. */
static int64_t node_port_before(yyjson_mut_val *spec, yyjson_mut_val *before, const char *name)
{
    int64_t number = 0;

    MEMBER_ITEMS (port, member_get(before, "ports"))
        if (strcmp(member_text(port, "name"), name) == 0)
            number = member_number(port, "nodePort", 0);
    return number && !has_node_port(spec, number) ? number : 0;
}

/* Like the address, the number follows from the name, and nothing answers there. */
static int64_t make_node_port(yyjson_mut_val *service, yyjson_mut_val *spec, int64_t port)
{
    enum { FIRST = 30000, COUNT = 2768 };
    uint64_t hash = hash_str(member_text(service, "metadata.namespace"),
                             hash_str(member_text(service, "metadata.name"), (uint64_t)port));
    int64_t number = FIRST + (int64_t)(hash % COUNT);

    for (int i = 0; i < COUNT && has_node_port(spec, number); i++)
        number = FIRST + (number - FIRST + 1) % COUNT;
    return number;
}

static void assign_node_ports(struct defaulting *defaulting, yyjson_mut_val *service, yyjson_mut_val *spec,
                              yyjson_mut_val *before)
{
    enum { PORTS_MAX = 250 };
    yyjson_mut_val *ports = member_get(spec, "ports");

    /* A list that is longer than any service has is left as it is: each number is compared with all others. */
    if (!needs_node_ports(spec) || yyjson_mut_arr_size(ports) > PORTS_MAX)
        return;
    MEMBER_ITEMS (port, ports) {
        int64_t number = node_port_before(spec, before, member_text(port, "name"));
        if (member_number(port, "nodePort", 0) != 0)
            continue;
        if (number == 0)
            number = make_node_port(service, spec, member_number(port, "port", 0));
        member_set(defaulting->doc, port, "nodePort", yyjson_mut_int(defaulting->doc, number));
    }
}

/* --- A change of the type --- */

static void drop_same(yyjson_mut_val *spec, yyjson_mut_val *before, const char *member)
{
    if (is_same(spec, before, member))
        (void)yyjson_mut_obj_remove_key(spec, member);
}

static bool has_same_node_ports(yyjson_mut_val *spec, yyjson_mut_val *before)
{
    bool is_all_known = true;

    MEMBER_ITEMS (port, member_get(spec, "ports")) {
        int64_t number = member_number(port, "nodePort", 0);
        is_all_known = is_all_known && (number == 0 || has_node_port(before, number));
    }
    return is_all_known;
}

static bool is_reached_from_outside(yyjson_mut_val *spec)
{
    return member_is(spec, "type", "LoadBalancer") || member_is(spec, "type", "NodePort") ||
           (member_is(spec, "type", "ClusterIP") && has_items(spec, "externalIPs"));
}

/* Members that the server has filled in, and that the new type does not have. One that the client has changed stays, and
 * is refused. */
static void drop_members(yyjson_mut_val *spec, yyjson_mut_val *before)
{
    if (!is_external(before) && is_external(spec)) {
        if (is_same(spec, before, "clusterIP") && is_same(spec, before, "clusterIPs")) {
            (void)yyjson_mut_obj_remove_key(spec, "clusterIP");
            (void)yyjson_mut_obj_remove_key(spec, "clusterIPs");
        }
        drop_same(spec, before, "ipFamilies");
        drop_same(spec, before, "ipFamilyPolicy");
    }
    if (needs_node_ports(before) && !needs_node_ports(spec) && has_same_node_ports(spec, before))
        MEMBER_ITEMS (port, member_get(spec, "ports"))
            (void)yyjson_mut_obj_remove_key(port, "nodePort");
    if (member_is(before, "type", "LoadBalancer") && !member_is(spec, "type", "LoadBalancer")) {
        drop_same(spec, before, "allocateLoadBalancerNodePorts");
        drop_same(spec, before, "loadBalancerClass");
    }
    if (is_reached_from_outside(before) && !is_reached_from_outside(spec))
        drop_same(spec, before, "externalTrafficPolicy");
}

/* --- What the server fills in --- */

static void prepare_address(struct defaulting *defaulting, yyjson_mut_val *service, yyjson_mut_val *spec,
                            yyjson_mut_val *before)
{
    yyjson_mut_doc *doc = defaulting->doc;

    default_policy(doc, spec, before);
    if (before && member_is(spec, "ipFamilyPolicy", "SingleStack")) {
        drop_second(spec, before, "clusterIPs");
        drop_second(spec, before, "ipFamilies");
    }
    default_families(doc, spec);
    if (!before || is_external(before))
        assign_address(doc, service, spec);
}

void prepare_service(struct defaulting *defaulting, yyjson_mut_val *service)
{
    yyjson_mut_doc *doc = defaulting->doc;
    yyjson_mut_val *spec = member_get(service, "spec");
    yyjson_mut_val *before = member_get(yyjson_mut_doc_get_root(defaulting->old), "spec");

    if (!spec)
        return;
    if (before)
        take_before(doc, spec, before);
    else if (*member_text(spec, "clusterIP") && !has_items(spec, "clusterIPs"))
        set_list(doc, spec, "clusterIPs", member_text(spec, "clusterIP"));
    if (!is_external(spec))
        prepare_address(defaulting, service, spec, before);
    assign_node_ports(defaulting, service, spec, before);
    if (before)
        drop_members(spec, before);
    /* Nobody balances load but for a service that asks for it. */
    yyjson_mut_val *status = member_object(doc, service, "status");
    if (!member_is(spec, "type", "LoadBalancer"))
        (void)yyjson_mut_obj_remove_key(status, "loadBalancer");
    (void)member_object(doc, status, "loadBalancer");
}
