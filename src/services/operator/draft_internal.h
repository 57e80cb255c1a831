/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "services/operator/conf.h"
#include "services/operator/desired.h"
#include "services/operator/pack.h"

/* What the files that make desired objects share. */

struct draft {
    struct desired *desired;
    yyjson_mut_doc *doc;
    yyjson_val *config;  // its spec; may be NULL
    const struct surroundings *around;
    size_t operand;
};

/* The index of the one operand whose objects belong to shards. */
size_t scheduler_operand(void);

/* Adds an object, which has its metadata. */
void draft_add(struct draft *draft, enum owned_kind kind, yyjson_mut_val *object);

/* Metadata with the label `app`; `namespace` is NULL for kinds without one. */
yyjson_mut_val *draft_meta(struct draft *draft, const char *namespace, const char *name, const char *app);

/* A ServiceAccount. */
void draft_account(struct draft *draft, const char *namespace, const char *name, yyjson_mut_val *pull_secrets);

/* The pull secrets of the Config as a list of references; NULL: none. */
yyjson_mut_val *draft_pull_secrets(struct draft *draft);

/* "registry/name:tag" of the image that a member of the Config describes. */
yyjson_mut_val *draft_image(struct draft *draft, yyjson_val *image);
const char *draft_image_text(struct draft *draft, yyjson_val *image);

/* The security context of containers; NULL on OpenShift. */
yyjson_mut_val *draft_security(struct draft *draft);

/* A text in the draft's document: "<format>". */
const char *draft_text(struct draft *draft, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The arguments of a container. Each call appends one. */
void args_add(struct draft *draft, yyjson_mut_val *args, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* "a=b,c=d" for labels in the Config, in its order; NULL: there are none. */
const char *selector_text(struct draft *draft, const char *path);

/* --qps, --burst and the log's format, as far as the Config sets them. */
void args_add_common(struct draft *draft, yyjson_mut_val *args, yyjson_val *section);

/* Amounts that a container has when the Config names none. */
struct container_amounts {
    const char *cpu, *memory, *memory_limit;
};

struct workload {
    const char *name;
    const char *account;  // NULL: the name
    yyjson_val *service;  // the member `service` of the Config's section
    struct container_amounts amounts;
    yyjson_mut_val *args;
    yyjson_mut_val *env, *volumes, *mounts, *ports;  // may be NULL
    yyjson_mut_val *annotations;                     // of the pods; may be NULL
    int probe_port;                                  // of /healthz and /readyz; 0: no probes
    int replicas;
    bool is_recreated;  // never two versions at a time
};

void draft_deployment(struct draft *draft, const struct workload *workload);

/* A DaemonSet with root's rights to read the node. */
void draft_node_daemon(struct draft *draft, const struct workload *workload);

/* A disruption budget, where the Config wants one for more than one replica. */
void draft_budget(struct draft *draft, const char *name, yyjson_val *service, int replicas);

/* A vertical autoscaler, where the section or the Config as a whole wants one. */
void draft_autoscaler(struct draft *draft, yyjson_val *section, const char *name, const char *kind);

/* The replicas of a section: its own, or the Config's. */
int section_replicas(const struct draft *draft, yyjson_val *section);

/* Names and ports that more than one file needs. */
const char *scheduler_name(yyjson_val *config);
const char *queue_label_key(yyjson_val *config);
const char *node_pool_label_key(yyjson_val *config);

void draft_webhooks(struct draft *draft);
/* The names of the configurations, for admission, which writes its CA into them. */
void args_add_webhooks(struct draft *draft, yyjson_mut_val *args);
void draft_prometheus(struct draft *draft);

/* The scheduler's configuration file, as a string of the document. */
MUST_CHECK int draft_scheduler_config(struct draft *draft, yyjson_val *shard, const char **ret_text, struct err *err);
