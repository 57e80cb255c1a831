/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Any text is a selector or is refused with a reason and its place, and a selector can be asked of any device: it ends within
 * its limits, and a second time in the same way. The input is an expression, a line "---", and a line for each thing that is
 * said of the device: "int cores 132", "bool mig true", "string model H200", "version driver 1.2.3", "capacity memory 80Gi".
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "cel/device.h"
#include "fuzz.h"

enum { COST_MAX = 20000, SAID_MAX = 32 };

static void say(struct device_value *device, const char *kind, const char *name, const char *text)
{
    struct cel_value value;

    if (strcmp(kind, "int") == 0)
        device_value_attribute(device, name, cel_int(strtoll(text, NULL, 10)));
    else if (strcmp(kind, "bool") == 0)
        device_value_attribute(device, name, cel_bool(strcmp(text, "true") == 0));
    else if (strcmp(kind, "string") == 0)
        device_value_attribute(device, name, cel_string(text));
    else if (strcmp(kind, "version") == 0 && cel_semver(device->arena, text, &value) == 0)
        device_value_attribute(device, name, value);
    else if (strcmp(kind, "capacity") == 0 && cel_quantity(device->arena, text, &value) == 0)
        device_value_capacity(device, name, value);
}

static bool was_said(char *const *names, int count, const char *name)
{
    for (int i = 0; i < count; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

/* `text` is taken apart where it is, and has to live as long as the value. */
static struct cel_value describe(struct arena *arena, char *text)
{
    struct device_value device;
    char *names[SAID_MAX];
    int count = 0;

    device_value_init(&device, arena, "gpu.example.com");
    for (char *line = strsep(&text, "\n"); line && count < SAID_MAX; line = strsep(&text, "\n")) {
        const char *kind = strsep(&line, " ");
        char *name = strsep(&line, " ");
        if (!name || !line || was_said(names, count, name))
            continue;
        names[count++] = name;
        say(&device, kind, name, line);
    }
    return device_value_finish(&device, count % 2 == 1);
}

static struct cel_result ask(const struct cel_program *selector, struct cel_value device)
{
    const struct cel_variable variable = {.name = "device", .value = device};
    struct arena arena;

    arena_init(&arena);
    struct cel_result result = cel_eval(selector, &variable, 1, COST_MAX, &arena);
    BUG_ON(result.outcome == CEL_VALUE && result.cost > COST_MAX);
    BUG_ON((result.outcome == CEL_VALUE) != (result.value.kind != CEL_ERROR));
    BUG_ON(result.outcome != CEL_VALUE && result.value.explanation[0] == '\0');
    BUG_ON(arena_bytes(&arena) > 2 * (size_t)CEL_MEMORY_MAX);
    arena_done(&arena);
    return result;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    _cleanup_(freep) char *expression = xstrndup((const char *)data, size);
    struct cel_env *env = device_env_new(size % 2 ? DEVICE_LISTS_ON : DEVICE_LISTS_OFF);
    struct cel_program *selector = NULL;
    struct err err = {0};
    struct arena arena;
    char none[] = "";
    char *device = strstr(expression, "\n---\n");

    if (device)
        *device = '\0';
    arena_init(&arena);
    if (device_selector_compile(env, expression, &selector, &err) < 0) {
        BUG_ON(!isdigit((unsigned char)err.text[0]));
    } else {
        struct cel_value value = describe(&arena, device ? device + 5 : none);
        struct cel_result once = ask(selector, value);
        struct cel_result again = ask(selector, value);
        BUG_ON(once.outcome != again.outcome || once.cost != again.cost || once.value.kind != again.value.kind);
    }
    cel_program_free(selector);
    arena_done(&arena);
    cel_env_free(env);
    return 0;
}
