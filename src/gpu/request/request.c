/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Every known key is a row: what it sets, and in which unit it is written. Rows fill a draft in which every amount remembers
 * the key that set it, so that a contradiction names both.
 */
#include "gpu/request/request.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "text/quantity.h"

enum target { PORTION, PORTION_LIMIT, BYTES, BYTES_LIMIT, DEVICES, SHARE, SHARE_CAP, MODE, TARGET_COUNT };
enum unit { UNIT_PART, UNIT_PERCENT, UNIT_MIB, UNIT_QUANTITY, UNIT_HAMI, UNIT_COUNT, UNIT_MODE, UNIT_EITHER };

struct row {
    enum gpu_word_kind kind;
    const char *key;  // '*' in it stands for the name of a container
    enum target target;
    enum unit unit;
};

static const struct row rows[] = {
    /* KAI, and Run:ai in the same words. */
    {WORD_ANNOTATION, "gpu-fraction", PORTION, UNIT_PART},
    {WORD_ANNOTATION, "gpu-memory", BYTES, UNIT_MIB},
    {WORD_ANNOTATION, "gpu-fraction-num-devices", DEVICES, UNIT_COUNT},
    {WORD_ANNOTATION, "kai.scheduler/gpu-compute-sharing-mode", MODE, UNIT_MODE},
    /* NvFractions. */
    {WORD_ANNOTATION, "nvidia.com/container.*.gpu-memory.request", BYTES, UNIT_QUANTITY},
    {WORD_ANNOTATION, "nvidia.com/container.*.gpu-memory.limit", BYTES_LIMIT, UNIT_QUANTITY},
    /* Run:ai. */
    {WORD_ANNOTATION, "gpu-memory-request", BYTES, UNIT_QUANTITY},
    {WORD_ANNOTATION, "gpu-memory-limit", BYTES_LIMIT, UNIT_QUANTITY},
    {WORD_ANNOTATION, "gpu-fraction-limit", PORTION_LIMIT, UNIT_PART},
    {WORD_ANNOTATION, "gpu-compute-share", SHARE, UNIT_PART},
    {WORD_ANNOTATION, "gpu-compute-share-limit", SHARE_CAP, UNIT_PART},
    {WORD_ANNOTATION, "gpu-compute-mode", MODE, UNIT_MODE},
    {WORD_VARIABLE, "GPU_PORTION", PORTION, UNIT_PART},
    {WORD_VARIABLE, "RUNAI_GPU_MEMORY_LIMIT", BYTES_LIMIT, UNIT_EITHER},
    /* HAMi. */
    {WORD_RESOURCE, "nvidia.com/gpumem", BYTES, UNIT_MIB},
    {WORD_RESOURCE, "nvidia.com/gpumem-percentage", PORTION, UNIT_PERCENT},
    {WORD_RESOURCE, "nvidia.com/gpucores", SHARE, UNIT_PERCENT},
    {WORD_ANNOTATION, "nvidia.com/vgpu-mode", MODE, UNIT_MODE},
    {WORD_VARIABLE, "CUDA_DEVICE_MEMORY_LIMIT", BYTES, UNIT_HAMI},
    {WORD_VARIABLE, "CUDA_DEVICE_MEMORY_LIMIT_0", BYTES, UNIT_HAMI},
    {WORD_VARIABLE, "CUDA_DEVICE_SM_LIMIT", SHARE, UNIT_PERCENT},
    /* Volcano. */
    {WORD_RESOURCE, "volcano.sh/vgpu-number", DEVICES, UNIT_COUNT},
    {WORD_RESOURCE, "volcano.sh/vgpu-memory", BYTES, UNIT_MIB},
    {WORD_RESOURCE, "volcano.sh/vgpu-cores", SHARE, UNIT_PERCENT},
};

static const struct {
    const char *word;
    enum gpu_mode mode;
    const char *refusal;  // NULL: can be enforced
} modes[] = {
    {"strict", GPU_MODE_STRICT, NULL},
    {"fair", GPU_MODE_FAIR, NULL},
    {"time", GPU_MODE_TIME, NULL},
    {"timesharing", GPU_MODE_TIME, NULL},
    {"time-slicing", GPU_MODE_TIME, NULL},
    {"hami-core", GPU_MODE_STRICT, NULL},
    {"sm-sharing", GPU_MODE_TIME, "needs MPS, which Muster does not run: ask for strict, fair or time-slicing"},
    {"mps", GPU_MODE_TIME, "needs MPS, which Muster does not run: ask for hami-core"},
    {"mig", GPU_MODE_TIME, "is a slice of the hardware, not a part that is shared: ask for its profile as a resource"},
};

struct draft {
    uint64_t values[TARGET_COUNT];
    const struct gpu_word *from[TARGET_COUNT];  // NULL: not set
    bool is_whole;                              // nvidia.com/gpu with a whole number
    uint64_t gpus;
    const struct gpu_word *gpus_from;
};

/* Digits with a point, up to nine behind it, as billionths; no sign, no exponent, no NaN. */
static bool read_decimal(const char *text, uint64_t max_whole, uint64_t *ret_billionths)
{
    uint64_t whole = 0;
    uint64_t part = 0;
    uint64_t scale = GPU_REQUEST_WHOLE;
    bool has_digit = false;

    for (; isdigit((unsigned char)*text); text++, has_digit = true) {
        whole = whole * 10 + (uint64_t)(*text - '0');
        if (whole > max_whole)
            return false;
    }
    if (*text == '.') {
        for (text++; isdigit((unsigned char)*text) && scale > 1; text++, has_digit = true) {
            scale /= 10;
            part += (uint64_t)(*text - '0') * scale;
        }
    }
    *ret_billionths = whole * GPU_REQUEST_WHOLE + part;
    return has_digit && *text == '\0';
}

static bool read_whole(const char *text, uint64_t max, uint64_t *ret_value)
{
    uint64_t billionths;

    if (strchr(text, '.') || !read_decimal(text, max, &billionths))
        return false;
    *ret_value = billionths / GPU_REQUEST_WHOLE;
    return true;
}

static bool read_quantity(const char *text, uint64_t *ret_bytes)
{
    int64_t bytes;

    if (quantity_parse(text, QUANTITY_ONE, &bytes, NULL) < 0 || bytes <= 0 || (uint64_t)bytes > GPU_BYTES_MAX)
        return false;
    *ret_bytes = (uint64_t)bytes;
    return true;
}

/* HAMi writes binary units with a small letter: "4096m" is 4096 MiB. */
static bool read_hami(const char *text, uint64_t *ret_bytes)
{
    static const char units[] = "kmg";
    char digits[24];
    size_t len = strlen(text);
    const char *unit = len > 0 ? strchr(units, tolower((unsigned char)text[len - 1])) : NULL;
    unsigned shift = unit && *unit ? 10 * (unsigned)(unit - units + 1) : 0;

    if (len == 0 || len >= sizeof digits)
        return false;
    memcpy(digits, text, len + 1);
    if (shift)
        digits[len - 1] = '\0';
    return read_whole(digits, GPU_BYTES_MAX >> shift, ret_bytes) && (*ret_bytes <<= shift) > 0;
}

static bool read_value(const struct row *row, const char *text, uint64_t *ret_value)
{
    switch (row->unit) {
    case UNIT_PART:
        return read_decimal(text, 1, ret_value) && *ret_value > 0 && *ret_value <= GPU_REQUEST_WHOLE;
    case UNIT_PERCENT:
        if (!read_whole(text, 100, ret_value))
            return false;
        *ret_value *= GPU_REQUEST_WHOLE / 100;
        return true;
    case UNIT_MIB:
        return read_whole(text, GPU_BYTES_MAX >> 20, ret_value) && (*ret_value <<= 20) > 0;
    case UNIT_QUANTITY:
        return read_quantity(text, ret_value);
    case UNIT_HAMI:
        return read_hami(text, ret_value);
    case UNIT_COUNT:
        return read_whole(text, GPU_MAX, ret_value) && *ret_value > 0;
    default:
        return false;
    }
}

static int read_mode(const struct gpu_word *word, struct draft *draft, struct err *err)
{
    for (size_t i = 0; i < ARRAY_LEN(modes); i++) {
        if (strcmp(modes[i].word, word->value) != 0)
            continue;
        if (modes[i].refusal)
            return err_set(err, -ENOTSUP, "%s: %s: %s", word->key, word->value, modes[i].refusal);
        draft->values[MODE] = (uint64_t)modes[i].mode;
        draft->from[MODE] = word;
        return 0;
    }
    return err_set(err, -EINVAL, "%s: '%s' is no way of sharing compute: strict, fair or time-slicing", word->key,
                   word->value);
}

static int set(struct draft *draft, enum target target, uint64_t value, const struct gpu_word *word, struct err *err)
{
    if (draft->from[target] && draft->values[target] != value)
        return err_set(err, -EINVAL, "%s and %s contradict each other", draft->from[target]->key, word->key);
    draft->values[target] = value;
    draft->from[target] = word;
    return 0;
}

static int read_row(const struct row *row, const struct gpu_word *word, struct draft *draft, struct err *err)
{
    enum target target = row->target;
    uint64_t value;
    bool is_good;

    if (row->unit == UNIT_MODE)
        return read_mode(word, draft, err);
    if (row->unit == UNIT_EITHER) {
        /* A number up to 1 is a part of the GPU, anything else an amount. */
        is_good = read_decimal(word->value, 1, &value) && value > 0 && value <= GPU_REQUEST_WHOLE;
        target = is_good ? PORTION_LIMIT : BYTES_LIMIT;
        is_good = is_good || read_quantity(word->value, &value);
    } else {
        is_good = read_value(row, word->value, &value);
    }
    if (is_good && target == PORTION && row->unit == UNIT_PART && value == GPU_REQUEST_WHOLE &&
        row->kind == WORD_ANNOTATION)
        return err_set(err, -EINVAL, "%s: 1 is a whole GPU: ask for nvidia.com/gpu", word->key);
    if (!is_good || (value == 0 && target != SHARE))
        return err_set(err, -EINVAL, "%s: '%s' is not what can be asked for there", word->key, word->value);
    /* HAMi's 0 of the cores is no limit at all. */
    return value == 0 ? 0 : set(draft, target, value, word, err);
}

static bool key_fits(const char *pattern, const char *key)
{
    const char *star = strchr(pattern, '*');
    size_t len = strlen(key);

    if (!star)
        return strcmp(pattern, key) == 0;
    size_t before = (size_t)(star - pattern);
    size_t after = strlen(star + 1);
    return len > before + after && strncmp(key, pattern, before) == 0 && strcmp(key + len - after, star + 1) == 0 &&
           !memchr(key + before, '.', len - before - after);
}

/* Whole GPUs for KAI and HAMi, a part of one for Run:ai. */
static int read_gpus(const struct gpu_word *word, struct draft *draft, struct err *err)
{
    uint64_t value;

    if (!read_decimal(word->value, GPU_MAX, &value) || value == 0 ||
        (value > GPU_REQUEST_WHOLE && value % GPU_REQUEST_WHOLE != 0))
        return err_set(err, -EINVAL, "%s: '%s' is neither a number of GPUs nor a part of one", word->key, word->value);
    if (value < GPU_REQUEST_WHOLE)
        return set(draft, PORTION, value, word, err);
    draft->is_whole = true;
    draft->gpus = value / GPU_REQUEST_WHOLE;
    draft->gpus_from = word;
    return 0;
}

static int read_word(const struct gpu_word *word, struct draft *draft, struct err *err)
{
    if (word->kind == WORD_RESOURCE && strcmp(word->key, "nvidia.com/gpu") == 0)
        return read_gpus(word, draft, err);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        if (rows[i].kind == word->kind && key_fits(rows[i].key, word->key))
            return read_row(&rows[i], word, draft, err);
    }
    return 0;
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
        return conflict(portion, bytes, "memory is asked for as a part of a GPU or as an amount, not both", err);
    if (d->from[PORTION] && d->from[BYTES_LIMIT])
        return conflict(portion, bytes, "a request that is a part of a GPU needs a limit that is one", err);
    if (d->from[PORTION] && d->from[PORTION_LIMIT] && d->values[PORTION_LIMIT] < d->values[PORTION])
        return conflict(d->from[PORTION], d->from[PORTION_LIMIT], "the limit is less than the request", err);
    if (d->from[BYTES] && d->from[BYTES_LIMIT] && d->values[BYTES_LIMIT] < d->values[BYTES])
        return conflict(d->from[BYTES], d->from[BYTES_LIMIT], "the limit is less than the request", err);
    if (d->from[SHARE] && d->from[SHARE_CAP] && d->values[SHARE_CAP] < d->values[SHARE])
        return conflict(d->from[SHARE], d->from[SHARE_CAP], "the limit is less than the share", err);
    /* HAMi counts cards by nvidia.com/gpu and parts of them by its own names; in KAI's words the two exclude each other. */
    const struct gpu_word *memory = portion ? portion : bytes;
    if (d->is_whole && memory && memory->kind == WORD_ANNOTATION)
        return conflict(d->gpus_from, memory, "a whole GPU and a part of one exclude each other", err);
    return 0;
}

static void fill(const struct draft *d, struct gpu_request *request)
{
    enum target least = d->from[PORTION] || d->from[PORTION_LIMIT] ? PORTION : BYTES;
    enum target most = least == PORTION ? PORTION_LIMIT : BYTES_LIMIT;
    const struct gpu_word *share = d->from[SHARE];

    *request = (struct gpu_request){.devices = 1, .is_portion = least == PORTION, .mode = GPU_MODE_FAIR};
    if (d->from[DEVICES])
        request->devices = (uint32_t)d->values[DEVICES];
    else if (d->is_whole)
        request->devices = (uint32_t)d->gpus;
    /* One of the two alone is both. */
    request->memory_request = d->values[d->from[least] ? least : most];
    request->memory_limit = d->values[d->from[most] ? most : least];
    request->alias = d->from[least] ? d->from[least]->key : d->from[most]->key;
    request->share = (uint32_t)(d->values[SHARE] / 1000);
    request->cap = (uint32_t)(d->values[SHARE_CAP] / 1000);
    if (d->from[MODE])
        request->mode = (enum gpu_mode)d->values[MODE];
    else if (share && share->kind != WORD_ANNOTATION)
        request->mode = GPU_MODE_STRICT;  // in HAMi's and Volcano's words, cores are a limit
}

int gpu_request_read(const struct gpu_word *words, size_t count, struct gpu_request *ret_request, struct err *err)
{
    struct draft draft = {0};
    int r = 0;

    for (size_t i = 0; i < count && r >= 0; i++)
        r = read_word(&words[i], &draft, err);
    if (r >= 0)
        r = check(&draft, err);
    if (r < 0)
        return r;
    if (!draft.from[PORTION] && !draft.from[PORTION_LIMIT] && !draft.from[BYTES] && !draft.from[BYTES_LIMIT]) {
        if (draft.from[SHARE] && !draft.is_whole)
            return err_set(err, -EINVAL, "%s: a share of compute needs memory to go with it", draft.from[SHARE]->key);
        return 0;
    }
    fill(&draft, ret_request);
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
        return err_set(err, -EINVAL, "%s asks for %llu bytes, the GPU has %llu", request->alias,
                       (unsigned long long)amounts.limit_bytes, (unsigned long long)gpu_bytes);
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
