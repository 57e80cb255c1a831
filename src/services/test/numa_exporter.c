/* SPDX-License-Identifier: Apache-2.0 */

/* Where the CPUs of a machine are, and what becomes of a kubelet's answer. */
#include <errno.h>
#include <pod_resources.pb-c.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/err.h"
#include "base/mem.h"
#include "services/numa_exporter/cpu_zones.h"
#include "services/numa_exporter/placement.h"

/* A folder of sysfs with lists of CPUs, one for each zone from 0. */
struct machine {
    char root[64];
};

static void make(const struct machine *machine, const char *name)
{
    char path[256];

    (void)snprintf(path, sizeof path, "%s/%s", machine->root, name);
    assert_int_equal(mkdir(path, 0700), 0);
}

static void add_zone(const struct machine *machine, int zone, const char *cpus)
{
    char path[256];

    (void)snprintf(path, sizeof path, "devices/system/node/node%d", zone);
    make(machine, path);
    (void)snprintf(path, sizeof path, "%s/devices/system/node/node%d/cpulist", machine->root, zone);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(cpus, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static void machine_init(struct machine *machine)
{
    (void)snprintf(machine->root, sizeof machine->root, "/tmp/muster-sysfs-XXXXXX");
    assert_non_null(mkdtemp(machine->root));
    make(machine, "devices");
    make(machine, "devices/system");
    make(machine, "devices/system/node");
}

static void machine_done(const struct machine *machine)
{
    char command[128];

    (void)snprintf(command, sizeof command, "rm -r '%s'", machine->root);
    // NOLINTNEXTLINE(cert-env33-c): a folder of our own
    assert_int_equal(system(command), 0);
}

static void cpus_are_in_the_zones_that_list_them(void **state)
{
    struct machine machine;
    struct cpu_zones zones = {0};
    static const int wanted[] = {0, 0, 0, 1, 1, 0, -1, -1, 3};

    (void)state;
    machine_init(&machine);
    add_zone(&machine, 0, "0-2,5\n");
    add_zone(&machine, 1, "3-4");
    add_zone(&machine, 2, "\n");
    add_zone(&machine, 3, "8\n");
    make(&machine, "devices/system/node/power");
    make(&machine, "devices/system/node/node4x");
    assert_int_equal(cpu_zones_load(&zones, machine.root, NULL), 0);
    for (int cpu = 0; cpu < (int)ARRAY_LEN(wanted); cpu++)
        assert_int_equal(cpu_zones_find(&zones, cpu), wanted[cpu]);
    assert_int_equal(cpu_zones_find(&zones, -1), -1);
    assert_int_equal(cpu_zones_find(&zones, INT64_MAX), -1);
    cpu_zones_done(&zones);
    machine_done(&machine);
}

static void a_list_that_is_none_is_named(void **state)
{
    static const char *const lists[] = {"x\n", "1-\n", "5-3\n", "1 2\n", "1,,2\n", "65536\n", "99999999999999999999\n",
                                        "-1\n"};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(lists); i++) {
        struct machine machine;
        struct cpu_zones zones = {0};
        struct err err = {0};

        machine_init(&machine);
        add_zone(&machine, 7, lists[i]);
        assert_int_equal(cpu_zones_load(&zones, machine.root, &err), -EBADMSG);
        assert_non_null(strstr(err.text, "node7/cpulist"));
        cpu_zones_done(&zones);
        machine_done(&machine);
    }
}

static void a_machine_without_zones_is_an_error(void **state)
{
    struct machine machine;
    struct cpu_zones zones = {0};
    struct err err = {0};

    (void)state;
    assert_int_equal(cpu_zones_load(&zones, "/nonexistent", &err), -ENOENT);
    machine_init(&machine);
    add_zone(&machine, 0, "\n");
    assert_int_equal(cpu_zones_load(&zones, machine.root, &err), -ENODATA);
    cpu_zones_done(&zones);
    machine_done(&machine);
}

/* An answer with one pod of one container, encoded; to be freed. */
struct answer {
    Kubelet__Devices devices[3];
    Kubelet__Memory memory[2];
    int64_t cpus[8];
    size_t device_count, memory_count, cpu_count;
    const char *name;
};

static char *encode(struct answer *answer, size_t *ret_len)
{
    Kubelet__PodList list = KUBELET__POD_LIST__INIT;
    Kubelet__Pod pod = KUBELET__POD__INIT;
    Kubelet__Container container = KUBELET__CONTAINER__INIT;
    Kubelet__Pod *pods[] = {&pod};
    Kubelet__Container *containers[] = {&container};
    Kubelet__Devices *devices[] = {&answer->devices[0], &answer->devices[1], &answer->devices[2]};
    Kubelet__Memory *memory[] = {&answer->memory[0], &answer->memory[1]};

    list.n_pods = 1;
    list.pods = pods;
    pod.name = (char *)(uintptr_t)answer->name;
    pod.namespace_ = (char *)(uintptr_t)"team-a";
    pod.n_containers = 1;
    pod.containers = containers;
    container.n_devices = answer->device_count;
    container.devices = devices;
    container.n_memory = answer->memory_count;
    container.memory = memory;
    container.n_cpu_ids = answer->cpu_count;
    container.cpu_ids = answer->cpus;
    *ret_len = kubelet__pod_list__get_packed_size(&list);
    char *bytes = xmalloc(*ret_len);
    assert_int_equal(kubelet__pod_list__pack(&list, (uint8_t *)bytes), *ret_len);
    return bytes;
}

static Kubelet__NumaNode zone_nodes[] = {{.base = PROTOBUF_C_MESSAGE_INIT(&kubelet__numa_node__descriptor), .id = 0},
                                         {.base = PROTOBUF_C_MESSAGE_INIT(&kubelet__numa_node__descriptor), .id = 10}};
static Kubelet__NumaNode *zone_lists[][2] = {{&zone_nodes[0]}, {&zone_nodes[1]}, {&zone_nodes[0], &zone_nodes[1]}};
static Kubelet__Topology topologies[] = {
    {.base = PROTOBUF_C_MESSAGE_INIT(&kubelet__topology__descriptor), .n_nodes = 1, .nodes = zone_lists[0]},
    {.base = PROTOBUF_C_MESSAGE_INIT(&kubelet__topology__descriptor), .n_nodes = 1, .nodes = zone_lists[1]},
    {.base = PROTOBUF_C_MESSAGE_INIT(&kubelet__topology__descriptor), .n_nodes = 2, .nodes = zone_lists[2]},
};

static Kubelet__Devices devices_of(const char *resource, size_t count, Kubelet__Topology *topology)
{
    static char *ids[] = {(char *)(uintptr_t)"a", (char *)(uintptr_t)"b", (char *)(uintptr_t)"c"};
    Kubelet__Devices devices = KUBELET__DEVICES__INIT;

    devices.resource_name = (char *)(uintptr_t)resource;
    devices.n_device_ids = count;
    devices.device_ids = ids;
    devices.topology = topology;
    return devices;
}

static Kubelet__Memory memory_of(const char *type, uint64_t size, Kubelet__Topology *topology)
{
    Kubelet__Memory memory = KUBELET__MEMORY__INIT;

    memory.memory_type = (char *)(uintptr_t)type;
    memory.size = size;
    memory.topology = topology;
    return memory;
}

/* The zones of six CPUs: 0 0 2 2 10 10. */
static void zones_init(struct cpu_zones *zones)
{
    static const int32_t plus_one[] = {1, 1, 3, 3, 11, 11};

    *zones = (struct cpu_zones){0};
    for (size_t i = 0; i < ARRAY_LEN(plus_one); i++)
        vec_push(&zones->zone_plus_one, plus_one[i]);
}

static void amounts_are_added_up_by_zone_and_resource(void **state)
{
    struct answer answer = {
        .devices = {devices_of("nvidia.com/gpu", 2, &topologies[0]), devices_of("example.com/nic", 1, &topologies[1]),
                    devices_of("nvidia.com/gpu", 1, &topologies[0])},
        .memory = {memory_of("", 3000, &topologies[0]), memory_of("hugepages-2Mi", 2 << 20, &topologies[1])},
        .cpus = {4, 0, 5, 1, 2},
        .device_count = 3,
        .memory_count = 2,
        .cpu_count = 5,
        .name = "train",
    };
    struct placed_pods pods = {0};
    struct cpu_zones zones;
    size_t len;

    (void)state;
    zones_init(&zones);
    _cleanup_(freep) char *bytes = encode(&answer, &len);
    assert_int_equal(placed_pods_decode(bytes, len, &zones, &pods, NULL), 0);
    assert_int_equal(pods.len, 1);
    assert_string_equal(pods.items[0].namespace, "team-a");
    assert_string_equal(pods.items[0].name, "train");
    assert_string_equal(pods.items[0].placement,
                        "[{\"zone\":\"node-0\",\"amount\":{\"cpu\":\"2\",\"memory\":\"3k\",\"nvidia.com/gpu\":\"3\"}},"
                        "{\"zone\":\"node-10\",\"amount\":{\"cpu\":\"2\",\"example.com/nic\":\"1\","
                        "\"hugepages-2Mi\":\"2097152\"}},"
                        "{\"zone\":\"node-2\",\"amount\":{\"cpu\":\"1\"}}]");
    placed_pods_done(&pods);
    cpu_zones_done(&zones);
}

static void what_is_in_several_zones_or_none_is_left_out(void **state)
{
    struct answer answer = {
        .devices = {devices_of("nvidia.com/gpu", 2, &topologies[2]), devices_of("nvidia.com/gpu", 2, NULL),
                    devices_of("nvidia.com/gpu", 0, &topologies[0])},
        .memory = {memory_of("memory", 0, &topologies[0])},
        .cpus = {6, -1},
        .device_count = 3,
        .memory_count = 1,
        .cpu_count = 2,
        .name = "train",
    };
    struct placed_pods pods = {0};
    struct cpu_zones zones;
    size_t len;

    (void)state;
    zones_init(&zones);
    _cleanup_(freep) char *bytes = encode(&answer, &len);
    assert_int_equal(placed_pods_decode(bytes, len, &zones, &pods, NULL), 0);
    assert_int_equal(pods.len, 0);
    /* A pod without a name could not be written to. */
    answer = (struct answer){.cpus = {0}, .cpu_count = 1, .name = ""};
    free(TAKE_PTR(bytes));
    bytes = encode(&answer, &len);
    assert_int_equal(placed_pods_decode(bytes, len, &zones, &pods, NULL), 0);
    assert_int_equal(pods.len, 0);
    placed_pods_done(&pods);
    cpu_zones_done(&zones);
}

static void sums_beyond_all_numbers_stay_at_the_largest(void **state)
{
    struct answer answer = {
        .memory = {memory_of("memory", UINT64_MAX, &topologies[0]), memory_of("memory", 1, &topologies[0])},
        .memory_count = 2,
        .name = "train"};
    struct placed_pods pods = {0};
    struct cpu_zones zones = {0};
    size_t len;

    (void)state;
    _cleanup_(freep) char *bytes = encode(&answer, &len);
    assert_int_equal(placed_pods_decode(bytes, len, &zones, &pods, NULL), 0);
    assert_string_equal(pods.items[0].placement,
                        "[{\"zone\":\"node-0\",\"amount\":{\"memory\":\"9223372036854775807\"}}]");
    placed_pods_done(&pods);
}

/* Whatever a prefix of an answer is, reading it ends without harm. */
static void an_answer_that_was_cut_is_no_harm(void **state)
{
    struct answer answer = {.devices = {devices_of("nvidia.com/gpu", 3, &topologies[0])},
                            .cpus = {0, 1},
                            .device_count = 1,
                            .cpu_count = 2,
                            .name = "train"};
    struct cpu_zones zones;
    struct err err = {0};
    size_t len;

    (void)state;
    zones_init(&zones);
    _cleanup_(freep) char *bytes = encode(&answer, &len);
    for (size_t part = 1; part < len; part++) {
        struct placed_pods pods = {0};
        _cleanup_(freep) char *copy = xmalloc(part);

        memcpy(copy, bytes, part);
        assert_int_equal(placed_pods_decode(copy, part, &zones, &pods, &err), -EBADMSG);
        assert_int_equal(pods.len, 0);
    }
    cpu_zones_done(&zones);
}

/* Empty messages take two bytes each on the wire and far more in memory. */
static void an_answer_that_would_fill_the_memory_is_refused(void **state)
{
    enum { BYTES = 16 << 20 };
    _cleanup_(freep) char *bytes = xmalloc(BYTES);
    struct placed_pods pods = {0};
    struct cpu_zones zones = {0};
    struct err err = {0};

    (void)state;
    for (size_t i = 0; i < BYTES; i += 2) {
        bytes[i] = 0x0a;
        bytes[i + 1] = 0;
    }
    assert_int_equal(placed_pods_decode(bytes, BYTES, &zones, &pods, &err), -EBADMSG);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cpus_are_in_the_zones_that_list_them),
        cmocka_unit_test(a_list_that_is_none_is_named),
        cmocka_unit_test(a_machine_without_zones_is_an_error),
        cmocka_unit_test(amounts_are_added_up_by_zone_and_resource),
        cmocka_unit_test(what_is_in_several_zones_or_none_is_left_out),
        cmocka_unit_test(sums_beyond_all_numbers_stay_at_the_largest),
        cmocka_unit_test(an_answer_that_was_cut_is_no_harm),
        cmocka_unit_test(an_answer_that_would_fill_the_memory_is_refused),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
