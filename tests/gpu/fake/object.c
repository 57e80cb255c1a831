/* SPDX-License-Identifier: Apache-2.0 */
#include "object.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct fake_object *fake_objects;
struct fake_range *fake_ranges;

static pthread_mutex_t mutex;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static uint64_t next_address = UINT64_C(0x7e0000200000);
/* The process that has initialised the driver: a forked child of it cannot use it, as with the real one. */
static atomic_int initialised_by;

static void make_mutex(void)
{
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&mutex, &attributes);
    pthread_mutexattr_destroy(&attributes);
}

void fake_lock(void)
{
    pthread_once(&once, make_mutex);
    pthread_mutex_lock(&mutex);
}

void fake_unlock(void)
{
    pthread_mutex_unlock(&mutex);
}

cu_result fake_begin(const char *name)
{
    int owner = atomic_load(&initialised_by);
    int code = fake_fault(name);
    if (code)
        return code;
    if (strcmp(name, "cuInit") == 0 && owner == 0) {
        if (!fake_self())
            return CU_NO_DEVICE;
        atomic_store(&initialised_by, getpid());
        return CU_SUCCESS;
    }
    return owner == getpid() ? CU_SUCCESS : CU_NOT_INITIALIZED;
}

struct fake_object *fake_new(enum fake_kind kind, int gpu)
{
    struct fake_object *object = calloc(1, sizeof *object);
    if (!object)
        abort();
    object->kind = kind;
    object->gpu = gpu;
    object->next = fake_objects;
    fake_objects = object;
    return object;
}

struct fake_object *fake_get(void *handle, enum fake_kind kind)
{
    for (struct fake_object *object = fake_objects; object; object = object->next) {
        if ((void *)object == handle)
            return object->kind == kind ? object : NULL;
    }
    return NULL;
}

void fake_delete(struct fake_object *object)
{
    for (struct fake_object **at = &fake_objects; *at; at = &(*at)->next) {
        if (*at == object) {
            *at = object->next;
            free(object);
            return;
        }
    }
}

uint64_t fake_new_address(uint64_t bytes)
{
    uint64_t address = next_address;
    next_address += (bytes + (UINT64_C(2) << 20) - 1) >> 21 << 21;
    return address;
}

struct fake_range *fake_add_range(uint64_t address, uint64_t bytes, enum fake_memory memory, struct fake_object *of)
{
    struct fake_range *range = calloc(1, sizeof *range);
    if (!range)
        abort();
    *range = (struct fake_range){
        .address = address, .bytes = bytes, .memory = memory, .gpu = of->gpu, .of = of, .next = fake_ranges};
    fake_ranges = range;
    return range;
}

struct fake_range *fake_find_range(uint64_t address)
{
    struct fake_range *range = fake_ranges;
    while (range && range->address != address)
        range = range->next;
    return range;
}

void fake_remove_range(struct fake_range *range)
{
    for (struct fake_range **at = &fake_ranges; *at; at = &(*at)->next) {
        if (*at == range) {
            *at = range->next;
            free(range);
            return;
        }
    }
}

uint64_t fake_rounded(uint64_t bytes)
{
    uint64_t unit = bytes >= 1 << 20 ? UINT64_C(2) << 20 : 512;
    return (bytes + unit - 1) / unit * unit;
}

struct fake_object *fake_default_pool(int gpu)
{
    static struct fake_object *pools[FAKE_GPUS];
    if (!pools[gpu])
        pools[gpu] = fake_new(FAKE_POOL, gpu);
    return pools[gpu];
}
