/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <yyjson.h>

#include "local/api/problems.h"

struct api_kind;

/* An object that is checked. Functions below check one struct of it, which lies at `field`. */
struct validating {
    const struct api_kind *kind;
    yyjson_mut_doc *doc;
    yyjson_mut_val *root;
    yyjson_mut_val *old;  // the root of the object before, NULL for a new one
    struct problems *problems;
    bool is_second;  // the same object is walked for the second time
};

/* --- The table: what can be said about one member alone --- */

enum value_check {
    CHECK_REQUIRED,  // not empty; `words` is the detail
    CHECK_ONE_OF,    // one of `words`, separated by spaces
    CHECK_AT_LEAST_ZERO,
    CHECK_ABOVE_ZERO,
    CHECK_BETWEEN,    // min and max; `words` replaces the usual text
    CHECK_LABEL,      // a DNS label
    CHECK_SUBDOMAIN,  // a DNS name
    CHECK_LABELS,     // a map of labels
    CHECK_KEY,        // the key of a label
    CHECK_LOWER_KEY,  // the same, when it is written in lower case
    CHECK_PORT,       // a number or the name of a port
    CHECK_AMOUNT,     // a whole number that is not negative, or a percentage
};

struct value_rule {
    const char *group;
    const char *type;
    const char *member;
    enum value_check check;
    const char *words;
    int64_t min;
    int64_t max;
};

const struct value_rule *value_rule_at(size_t index);  // NULL past the last one
void value_check(struct validating *validating, const struct value_rule *rule, yyjson_mut_val *object,
                 const struct field *field);

/* --- Names --- */

/* Each lists what is wrong with the text as a value of `field`. */
void check_label_key(struct problems *problems, const struct field *field, const char *key);
void check_label_value(struct problems *problems, const struct field *field, const char *value);
void check_labels(struct problems *problems, const struct field *field, yyjson_mut_val *labels);
void check_subdomain(struct problems *problems, const struct field *field, const char *name);
void check_dns_label(struct problems *problems, const struct field *field, const char *name);

/* A port by its number or its name. */
void check_port(struct problems *problems, const struct field *field, yyjson_mut_val *value);

/* A copy of a map with its keys in order, as problems show it. */
yyjson_mut_val *sorted_map(yyjson_mut_doc *doc, yyjson_mut_val *map);

/* Why a name is no label of DNS, in words. Returns how many reasons there are. */
size_t dns_label_problems(const char *name, const char *words[static 2]);
void check_port_name(struct problems *problems, const struct field *field, const char *name);
void check_config_key(struct problems *problems, const struct field *field, const char *key);

/* --- Parts of objects --- */

/* Lists the elements of a list whose name an earlier one has, at the name or at the element. */
void check_names(struct validating *validating, yyjson_mut_val *list, const struct field *field, bool names_member);

void check_metadata(struct validating *validating);
void check_container(struct validating *validating, yyjson_mut_val *container, const struct field *field);
void check_container_resources(struct validating *validating, yyjson_mut_val *resources, const struct field *field);
void check_overhead(struct validating *validating, yyjson_mut_val *overhead, const struct field *field);
void check_pod_spec(struct validating *validating, yyjson_mut_val *spec, const struct field *field);
void check_toleration(struct validating *validating, yyjson_mut_val *toleration, const struct field *field);
void check_requirement(struct validating *validating, yyjson_mut_val *requirement, const struct field *field);
void check_probe(struct validating *validating, yyjson_mut_val *probe, const struct field *field);
void check_env(struct validating *validating, yyjson_mut_val *env, const struct field *field);
void check_volume(struct validating *validating, yyjson_mut_val *volume, const struct field *field);
void check_service(struct validating *validating, yyjson_mut_val *spec, const struct field *field);
void check_workload(struct validating *validating, yyjson_mut_val *spec, const struct field *field);
void check_deployment(struct validating *validating, yyjson_mut_val *spec, const struct field *field);
void check_generated(struct validating *validating, yyjson_mut_val *job, const struct field *field);
void check_job_indexes(struct validating *validating, yyjson_mut_val *spec, const struct field *field);
void check_job_replacement(struct validating *validating, yyjson_mut_val *spec, const struct field *field);
void check_job(struct validating *validating, yyjson_mut_val *spec, const struct field *field);
void check_cron_job(struct validating *validating, yyjson_mut_val *spec, const struct field *field);
void check_config_map(struct validating *validating, yyjson_mut_val *map, const struct field *field);
void check_secret(struct validating *validating, yyjson_mut_val *secret, const struct field *field);
void check_claim(struct validating *validating, yyjson_mut_val *spec, const struct field *field);
void check_persistent_volume(struct validating *validating, yyjson_mut_val *spec, const struct field *field);
void check_rule(struct validating *validating, yyjson_mut_val *rule, const struct field *field);
void check_binding(struct validating *validating, yyjson_mut_val *binding, const struct field *field);
void check_priority_class(struct validating *validating, yyjson_mut_val *class, const struct field *field);
void check_event(struct validating *validating, yyjson_mut_val *event, const struct field *field);
void check_device_claim(struct validating *validating, yyjson_mut_val *claim, const struct field *field);
void check_slice(struct validating *validating, yyjson_mut_val *spec, const struct field *field);

void check_template(struct validating *validating, yyjson_mut_val *template, const struct field *field);
void check_daemon_set(struct validating *validating, yyjson_mut_val *spec, const struct field *field);
void check_stateful_set(struct validating *validating, yyjson_mut_val *spec, const struct field *field);
void check_network_policy(struct validating *validating, yyjson_mut_val *spec, const struct field *field);
void check_webhooks(struct validating *validating, yyjson_mut_val *configuration, const struct field *field);
void check_node(struct validating *validating, yyjson_mut_val *node, const struct field *field);
void check_limits(struct validating *validating, yyjson_mut_val *item, const struct field *field);
void check_quota(struct validating *validating, yyjson_mut_val *spec, const struct field *field);

void check_ingress(struct validating *validating, yyjson_mut_val *ingress, const struct field *field);
void check_budget(struct validating *validating, yyjson_mut_val *spec, const struct field *field);

/* Members of the specification of a PersistentVolume that are no sources of a volume. */
#define VOLUME_SETTINGS                                                                                     \
    "capacity accessModes claimRef persistentVolumeReclaimPolicy storageClassName mountOptions volumeMode " \
    "nodeAffinity volumeAttributesClassName"

/* Addresses of a service that do not fit together; false after problems, behind which nothing more is to be said. */
bool check_service_addresses(struct validating *validating);
void check_service_update(struct validating *validating);

/* What may not change. */
void check_update(struct validating *validating);

/* Whether a member differs from what it was; only for an object that was there before. */
bool is_member_changed(const struct validating *validating, const char *path);
