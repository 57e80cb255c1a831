/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <yyjson.h>

#include "base/vec.h"
#include "gpu/nvml/nvml.h"

struct cgroup_tree;

/* What this machine has, as its node object shows it. */
enum { MACHINE_TEXT_MAX = 256 };

struct machine {
    char name[MACHINE_TEXT_MAX];  // of the node: the host's name in the form that objects have
    char host[MACHINE_TEXT_MAX];
    char address[64];
    char machine_id[64], system_uuid[64], boot_id[64];
    char kernel[MACHINE_TEXT_MAX], os_image[MACHINE_TEXT_MAX];
    const char *architecture;  // as Go names it
    int64_t cpus;
    int64_t memory_bytes;
    int64_t disk_bytes;  // of the file system with the state
    uint32_t numa_nodes;
    VEC(struct nvml_gpu) gpus;
};

/* Looks at the machine; what cannot be found is empty or 0. `folder` is that of the state. */
void machine_read(struct machine *machine, const char *folder);
void machine_done(struct machine *machine);

/* The host's name as the name of an object: lower case, without characters that are not allowed. Never empty. */
void machine_name(const char *host, char name[static MACHINE_TEXT_MAX]);

/* The part of the CPUs and of the memory that pods do not get. */
int64_t machine_reserved_milli_cpu(const struct machine *machine);
int64_t machine_reserved_bytes(const struct machine *machine);

/* The Node object with its status, and the name of the runtime; to be freed with yyjson_mut_doc_free(). */
yyjson_mut_doc *machine_node(const struct machine *machine, const struct cgroup_tree *tree, const char *runtime);
