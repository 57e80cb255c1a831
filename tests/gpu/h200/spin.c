/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Kernels of a given length, one after the other: spin KERNEL_US SECONDS [OPTION=VALUE...]
 *
 *     depth=N     launches before each wait for the GPU (default: as many as take about 3 ms)
 *     graph=N     launches of a graph with N kernels in it instead
 *     rate=R      iterations a microsecond, as a run with KERNEL_US 0 measures it
 *     at=NS       begins at this time of the monotonic clock
 *     warm=S tail=S  works for so long before it counts and after (default 0.5)
 *     on=MS off=MS  works and rests in turn
 *     since=NS    prints when its first kernel has ended, in milliseconds since this time, and what each step before it
 *                 took, and ends
 *     trace=FILE  writes there when each kernel began and ended, by the GPU's clock: two numbers of 64 bits each
 *     spans=MS    prints a line "rate" first, with the kernels a second of each span of this length by the monotonic
 *                 clock, from the first to the last end that was seen in it
 *
 * The length is work, a loop of so many iterations, not time: who has the GPU for half of the time gets half as many done.
 * Prints one line: kernels whose end was seen within the SECONDS, the seconds, the longest time without one, and kernels a
 * second from the first end that was seen to the last.
 */
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char ptx[] =
    ".version 7.0\n"
    ".target sm_70\n"
    ".address_size 64\n"
    ".visible .entry spin_us(.param .u32 us, .param .u64 count, .param .u64 out, .param .u64 times)\n"
    "{\n"
    "  .reg .u64 %n, %i, %to, %at, %begin, %end;\n"
    "  .reg .f32 %x;\n"
    "  .reg .pred %more, %never, %quiet;\n"
    "  ld.param.u64 %n, [count];\n"
    "  ld.param.u64 %to, [out];\n"
    "  ld.param.u64 %at, [times];\n"
    "  mov.u64 %begin, %globaltimer;\n"
    "  mov.u64 %i, 0;\n"
    "  mov.f32 %x, 0f3F800000;\n"
    "again:\n"
    "  fma.rn.f32 %x, %x, 0f3F7FFFFF, 0f33D6BF95;\n"
    "  add.u64 %i, %i, 1;\n"
    "  setp.lt.u64 %more, %i, %n;\n"
    "  @%more bra again;\n"
    "  setp.eq.f32 %never, %x, 0f00000000;\n"
    "  @%never st.global.f32 [%to], %x;\n"
    "  setp.eq.u64 %quiet, %at, 0;\n"
    "  @%quiet ret;\n"
    "  mov.u64 %end, %globaltimer;\n"
    "  st.global.u64 [%at], %begin;\n"
    "  st.global.u64 [%at+8], %end;\n"
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
    uint64_t times;  // on the device, for each kernel when it began and ended; 0: not wanted
    uint64_t traced;
};

enum { TRACE_MAX = 1 << 20, TRACE_SIZE = 16 };

static void launch_kernel(struct work *w)
{
    uint64_t times = w->times && w->traced < TRACE_MAX ? w->times + w->traced++ * TRACE_SIZE : 0;
    void *parameters[] = {&w->us, &w->count, &w->out, &times};

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

static const char *text_option(char **argv, const char *name)
{
    for (size_t len = strlen(name); *argv; argv++) {
        if (strncmp(*argv, name, len) == 0 && (*argv)[len] == '=')
            return *argv + len + 1;
    }
    return NULL;
}

static double option(char **argv, const char *name, double fallback)
{
    const char *text = text_option(argv, name);

    return text ? strtod(text, NULL) : fallback;
}

/* When each step of the beginning was done. */
static struct {
    const char *name;
    int64_t at;
} steps[8];
static unsigned step_count;

static void step(const char *name)
{
    steps[step_count].name = name;
    steps[step_count++].at = now_ns();
}

static void set_up(struct work *w)
{
    void *context, *module;
    int device;

    step("main");

    cuda = dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL);
    if (!cuda) {
        fprintf(stderr, "%s\n", dlerror());
        exit(1);
    }
    step("library");
    CALL(cuInit, 0u);
    step("cuInit");
    CALL(cuDeviceGet, &device, 0);
    CALL(cuDevicePrimaryCtxRetain, &context, device);
    CALL(cuCtxSetCurrent, context);
    step("context");
    CALL(cuModuleLoadData, &module, ptx);
    CALL(cuModuleGetFunction, &w->function, module, "spin_us");
    step("module");
    CALL(cuMemAlloc_v2, &w->out, (size_t)4096);
    step("memory");
    CALL(cuStreamCreate, &w->stream, 1u);
    w->kernels_a_launch = 1;
}

static void print_steps(int64_t since)
{
    printf("began %.3f", (double)(steps[step_count - 1].at - since) / 1e6);
    for (unsigned i = 0; i < step_count; i++) {
        printf(" %s %.3f", steps[i].name, (double)(steps[i].at - since) / 1e6);
        since = steps[i].at;
    }
    printf("\n");
}

enum { SPANS_MAX = 1024 };

struct figures {
    uint64_t kernels, first_kernels;
    int64_t first_end, last_end, longest_gap;
    int64_t span_ns;  // 0: not wanted
    int64_t first_span;
    struct {
        uint64_t kernels;  // after the first end
        int64_t first_end, last_end;
    } spans[SPANS_MAX];
};

static void note_span(struct figures *f, int64_t now, uint64_t kernels)
{
    if (f->first_span == 0)
        f->first_span = now / f->span_ns;
    int64_t at = now / f->span_ns - f->first_span;
    if (at >= SPANS_MAX)
        return;
    if (f->spans[at].first_end == 0)
        f->spans[at].first_end = now;
    else
        f->spans[at].kernels += kernels;
    f->spans[at].last_end = now;
}

static void print_spans(const struct figures *f)
{
    printf("rate %lld", (long long)f->first_span);
    for (int i = 0; i < SPANS_MAX && f->spans[i].first_end > 0; i++) {
        double seconds = (double)(f->spans[i].last_end - f->spans[i].first_end) / 1e9;

        printf(" %.3f", seconds > 0 ? (double)f->spans[i].kernels / seconds : 0.0);
    }
    printf("\n");
}

static double rate_of(const struct figures *f)
{
    double seconds = (double)(f->last_end - f->first_end) / 1e9;

    return seconds > 0 ? (double)(f->kernels - f->first_kernels) / seconds : 0;
}

/* One batch: the gap before it counts as well when it ended in the window. */
static void batch(struct work *w, unsigned depth, int64_t from, int64_t to, struct figures *f)
{
    for (unsigned i = 0; i < depth; i++)
        launch(w);
    CALL(cuStreamSynchronize, w->stream);
    int64_t now = now_ns();
    if (now < from || now >= to)
        return;
    f->kernels += (uint64_t)depth * w->kernels_a_launch;
    if (!f->first_end) {
        f->first_end = now;
        f->first_kernels = f->kernels;
    }
    if (f->last_end && now - f->last_end > f->longest_gap)
        f->longest_gap = now - f->last_end;
    f->last_end = now;
    if (f->span_ns > 0)
        note_span(f, now, (uint64_t)depth * w->kernels_a_launch);
}

/* All tenants of a measurement count within the same time, and have work before and after it, so that none is alone. */
static void run(struct work *w, double seconds, char **options, struct figures *f)
{
    unsigned us = w->us * w->kernels_a_launch;
    unsigned depth = (unsigned)option(options, "depth", us >= 3000 ? 1 : 3000.0 / (us ? us : 1));
    int64_t on = (int64_t)(option(options, "on", 0) * 1e6), off = (int64_t)(option(options, "off", 0) * 1e6);
    int64_t begin = (int64_t)option(options, "at", 0);

    sleep_until(begin);
    begin = begin > 0 ? begin : now_ns();
    int64_t from = begin + (int64_t)(option(options, "warm", 0.5) * 1e9), to = from + (int64_t)(seconds * 1e9);
    int64_t end = to + (int64_t)(option(options, "tail", 0.5) * 1e9);
    while (now_ns() < end) {
        int64_t phase = on > 0 ? (now_ns() - begin) % (on + off) : 0;

        if (on > 0 && phase >= on)
            sleep_until(now_ns() + on + off - phase);
        else
            batch(w, depth, from, to, f);
    }
}

static void start_trace(struct work *w)
{
    CALL(cuMemAlloc_v2, &w->times, (size_t)TRACE_MAX * TRACE_SIZE);
    CALL(cuMemsetD8_v2, w->times, (unsigned char)0, (size_t)TRACE_MAX * TRACE_SIZE);
}

static void write_trace(const struct work *w, const char *path)
{
    size_t size = w->traced * TRACE_SIZE;
    void *copy = malloc(size + 1);
    FILE *file = fopen(path, "wb");

    if (!copy || !file) {
        perror(path);
        exit(1);
    }
    if (size > 0)
        CALL(cuMemcpyDtoH_v2, copy, w->times, size);
    if (fwrite(copy, 1, size, file) != size || fclose(file) != 0) {
        perror(path);
        exit(1);
    }
    free(copy);
}

int main(int argc, char **argv)
{
    struct work w = {0};
    static struct figures f;

    if (argc < 3)
        return 2;
    char **options = argv + 3;
    w.us = (unsigned)strtoul(argv[1], NULL, 10);
    set_up(&w);
    if (w.us == 0) {
        printf("rate %.3f\n", measure_rate(&w));
        return 0;
    }
    w.count = (uint64_t)(w.us * option(options, "rate", 1));
    launch(&w);
    CALL(cuStreamSynchronize, w.stream);
    if (option(options, "since", 0) > 0) {
        step("kernel");
        print_steps((int64_t)option(options, "since", 0));
        return 0;
    }
    if (option(options, "graph", 0) > 0)
        make_graph(&w, (unsigned)option(options, "graph", 1));
    const char *trace = text_option(options, "trace");
    if (trace)
        start_trace(&w);
    f.span_ns = (int64_t)(option(options, "spans", 0) * 1e6);
    run(&w, strtod(argv[2], NULL), options, &f);
    if (f.span_ns > 0)
        print_spans(&f);
    if (trace)
        write_trace(&w, trace);
    printf("kernels %llu seconds %.6f gap %.6f rate %.6f\n", (unsigned long long)f.kernels, strtod(argv[2], NULL),
           (double)f.longest_gap / 1e9, rate_of(&f));
    return 0;
}
