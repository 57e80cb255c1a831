/* SPDX-License-Identifier: Apache-2.0 */

/* Where pods may go: each rule fills in one part of a pod's constraints. */
#include "base/macros.h"
#include "world_tables.h"

static struct selector_spec match_app(struct rule_parts *parts, const char *app)
{
    parts->app[0] = app ? app : "a";
    parts->pod_match[0] = (struct match_spec){MATCH_IN, "app", parts->app, 1};
    return (struct selector_spec){parts->pod_match, 1};
}

static void fill_nodes(enum rule rule, struct rule_parts *parts, struct constraints_spec *spec)
{
    switch (rule) {
    case RULE_POOL:
        parts->selector[0] = (struct str_pair){"pool", pool_text(1)};
        spec->node_selector = parts->selector;
        spec->node_selector_count = 1;
        spec->has_node_selector = true;
        return;
    case RULE_ZONES:
        parts->values[0] = zone_text(1);
        parts->values[1] = zone_text(2);
        parts->match[0] = (struct match_spec){MATCH_IN, "zone", parts->values, 2};
        break;
    case RULE_NOT_NODE:
        parts->values[0] = world_name(KIND_NODE, 0);
        parts->match[0] = (struct match_spec){MATCH_FIELD_NAME_NOT_IN, "", parts->values, 1};
        break;
    default:
        return;
    }
    parts->terms[0] = (struct selector_spec){parts->match, 1};
    spec->node_terms = parts->terms;
    spec->node_term_count = 1;
}

static void fill_pods(enum rule rule, const char *app, struct rule_parts *parts, struct constraints_spec *spec)
{
    struct pod_term_spec term = {.selector = match_app(parts, rule == RULE_NEAR_A_BY_ZONE ? NULL : app)};

    switch (rule) {
    case RULE_APART_BY_HOST:
    case RULE_APART_BY_ZONE:
        term.topology_key = rule == RULE_APART_BY_HOST ? "host" : "zone";
        term.all_namespaces = rule == RULE_APART_BY_ZONE;
        parts->anti[0] = term;
        spec->anti_affinity = parts->anti;
        spec->anti_affinity_count = 1;
        break;
    case RULE_NEAR_OWN_BY_RACK:
    case RULE_NEAR_A_BY_ZONE:
        term.topology_key = rule == RULE_NEAR_OWN_BY_RACK ? "rack" : "zone";
        parts->affinity[0] = term;
        spec->affinity = parts->affinity;
        spec->affinity_count = 1;
        break;
    default:
        term.topology_key = "host";
        term.weight = 40;
        parts->preferred[0] = term;
        term.topology_key = "zone";
        term.weight = -30;
        parts->preferred[1] = term;
        spec->preferred_pods = parts->preferred;
        spec->preferred_pod_count = 2;
        break;
    }
}

static void fill_ports(enum rule rule, struct rule_parts *parts, struct constraints_spec *spec)
{
    parts->ports[0] = (struct host_port_spec){rule == RULE_PORT ? "" : "10.0.0.1", 8080, 0};
    parts->ports[1] = (struct host_port_spec){"10.0.0.2", 8080, 1};
    spec->ports = parts->ports;
    spec->port_count = rule == RULE_PORT ? 1 : 2;
}

static void fill_spread(enum rule rule, const char *app, struct rule_parts *parts, struct constraints_spec *spec)
{
    parts->spread[0] = (struct spread_spec){
        .selector = match_app(parts, app),
        .topology_key = "zone",
        .max_skew = 1,
        .is_hard = rule == RULE_SPREAD_HARD,
    };
    spec->spread = parts->spread;
    spec->spread_count = 1;
}

static void fill_tolerations(enum rule rule, struct rule_parts *parts, struct constraints_spec *spec)
{
    parts->tolerations[0] = (struct toleration_spec){
        .key = rule == RULE_TOLERATES_ALL ? "" : "dedicated",
        .value = rule == RULE_TOLERATES_ALL ? "" : "team",
        .exists = rule == RULE_TOLERATES_ALL,
        .any_effect = true,
    };
    spec->tolerations = parts->tolerations;
    spec->toleration_count = 1;
}

static void fill_preferred_nodes(struct rule_parts *parts, struct constraints_spec *spec)
{
    parts->values[0] = pool_text(2);
    parts->match[0] = (struct match_spec){MATCH_IN, "pool", parts->values, 1};
    parts->nodes[0] = (struct preferred_node_spec){{parts->match, 1}, 50};
    spec->preferred_nodes = parts->nodes;
    spec->preferred_node_count = 1;
}

void rule_fill(enum rule rule, const char *app, struct rule_parts *parts, struct constraints_spec *spec)
{
    switch (rule) {
    case RULE_POOL:
    case RULE_ZONES:
    case RULE_NOT_NODE:
        fill_nodes(rule, parts, spec);
        break;
    case RULE_TOLERATES_KEY:
    case RULE_TOLERATES_ALL:
        fill_tolerations(rule, parts, spec);
        break;
    case RULE_APART_BY_HOST:
    case RULE_APART_BY_ZONE:
    case RULE_NEAR_OWN_BY_RACK:
    case RULE_NEAR_A_BY_ZONE:
    case RULE_PREFERS_PODS:
        fill_pods(rule, app, parts, spec);
        break;
    case RULE_PORT:
    case RULE_PORT_ON_ADDRESS:
        fill_ports(rule, parts, spec);
        break;
    case RULE_VOLUME:
        parts->volumes[0] = world_name(KIND_VOLUME, 0);
        spec->volume_claims = parts->volumes;
        spec->volume_claim_count = 1;
        break;
    case RULE_MAP:
        parts->maps[0] = world_name(KIND_MAP, 0);
        spec->config_maps = parts->maps;
        spec->config_map_count = 1;
        break;
    case RULE_SPREAD_HARD:
    case RULE_SPREAD_SOFT:
        fill_spread(rule, app, parts, spec);
        break;
    case RULE_PREFERS_NODES:
        fill_preferred_nodes(parts, spec);
        break;
    case RULE_NO:
    case _RULE_MAX:
        break;
    }
}
