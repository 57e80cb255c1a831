/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Every known key is a row: what it sets, and in which unit it is written. Rows fill a draft in which every amount remembers
 * the key that set it, so that a contradiction names both.
 */
#include "gpu/request/request.h"

#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "gpu/request/value.h"

enum target { PORTION, PORTION_LIMIT, BYTES, BYTES_LIMIT, DEVICES, SHARE, SHARE_CAP, MODE, PRIORITY, TARGET_COUNT };

/* How a value is read: in one of the units, as a mode or a priority, as either a part or an amount, or as the name of a container. */
enum { UNIT_MODE = VALUE_UNIT_COUNT_, UNIT_PRIORITY, UNIT_EITHER, UNIT_CONTAINER };
enum { NO_MODE = -1 };

struct row {
    const char *key;  // '*' in it stands for the name of a container, '#' for the number of a GPU
    enum gpu_word_kind kind;
    enum target target;
    int unit;
    bool is_told;  // set by other systems for their own libraries: counts where nobody asks in other words
};

static const struct row rows[] = {
    /* KAI, and Run:ai in the same words. */
    {"gpu-fraction", WORD_ANNOTATION, PORTION, VALUE_PART, false},
    {"gpu-memory", WORD_ANNOTATION, BYTES, VALUE_MIB, false},
    {"gpu-fraction-num-devices", WORD_ANNOTATION, DEVICES, VALUE_COUNT, false},
    {"gpu-fraction-container-name", WORD_ANNOTATION, TARGET_COUNT, UNIT_CONTAINER, false},
    {"kai.scheduler/gpu-compute-sharing-mode", WORD_ANNOTATION, MODE, UNIT_MODE, false},
    {"kai.scheduler/gpu-compute-priority", WORD_ANNOTATION, PRIORITY, UNIT_PRIORITY, false},
    /* NvFractions. */
    {"nvidia.com/container.*.gpu-memory.request", WORD_ANNOTATION, BYTES, VALUE_QUANTITY, false},
    {"nvidia.com/container.*.gpu-memory.limit", WORD_ANNOTATION, BYTES_LIMIT, VALUE_QUANTITY, false},
    /* Run:ai. */
    {"gpu-memory-request", WORD_ANNOTATION, BYTES, VALUE_QUANTITY, false},
    {"gpu-memory-limit", WORD_ANNOTATION, BYTES_LIMIT, VALUE_QUANTITY, false},
    {"gpu-fraction-limit", WORD_ANNOTATION, PORTION_LIMIT, VALUE_PART, false},
    {"gpu-compute-share", WORD_ANNOTATION, SHARE, VALUE_PART, false},
    {"gpu-compute-share-limit", WORD_ANNOTATION, SHARE_CAP, VALUE_PART, false},
    {"gpu-compute-mode", WORD_ANNOTATION, MODE, UNIT_MODE, false},
    {"gpu-compute-priority", WORD_ANNOTATION, PRIORITY, UNIT_PRIORITY, false},
    {"RUNAI_GPU_MEMORY_LIMIT", WORD_VARIABLE, BYTES_LIMIT, UNIT_EITHER, false},
    {"GPU_PORTION", WORD_VARIABLE, PORTION, VALUE_GPUS, true},
    {"RUNAI_NUM_OF_GPUS", WORD_VARIABLE, PORTION, VALUE_GPUS, true},
    /* HAMi. */
    {"nvidia.com/gpumem", WORD_RESOURCE, BYTES, VALUE_MIBS, false},
    {"nvidia.com/gpumem-percentage", WORD_RESOURCE, PORTION, VALUE_PERCENT, false},
    {"nvidia.com/gpucores", WORD_RESOURCE, SHARE, VALUE_PERCENT, false},
    {"nvidia.com/vgpu-mode", WORD_ANNOTATION, MODE, UNIT_MODE, false},
    {"CUDA_DEVICE_MEMORY_LIMIT", WORD_VARIABLE, BYTES, VALUE_HAMI, true},
    {"CUDA_DEVICE_MEMORY_LIMIT_#", WORD_VARIABLE, BYTES, VALUE_HAMI, true},
    {"CUDA_DEVICE_SM_LIMIT", WORD_VARIABLE, SHARE, VALUE_PERCENT, true},
    {"GPU_CORE_UTILIZATION_POLICY", WORD_VARIABLE, MODE, UNIT_MODE, false},
    /* Volcano. */
    {"volcano.sh/vgpu-number", WORD_RESOURCE, DEVICES, VALUE_COUNT, false},
    {"volcano.sh/vgpu-memory", WORD_RESOURCE, BYTES, VALUE_MIBS, false},
    {"volcano.sh/vgpu-memory-percentage", WORD_RESOURCE, PORTION, VALUE_PERCENT, false},
    {"volcano.sh/vgpu-cores", WORD_RESOURCE, SHARE, VALUE_PERCENT, false},
};

/* What cannot be kept here: with this value, or with any that is not "no". */
static const struct {
    const char *key;
    enum gpu_word_kind kind;
    const char *value;  // NULL: any but 0 and false
    const char *reason;
} refusals[] = {
    {"mps", WORD_ANNOTATION, "true", "needs MPS, which Muster does not run: request fair, strict or time-slicing"},
    {"nvidia.com/priority", WORD_RESOURCE, "0",
     "priorities on a GPU are not supported; request a larger share of compute"},
    {"CUDA_TASK_PRIORITY", WORD_VARIABLE, "0",
     "priorities on a GPU are not supported; request a larger share of compute"},
    {"CUDA_DISABLE_CONTROL", WORD_VARIABLE, "true", "GPU isolation cannot be disabled; request a whole GPU instead"},
    {"CUDA_OVERSUBSCRIBE", WORD_VARIABLE, "true",
     "oversubscription of GPU memory is not supported; request memory that fits"},
    {"nvshare.com/gpu", WORD_RESOURCE, NULL,
     "oversubscription of GPU memory is not supported; use gpu-fraction or gpu-memory"},
};

/* What can stand where a way of sharing compute is asked for. */
static const struct {
    const char *key;  // NULL: any
    const char *word;
    int mode;             // enum gpu_mode, or NO_MODE: nothing is said about it
    const char *refusal;  // NULL: can be enforced
} modes[] = {
    {NULL, "strict", GPU_MODE_STRICT, NULL},
    {NULL, "fair", GPU_MODE_FAIR, NULL},
    {NULL, "time", GPU_MODE_TIME, NULL},
    {NULL, "timesharing", GPU_MODE_TIME, NULL},
    {NULL, "time-slicing", GPU_MODE_TIME, NULL},
    {NULL, "hami-core", NO_MODE, NULL},
    {NULL, "sm-sharing", 0, "needs MPS, which Muster does not run: request strict, fair or time-slicing"},
    {NULL, "mps", 0, "needs MPS, which Muster does not run: request hami-core"},
    {NULL, "mig", 0, "is a hardware slice, not a shared part of a GPU: request its profile as a resource"},
    {"GPU_CORE_UTILIZATION_POLICY", "default", NO_MODE, NULL},
    {"GPU_CORE_UTILIZATION_POLICY", "force", GPU_MODE_STRICT, NULL},
    {"GPU_CORE_UTILIZATION_POLICY", "disable", GPU_MODE_FAIR, NULL},
};

struct draft {
    uint64_t values[TARGET_COUNT];
    const struct gpu_word *from[TARGET_COUNT];  // NULL: not set
    char container[GPU_CONTAINER_SIZE];
    const struct gpu_word *container_from;
    uint64_t gpus;
    const struct gpu_word *gpus_from;  // nvidia.com/gpu with a whole number; NULL: not set
};

static int set(struct draft *draft, enum target target, uint64_t value, const struct gpu_word *word, struct err *err)
{
    if (draft->from[target] && draft->values[target] != value)
        return err_set(err, -EINVAL, "%s and %s contradict each other", draft->from[target]->key, word->key);
    draft->values[target] = value;
    draft->from[target] = word;
    return 0;
}

static int read_priority(const struct gpu_word *word, struct draft *draft, struct err *err)
{
    bool is_urgent = strcmp(word->value, "latency") == 0;

    if (!is_urgent && strcmp(word->value, "normal") != 0)
        return err_set(err, -EINVAL, "%s: '%s' is not a compute priority; expected latency or normal", word->key,
                       word->value);
    return set(draft, PRIORITY, is_urgent, word, err);
}

static int read_mode(const struct gpu_word *word, struct draft *draft, struct err *err)
{
    for (size_t i = 0; i < ARRAY_LEN(modes); i++) {
        if (strcmp(modes[i].word, word->value) != 0 || (modes[i].key && strcmp(modes[i].key, word->key) != 0))
            continue;
        if (modes[i].refusal)
            return err_set(err, -ENOTSUP, "%s: %s: %s", word->key, word->value, modes[i].refusal);
        return modes[i].mode == NO_MODE ? 0 : set(draft, MODE, (uint64_t)modes[i].mode, word, err);
    }
    return err_set(err, -EINVAL, "%s: '%s' is not a compute mode; expected strict, fair or time-slicing", word->key,
                   word->value);
}

/* One request is one container's. */
static int set_container(struct draft *draft, const char *name, size_t len, const struct gpu_word *word,
                         struct err *err)
{
    if (len == 0 || len >= sizeof draft->container)
        return err_set(err, -EINVAL, "%s: '%s' is not a container name", word->key, word->value);
    if (draft->container_from && (strncmp(draft->container, name, len) != 0 || draft->container[len]))
        return err_set(err, -EINVAL, "%s and %s name different containers; only one container can share GPUs",
                       draft->container_from->key, word->key);
    memcpy(draft->container, name, len);
    draft->container[len] = '\0';
    draft->container_from = word;
    return 0;
}

/* What asks for memory, and of several the one to name; NULL: nothing does. */
static const struct gpu_word *memory_of(const struct draft *draft)
{
    static const enum target memory[] = {PORTION, PORTION_LIMIT, BYTES, BYTES_LIMIT};

    for (size_t i = 0; i < ARRAY_LEN(memory); i++) {
        if (draft->from[memory[i]])
            return draft->from[memory[i]];
    }
    return NULL;
}

static int read_row(const struct row *row, const struct gpu_word *word, struct draft *draft, struct err *err)
{
    enum target target = row->target;
    int unit = row->unit;
    uint64_t value;

    if (unit == UNIT_MODE)
        return read_mode(word, draft, err);
    if (unit == UNIT_PRIORITY)
        return read_priority(word, draft, err);
    if (unit == UNIT_CONTAINER)
        return set_container(draft, word->value, strlen(word->value), word, err);
    if (unit == UNIT_EITHER) {
        /* A number up to 1 is a part of the GPU, anything else an amount. */
        bool is_part = value_read(VALUE_PART, word->value, &value);
        unit = is_part ? VALUE_PART : VALUE_QUANTITY;
        target = is_part ? PORTION_LIMIT : BYTES_LIMIT;
    }
    if (!value_read((enum value_unit)unit, word->value, &value))
        return err_set(err, -EINVAL, "%s: '%s' is not %s", word->key, word->value,
                       value_expected((enum value_unit)unit));
    if (target == PORTION && unit == VALUE_PART && value == GPU_REQUEST_WHOLE)
        return err_set(err, -EINVAL, "%s: 1 is a whole GPU; request nvidia.com/gpu: 1 instead", word->key);
    /* HAMi's 0 is no limit at all. Whole GPUs are told by variables as well, and ask for no part. */
    if (value == 0 || (unit == VALUE_GPUS && value >= GPU_REQUEST_WHOLE))
        return 0;
    return set(draft, target, value, word, err);
}

static bool is_number(const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        if (text[i] < '0' || text[i] > '9')
            return false;
    }
    return len > 0 && len <= 2;
}

/* The part of the key that '*' or '#' stands for is returned, too. */
static bool key_fits(const char *pattern, const char *key, const char **ret_part, size_t *ret_len)
{
    const char *star = strpbrk(pattern, "*#");
    size_t len = strlen(key);

    *ret_part = NULL;
    if (!star)
        return strcmp(pattern, key) == 0;
    size_t before = (size_t)(star - pattern);
    size_t after = strlen(star + 1);
    if (len <= before + after || strncmp(key, pattern, before) != 0 || strcmp(key + len - after, star + 1) != 0)
        return false;
    *ret_part = key + before;
    *ret_len = len - before - after;
    return *star == '#' ? is_number(*ret_part, *ret_len) : !memchr(*ret_part, '.', *ret_len);
}

static bool is_gpu_count(enum gpu_word_kind kind, const char *key)
{
    return kind == WORD_RESOURCE && strcmp(key, "nvidia.com/gpu") == 0;
}

/* Whole GPUs for KAI and HAMi, a part of one for Run:ai. */
static int read_gpus(const struct gpu_word *word, struct draft *draft, struct err *err)
{
    uint64_t value;

    if (!value_read(VALUE_GPUS, word->value, &value))
        return err_set(err, -EINVAL, "%s: '%s' is not %s", word->key, word->value, value_expected(VALUE_GPUS));
    if (value < GPU_REQUEST_WHOLE)
        return set(draft, PORTION, value, word, err);
    draft->gpus = value / GPU_REQUEST_WHOLE;
    draft->gpus_from = word;
    return 0;
}

static int refuse(const struct gpu_word *word, struct err *err)
{
    for (size_t i = 0; i < ARRAY_LEN(refusals); i++) {
        if (refusals[i].kind != word->kind || strcmp(refusals[i].key, word->key) != 0)
            continue;
        bool is_refused = refusals[i].value ? strcmp(refusals[i].value, word->value) == 0
                                            : strcmp(word->value, "0") != 0 && strcmp(word->value, "false") != 0;
        if (is_refused)
            return err_set(err, -ENOTSUP, "%s: %s: %s", word->key, word->value, refusals[i].reason);
    }
    return 0;
}

bool gpu_word_is_known(enum gpu_word_kind kind, const char *key)
{
    const char *part;
    size_t len;

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        if (rows[i].kind == kind && key_fits(rows[i].key, key, &part, &len))
            return true;
    }
    for (size_t i = 0; i < ARRAY_LEN(refusals); i++) {
        if (refusals[i].kind == kind && strcmp(refusals[i].key, key) == 0)
            return true;
    }
    return is_gpu_count(kind, key);
}

/* First the rows that ask, then those that only tell: what was asked for in other words has been rounded in them. */
static int read_word(const struct gpu_word *word, bool told, const struct draft *asked, struct draft *draft,
                     struct err *err)
{
    const char *part;
    size_t len = 0;

    if (is_gpu_count(word->kind, word->key))
        return told ? 0 : read_gpus(word, draft, err);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        if (rows[i].kind != word->kind || rows[i].is_told != told || !key_fits(rows[i].key, word->key, &part, &len))
            continue;
        bool has_asked =
            rows[i].target == SHARE ? asked->from[SHARE] != NULL : asked->from[PORTION] || asked->from[BYTES];
        if (told && has_asked)
            return 0;
        int r = part && !told ? set_container(draft, part, len, word, err) : 0;
        return r < 0 ? r : read_row(&rows[i], word, draft, err);
    }
    return told ? 0 : refuse(word, err);
}

static int conflict(const struct gpu_word *one, const struct gpu_word *two, const char *why, struct err *err)
{
    return err_set(err, -EINVAL, "%s and %s: %s", one->key, two->key, why);
}

static int check(const struct draft *d, struct err *err)
{
    const struct gpu_word *portion = d->from[PORTION] ? d->from[PORTION] : d->from[PORTION_LIMIT];
    const struct gpu_word *bytes = d->from[BYTES] ? d->from[BYTES] : d->from[BYTES_LIMIT];

    if (portion && bytes && !(d->from[BYTES] == NULL && d->from[PORTION_LIMIT] == NULL))
        return conflict(portion, bytes, "request memory as a part of a GPU or as an amount, not both", err);
    if (d->from[PORTION] && d->from[BYTES_LIMIT])
        return conflict(d->from[PORTION], d->from[BYTES_LIMIT],
                        "a request as a part of a GPU needs a limit as a part of a GPU", err);
    if (d->from[PORTION] && d->from[PORTION_LIMIT] && d->values[PORTION_LIMIT] < d->values[PORTION])
        return conflict(d->from[PORTION], d->from[PORTION_LIMIT], "the limit is less than the request", err);
    if (d->from[BYTES] && d->from[BYTES_LIMIT] && d->values[BYTES_LIMIT] < d->values[BYTES])
        return conflict(d->from[BYTES], d->from[BYTES_LIMIT], "the limit is less than the request", err);
    if (d->from[SHARE] && d->from[SHARE_CAP] && d->values[SHARE_CAP] < d->values[SHARE])
        return conflict(d->from[SHARE], d->from[SHARE_CAP], "the limit is less than the share", err);
    /* HAMi counts cards by nvidia.com/gpu and parts of them by its own names; in KAI's words the two exclude each other. */
    const struct gpu_word *memory = memory_of(d);
    if (d->gpus_from && memory && memory->kind == WORD_ANNOTATION)
        return conflict(d->gpus_from, memory, "a whole GPU and a part of one cannot be requested together", err);
    return 0;
}

/* What is not nothing stays so. */
static uint32_t in_millionths(uint64_t billionths)
{
    return billionths == 0 ? 0 : (uint32_t)MAX(billionths / 1000, (uint64_t)1);
}

static void fill(const struct draft *d, const struct gpu_word *memory, struct gpu_request *request)
{
    enum target least = d->from[PORTION] || d->from[PORTION_LIMIT] ? PORTION : BYTES;
    enum target most = least == PORTION ? PORTION_LIMIT : BYTES_LIMIT;
    const struct gpu_word *share = d->from[SHARE];

    *request = (struct gpu_request){.devices = 1, .is_portion = least == PORTION, .mode = GPU_MODE_FAIR};
    if (d->from[DEVICES])
        request->devices = (uint32_t)d->values[DEVICES];
    else if (d->gpus_from)
        request->devices = (uint32_t)d->gpus;
    /* One of the two alone is both. */
    request->memory_request = d->values[d->from[least] ? least : most];
    request->memory_limit = d->values[d->from[most] ? most : least];
    request->alias = memory->key;
    request->share = in_millionths(d->values[SHARE]);
    request->cap = in_millionths(d->values[SHARE_CAP]);
    memcpy(request->container, d->container, sizeof request->container);
    request->is_urgent = d->from[PRIORITY] && d->values[PRIORITY] != 0;
    if (d->from[MODE])
        request->mode = (enum gpu_mode)d->values[MODE];
    else if (share && share->kind != WORD_ANNOTATION)
        request->mode = GPU_MODE_STRICT;  // in HAMi's and Volcano's words, cores are a limit
}

/* GPUs of which only the compute is asked for, as in HAMi: all of their memory goes with it. */
static int add_memory(struct draft *draft, struct err *err)
{
    const struct gpu_word *share = draft->from[SHARE], *devices = draft->from[DEVICES];

    if (!share && devices && devices->kind == WORD_ANNOTATION)
        return err_set(err, -EINVAL, "%s: sets the number of GPUs, but no fraction or memory is requested",
                       devices->key);
    if (!share)
        return 0;
    if (!draft->gpus_from && !(devices && devices->kind == WORD_RESOURCE))
        return err_set(err, -EINVAL, "%s: a share of compute needs a memory request as well", share->key);
    return set(draft, PORTION, GPU_REQUEST_WHOLE, share, err);
}

int gpu_request_read(const struct gpu_word *words, size_t count, struct gpu_request *ret_request, struct err *err)
{
    struct draft draft = {0}, asked = {0};
    int r = 0;

    for (size_t i = 0; i < count && r >= 0; i++)
        r = read_word(&words[i], false, &asked, &draft, err);
    asked = draft;
    for (size_t i = 0; i < count && r >= 0; i++)
        r = read_word(&words[i], true, &asked, &draft, err);
    if (r >= 0 && !memory_of(&draft))
        r = add_memory(&draft, err);
    if (r >= 0)
        r = check(&draft, err);
    if (r < 0)
        return r;
    const struct gpu_word *memory = memory_of(&draft);
    if (!memory)
        return 0;
    fill(&draft, memory, ret_request);
    return 1;
}

static uint64_t part_of(uint64_t portion, uint64_t gpu_bytes)
{
    return (uint64_t)((unsigned __int128)gpu_bytes * portion / GPU_REQUEST_WHOLE);
}

int gpu_request_on(const struct gpu_request *request, uint64_t gpu_bytes, struct gpu_amounts *ret_amounts,
                   struct err *err)
{
    struct gpu_amounts amounts = {.request_bytes = request->memory_request, .limit_bytes = request->memory_limit};
    const uint32_t whole = 1000000;

    if (request->is_portion) {
        amounts.request_bytes = part_of(request->memory_request, gpu_bytes);
        amounts.limit_bytes = part_of(request->memory_limit, gpu_bytes);
    }
    if (gpu_bytes == 0 || amounts.limit_bytes > gpu_bytes)
        return err_set(err, -EINVAL, "%s requests %.1f GiB, the GPU has %.1f GiB", request->alias,
                       (double)amounts.limit_bytes / (1 << 30), (double)gpu_bytes / (1 << 30));
    amounts.share = request->share;
    if (amounts.share == 0) {
        uint64_t share = request->is_portion ? request->memory_request / (GPU_REQUEST_WHOLE / whole)
                                             : (uint64_t)((unsigned __int128)amounts.request_bytes * whole / gpu_bytes);
        amounts.share = MAX((uint32_t)share, (uint32_t)1);
    }
    amounts.cap = request->mode == GPU_MODE_STRICT ? amounts.share : whole;
    if (request->mode == GPU_MODE_FAIR && request->cap > 0)
        amounts.cap = request->cap;
    *ret_amounts = amounts;
    return 0;
}
