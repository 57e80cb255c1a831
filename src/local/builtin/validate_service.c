/* SPDX-License-Identifier: Apache-2.0 */
/* Services, in the order in which the API server reports what is wrong with them. */
#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include "base/macros.h"
#include "base/strbuf.h"
#include "base/strmap.h"
#include "local/api/kinds.h"
#include "local/builtin/members.h"
#include "local/builtin/validate_internal.h"

static bool is_external(yyjson_mut_val *spec)
{
    return member_is(spec, "type", "ExternalName");
}

static bool is_headless(yyjson_mut_val *spec)
{
    yyjson_mut_val *addresses = member_get(spec, "clusterIPs");

    return yyjson_mut_arr_size(addresses) == 1 && yyjson_mut_equals_str(yyjson_mut_arr_get_first(addresses), "None");
}

static void check_one_of(struct validating *validating, yyjson_mut_val *spec, const struct field *field,
                         const char *member, const char *words)
{
    yyjson_mut_val *value = member_get(spec, member);

    if (value && !kind_list_has(words, yyjson_mut_get_str(value)))
        problem_not_supported(validating->problems, FIELD(field, member), value, words);
}

/* --- Addresses and families --- */

static bool is_address(const char *text)
{
    struct in6_addr address;

    return inet_pton(AF_INET, text, &address) == 1 || inet_pton(AF_INET6, text, &address) == 1;
}

static bool is_of_family_6(const char *address)
{
    return strchr(address, ':') != NULL;
}

/* Whether clusterIP and clusterIPs say the same. */
static void check_pair(struct validating *validating, yyjson_mut_val *spec, const struct field *field)
{
    const char *address = member_text(spec, "clusterIP");
    yyjson_mut_val *list = member_get(spec, "clusterIPs");
    bool is_empty = yyjson_mut_arr_size(list) == 0;

    if (!*address && !is_empty)
        problem_invalid(validating->problems, field, list, "must be empty when `clusterIP` is not specified");
    else if (*address && is_empty)
        problem_required(validating->problems, field, "");
    else if (*address && !yyjson_mut_equals_str(yyjson_mut_arr_get_first(list), address))
        problem_invalid(validating->problems, field, list, "first value must match `clusterIP`");
}

static void check_families(struct validating *validating, yyjson_mut_val *spec, const struct field *field)
{
    const struct field families = field_member(field, "ipFamilies");
    struct strmap seen = {0};
    size_t index = 0;

    MEMBER_ITEMS (family, member_get(spec, "ipFamilies")) {
        const struct field at = field_item(&families, index++);
        if (!kind_list_has("IPv4 IPv6", yyjson_mut_get_str(family)))
            problem_not_supported(validating->problems, &at, family, "IPv4 IPv6");
        if (strmap_put(&seen, "", yyjson_mut_get_str(family), family))
            problem_duplicate(validating->problems, &at, family);
    }
    strmap_done(&seen);
    check_one_of(validating, spec, field, "ipFamilyPolicy", "PreferDualStack RequireDualStack SingleStack");
}

/* False when an address is none, so that nothing can be said about its family. */
static bool check_addresses(struct validating *validating, yyjson_mut_val *list, const struct field *field)
{
    bool is_good = true;
    size_t index = 0;

    MEMBER_ITEMS (address, list) {
        const struct field at = field_item(field, index);
        bool is_none = index++ == 0 && yyjson_mut_equals_str(address, "None");
        if (is_none && yyjson_mut_arr_size(list) > 1)
            problem_invalid(validating->problems, field, list, "'None' must be the first and only value");
        else if (!is_none && !is_address(yyjson_mut_get_str(address)))
            problem_invalid(validating->problems, &at, address,
                            "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)");
        is_good = is_good && (is_none ? yyjson_mut_arr_size(list) == 1 : is_address(yyjson_mut_get_str(address)));
    }
    if (yyjson_mut_arr_size(list) > 2)
        problem_invalid(validating->problems, field, list, "may only hold up to 2 values");
    return is_good;
}

static void check_address_families(struct validating *validating, yyjson_mut_val *spec, const struct field *field)
{
    yyjson_mut_val *list = member_get(spec, "clusterIPs");
    yyjson_mut_val *families = member_get(spec, "ipFamilies");
    size_t index = 0;

    if (yyjson_mut_arr_size(list) == 2 && is_of_family_6(yyjson_mut_get_str(yyjson_mut_arr_get_first(list))) ==
                                              is_of_family_6(yyjson_mut_get_str(yyjson_mut_arr_get_last(list))))
        problem_invalid(validating->problems, field, list, "may specify no more than one IP for each IP family");
    MEMBER_ITEMS (address, list) {
        const struct field at = field_item(field, index);
        yyjson_mut_val *family = yyjson_mut_arr_get(families, index);
        bool is_6 = is_of_family_6(yyjson_mut_get_str(address));
        char words[80];

        (void)snprintf(words, sizeof words, "expected an %s value as indicated by `ipFamilies[%zu]`",
                       is_6 ? "IPv4" : "IPv6", index++);
        if (yyjson_mut_equals_str(family, is_6 ? "IPv4" : "IPv6") && !is_headless(spec))
            problem_invalid(validating->problems, &at, address, words);
    }
}

static void check_address_members(struct validating *validating, yyjson_mut_val *spec, const struct field *field)
{
    const struct field addresses = field_member(field, "clusterIPs");

    if (is_external(spec))
        return;
    check_pair(validating, spec, &addresses);
    check_families(validating, spec, field);
    if (check_addresses(validating, member_get(spec, "clusterIPs"), &addresses))
        check_address_families(validating, spec, &addresses);
}

/* What a cluster of one family has not got. */
static void check_stack(struct validating *validating, yyjson_mut_val *spec, const struct field *field)
{
    const struct field families = field_member(field, "ipFamilies");
    yyjson_mut_val *policy = member_get(spec, "ipFamilyPolicy");
    const struct field policy_field = field_member(field, "ipFamilyPolicy");
    bool is_single = yyjson_mut_equals_str(policy, "SingleStack");
    size_t index = 0;

    if (is_single && yyjson_mut_arr_size(member_get(spec, "clusterIPs")) == 2)
        problem_invalid(validating->problems, &policy_field, policy,
                        "must be 'RequireDualStack' or 'PreferDualStack' when multiple cluster IPs are specified");
    if (is_single && yyjson_mut_arr_size(member_get(spec, "ipFamilies")) == 2)
        problem_invalid(validating->problems, &policy_field, policy,
                        "must be 'RequireDualStack' or 'PreferDualStack' when multiple IP families are specified");
    bool is_open = is_headless(spec) && yyjson_mut_obj_size(member_get(spec, "selector")) == 0;
    if (problems_any(validating->problems) || is_open)
        return;
    if (yyjson_mut_equals_str(policy, "RequireDualStack"))
        problem_invalid(validating->problems, &policy_field, policy,
                        "this cluster is not configured for dual-stack services");
    MEMBER_ITEMS (family, member_get(spec, "ipFamilies")) {
        const struct field at = field_item(&families, index++);
        if (!yyjson_mut_equals_str(family, "IPv4"))
            problem_invalid(validating->problems, &at, family, "not configured on this cluster");
    }
}

bool check_service_addresses(struct validating *validating)
{
    const struct field field = field_member(NULL, "spec");
    yyjson_mut_val *spec = member_get(validating->root, "spec");

    /* A service that is created through its status has no address, and no policy for one. */
    if (is_external(spec) || !member_get(spec, "ipFamilyPolicy"))
        return true;
    check_address_members(validating, spec, &field);
    if (!problems_any(validating->problems))
        check_stack(validating, spec, &field);
    return !problems_any(validating->problems);
}

/* --- Ports --- */

static void check_service_port(struct validating *validating, yyjson_mut_val *port, const struct field *field,
                               struct strmap *names, bool needs_name)
{
    const struct field name_field = field_member(field, "name");
    const char *name = member_text(port, "name");
    yyjson_mut_val *number = member_get(port, "port");
    yyjson_mut_val *application = member_get(port, "appProtocol");

    if (needs_name && !*name)
        problem_required(validating->problems, &name_field, "");
    if (*name)
        check_dns_label(validating->problems, &name_field, name);
    if (*name && strmap_put(names, "", name, port))
        problem_duplicate(validating->problems, &name_field, member_get(port, "name"));
    check_port(validating->problems, FIELD(field, "port"), number ? number : yyjson_mut_int(validating->doc, 0));
    check_one_of(validating, port, field, "protocol", "SCTP TCP UDP");
    if (member_get(port, "targetPort"))
        check_port(validating->problems, FIELD(field, "targetPort"), member_get(port, "targetPort"));
    if (application)
        check_label_key(validating->problems, FIELD(field, "appProtocol"), yyjson_mut_get_str(application));
}

static void check_ports(struct validating *validating, yyjson_mut_val *spec, const struct field *field)
{
    yyjson_mut_val *ports = member_get(spec, "ports");
    struct strmap names = {0};
    size_t index = 0;

    MEMBER_ITEMS (port, ports) {
        const struct field at = field_item(field, index++);
        check_service_port(validating, port, &at, &names, yyjson_mut_arr_size(ports) > 1);
    }
    strmap_done(&names);
}

/* Two ports of one protocol with the same number are refused, shown as far as they are the same. */
static void check_repeated_ports(struct validating *validating, yyjson_mut_val *spec, const struct field *field,
                                 const char *member)
{
    bool is_whole = strcmp(member, "port") == 0;
    struct strmap seen = {0};
    size_t index = 0;

    MEMBER_ITEMS (port, member_get(spec, "ports")) {
        const struct field at = field_item(field, index++);
        const char *protocol = member_text(port, "protocol");
        int64_t number = member_number(port, member, 0);
        char digits[24];
        struct strbuf words;

        (void)snprintf(digits, sizeof digits, "%lld", (long long)number);
        /* The map borrows its keys: this one lives as long as the document. */
        const char *key = yyjson_mut_get_str(yyjson_mut_strcpy(validating->doc, digits));
        if ((number == 0 && !is_whole) || !strmap_put(&seen, protocol, key, port))
            continue;
        if (!is_whole) {
            problem_duplicate(validating->problems, FIELD(&at, member), member_get(port, member));
            continue;
        }
        strbuf_init(&words, PROBLEM_BYTES_MAX);
        strbuf_addf(&words,
                    "Duplicate value: {\"Name\":\"\",\"Protocol\":\"%s\",\"AppProtocol\":null,\"Port\":%s,"
                    "\"TargetPort\":0,\"NodePort\":0}",
                    protocol, key);
        problem_add(validating->problems, PROBLEM_DUPLICATE, &at, words.text);
        strbuf_done(&words);
    }
    strmap_done(&seen);
}

static void check_no_node_ports(struct validating *validating, yyjson_mut_val *spec, const struct field *field)
{
    size_t index = 0;

    if (!member_is(spec, "type", "ClusterIP"))
        return;
    MEMBER_ITEMS (port, member_get(spec, "ports")) {
        const struct field at = field_item(field, index++);
        if (member_number(port, "nodePort", 0) != 0)
            problem_forbidden(validating->problems, FIELD(&at, "nodePort"),
                              "may not be used when `type` is 'ClusterIP'");
    }
}

/* --- Types --- */

static void check_external(struct validating *validating, yyjson_mut_val *spec, const struct field *field)
{
    static const char *const unset[] = {"clusterIPs", "ipFamilies", "ipFamilyPolicy"};
    const struct field name_field = field_member(field, "externalName");
    const char *name = member_text(spec, "externalName");

    for (size_t i = 0; i < ARRAY_LEN(unset); i++)
        if (member_get(spec, unset[i]))
            problem_forbidden(validating->problems, FIELD(field, unset[i]), "may not be set for ExternalName services");
    if (*name)
        check_subdomain(validating->problems, &name_field, name);
    else
        problem_required(validating->problems, &name_field, "");
}

static void check_type_address(struct validating *validating, yyjson_mut_val *spec, const struct field *field)
{
    const struct field addresses = field_member(field, "clusterIPs");
    const struct field first = field_item(&addresses, 0);
    const char *type = member_text(spec, "type");
    char words[80];

    if (!is_headless(spec) || !kind_list_has("LoadBalancer NodePort", type))
        return;
    (void)snprintf(words, sizeof words, "may not be set to 'None' for %.12s services", type);
    problem_invalid_text(validating->problems, &first, "None", words);
}

static void check_affinity(struct validating *validating, yyjson_mut_val *spec, const struct field *field)
{
    enum { TIMEOUT_MAX = 86400 };
    const struct field config = field_member(field, "sessionAffinityConfig");
    const struct field client = field_member(&config, "clientIP");
    int64_t timeout = member_number(spec, "sessionAffinityConfig.clientIP.timeoutSeconds", 0);

    check_one_of(validating, spec, field, "sessionAffinity", "ClientIP None");
    if (member_is(spec, "sessionAffinity", "ClientIP") && (timeout <= 0 || timeout > TIMEOUT_MAX))
        problem_invalid_number(validating->problems, FIELD(&client, "timeoutSeconds"), timeout,
                               "must be greater than 0 and less than 86400");
}

static void check_balancer(struct validating *validating, yyjson_mut_val *spec, const struct field *field)
{
    static const struct {
        const char *member;
        const char *shown;
    } members[] = {{"loadBalancerSourceRanges", "LoadBalancerSourceRanges"},
                   {"allocateLoadBalancerNodePorts", "allocateLoadBalancerNodePorts"},
                   {"loadBalancerClass", "loadBalancerClass"}};

    for (size_t i = 0; i < ARRAY_LEN(members) && !member_is(spec, "type", "LoadBalancer"); i++)
        if (member_get(spec, members[i].member))
            problem_forbidden(validating->problems, FIELD(field, members[i].shown),
                              "may only be used when `type` is 'LoadBalancer'");
}

static void check_traffic(struct validating *validating, yyjson_mut_val *spec, const struct field *field)
{
    yyjson_mut_val *policy = member_get(spec, "externalTrafficPolicy");
    bool is_outside = kind_list_has("LoadBalancer NodePort", member_text(spec, "type")) ||
                      (member_is(spec, "type", "ClusterIP") && member_get(spec, "externalIPs"));

    if (policy && !is_outside)
        problem_invalid(validating->problems, FIELD(field, "externalTrafficPolicy"), policy,
                        "may only be set for externally-accessible services");
    else
        check_one_of(validating, spec, field, "externalTrafficPolicy", "Cluster Local");
    check_one_of(validating, spec, field, "internalTrafficPolicy", "Cluster Local");
    check_one_of(validating, spec, field, "trafficDistribution", "PreferClose PreferSameZone PreferSameNode");
}

/* --- Services --- */

void check_service(struct validating *validating, yyjson_mut_val *spec, const struct field *field)
{
    const struct field ports = field_member(field, "ports");

    if (!member_get(spec, "ports") && !is_external(spec) && !is_headless(spec))
        problem_required(validating->problems, &ports, "");
    if (is_external(spec))
        check_external(validating, spec, field);
    check_type_address(validating, spec, field);
    check_ports(validating, spec, &ports);
    check_labels(validating->problems, FIELD(field, "selector"), member_get(spec, "selector"));
    check_affinity(validating, spec, field);
    check_address_members(validating, spec, field);
    check_one_of(validating, spec, field, "type", "ClusterIP ExternalName LoadBalancer NodePort");
    check_no_node_ports(validating, spec, &ports);
    check_repeated_ports(validating, spec, &ports, "nodePort");
    check_repeated_ports(validating, spec, &ports, "port");
    check_balancer(validating, spec, field);
    check_traffic(validating, spec, field);
}

/* An address stays; it can come and go with the type alone. */
void check_service_update(struct validating *validating)
{
    const struct field addresses = field_member(FIELD(NULL, "spec"), "clusterIPs");
    const struct field first = field_item(&addresses, 0);
    yyjson_mut_val *spec = member_get(validating->root, "spec");
    yyjson_mut_val *before = member_get(validating->old, "spec");
    yyjson_mut_val *list = member_get(spec, "clusterIPs");
    yyjson_mut_val *list_before = member_get(before, "clusterIPs");

    if (is_external(spec) || is_external(before) || yyjson_mut_arr_size(list_before) == 0)
        return;
    if (yyjson_mut_arr_size(list) == 0)
        problem_invalid(validating->problems, &first, yyjson_mut_arr(validating->doc),
                        "primary clusterIP can not be unset");
    else if (!yyjson_mut_equals(yyjson_mut_arr_get_first(list), yyjson_mut_arr_get_first(list_before)))
        problem_invalid(validating->problems, &first, list, "may not change once set");
}
