/* SPDX-License-Identifier: Apache-2.0 */

/* Says again where a pod may go. */
#include "model/retell/retell_internal.h"
#include "model/shapes/shape.h"
#include "model/state.h"

static struct pod_term_spec *copy_terms(struct copier *c, const struct pod_term *terms, uint32_t count)
{
    struct pod_term_spec *specs = arena_calloc(&c->scratch, count, sizeof *specs);

    for (uint32_t i = 0; i < count; i++)
        specs[i] = (struct pod_term_spec){
            .selector = *copy_selectors(c, &terms[i].selector, 1),
            .namespaces = copy_names(c, terms[i].namespaces, terms[i].namespace_count),
            .namespace_count = terms[i].namespace_count,
            .all_namespaces = terms[i].all_namespaces,
            .topology_key = copy_name(c, terms[i].topology_key),
            .weight = terms[i].weight,
        };
    return specs;
}

static struct preferred_node_spec *copy_preferred(struct copier *c, const struct constraints *from)
{
    struct preferred_node_spec *specs = arena_calloc(&c->scratch, from->preferred_node_count, sizeof *specs);

    for (uint32_t i = 0; i < from->preferred_node_count; i++)
        specs[i] = (struct preferred_node_spec){*copy_selectors(c, &from->preferred_nodes[i].selector, 1),
                                                from->preferred_nodes[i].weight};
    return specs;
}

static struct toleration_spec *copy_tolerations(struct copier *c, const struct constraints *from)
{
    struct toleration_spec *specs = arena_calloc(&c->scratch, from->toleration_count, sizeof *specs);

    for (uint32_t i = 0; i < from->toleration_count; i++) {
        const struct toleration *toleration = &from->tolerations[i];
        specs[i] = (struct toleration_spec){
            .key = copy_name(c, toleration->key),
            .value = copy_name(c, toleration->value),
            .exists = toleration->exists,
            .any_effect = toleration->any_effect,
            .effect = toleration->effect,
        };
    }
    return specs;
}

static struct spread_spec *copy_spread(struct copier *c, const struct constraints *from)
{
    struct spread_spec *specs = arena_calloc(&c->scratch, from->spread_count, sizeof *specs);

    for (uint32_t i = 0; i < from->spread_count; i++)
        specs[i] = (struct spread_spec){
            .selector = *copy_selectors(c, &from->spread[i].selector, 1),
            .topology_key = copy_name(c, from->spread[i].topology_key),
            .max_skew = from->spread[i].max_skew,
            .is_hard = from->spread[i].is_hard,
        };
    return specs;
}

static struct host_port_spec *copy_ports(struct copier *c, const struct constraints *from)
{
    struct host_port_spec *specs = arena_calloc(&c->scratch, from->port_count, sizeof *specs);

    for (uint32_t i = 0; i < from->port_count; i++)
        specs[i] =
            (struct host_port_spec){copy_name(c, from->ports[i].address), from->ports[i].port, from->ports[i].protocol};
    return specs;
}

void copy_constraints(struct copier *c, const struct constraints *from, struct constraints_spec *to)
{
    struct str_pair *selector = arena_calloc(&c->scratch, from->node_selector_count, sizeof *selector);

    for (uint32_t i = 0; i < from->node_selector_count; i++)
        selector[i] =
            (struct str_pair){copy_name(c, from->node_selector[i].key), copy_name(c, from->node_selector[i].value)};
    *to = (struct constraints_spec){
        .node_selector = selector,
        .node_selector_count = from->node_selector_count,
        .has_node_selector = from->has_node_selector,
        .node_terms = copy_selectors(c, from->node_terms, from->node_term_count),
        .node_term_count = from->node_term_count,
        .preferred_nodes = copy_preferred(c, from),
        .preferred_node_count = from->preferred_node_count,
        .tolerations = copy_tolerations(c, from),
        .toleration_count = from->toleration_count,
        .affinity = copy_terms(c, from->affinity, from->affinity_count),
        .affinity_count = from->affinity_count,
        .anti_affinity = copy_terms(c, from->anti_affinity, from->anti_affinity_count),
        .anti_affinity_count = from->anti_affinity_count,
        .preferred_pods = copy_terms(c, from->preferred_pods, from->preferred_pod_count),
        .preferred_pod_count = from->preferred_pod_count,
        .spread = copy_spread(c, from),
        .spread_count = from->spread_count,
        .ports = copy_ports(c, from),
        .port_count = from->port_count,
        .volume_claims = copy_names(c, from->volume_claims, from->volume_claim_count),
        .volume_claim_count = from->volume_claim_count,
        .config_maps = copy_names(c, from->config_maps, from->config_map_count),
        .config_map_count = from->config_map_count,
        .priority_class = copy_name(c, from->priority_class),
        .priority = from->priority,
    };
}
