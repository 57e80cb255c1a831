/* SPDX-License-Identifier: Apache-2.0 */
/* Launches, in every form, and what a launch costs more than without us. */
#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "driver.h"

static int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void launches(void)
{
    unsigned us = 1;
    void *params[] = {&us};
    begin();
    void *f = spin_function();
    struct cu_launch_config config = {.grid = {1, 1, 1}, .block = {1, 1, 1}};
    struct cu_launch_params part = {.function = f, .grid = {1, 1, 1}, .block = {1, 1, 1}, .parameters = params};
    check(CALL(cuLaunchKernel, launch_kernel)(f, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL) == 0, "cuLaunchKernel");
    check(CALL(cuLaunchKernel_ptsz, launch_kernel)(f, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL) == 0,
          "cuLaunchKernel_ptsz");
    check(CALL(cuLaunchKernelEx, launch_ex)(&config, f, params, NULL) == 0, "cuLaunchKernelEx");
    check(CALL(cuLaunchKernelEx_ptsz, launch_ex)(&config, f, params, NULL) == 0, "cuLaunchKernelEx_ptsz");
    check(CALL(cuLaunchCooperativeKernel, launch_cooperative)(f, 1, 1, 1, 1, 1, 1, 0, NULL, params) == 0,
          "cuLaunchCooperativeKernel");
    check(CALL(cuLaunchCooperativeKernel_ptsz, launch_cooperative)(f, 1, 1, 1, 1, 1, 1, 0, NULL, params) == 0,
          "cuLaunchCooperativeKernel_ptsz");
    check(CALL(cuLaunchCooperativeKernelMultiDevice, launch_multi)(&part, 1, 0) == 0,
          "cuLaunchCooperativeKernelMultiDevice");
    check(CALL(cuLaunch, launch_old)(f) == 0, "cuLaunch");
    check(CALL(cuLaunchGrid, launch_grid)(f, 1, 1) == 0, "cuLaunchGrid");
    check(CALL(cuLaunchGridAsync, launch_grid_async)(f, 1, 1, NULL) == 0, "cuLaunchGridAsync");
    check(CALL(cuLaunchKernel, launch_kernel)(NULL, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL) == CU_INVALID_HANDLE,
          "a launch of nothing is the driver's to refuse");
}

static int64_t time_of(launch_kernel_fn *launch, void *f)
{
    enum { ROUNDS = 20000 };
    unsigned us = 0;
    void *params[] = {&us};
    int64_t best = INT64_MAX;
    for (int i = 0; i < 9; i++) {
        int64_t begin_ns = now_ns();
        for (int j = 0; j < ROUNDS; j++)
            (void)launch(f, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL);
        int64_t took = (now_ns() - begin_ns) * 1000 / ROUNDS;
        best = took < best ? took : best;
    }
    return best;
}

/* With TEST_FAKE the path of the pretended driver itself, whose own function is timed beside ours. */
static void overhead(void)
{
    begin();
    void *direct = dlopen(getenv("TEST_FAKE"), RTLD_NOW | RTLD_NOLOAD);
    void *f = spin_function();
    dlerror();
    void *(*plain_dlsym)(void *, const char *) =
        (void *(*)(void *, const char *))dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.2.5");
    launch_kernel_fn *theirs = direct && plain_dlsym ? (launch_kernel_fn *)plain_dlsym(direct, "cuLaunchKernel") : NULL;
    launch_kernel_fn *ours = CALL(cuLaunchKernel, launch_kernel);
    if (!theirs || theirs == ours) {
        check(false, "the driver's own function is found");
        return;
    }
    int64_t without = time_of(theirs, f), with = time_of(ours, f);
    printf("# a launch takes %.1f ns more than the driver's %.1f ns\n", (double)(with - without) / 1000,
           (double)without / 1000);
    check(true, "the overhead of a launch was measured");
}

/* Launches kernels of TEST_US for TEST_SECONDS, never more than two batches ahead and never with nothing to do, and says
 * how many. */
static void spin(void)
{
    cu_result (*create)(void **, unsigned) = (cu_result(*)(void **, unsigned))cuda("cuEventCreate");
    cu_result (*record)(void *, void *) = (cu_result(*)(void *, void *))cuda("cuEventRecord");
    void *events[2] = {NULL, NULL};
    begin();
    double seconds = strtod(getenv("TEST_SECONDS"), NULL);
    unsigned us = (unsigned)strtoul(getenv("TEST_US"), NULL, 10);
    void *params[] = {&us}, *f = spin_function();
    int64_t end = now_ns() + (int64_t)(seconds * 1e9);
    unsigned long count = 0;
    check(create(&events[0], 0) == CU_SUCCESS && create(&events[1], 0) == CU_SUCCESS, "events are made");
    for (int turn = 0; now_ns() < end; turn = 1 - turn) {
        for (int i = 0; i < 4; i++, count++)
            (void)CALL(cuLaunchKernel, launch_kernel)(f, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL);
        (void)record(events[turn], NULL);
        (void)CALL(cuEventSynchronize, sync_stream)(events[1 - turn]);
    }
    printf("# ran %lu kernels of %u us\n", count, us);
    check(count > 0, "kernels ran");
}

/* One of several threads that launch kernels of TEST_US for TEST_SECONDS on streams of their own. */
static void *spin_thread(void *ret_count)
{
    cu_result (*create)(void **, unsigned) = (cu_result(*)(void **, unsigned))cuda("cuStreamCreate");
    unsigned us = (unsigned)strtoul(getenv("TEST_US"), NULL, 10);
    void *params[] = {&us}, *stream = NULL;
    int64_t end = now_ns() + (int64_t)(strtod(getenv("TEST_SECONDS"), NULL) * 1e9);
    unsigned long *count = ret_count;
    (void)primary();
    void *f = spin_function();
    if (create(&stream, 0) != CU_SUCCESS)
        return NULL;
    for (; now_ns() < end; (*count)++) {
        (void)CALL(cuLaunchKernel, launch_kernel)(f, 1, 1, 1, 1, 1, 1, 0, stream, params, NULL);
        if (*count % 4 == 3)
            (void)CALL(cuStreamSynchronize, sync_stream)(stream);
    }
    (void)CALL(cuStreamDestroy_v2, stream_destroy)(stream);
    return NULL;
}

static void spins(void)
{
    enum { THREADS = 3 };
    pthread_t threads[THREADS];
    unsigned long counts[THREADS] = {0}, least = ULONG_MAX;
    begin();
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, spin_thread, &counts[i]);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        least = counts[i] < least ? counts[i] : least;
    }
    printf("# each thread ran %lu kernels at least\n", least);
    check(least > 0, "kernels ran");
}

/* Two kernels of which the first waits for the second, which comes when the lease of the first is over; on two GPUs if
 * TEST_TWO is there. */
static void parted(void)
{
    cu_result (*create)(void **, unsigned) = (cu_result(*)(void **, unsigned))cuda("cuStreamCreate");
    static _Atomic uint32_t word;
    _Atomic uint32_t *at = &word;
    void *params[] = {&at}, *streams[2] = {NULL}, *ctx = NULL;
    struct timespec pause = {0, 400000000};
    launch_kernel_fn *launch = CALL(cuLaunchKernel, launch_kernel);
    begin();
    check(create(&streams[0], 0) == CU_SUCCESS, "a stream is made");
    check(launch(function_of("wait_word"), 1, 1, 1, 1, 1, 1, 0, streams[0], params, NULL) == CU_SUCCESS, "one waits");
    check(!getenv("TEST_TWO") || CALL(cuCtxCreate_v2, ctx_create)(&ctx, 0, 1) == CU_SUCCESS, "there is a context");
    check(create(&streams[1], 0) == CU_SUCCESS, "another stream is made");
    nanosleep(&pause, NULL);
    check(launch(function_of("set_word"), 1, 1, 1, 1, 1, 1, 0, streams[1], params, NULL) == CU_SUCCESS,
          "the other gets another turn");
    check(CALL(cuStreamSynchronize, sync_stream)(streams[0]) == CU_SUCCESS, "both end");
}

/* Captures while another thread launches under a lease, so that fences are looked at all the time. */
static void captures(void)
{
    cu_result (*create)(void **, unsigned) = (cu_result(*)(void **, unsigned))cuda("cuStreamCreate");
    cu_result (*end)(void *, void **) = (cu_result(*)(void *, void **))cuda("cuStreamEndCapture");
    unsigned us = 10;
    unsigned long launched = 0, captured = 0, spoilt = 0;
    void *params[] = {&us}, *stream = NULL, *graph = NULL;
    pthread_t thread;
    begin();
    void *f = spin_function();
    int64_t until = now_ns() + (int64_t)(strtod(getenv("TEST_SECONDS"), NULL) * 1e9);
    check(create(&stream, 0) == CU_SUCCESS, "a stream is made");
    pthread_create(&thread, NULL, spin_thread, &launched);
    for (; now_ns() < until; captured++) {
        (void)CALL(cuStreamBeginCapture_v2, capture_begin)(stream, 0);
        (void)CALL(cuLaunchKernel, launch_kernel)(f, 1, 1, 1, 1, 1, 1, 0, stream, params, NULL);
        spoilt += end(stream, &graph) != CU_SUCCESS;
    }
    pthread_join(thread, NULL);
    printf("# %lu captures beside %lu launches, %lu spoilt\n", captured, launched, spoilt);
    check(captured > 100 && launched > 0, "there were captures and launches");
    check(spoilt == 0, "none was spoilt");
    (void)CALL(cuLaunchKernel, launch_kernel)(f, 1, 1, 1, 1, 1, 1, 0, stream, params, NULL);
    check(CALL(cuStreamSynchronize, sync_stream)(stream) == CU_SUCCESS, "the stream goes on");
}

const struct test_case compute_cases[] = {
    {"launches", launches}, {"overhead", overhead}, {"spin", spin}, {"spins", spins},
    {"parted", parted},     {"captures", captures}, {NULL, NULL},
};
