/* SPDX-License-Identifier: Apache-2.0 */
#include "local/shim/capabilities.h"

#include <errno.h>
#include <linux/capability.h>
#include <string.h>
#include <strings.h>
#include <sys/prctl.h>

#include "base/err.h"

#define BIT(number) ((uint64_t)1 << (number))
#define DEFAULTS                                                                                                      \
    (BIT(CAP_CHOWN) | BIT(CAP_DAC_OVERRIDE) | BIT(CAP_FSETID) | BIT(CAP_FOWNER) | BIT(CAP_SETGID) | BIT(CAP_SETUID) | \
     BIT(CAP_SETFCAP) | BIT(CAP_SETPCAP) | BIT(CAP_NET_BIND_SERVICE) | BIT(CAP_SYS_CHROOT) | BIT(CAP_KILL))

static const char *const names[] = {
    [CAP_CHOWN] = "CHOWN",
    [CAP_DAC_OVERRIDE] = "DAC_OVERRIDE",
    [CAP_DAC_READ_SEARCH] = "DAC_READ_SEARCH",
    [CAP_FOWNER] = "FOWNER",
    [CAP_FSETID] = "FSETID",
    [CAP_KILL] = "KILL",
    [CAP_SETGID] = "SETGID",
    [CAP_SETUID] = "SETUID",
    [CAP_SETPCAP] = "SETPCAP",
    [CAP_LINUX_IMMUTABLE] = "LINUX_IMMUTABLE",
    [CAP_NET_BIND_SERVICE] = "NET_BIND_SERVICE",
    [CAP_NET_BROADCAST] = "NET_BROADCAST",
    [CAP_NET_ADMIN] = "NET_ADMIN",
    [CAP_NET_RAW] = "NET_RAW",
    [CAP_IPC_LOCK] = "IPC_LOCK",
    [CAP_IPC_OWNER] = "IPC_OWNER",
    [CAP_SYS_MODULE] = "SYS_MODULE",
    [CAP_SYS_RAWIO] = "SYS_RAWIO",
    [CAP_SYS_CHROOT] = "SYS_CHROOT",
    [CAP_SYS_PTRACE] = "SYS_PTRACE",
    [CAP_SYS_PACCT] = "SYS_PACCT",
    [CAP_SYS_ADMIN] = "SYS_ADMIN",
    [CAP_SYS_BOOT] = "SYS_BOOT",
    [CAP_SYS_NICE] = "SYS_NICE",
    [CAP_SYS_RESOURCE] = "SYS_RESOURCE",
    [CAP_SYS_TIME] = "SYS_TIME",
    [CAP_SYS_TTY_CONFIG] = "SYS_TTY_CONFIG",
    [CAP_MKNOD] = "MKNOD",
    [CAP_LEASE] = "LEASE",
    [CAP_AUDIT_WRITE] = "AUDIT_WRITE",
    [CAP_AUDIT_CONTROL] = "AUDIT_CONTROL",
    [CAP_SETFCAP] = "SETFCAP",
    [CAP_MAC_OVERRIDE] = "MAC_OVERRIDE",
    [CAP_MAC_ADMIN] = "MAC_ADMIN",
    [CAP_SYSLOG] = "SYSLOG",
    [CAP_WAKE_ALARM] = "WAKE_ALARM",
    [CAP_BLOCK_SUSPEND] = "BLOCK_SUSPEND",
    [CAP_AUDIT_READ] = "AUDIT_READ",
    [CAP_PERFMON] = "PERFMON",
    [CAP_BPF] = "BPF",
    [CAP_CHECKPOINT_RESTORE] = "CHECKPOINT_RESTORE",
};

/* A name that nobody knows is none: it neither gives nor takes. */
static uint64_t bit_of(const char *name)
{
    if (strncasecmp(name, "CAP_", 4) == 0)
        name += 4;
    if (strcasecmp(name, "ALL") == 0)
        return UINT64_MAX;
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        if (strcasecmp(names[i], name) == 0)
            return BIT(i);
    }
    return 0;
}

static uint64_t bits_of(yyjson_val *list)
{
    size_t i, max;
    yyjson_val *name;
    uint64_t bits = 0;

    yyjson_arr_foreach(list, i, max, name)
    {
        if (yyjson_is_str(name))
            bits |= bit_of(yyjson_get_str(name));
    }
    return bits;
}

uint64_t capabilities_of(yyjson_val *add, yyjson_val *drop)
{
    uint64_t added = bits_of(add), dropped = bits_of(drop);

    /* All but a few: the few are named, and stay. */
    if (dropped == UINT64_MAX)
        return added == UINT64_MAX ? 0 : added;
    return (DEFAULTS | added) & ~dropped;
}

int capabilities_keep(uint64_t kept, struct err *err)
{
    for (unsigned long i = 0; i < 64; i++) {
        if (kept & BIT(i) || prctl(PR_CAPBSET_READ, i, 0, 0, 0) != 1)
            continue;
        if (prctl(PR_CAPBSET_DROP, i, 0, 0, 0) < 0)
            return err_set(err, -errno, "dropping a capability: %s", strerror(errno));
    }
    return 0;
}
