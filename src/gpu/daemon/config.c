/* SPDX-License-Identifier: Apache-2.0 */

/* The configuration as tables: a member is a row, and what is in no row is refused. */
#include "gpu/daemon/config.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "text/file.h"
#include "text/json.h"
#include "text/quantity.h"
#include "text/yaml.h"

enum { CONFIG_FILE_MAX = 1 << 20 };

#define MIB (UINT64_C(1) << 20)

static uint64_t host_memory(void)
{
    long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);

    return pages > 0 && size > 0 ? (uint64_t)pages * (uint64_t)size : 0;
}

void gpud_config_init(struct gpud_config *config)
{
    const char *runtime = getenv("XDG_RUNTIME_DIR");
    char folder[256];

    *config = (struct gpud_config){
        .credit_bytes = 64 * MIB,
        .context_bytes = 512 * MIB,
        .reclaim_deadline = 2 * NSEC_PER_SEC,
        .reclaim_action = RECLAIM_BY_KILL,
        .host_bytes = host_memory() / 4,
        .park_timeout = 30 * NSEC_PER_SEC,
        .mig_keep = 60 * NSEC_PER_SEC,
        .backlog = 1500 * NSEC_PER_USEC,
        .idle = NSEC_PER_MSEC,
        .watch_interval = 100 * NSEC_PER_MSEC,
        .tolerance_bytes = 64 * MIB,
    };
    if (geteuid() == 0)
        (void)snprintf(folder, sizeof folder, "/run/muster/gpu");
    else if (runtime && runtime[0] == '/')
        (void)snprintf(folder, sizeof folder, "%s/muster/gpu", runtime);
    else
        (void)snprintf(folder, sizeof folder, "/tmp/muster-gpu-%u", (unsigned)geteuid());
    config->folder = xstrdup(folder);
}

void gpud_config_done(struct gpud_config *config)
{
    free(config->folder);
    free(config->metrics_address);
    vec_done(&config->gpus);
    vec_done(&config->groups);
    *config = (struct gpud_config){0};
}

enum row_kind { ROW_TEXT, ROW_BYTES, ROW_TIME, ROW_ACTION, ROW_RECLAIM, ROW_PORT };

struct row {
    const char *section;  // NULL: at the top
    const char *key;
    enum row_kind kind;
    size_t offset;
};

#define ROW(section, key, kind, member) {section, key, kind, offsetof(struct gpud_config, member)}

static const struct row rows[] = {
    ROW(NULL, "folder", ROW_TEXT, folder),
    ROW("memory", "reserve", ROW_BYTES, reserve_bytes),
    ROW("memory", "credit", ROW_BYTES, credit_bytes),
    ROW("memory", "context", ROW_BYTES, context_bytes),
    ROW("reclaim", "deadline", ROW_TIME, reclaim_deadline),
    ROW("reclaim", "action", ROW_RECLAIM, reclaim_action),
    ROW("park", "host", ROW_BYTES, host_bytes),
    ROW("park", "timeout", ROW_TIME, park_timeout),
    ROW("mig", "keep", ROW_TIME, mig_keep),
    ROW("compute", "quantum", ROW_TIME, compute.quantum),
    ROW("compute", "quantumMin", ROW_TIME, compute.quantum_min),
    ROW("compute", "plan", ROW_TIME, compute.plan),
    ROW("compute", "drainBound", ROW_TIME, compute.drain_bound),
    ROW("compute", "together", ROW_TIME, compute.together),
    ROW("compute", "backlog", ROW_TIME, backlog),
    ROW("compute", "idle", ROW_TIME, idle),
    ROW("watch", "interval", ROW_TIME, watch_interval),
    ROW("watch", "tolerance", ROW_BYTES, tolerance_bytes),
    ROW("watch", "unregistered", ROW_ACTION, unregistered),
    ROW("watch", "overuse", ROW_ACTION, overuse),
    ROW("watch", "stuck", ROW_ACTION, stuck),
    ROW("metrics", "address", ROW_TEXT, metrics_address),
    ROW("metrics", "port", ROW_PORT, metrics_port),
};

static int read_bytes(const struct json_at *at, uint64_t *ret_bytes, struct err *err)
{
    const char *text;
    int64_t bytes;
    int r;

    if (!yyjson_is_str(at->val)) {
        r = json_int64(at, 0, (int64_t)GPU_BYTES_MAX, &bytes, err);
    } else {
        r = json_str(at, &text, err);
        if (r >= 0 && quantity_parse(text, QUANTITY_ONE, &bytes, err) < 0)
            r = json_fail(at, err, -EINVAL, "'%s' is not an amount of memory, such as 20Gi", text);
        if (r >= 0 && bytes > (int64_t)GPU_BYTES_MAX)
            r = json_fail(at, err, -EINVAL, "is larger than any GPU");
    }
    if (r >= 0)
        *ret_bytes = (uint64_t)bytes;
    return r;
}

static int read_action(const struct json_at *at, enum config_action *ret_action, struct err *err)
{
    const char *text;
    int r = json_str(at, &text, err);

    if (r < 0)
        return r;
    if (strcmp(text, "kill") == 0)
        *ret_action = ACTION_KILL;
    else if (strcmp(text, "notice") == 0)
        *ret_action = ACTION_NOTICE;
    else
        return json_fail(at, err, -EINVAL, "'%s' is neither notice nor kill", text);
    return 0;
}

static int read_reclaim(const struct json_at *at, enum reclaim_action *ret_action, struct err *err)
{
    static const char *const names[] = {
        [RECLAIM_BY_TRIM] = "deny", [RECLAIM_BY_PARK] = "park", [RECLAIM_BY_KILL] = "kill"};
    const char *text;
    int r = json_str(at, &text, err);

    for (size_t i = 0; r >= 0 && i < ARRAY_LEN(names); i++) {
        if (strcmp(text, names[i]) == 0) {
            *ret_action = (enum reclaim_action)i;
            return 0;
        }
    }
    return r < 0 ? r : json_fail(at, err, -EINVAL, "'%s' is none of deny, park and kill", text);
}

static int read_row(const struct row *row, const struct json_at *at, struct gpud_config *config, struct err *err)
{
    void *to = (char *)config + row->offset;
    const char *text;
    int64_t number;
    int r = 0;

    switch (row->kind) {
    case ROW_TEXT:
        r = json_str(at, &text, err);
        if (r >= 0) {
            free(*(char **)to);
            *(char **)to = xstrdup(text);
        }
        return r;
    case ROW_BYTES:
        return read_bytes(at, to, err);
    case ROW_TIME:
        r = json_str(at, &text, err);
        if (r >= 0 && (duration_parse(text, to, err) < 0 || *(nsec_t *)to < 0))
            r = json_fail(at, err, -EINVAL, "'%s' is not a duration, such as 20ms", text);
        return r;
    case ROW_ACTION:
        return read_action(at, to, err);
    case ROW_RECLAIM:
        return read_reclaim(at, to, err);
    case ROW_PORT:
        r = json_int64(at, 0, UINT16_MAX, &number, err);
        if (r >= 0)
            *(uint16_t *)to = (uint16_t)number;
        return r;
    }
    return r;
}

static bool is_section(const char *key, const char *section)
{
    bool is_inner = strcmp(key, "reclaim") == 0;

    if (is_inner != (section && strcmp(section, "memory") == 0) && is_inner)
        return false;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        if (rows[i].section && strcmp(rows[i].section, key) == 0)
            return is_inner || !section;
    }
    return false;
}

static int read_section(const struct json_at *at, const char *section, struct gpud_config *config, struct err *err);

static int read_gpus(const struct json_at *at, struct gpud_config *config, struct err *err)
{
    int r = json_array(at, err);

    for (struct json_at item = {0}; r >= 0 && json_next(at, &item);) {
        struct gpud_gpu_spec gpu = {.name = "GPU"};
        const char *uuid;
        const char *name = NULL;

        r = json_member_str(&item, "uuid", JSON_REQUIRED, &uuid, err);
        if (r >= 0)
            r = json_member_str(&item, "name", JSON_OPTIONAL, &name, err);
        if (r < 0)
            return r;
        if (strlen(uuid) >= sizeof gpu.uuid || config->gpus.len == GPU_MAX)
            return json_fail(&item, err, -EINVAL, "a UUID is too long, or more than %d GPUs are listed", GPU_MAX);
        memcpy(gpu.uuid, uuid, strlen(uuid) + 1);
        if (name)
            (void)snprintf(gpu.name, sizeof gpu.name, "%s", name);
        struct json_at memory = {.val = yyjson_obj_get(item.val, "memory"), .parent = &item, .key = "memory"};
        if (memory.val) {
            r = read_bytes(&memory, &gpu.memory_bytes, err);
            if (r < 0)
                return r;
        }
        vec_push(&config->gpus, gpu);
    }
    return r;
}

static int read_groups(const struct json_at *at, struct gpud_config *config, struct err *err)
{
    int r = json_array(at, err);

    for (struct json_at item = {0}; r >= 0 && json_next(at, &item);) {
        struct group_spec spec;

        r = group_spec_decode(&item, &spec, err);
        if (r >= 0)
            vec_push(&config->groups, spec);
    }
    return r;
}

static int read_member(const struct json_at *item, const char *section, struct gpud_config *config, struct err *err)
{
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        bool is_here = section ? rows[i].section && strcmp(rows[i].section, section) == 0 : !rows[i].section;

        if (is_here && strcmp(rows[i].key, item->key) == 0)
            return read_row(&rows[i], item, config, err);
    }
    if (is_section(item->key, section))
        return read_section(item, item->key, config, err);
    if (!section && strcmp(item->key, "gpus") == 0)
        return read_gpus(item, config, err);
    if (!section && strcmp(item->key, "groups") == 0)
        return read_groups(item, config, err);
    return json_fail(item, err, -EINVAL, "is not known");
}

static int read_section(const struct json_at *at, const char *section, struct gpud_config *config, struct err *err)
{
    int r = json_object(at, err);

    for (struct json_at item = {0}; r >= 0 && json_next(at, &item);)
        r = read_member(&item, section, config, err);
    return r;
}

int gpud_config_parse(struct gpud_config *config, const char *text, size_t len, const char *name, struct err *err)
{
    struct yaml_docs docs = {0};
    int r = yaml_parse(text, len, name, &docs, err);

    for (uint32_t i = 0; r >= 0 && i < docs.len; i++) {
        struct json_at root = json_root(docs.items[i].json);

        r = read_section(&root, NULL, config, err);
        if (r < 0)
            r = err_wrap(err, -EINVAL, "%s", name);
    }
    yaml_docs_done(&docs);
    return r < 0 ? r : 0;
}

int gpud_config_read(struct gpud_config *config, const char *path, struct err *err)
{
    _cleanup_(freep) char *text = NULL;
    size_t len = 0;
    int r = file_read(path, CONFIG_FILE_MAX, &text, &len, err);

    return r < 0 ? r : gpud_config_parse(config, text, len, file_name(path), err);
}
