/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Kernels of a given length, one after the other: spin KERNEL_US SECONDS [OPTION=NUMBER...]
 *
 *     depth=N     launches before each wait for the GPU (default: as many as take about 3 ms)
 *     graph=N     launches of a graph with N kernels in it instead
 *     rate=R      iterations a microsecond, as a run with KERNEL_US 0 measures it
 *     at=NS       begins at this time of the monotonic clock
 *     on=MS off=MS  works and rests in turn
 *
 * The length is work, a loop of so many iterations, not time: who has the GPU for half of the time gets half as many done.
 * Prints one line: kernels done, seconds from the end of the first to the end of the last batch, the longest gap.
 */
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char ptx[] = ".version 7.0\n"
                          ".target sm_70\n"
                          ".address_size 64\n"
                          ".visible .entry spin_us(.param .u32 us, .param .u64 count, .param .u64 out)\n"
                          "{\n"
                          "  .reg .u64 %n, %i, %to;\n"
                          "  .reg .f32 %x;\n"
                          "  .reg .pred %more, %never;\n"
                          "  ld.param.u64 %n, [count];\n"
                          "  ld.param.u64 %to, [out];\n"
                          "  mov.u64 %i, 0;\n"
                          "  mov.f32 %x, 0f3F800000;\n"
                          "again:\n"
                          "  fma.rn.f32 %x, %x, 0f3F7FFFFF, 0f33D6BF95;\n"
                          "  add.u64 %i, %i, 1;\n"
                          "  setp.lt.u64 %more, %i, %n;\n"
                          "  @%more bra again;\n"
                          "  setp.eq.f32 %never, %x, 0f00000000;\n"
                          "  @%never st.global.f32 [%to], %x;\n"
                          "  ret;\n"
                          "}\n";

static void *cuda;

#define CALL(name, ...)                                        \
    do {                                                       \
        int (*call_)() = (int (*)())dlsym(cuda, #name);        \
        int result_ = call_ ? call_(__VA_ARGS__) : -1;         \
        if (result_ != 0) {                                    \
            fprintf(stderr, "%s: error %d\n", #name, result_); \
            exit(1);                                           \
        }                                                      \
    } while (0)

static int64_t now_ns(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void sleep_until(int64_t at)
{
    struct timespec until = {at / 1000000000, at % 1000000000};

    if (at > now_ns())
        (void)clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
}

struct work {
    void *function;
    void *stream;
    void *exec;  // NULL: kernel by kernel
    unsigned us;
    uint64_t count;
    uint64_t out;
    unsigned kernels_a_launch;
};

static void launch_kernel(struct work *w)
{
    void *parameters[] = {&w->us, &w->count, &w->out};

    CALL(cuLaunchKernel, w->function, 1u, 1u, 1u, 32u, 1u, 1u, 0u, w->stream, parameters, (void **)NULL);
}

static void launch(struct work *w)
{
    if (w->exec)
        CALL(cuGraphLaunch, w->exec, w->stream);
    else
        launch_kernel(w);
}

static void make_graph(struct work *w, unsigned kernels)
{
    void *graph = NULL;

    CALL(cuStreamBeginCapture_v2, w->stream, 1);
    for (unsigned i = 0; i < kernels; i++)
        launch_kernel(w);
    CALL(cuStreamEndCapture, w->stream, &graph);
    CALL(cuGraphInstantiateWithFlags, &w->exec, graph, 0ull);
    w->kernels_a_launch = kernels;
}

/* Iterations a microsecond, the best of several looks. */
static double measure_rate(struct work *w)
{
    double best = 0;

    w->count = 20000000;
    for (int i = 0; i < 6; i++) {
        int64_t begin = now_ns();

        launch(w);
        CALL(cuStreamSynchronize, w->stream);
        double rate = (double)w->count / ((double)(now_ns() - begin) / 1000);
        best = rate > best ? rate : best;
    }
    return best;
}

static double option(char **argv, const char *name, double fallback)
{
    for (size_t len = strlen(name); *argv; argv++) {
        if (strncmp(*argv, name, len) == 0 && (*argv)[len] == '=')
            return atof(*argv + len + 1);
    }
    return fallback;
}

static void set_up(struct work *w)
{
    void *context, *module;
    int device;

    cuda = dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL);
    if (!cuda) {
        fprintf(stderr, "%s\n", dlerror());
        exit(1);
    }
    CALL(cuInit, 0u);
    CALL(cuDeviceGet, &device, 0);
    CALL(cuDevicePrimaryCtxRetain, &context, device);
    CALL(cuCtxSetCurrent, context);
    CALL(cuModuleLoadData, &module, ptx);
    CALL(cuModuleGetFunction, &w->function, module, "spin_us");
    CALL(cuMemAlloc_v2, &w->out, (size_t)4096);
    CALL(cuStreamCreate, &w->stream, 1u);
    w->kernels_a_launch = 1;
}

struct figures {
    uint64_t kernels;
    int64_t first_end, last_end, longest_gap;
};

static void run(struct work *w, double seconds, char **options, struct figures *f)
{
    unsigned us = w->us * w->kernels_a_launch;
    unsigned depth = (unsigned)option(options, "depth", us >= 3000 ? 1 : 3000.0 / (us ? us : 1));
    int64_t on = (int64_t)(option(options, "on", 0) * 1e6), off = (int64_t)(option(options, "off", 0) * 1e6);
    int64_t begin = now_ns(), end = begin + (int64_t)(seconds * 1e9);

    while (now_ns() < end) {
        int64_t phase = on > 0 ? (now_ns() - begin) % (on + off) : 0;

        if (on > 0 && phase >= on) {
            sleep_until(now_ns() + on + off - phase);
            continue;
        }
        for (unsigned i = 0; i < depth; i++)
            launch(w);
        CALL(cuStreamSynchronize, w->stream);
        int64_t now = now_ns();
        if (f->first_end == 0)
            f->first_end = now;
        else
            f->kernels += (uint64_t)depth * w->kernels_a_launch;
        if (f->last_end && now - f->last_end > f->longest_gap)
            f->longest_gap = now - f->last_end;
        f->last_end = now;
    }
}

int main(int argc, char **argv)
{
    struct work w = {0};
    struct figures f = {0};

    if (argc < 3)
        return 2;
    w.us = (unsigned)strtoul(argv[1], NULL, 10);
    set_up(&w);
    if (w.us == 0) {
        printf("rate %.3f\n", measure_rate(&w));
        return 0;
    }
    w.count = (uint64_t)(w.us * option(argv + 3, "rate", 1));
    launch(&w);
    CALL(cuStreamSynchronize, w.stream);
    if (option(argv + 3, "graph", 0) > 0)
        make_graph(&w, (unsigned)option(argv + 3, "graph", 1));
    sleep_until((int64_t)option(argv + 3, "at", 0));
    run(&w, atof(argv[2]), argv + 3, &f);
    printf("kernels %llu seconds %.6f gap %.6f\n", (unsigned long long)f.kernels,
           (double)(f.last_end - f.first_end) / 1e9, (double)f.longest_gap / 1e9);
    return 0;
}
