/* SPDX-License-Identifier: Apache-2.0 */
#include "services/operator/crds.h"

#include "base/macros.h"

#define CRD(name)             \
    extern const char name[]; \
    extern const uint64_t name##_len;
CRD(crd_bindrequests)
CRD(crd_configs)
CRD(crd_podgroups)
CRD(crd_queues)
CRD(crd_schedulingshards)
CRD(crd_topologies)

static const struct release_crd crds[] = {
    {"bindrequests.scheduling.run.ai", crd_bindrequests, &crd_bindrequests_len},
    {"configs.kai.scheduler", crd_configs, &crd_configs_len},
    {"podgroups.scheduling.run.ai", crd_podgroups, &crd_podgroups_len},
    {"queues.scheduling.run.ai", crd_queues, &crd_queues_len},
    {"schedulingshards.kai.scheduler", crd_schedulingshards, &crd_schedulingshards_len},
    {"topologies.kai.scheduler", crd_topologies, &crd_topologies_len},
};

const struct release_crd *release_crd_at(size_t i)
{
    return i < ARRAY_LEN(crds) ? &crds[i] : NULL;
}
