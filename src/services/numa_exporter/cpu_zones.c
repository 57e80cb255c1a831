/* SPDX-License-Identifier: Apache-2.0 */

/* sysfs has a folder for each NUMA node, with the list of its CPUs: "0-3,8,12-13". */
#include "services/numa_exporter/cpu_zones.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "text/file.h"

enum { LIST_BYTES_MAX = 1 << 20 };

static void closedirp(DIR **folder)
{
    if (*folder)
        (void)closedir(*folder);
}

/* Reads digits at `*at`, moves it behind them; false when there are none or the number is not below `end`. */
static bool read_number(const char **at, uint32_t end, uint32_t *ret_number)
{
    uint32_t number = 0;
    const char *p = *at;

    if (*p < '0' || *p > '9')
        return false;
    for (; *p >= '0' && *p <= '9'; p++) {
        number = number * 10 + (uint32_t)(*p - '0');
        if (number >= end)
            return false;
    }
    *at = p;
    *ret_number = number;
    return true;
}

static void set_zone(struct cpu_zones *zones, uint32_t first, uint32_t last, int32_t zone)
{
    if (zones->zone_plus_one.len <= last)
        vec_resize(&zones->zone_plus_one, last + 1);
    for (uint32_t cpu = first; cpu <= last; cpu++)
        zones->zone_plus_one.items[cpu] = zone + 1;
}

/* A zone may have no CPUs: its list is an empty line. */
static int list_parse(struct cpu_zones *zones, const char *text, int32_t zone, struct err *err)
{
    const char *at = text;

    while (*at && *at != '\n') {
        uint32_t first, last;

        if (!read_number(&at, CPU_ZONES_CPUS_MAX, &first))
            return err_set(err, -EBADMSG, "no CPU number at '%.20s'", at);
        last = first;
        if (*at == '-') {
            at++;
            if (!read_number(&at, CPU_ZONES_CPUS_MAX, &last) || last < first)
                return err_set(err, -EBADMSG, "no end of a range at '%.20s'", at);
        }
        set_zone(zones, first, last, zone);
        if (*at == ',')
            at++;
        else if (*at && *at != '\n')
            return err_set(err, -EBADMSG, "no comma at '%.20s'", at);
    }
    return 0;
}

static int zone_load(struct cpu_zones *zones, const char *folder, int32_t zone, struct err *err)
{
    _cleanup_(freep) char *text = NULL;
    char path[PATH_MAX];
    size_t len;

    if (snprintf(path, sizeof path, "%s/node%d/cpulist", folder, zone) >= (int)sizeof path)
        return err_set(err, -ENAMETOOLONG, "%s: the path is too long", folder);
    int r = file_read(path, LIST_BYTES_MAX, &text, &len, err);
    if (r >= 0)
        r = list_parse(zones, text, zone, err);
    return r == -EBADMSG ? err_wrap(err, r, "%s", path) : r;
}

/* The number of a folder called "node3", or -1. */
static int32_t zone_of(const char *name)
{
    uint32_t zone;

    if (strncmp(name, "node", 4) != 0)
        return -1;
    name += 4;
    return read_number(&name, CPU_ZONES_ZONES_MAX, &zone) && *name == '\0' ? (int32_t)zone : -1;
}

int cpu_zones_load(struct cpu_zones *zones, const char *sysfs_root, struct err *err)
{
    char path[PATH_MAX];

    if (snprintf(path, sizeof path, "%s/devices/system/node", sysfs_root) >= (int)sizeof path)
        return err_set(err, -ENAMETOOLONG, "%s: the path is too long", sysfs_root);
    _cleanup_(closedirp) DIR *folder = opendir(path);
    if (!folder)
        return err_set(err, -errno, "%s: %s", path, strerror(errno));

    for (const struct dirent *entry; (entry = readdir(folder));) {
        int32_t zone = zone_of(entry->d_name);
        int r = zone < 0 ? 0 : zone_load(zones, path, zone, err);

        if (r < 0)
            return r;
    }
    if (zones->zone_plus_one.len == 0)
        return err_set(err, -ENODATA, "%s: no NUMA node has a CPU", path);
    return 0;
}

void cpu_zones_done(struct cpu_zones *zones)
{
    vec_done(&zones->zone_plus_one);
}

int32_t cpu_zones_find(const struct cpu_zones *zones, int64_t cpu)
{
    return cpu >= 0 && cpu < zones->zone_plus_one.len ? zones->zone_plus_one.items[cpu] - 1 : -1;
}
