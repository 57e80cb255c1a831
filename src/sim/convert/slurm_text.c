/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/convert/slurm_text.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* More than this many of anything is a slip. */
enum { COUNT_MAX = 100000000 };

/* Digits, at least one; moves `*at` behind them. */
static bool read_count(const char **at, uint64_t *ret)
{
    uint64_t value = 0;
    const char *start = *at;

    for (; isdigit((unsigned char)**at); (*at)++) {
        value = value * 10 + (uint64_t)(**at - '0');
        if (value > COUNT_MAX)
            return false;
    }
    *ret = value;
    return *at > start;
}

/* Moves `*at` behind a character, if it is there. */
static bool skip(const char **at, char wanted)
{
    if (**at != wanted)
        return false;
    (*at)++;
    return true;
}

bool slurm_duration(const char *text, nsec_t *ret)
{
    uint64_t parts[3] = {0};
    uint64_t days = 0;
    uint64_t number;
    int count = 0;

    if (!read_count(&text, &number))
        return false;
    if (*text == '-') {
        days = number;
        text++;
        if (!read_count(&text, &number))
            return false;
    }
    for (parts[count++] = number; *text == ':' && count < 3; count++) {
        text++;
        if (!read_count(&text, &parts[count]))
            return false;
    }
    if (*text == '.')
        text += 1 + strspn(text + 1, "0123456789");
    /* Behind days the first part is hours; else two parts are minutes and seconds. */
    if (*text || (days == 0 && count < 2) || days > 36500)
        return false;
    uint64_t hours = count == 3 || days > 0 ? parts[0] : 0;
    uint64_t minutes = count == 3 || days > 0 ? parts[1] : parts[0];
    uint64_t seconds = count == 3 ? parts[2] : (days > 0 ? 0 : parts[1]);

    *ret = (nsec_t)(((days * 24 + MIN(hours, 1000000u)) * 60 + minutes) * 60 + seconds) * NSEC_PER_SEC;
    return true;
}

bool slurm_memory(const char *text, int64_t *ret_bytes, char *ret_per)
{
    static const char units[] = "KMGTP";
    char *end;
    double amount = strtod(text, &end);
    const char *unit;
    int power = 2;

    if (end == text || !isfinite(amount) || amount < 0)
        return false;
    if (*end && (unit = strchr(units, toupper((unsigned char)*end)))) {
        power = (int)(unit - units) + 1;
        end++;
    }
    *ret_per = '\0';
    if (*end == 'c' || *end == 'n')
        *ret_per = *end++;
    amount *= pow(1024, power);
    if (*end || amount > 1e18)
        return false;
    *ret_bytes = (int64_t)amount;
    return true;
}

/* Notes a type of GPU; two different ones are none. */
static void note_type(struct slurm_tres *tres, const char *type, size_t len)
{
    char name[SLURM_TYPE_MAX];

    if (len == 0 || len >= sizeof name || strcmp(tres->gpu_type, "*") == 0)
        return;
    memcpy(name, type, len);
    name[len] = '\0';
    if (*tres->gpu_type && strcmp(tres->gpu_type, name) != 0)
        (void)snprintf(tres->gpu_type, sizeof tres->gpu_type, "*");
    else
        memcpy(tres->gpu_type, name, len + 1);
}

static void end_types(struct slurm_tres *tres)
{
    if (strcmp(tres->gpu_type, "*") == 0)
        *tres->gpu_type = '\0';
}

void slurm_tres_parse(const char *text, struct slurm_tres *ret)
{
    static const char gpu[] = "gres/gpu";
    uint64_t typed = 0;

    *ret = (struct slurm_tres){0};
    for (const char *next; *text; text = next) {
        size_t len = strcspn(text, ",");
        size_t key = strcspn(text, "=,");
        const char *value = text + key + 1;
        uint64_t count = 0;
        char amount[32] = "";
        char per;

        next = text + len + (text[len] == ',');
        if (key >= len || len - key > sizeof amount)
            continue;
        memcpy(amount, value, len - key - 1);
        if (key == 3 && memcmp(text, "mem", 3) == 0) {
            (void)!slurm_memory(amount, &ret->memory_bytes, &per);
            continue;
        }
        if (!read_count(&value, &count))
            continue;
        if (key == 3 && memcmp(text, "cpu", 3) == 0)
            ret->cpus = count;
        else if (key == 4 && memcmp(text, "node", 4) == 0)
            ret->nodes = count;
        else if (key == strlen(gpu) && memcmp(text, gpu, key) == 0)
            ret->gpus = count;
        else if (key > strlen(gpu) + 1 && memcmp(text, gpu, strlen(gpu)) == 0 && text[strlen(gpu)] == ':') {
            typed += count;
            note_type(ret, text + strlen(gpu) + 1, key - strlen(gpu) - 1);
        }
    }
    ret->gpus = ret->gpus > 0 ? ret->gpus : typed;
    end_types(ret);
}

void slurm_gres_parse(const char *text, struct slurm_tres *ret)
{
    *ret = (struct slurm_tres){0};
    while (*text) {
        size_t name = strcspn(text, ":,(");
        size_t len = strcspn(text, ",(");
        const char *last = text + len;
        uint64_t count = 0;

        while (last > text && last[-1] != ':')
            last--;
        if (name == 3 && strncasecmp(text, "gpu", 3) == 0 && text[3] == ':' && read_count(&last, &count)) {
            const char *type = text + 4;
            size_t type_len = strcspn(type, ":,(");

            ret->gpus += count;
            if (type[type_len] == ':')
                note_type(ret, type, type_len);
        }
        text += len;
        /* Where its cores are, which may hold commas. */
        if (*text == '(')
            text += strcspn(text, ")") + (strchr(text, ')') ? 1 : 0);
        if (*text)
            text++;
    }
    end_types(ret);
}

int slurm_tasks(const char *text, uint32_t max, slurm_task_fn each, void *context)
{
    uint32_t found = 0;

    text = strstr(text, "_[");
    if (!text)
        return 0;
    for (text += 2; found < max;) {
        uint64_t from;
        uint64_t to;
        uint64_t step = 1;

        if (!read_count(&text, &from))
            return 0;
        to = from;
        if (skip(&text, '-') && !read_count(&text, &to))
            return 0;
        if (skip(&text, ':') && (!read_count(&text, &step) || step == 0))
            return 0;
        for (uint64_t task = from; task <= to && found < max; task += step, found++) {
            int r = each(context, (uint32_t)task);

            if (r < 0)
                return r;
        }
        if (*text != ',')
            break;
        text++;
    }
    return (int)found;
}
