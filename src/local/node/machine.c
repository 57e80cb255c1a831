/* SPDX-License-Identifier: Apache-2.0 */
#include "local/node/machine.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/err.h"
#include "base/macros.h"

enum { LINE_MAX_BYTES = 512, NAME_MAX_BYTES = 63 };

#define MIB (INT64_C(1) << 20)

static void read_line(const char *path, char *text, size_t size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, text, size - 1);

    text[n < 0 ? 0 : n] = '\0';
    text[strcspn(text, "\n")] = '\0';
    if (fd >= 0)
        (void)close(fd);
}

void machine_name(const char *host, char name[static MACHINE_TEXT_MAX])
{
    size_t len = 0;

    for (const char *at = host; *at && len < NAME_MAX_BYTES; at++) {
        char c = (char)tolower((unsigned char)*at);
        bool is_letter = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');

        /* Names begin and end with a letter or a digit. */
        if (is_letter || len > 0)
            name[len++] = (char)(is_letter || c == '.' ? c : '-');
    }
    while (len > 0 && !isalnum((unsigned char)name[len - 1]))
        len--;
    name[len] = '\0';
    if (len == 0)
        (void)snprintf(name, MACHINE_TEXT_MAX, "localhost");
}

static int64_t read_memory(void)
{
    static const char key[] = "MemTotal:";
    FILE *file = fopen("/proc/meminfo", "re");
    char line[LINE_MAX_BYTES];
    long long kib = 0;

    while (file && kib == 0 && fgets(line, sizeof line, file)) {
        if (strncmp(line, key, sizeof key - 1) == 0)
            kib = strtoll(line + sizeof key - 1, NULL, 10);
    }
    if (file)
        (void)fclose(file);
    return kib * 1024;
}

static void read_os(char *text, size_t size)
{
    static const char key[] = "PRETTY_NAME=";
    FILE *file = fopen("/etc/os-release", "re");
    char line[LINE_MAX_BYTES];

    (void)snprintf(text, size, "Linux");
    while (file && fgets(line, sizeof line, file)) {
        if (strncmp(line, key, sizeof key - 1) != 0)
            continue;
        const char *from = line + sizeof key - 1;
        from += *from == '"';
        (void)snprintf(text, size, "%.*s", (int)strcspn(from, "\"\n"), from);
    }
    if (file)
        (void)fclose(file);
}

/* The first address that other machines could use; the loopback one where there is none. */
static void read_address(char *text, size_t size)
{
    struct ifaddrs *all = NULL;

    (void)snprintf(text, size, "127.0.0.1");
    if (getifaddrs(&all) < 0)
        return;
    for (const struct ifaddrs *at = all; at; at = at->ifa_next) {
        struct sockaddr_in address;

        if (!at->ifa_addr || at->ifa_addr->sa_family != AF_INET || (at->ifa_flags & IFF_LOOPBACK) ||
            !(at->ifa_flags & IFF_UP))
            continue;
        memcpy(&address, at->ifa_addr, sizeof address);
        if (inet_ntop(AF_INET, &address.sin_addr, text, (socklen_t)size))
            break;
    }
    freeifaddrs(all);
}

static uint32_t count_numa(void)
{
    DIR *dir = opendir("/sys/devices/system/node");
    uint32_t count = 0;

    for (const struct dirent *entry; dir && (entry = readdir(dir));)
        count += strncmp(entry->d_name, "node", 4) == 0 && isdigit((unsigned char)entry->d_name[4]);
    if (dir)
        (void)closedir(dir);
    return MAX(count, 1u);
}

static void read_gpus(struct machine *machine)
{
    struct nvml *nvml = NULL;
    struct err err = {0};

    if (nvml_open(NVML_LIBRARY, &nvml, &err) < 0)
        return;
    for (uint32_t i = 0; i < nvml_gpu_count(nvml); i++) {
        struct nvml_gpu gpu;

        if (nvml_gpu(nvml, i, &gpu, &err) == 0)
            vec_push(&machine->gpus, gpu);
    }
    nvml_close(nvml);
}

static const char *architecture(const char *name)
{
    static const struct {
        const char *kernel, *go;
    } names[] = {{"x86_64", "amd64"}, {"aarch64", "arm64"}, {"ppc64le", "ppc64le"}, {"s390x", "s390x"}};

    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        if (strcmp(names[i].kernel, name) == 0)
            return names[i].go;
    }
    return "unknown";
}

void machine_read(struct machine *machine, const char *folder)
{
    struct utsname system = {0};
    struct statvfs disk;
    cpu_set_t cpus;

    *machine = (struct machine){0};
    (void)uname(&system);
    (void)snprintf(machine->host, sizeof machine->host, "%s", system.nodename);
    (void)snprintf(machine->kernel, sizeof machine->kernel, "%s", system.release);
    machine->architecture = architecture(system.machine);
    machine_name(machine->host, machine->name);
    read_address(machine->address, sizeof machine->address);
    read_line("/etc/machine-id", machine->machine_id, sizeof machine->machine_id);
    read_line("/sys/class/dmi/id/product_uuid", machine->system_uuid, sizeof machine->system_uuid);
    if (!machine->system_uuid[0])
        memcpy(machine->system_uuid, machine->machine_id, sizeof machine->system_uuid);
    read_line("/proc/sys/kernel/random/boot_id", machine->boot_id, sizeof machine->boot_id);
    read_os(machine->os_image, sizeof machine->os_image);
    machine->cpus = sched_getaffinity(0, sizeof cpus, &cpus) == 0 ? CPU_COUNT(&cpus) : sysconf(_SC_NPROCESSORS_ONLN);
    machine->memory_bytes = read_memory();
    if (statvfs(folder, &disk) == 0)
        machine->disk_bytes = (int64_t)(disk.f_blocks * disk.f_frsize);
    machine->numa_nodes = count_numa();
    read_gpus(machine);
}

void machine_done(struct machine *machine)
{
    vec_done(&machine->gpus);
}

/* A little of each for the daemon and the system: a tenth of a CPU, and a twentieth of the memory up to 4 GiB. */
int64_t machine_reserved_milli_cpu(const struct machine *machine)
{
    return machine->cpus > 0 ? 100 : 0;
}

int64_t machine_reserved_bytes(const struct machine *machine)
{
    return CLAMP(machine->memory_bytes / 20, MIN(256 * MIB, machine->memory_bytes / 2), 4096 * MIB);
}
