/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

#include "model/ids.h"

struct arena;
struct constraints;
struct engine;
struct node;
struct node_reason;
struct request;
struct strbuf;

/* What rows of filters point to; struct filter says what each column is. */

/* Kinds of GPUs (filter_gpus.c). */
bool uses_gpus(const struct engine *engine, const struct request *request, const struct constraints *constraints);
bool no_legacy_mig(struct engine *engine, pod_id pod, node_id node);
bool is_not_legacy_mig(const struct engine *engine, const struct request *request,
                       const struct constraints *constraints);
bool no_shares_on_dra(struct engine *engine, pod_id pod, node_id node);
bool has_no_dra_gpus(const struct node *node);
bool mig_on_mig_nodes(struct engine *engine, pod_id pod, node_id node);
bool asks_for_no_mig(const struct engine *engine, const struct request *request, const struct constraints *constraints);
bool mig_single_passes(struct engine *engine, pod_id pod, node_id node);
bool mig_mixed_passes(struct engine *engine, pod_id pod, node_id node);
bool has_no_mig(const struct node *node);
bool mig_without_legacy(struct engine *engine, pod_id pod, node_id node);
bool has_no_legacy_mig(const struct node *node);
void legacy_mig_reason(struct engine *engine, pod_id pod, node_id node, struct arena *arena, struct node_reason *ret);
bool asks_for_gpu_memory(const struct engine *engine, const struct request *request,
                         const struct constraints *constraints);
bool gpu_memory_known(struct engine *engine, pod_id pod, node_id node);

/* Nodes (filter_nodes.c). */
bool node_is_ready(struct engine *engine, pod_id pod, node_id node);
void name_troubles(struct engine *engine, pod_id pod, node_id node, struct strbuf *out);
bool has_no_trouble(const struct node *node);
void trouble_reason(struct engine *engine, pod_id pod, node_id node, struct arena *arena, struct node_reason *ret);
bool has_ports(const struct engine *engine, const struct request *request, const struct constraints *constraints);
bool ports_free(struct engine *engine, pod_id pod, node_id node);
bool taints_pass(struct engine *engine, pod_id pod, node_id node);
void name_taint(struct engine *engine, pod_id pod, node_id node, struct strbuf *out);
bool has_no_taints(const struct node *node);
bool has_node_rules(const struct engine *engine, const struct request *request, const struct constraints *constraints);
bool node_affinity_passes(struct engine *engine, pod_id pod, node_id node);
void name_selector(struct engine *engine, pod_id pod, node_id node, struct strbuf *out);
bool workers_are_apart(const struct engine *engine, const struct request *request,
                       const struct constraints *constraints);
bool worker_type_passes(struct engine *engine, pod_id pod, node_id node);
void worker_type_reason(struct engine *engine, pod_id pod, node_id node, struct arena *arena, struct node_reason *ret);
