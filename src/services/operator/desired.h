/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <yyjson.h>

#include "base/macros.h"
#include "base/time.h"
#include "base/vec.h"
#include "kube/client/resource.h"

struct err;

/*
 * The objects that a Config and its SchedulingShards stand for. Everything here is a function of what is passed in: the
 * specs, and what the operator has seen of the cluster. Nothing is read from or written to the API.
 */

/* The kinds of objects that are written. The order is that of writing: accounts before what runs under them. */
enum owned_kind {
    OWNED_SERVICE_ACCOUNT,
    OWNED_CONFIG_MAP,
    OWNED_SERVICE,
    OWNED_ENDPOINT_SLICE,
    OWNED_DEPLOYMENT,
    OWNED_DAEMON_SET,
    OWNED_DISRUPTION_BUDGET,
    OWNED_MUTATING_WEBHOOK,
    OWNED_VALIDATING_WEBHOOK,
    OWNED_AUTOSCALER,
    OWNED_PROMETHEUS,
    OWNED_SERVICE_MONITOR,
    _OWNED_KIND_MAX
};

struct owned_row {
    struct kube_resource resource;
    const char *crd;  // that has to be there; NULL: the API server has the kind
    /* Where the services run in one process, all else is the chart's. */
    bool is_hosted;  // desired there for every operand
    bool is_apart;   // desired there for operands that are not in that process
};
extern const struct owned_row owned_rows[_OWNED_KIND_MAX];

/* The pod that holds the lease of a shard's scheduler. All NULL: not known. */
struct leader {
    const char *pod;
    const char *uid;
    const char *address;  // IPv4
};

/* Annotation of a Prometheus: when it was switched off. KAI has the same. */
#define KEY_SWITCHED_OFF "kai/deprecation-timestamp"

/* The Prometheus that the Config names, as far as it is there and the Config's. */
struct prometheus_seen {
    bool is_there;
    nsec_t switched_off;  // wall clock; 0: it was not
    nsec_t retention;     // of its data
};

/* What the objects depend on beside the specs. */
struct surroundings {
    const char *namespace;  // of the operands
    const char *registry;   // of images for which the Config names none
    const char *image;
    const char *tag;
    bool is_hosted;    // services run in this process: a Deployment stands for one of them
    bool has_starter;  // among them the one that starts submitted Jobs, of which the Config knows nothing
    bool has_kind[_OWNED_KIND_MAX];
    bool has_fake_gpus;      // a node is labelled run.ai/fake.gpu=true
    bool has_cdi;            // the GPU operator injects devices by CDI
    bool has_numa_shard;     // a shard has enabled the plugin numa
    bool has_request_shard;  // a shard binds every pod by a BindRequest, which waits for the PodGroup
    struct prometheus_seen prometheus;
    nsec_t now;  // wall clock
};

struct desired_object {
    enum owned_kind kind;
    size_t operand;         // index, see operand_title()
    const char *namespace;  // NULL for kinds without one
    const char *name;
    yyjson_mut_val *object;
};

/* All objects of one owner; they live in `doc`. */
struct desired {
    yyjson_mut_doc *doc;
    VEC(struct desired_object) objects;
    const char *missing;  // a dependency that is not there; NULL: none
    size_t missing_of;    // the operand that needs it
};

void desired_init(struct desired *desired);
void desired_done(struct desired *desired);

/* Operands as conditions name them. */
size_t operand_count(void);
const char *operand_title(size_t operand);
/* All replicas act, whichever of them leads. */
bool operand_is_shared(size_t operand);
/* It has pods of its own where the services run in one process. */
bool operand_is_apart(size_t operand);

/* The name of the Prometheus that a Config stands for, now or before it was switched off. */
const char *prometheus_name(yyjson_val *config);
/* When one that was switched off goes; 0: it was not switched off. */
nsec_t prometheus_ends(const struct prometheus_seen *seen);

/* What a Config stands for; `spec` may be NULL. Fails with -EINVAL for a spec that makes no sense. */
MUST_CHECK int desired_for_config(struct desired *desired, yyjson_val *spec, const struct surroundings *around,
                                  struct err *err);

struct shard {
    const char *name;
    yyjson_val *object;  // with its member `spec`
    struct leader leader;
};

/* What a SchedulingShard stands for, under that Config. */
MUST_CHECK int desired_for_shard(struct desired *desired, const struct shard *shard, yyjson_val *config,
                                 const struct surroundings *around, struct err *err);

/* Flags of the scheduler that `spec.args` of a shard may set. */
const char *const *shard_flag_names(size_t *ret_count);

/* The Lease of the shard's scheduler; the text is written to `name`. Whether there are several replicas, so that the
 * lease says which of them leads. */
enum { LEASE_NAME_MAX = 512 };
bool shard_lease(yyjson_val *config, yyjson_val *shard_spec, char name[static LEASE_NAME_MAX]);

/* The namespaces beside that of the operands in which objects are desired. */
const char *reservation_namespace(yyjson_val *config);
const char *scaling_namespace(yyjson_val *config);
