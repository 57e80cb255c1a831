/* SPDX-License-Identifier: Apache-2.0 */

/* The machine as a Node object. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/macros.h"
#include "base/time.h"
#include "local/cgroup/cgroup.h"
#include "local/node/machine.h"
#include "text/json.h"
#include "text/quantity.h"

/* Processes without a network of their own are cheap; this bounds what one machine is asked to follow. */
enum { PODS_MAX = 1000 };

enum { RUNTIME_TEXT_MAX = 64 };

#define VERSION_TEXT "v1.36.0+muster"

struct pair {
    const char *key, *value;
};

static void add_pairs(yyjson_mut_doc *doc, yyjson_mut_val *to, const struct pair *pairs, size_t count)
{
    for (size_t i = 0; i < count; i++)
        (void)yyjson_mut_obj_add_strcpy(doc, to, pairs[i].key, pairs[i].value);
}

/* Label values have no spaces: "NVIDIA-H100-80GB-HBM3". */
static void product_of(const struct nvml_gpu *gpu, char text[static 64])
{
    size_t len = 0;

    for (const char *at = gpu->name; *at && len < 63; at++)
        text[len++] = isalnum((unsigned char)*at) || *at == '.' || *at == '_' ? *at : '-';
    while (len > 0 && !isalnum((unsigned char)text[len - 1]))
        len--;
    text[len] = '\0';
}

static void add_labels(yyjson_mut_doc *doc, yyjson_mut_val *metadata, const struct machine *machine)
{
    yyjson_mut_val *labels = yyjson_mut_obj_add_obj(doc, metadata, "labels");
    char product[64] = "", count[16], memory[32], numa[16];

    (void)snprintf(numa, sizeof numa, "%u", machine->numa_nodes);
    const struct pair common[] = {{"kubernetes.io/hostname", machine->name},
                                  {"kubernetes.io/arch", machine->architecture},
                                  {"kubernetes.io/os", "linux"},
                                  {"muster.scheduler/node", "machine"},
                                  {"muster.scheduler/numa-nodes", numa}};
    add_pairs(doc, labels, common, ARRAY_LEN(common));
    if (machine->gpus.len == 0)
        return;
    product_of(&machine->gpus.items[0], product);
    (void)snprintf(count, sizeof count, "%u", machine->gpus.len);
    (void)snprintf(memory, sizeof memory, "%llu", (unsigned long long)(machine->gpus.items[0].total_bytes >> 20));
    const struct pair gpus[] = {{"nvidia.com/gpu.present", "true"},
                                {"nvidia.com/gpu.product", product},
                                {"nvidia.com/gpu.count", count},
                                {"nvidia.com/gpu.memory", memory}};
    add_pairs(doc, labels, gpus, ARRAY_LEN(gpus));
}

static void add_amounts(yyjson_mut_doc *doc, yyjson_mut_val *to, const struct machine *machine, int64_t milli_cpu,
                        int64_t memory)
{
    char text[QUANTITY_TEXT_MAX];

    (void)yyjson_mut_obj_add_strcpy(doc, to, "cpu", quantity_format(milli_cpu, QUANTITY_MILLI, text));
    (void)yyjson_mut_obj_add_strcpy(doc, to, "memory", quantity_format(memory, QUANTITY_ONE, text));
    (void)yyjson_mut_obj_add_strcpy(doc, to, "ephemeral-storage",
                                    quantity_format(machine->disk_bytes, QUANTITY_ONE, text));
    (void)yyjson_mut_obj_add_strcpy(doc, to, "pods", quantity_format(PODS_MAX, QUANTITY_ONE, text));
    if (machine->gpus.len > 0)
        (void)yyjson_mut_obj_add_strcpy(doc, to, "nvidia.com/gpu",
                                        quantity_format(machine->gpus.len, QUANTITY_ONE, text));
}

static void add_condition(yyjson_mut_doc *doc, yyjson_mut_val *conditions, const char *type, bool is_true,
                          const char *reason, const char *message)
{
    yyjson_mut_val *condition = yyjson_mut_arr_add_obj(doc, conditions);
    nsec_t now = nsec_now_wall();
    char text[TIME_TEXT_MAX];

    (void)time_format(now - now % NSEC_PER_SEC, text);
    (void)yyjson_mut_obj_add_str(doc, condition, "type", type);
    (void)yyjson_mut_obj_add_str(doc, condition, "status", is_true ? "True" : "False");
    (void)yyjson_mut_obj_add_strcpy(doc, condition, "lastHeartbeatTime", text);
    (void)yyjson_mut_obj_add_strcpy(doc, condition, "lastTransitionTime", text);
    (void)yyjson_mut_obj_add_str(doc, condition, "reason", reason);
    (void)yyjson_mut_obj_add_strcpy(doc, condition, "message", message);
}

static void add_conditions(yyjson_mut_doc *doc, yyjson_mut_val *status, const struct cgroup_tree *tree)
{
    yyjson_mut_val *conditions = yyjson_mut_obj_add_arr(doc, status, "conditions");

    add_condition(doc, conditions, "MemoryPressure", false, "KubeletHasSufficientMemory",
                  "kubelet has sufficient memory available");
    add_condition(doc, conditions, "DiskPressure", false, "KubeletHasNoDiskPressure", "kubelet has no disk pressure");
    add_condition(doc, conditions, "PIDPressure", false, "KubeletHasSufficientPID",
                  "kubelet has sufficient PID available");
    const char *enforced = tree->has_devices ? "limits of CPU, memory and processes and access to GPUs are enforced"
                                             : "limits of CPU, memory and processes are enforced";

    add_condition(doc, conditions, "LimitsEnforced", tree->has_limits, tree->has_limits ? "ControlGroups" : "NoRights",
                  tree->has_limits ? enforced : tree->why);
    add_condition(doc, conditions, "Ready", true, "KubeletReady", "the node agent runs pods as processes");
}

static void add_status(yyjson_mut_doc *doc, yyjson_mut_val *status, const struct machine *machine,
                       const struct cgroup_tree *tree, const char *runtime)
{
    char version[RUNTIME_TEXT_MAX];

    (void)snprintf(version, sizeof version, "%s://" VERSION_TEXT, runtime);
    const struct pair info[] = {{"machineID", machine->machine_id}, {"systemUUID", machine->system_uuid},
                                {"bootID", machine->boot_id},       {"kernelVersion", machine->kernel},
                                {"osImage", machine->os_image},     {"containerRuntimeVersion", version},
                                {"kubeletVersion", VERSION_TEXT},   {"kubeProxyVersion", ""},
                                {"operatingSystem", "linux"},       {"architecture", machine->architecture}};

    add_amounts(doc, yyjson_mut_obj_add_obj(doc, status, "capacity"), machine, machine->cpus * 1000,
                machine->memory_bytes);
    add_amounts(doc, yyjson_mut_obj_add_obj(doc, status, "allocatable"), machine,
                machine->cpus * 1000 - machine_reserved_milli_cpu(machine),
                machine->memory_bytes - machine_reserved_bytes(machine));
    add_conditions(doc, status, tree);
    yyjson_mut_val *addresses = yyjson_mut_obj_add_arr(doc, status, "addresses");
    const struct pair known[] = {{"InternalIP", machine->address}, {"Hostname", machine->name}};
    for (size_t i = 0; i < ARRAY_LEN(known); i++) {
        yyjson_mut_val *address = yyjson_mut_arr_add_obj(doc, addresses);

        (void)yyjson_mut_obj_add_str(doc, address, "type", known[i].key);
        (void)yyjson_mut_obj_add_strcpy(doc, address, "address", known[i].value);
    }
    add_pairs(doc, yyjson_mut_obj_add_obj(doc, status, "nodeInfo"), info, ARRAY_LEN(info));
}

yyjson_mut_doc *machine_node(const struct machine *machine, const struct cgroup_tree *tree, const char *runtime)
{
    yyjson_mut_val *root = NULL;
    yyjson_mut_doc *doc = json_new_object(&root);

    (void)yyjson_mut_obj_add_str(doc, root, "apiVersion", "v1");
    (void)yyjson_mut_obj_add_str(doc, root, "kind", "Node");
    yyjson_mut_val *metadata = yyjson_mut_obj_add_obj(doc, root, "metadata");
    (void)yyjson_mut_obj_add_strcpy(doc, metadata, "name", machine->name);
    add_labels(doc, metadata, machine);
    (void)yyjson_mut_obj_add_obj(doc, root, "spec");
    add_status(doc, yyjson_mut_obj_add_obj(doc, root, "status"), machine, tree, runtime);
    return doc;
}
