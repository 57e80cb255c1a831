/* SPDX-License-Identifier: Apache-2.0 */

/* A stand-in for NVIDIA's management library: it has as many GPUs as $FAKE_GPUS says, and fails where $FAKE_FAILS
 * names a function. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))
enum { FINE = 0, NO_PERMISSION = 4 };

static int fails(const char *function)
{
    const char *named = getenv("FAKE_FAILS");

    return named && strcmp(named, function) == 0 ? NO_PERMISSION : FINE;
}

EXPORT int nvmlInit_v2(void);
EXPORT int nvmlShutdown(void);
EXPORT int nvmlDeviceGetCount_v2(unsigned *count);
EXPORT int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **device);
EXPORT int nvmlDeviceGetUUID(void *device, char *uuid, unsigned length);
EXPORT const char *nvmlErrorString(int code);

int nvmlInit_v2(void)
{
    return fails("init");
}

int nvmlShutdown(void)
{
    return FINE;
}

int nvmlDeviceGetCount_v2(unsigned *count)
{
    const char *gpus = getenv("FAKE_GPUS");

    *count = gpus ? (unsigned)atoi(gpus) : 1;
    return fails("count");
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **device)
{
    static int gpu;

    *device = &gpu;
    return index == 0 ? fails("handle") : NO_PERMISSION;
}

int nvmlDeviceGetUUID(void *device, char *uuid, unsigned length)
{
    (void)device;
    (void)snprintf(uuid, length, "GPU-11111111-2222-3333-4444-555555555555");
    return fails("uuid");
}

const char *nvmlErrorString(int code)
{
    return code == NO_PERMISSION ? "Insufficient Permissions" : "Success";
}
