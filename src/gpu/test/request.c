/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu/request/request.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "base/err.h"

#define A(key, value) {WORD_ANNOTATION, key, value}
#define R(key, value) {WORD_RESOURCE, key, value}
#define V(key, value) {WORD_VARIABLE, key, value}
#define MIB (UINT64_C(1) << 20)
#define GIB (UINT64_C(1) << 30)

enum { WORDS_MAX = 5 };

static size_t count_of(const struct gpu_word *words)
{
    size_t count = 0;

    while (count < WORDS_MAX && words[count].key)
        count++;
    return count;
}

/* On a T4 with 15360 MiB. */
static void every_system_is_understood_to_the_byte(void **state)
{
    static const struct {
        struct gpu_word words[WORDS_MAX];
        uint32_t devices;
        uint64_t request, limit;
        uint32_t share, cap;
        enum gpu_mode mode;
    } cases[] = {
        {{A("gpu-fraction", "0.5")}, 1, 7680 * MIB, 7680 * MIB, 500000, 1000000, GPU_MODE_FAIR},
        {{A("gpu-memory", "4096")}, 1, 4096 * MIB, 4096 * MIB, 266666, 1000000, GPU_MODE_FAIR},
        {{A("gpu-fraction", "0.25"), A("gpu-fraction-num-devices", "2"), A("other", "x")},
         2,
         3840 * MIB,
         3840 * MIB,
         250000,
         1000000,
         GPU_MODE_FAIR},
        {{A("gpu-fraction", ".1"), A("gpu-compute-mode", "strict")},
         1,
         1536 * MIB,
         1536 * MIB,
         100000,
         100000,
         GPU_MODE_STRICT},
        {{A("gpu-fraction", "0.333333333")}, 1, 5368709114, 5368709114, 333333, 1000000, GPU_MODE_FAIR},
        {{A("nvidia.com/container.main.gpu-memory.limit", "4Gi")}, 1, 4 * GIB, 4 * GIB, 266666, 1000000, GPU_MODE_FAIR},
        {{A("nvidia.com/container.main.gpu-memory.request", "2Gi"),
          A("nvidia.com/container.main.gpu-memory.limit", "4Gi"),
          A("kai.scheduler/gpu-compute-sharing-mode", "time-slicing")},
         1,
         2 * GIB,
         4 * GIB,
         133333,
         1000000,
         GPU_MODE_TIME},
        {{V("GPU_PORTION", "0.5")}, 1, 7680 * MIB, 7680 * MIB, 500000, 1000000, GPU_MODE_FAIR},
        {{A("gpu-memory", "4096"), V("RUNAI_GPU_MEMORY_LIMIT", "8Gi")},
         1,
         4 * GIB,
         8 * GIB,
         266666,
         1000000,
         GPU_MODE_FAIR},
        {{A("gpu-fraction", "0.25"), V("RUNAI_GPU_MEMORY_LIMIT", "0.5")},
         1,
         3840 * MIB,
         7680 * MIB,
         250000,
         1000000,
         GPU_MODE_FAIR},
        {{A("gpu-memory-request", "1Gi"), A("gpu-memory-limit", "2Gi"), A("gpu-compute-share", "0.3"),
          A("gpu-compute-share-limit", "0.6")},
         1,
         GIB,
         2 * GIB,
         300000,
         600000,
         GPU_MODE_FAIR},
        {{R("nvidia.com/gpu", "0.5")}, 1, 7680 * MIB, 7680 * MIB, 500000, 1000000, GPU_MODE_FAIR},
        {{R("nvidia.com/gpu", "2"), R("nvidia.com/gpumem", "3000"), R("nvidia.com/gpucores", "30")},
         2,
         3000 * MIB,
         3000 * MIB,
         300000,
         300000,
         GPU_MODE_STRICT},
        {{R("nvidia.com/gpu", "1"), R("nvidia.com/gpumem-percentage", "50"), R("nvidia.com/gpucores", "0")},
         1,
         7680 * MIB,
         7680 * MIB,
         500000,
         1000000,
         GPU_MODE_FAIR},
        {{V("CUDA_DEVICE_MEMORY_LIMIT", "4096m"), V("CUDA_DEVICE_SM_LIMIT", "25")},
         1,
         4 * GIB,
         4 * GIB,
         250000,
         250000,
         GPU_MODE_STRICT},
        {{V("CUDA_DEVICE_MEMORY_LIMIT_0", "2g"), V("CUDA_DEVICE_MEMORY_LIMIT", "2048m")},
         1,
         2 * GIB,
         2 * GIB,
         133333,
         1000000,
         GPU_MODE_FAIR},
        {{A("gpu-fraction", "5e-1")}, 1, 7680 * MIB, 7680 * MIB, 500000, 1000000, GPU_MODE_FAIR},
        {{A("gpu-fraction", "+0.5")}, 1, 7680 * MIB, 7680 * MIB, 500000, 1000000, GPU_MODE_FAIR},
        {{A("gpu-fraction", "0.3333333333333333")}, 1, 5368709114, 5368709114, 333333, 1000000, GPU_MODE_FAIR},
        {{A("gpu-fraction", "0.5"), A("mps", "false"), A("gpu-fraction-container-name", "b")},
         1,
         7680 * MIB,
         7680 * MIB,
         500000,
         1000000,
         GPU_MODE_FAIR},
        {{A("gpu-fraction", "0.5"), A("gpu-fraction-limit", "0.75"), A("gpu-compute-share", "0.0000001")},
         1,
         7680 * MIB,
         11520 * MIB,
         1,
         1000000,
         GPU_MODE_FAIR},
        /* What other systems have made of a request for their own libraries, rounded. */
        {{A("gpu-memory", "4096"), V("GPU_PORTION", "0.27"), V("RUNAI_NUM_OF_GPUS", "0.27"),
          V("CUDA_DEVICE_MEMORY_LIMIT", "4147m")},
         1,
         4 * GIB,
         4 * GIB,
         266666,
         1000000,
         GPU_MODE_FAIR},
        {{V("RUNAI_NUM_OF_GPUS", "0.25"), V("RUNAI_GPU_MEMORY_LIMIT", "0.5")},
         1,
         3840 * MIB,
         7680 * MIB,
         250000,
         1000000,
         GPU_MODE_FAIR},
        {{A("gpu-fraction", "0.5"), V("CUDA_DEVICE_SM_LIMIT", "25")},
         1,
         7680 * MIB,
         7680 * MIB,
         250000,
         250000,
         GPU_MODE_STRICT},
        {{R("nvidia.com/gpu", "2"), R("nvidia.com/gpumem", "3k"), V("CUDA_DEVICE_MEMORY_LIMIT_0", "3000m"),
          V("CUDA_DEVICE_MEMORY_LIMIT_1", "3000m"), V("CUDA_DEVICE_SM_LIMIT", "0")},
         2,
         3000 * MIB,
         3000 * MIB,
         195312,
         1000000,
         GPU_MODE_FAIR},
        {{R("nvidia.com/gpu", "1"), R("nvidia.com/gpumem", "3000"), R("nvidia.com/gpucores", "30"),
          V("GPU_CORE_UTILIZATION_POLICY", "disable"), A("nvidia.com/vgpu-mode", "hami-core")},
         1,
         3000 * MIB,
         3000 * MIB,
         300000,
         1000000,
         GPU_MODE_FAIR},
        {{R("nvidia.com/gpu", "1"), R("nvidia.com/gpumem", "3000"), V("GPU_CORE_UTILIZATION_POLICY", "force"),
          R("nvidia.com/priority", "1"), V("CUDA_OVERSUBSCRIBE", "false")},
         1,
         3000 * MIB,
         3000 * MIB,
         195312,
         195312,
         GPU_MODE_STRICT},
        /* Of a GPU only the cores, or none of what is left out: the memory is all of it. */
        {{R("nvidia.com/gpu", "1"), R("nvidia.com/gpucores", "30"), R("nvidia.com/gpumem", "0")},
         1,
         15360 * MIB,
         15360 * MIB,
         300000,
         300000,
         GPU_MODE_STRICT},
        {{R("volcano.sh/vgpu-number", "2"), R("volcano.sh/vgpu-cores", "30")},
         2,
         15360 * MIB,
         15360 * MIB,
         300000,
         300000,
         GPU_MODE_STRICT},
        {{R("volcano.sh/vgpu-number", "1"), R("volcano.sh/vgpu-memory-percentage", "25")},
         1,
         3840 * MIB,
         3840 * MIB,
         250000,
         1000000,
         GPU_MODE_FAIR},
        {{R("volcano.sh/vgpu-number", "1"), R("volcano.sh/vgpu-memory", "1024"), R("volcano.sh/vgpu-cores", "10")},
         1,
         GIB,
         GIB,
         100000,
         100000,
         GPU_MODE_STRICT},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct gpu_request request;
        struct gpu_amounts amounts;
        struct err err = {0};

        if (gpu_request_read(cases[i].words, count_of(cases[i].words), &request, &err) != 1 ||
            gpu_request_on(&request, 15360 * MIB, &amounts, &err) < 0)
            fail_msg("case %zu: %s", i, err.text);
        if (request.devices != cases[i].devices || amounts.request_bytes != cases[i].request ||
            amounts.limit_bytes != cases[i].limit || amounts.share != cases[i].share || amounts.cap != cases[i].cap ||
            request.mode != cases[i].mode)
            fail_msg("case %zu: %u x %llu..%llu bytes, share %u cap %u mode %d", i, request.devices,
                     (unsigned long long)amounts.request_bytes, (unsigned long long)amounts.limit_bytes, amounts.share,
                     amounts.cap, (int)request.mode);
        assert_non_null(request.alias);
    }
}

static void what_cannot_be_kept_is_refused_with_its_reason(void **state)
{
    static const struct {
        struct gpu_word words[WORDS_MAX];
        int code;
        const char *part;
    } cases[] = {
        {{A("gpu-fraction", "NaN")}, -EINVAL, "gpu-fraction: 'NaN'"},
        {{A("gpu-fraction", "1")}, -EINVAL, "whole GPU"},
        {{A("gpu-fraction", "0")}, -EINVAL, "'0'"},
        {{A("gpu-fraction", "-0.5")}, -EINVAL, "'-0.5'"},
        {{A("gpu-fraction", "Inf")}, -EINVAL, "'Inf' is not a part of a GPU"},
        {{A("gpu-fraction", "1e400")}, -EINVAL, "1e400"},
        {{A("gpu-fraction", "1e-400")}, -EINVAL, "1e-400"},
        {{A("gpu-fraction", "1e-10")}, -EINVAL, "1e-10"},
        {{A("gpu-fraction", "0x1p-1")}, -EINVAL, "0x1p-1"},
        {{A("gpu-fraction", "0.5e")}, -EINVAL, "0.5e"},
        {{A("gpu-fraction", "0.5e -1")}, -EINVAL, "0.5e -1"},
        {{A("gpu-fraction", "50%")}, -EINVAL, "50%"},
        {{A("gpu-fraction", "1.5")}, -EINVAL, "1.5"},
        {{A("gpu-fraction", "0.5.5")}, -EINVAL, "0.5.5"},
        {{A("gpu-fraction", ".")}, -EINVAL, "'.'"},
        {{A("gpu-memory", "-1")}, -EINVAL, "'-1' is not a whole number of MiB"},
        {{A("gpu-memory", "0")}, -EINVAL, "'0'"},
        {{A("gpu-memory", "4Gi")}, -EINVAL, "4Gi"},
        {{A("gpu-memory", "NaN")}, -EINVAL, "NaN"},
        {{A("gpu-memory", "1e400")}, -EINVAL, "1e400"},
        {{A("gpu-memory-request", "-1Gi")}, -EINVAL, "-1Gi"},
        {{A("gpu-memory-request", "0.5")}, -EINVAL, "at least 1Mi"},
        {{A("gpu-memory-limit", "1e400")}, -EINVAL, "1e400"},
        {{A("gpu-memory-limit", "8Ei")}, -EINVAL, "8Ei"},
        {{A("gpu-memory-request", "4Gi"), A("gpu-memory-limit", "2Gi")}, -EINVAL, "less than the request"},
        {{A("nvidia.com/container.a.gpu-memory.limit", "-4Gi")}, -EINVAL, "-4Gi"},
        {{A("nvidia.com/container.a.gpu-memory.request", "1Gi"), A("nvidia.com/container.b.gpu-memory.limit", "2Gi")},
         -EINVAL,
         "different containers"},
        {{A("gpu-fraction", "0.5"), A("gpu-fraction-container-name", "")}, -EINVAL, "not a container name"},
        {{A("gpu-fraction", "0.5"), A("gpu-compute-share", "2")}, -EINVAL, "gpu-compute-share"},
        {{A("gpu-fraction", "0.5"), A("gpu-compute-share", "0.5"), A("gpu-compute-share-limit", "0.25")},
         -EINVAL,
         "less than the share"},
        {{A("gpu-fraction", "0.5"), A("gpu-compute-mode", "fair"),
          A("kai.scheduler/gpu-compute-sharing-mode", "time-slicing")},
         -EINVAL,
         "contradict"},
        {{A("gpu-fraction-num-devices", "2")}, -EINVAL, "no fraction or memory is requested"},
        {{A("gpu-fraction", "0.5"), A("gpu-fraction-num-devices", "-2")}, -EINVAL, "number of GPUs"},
        {{A("gpu-fraction", "0.5"), A("mps", "true")}, -ENOTSUP, "MPS"},
        {{V("RUNAI_GPU_MEMORY_LIMIT", "-0.5")}, -EINVAL, "-0.5"},
        {{V("RUNAI_GPU_MEMORY_LIMIT", "1.5")}, -EINVAL, "1.5"},
        {{V("GPU_PORTION", "NaN")}, -EINVAL, "NaN"},
        {{V("GPU_PORTION", "-1")}, -EINVAL, "-1"},
        {{V("RUNAI_NUM_OF_GPUS", "1.5")}, -EINVAL, "1.5"},
        {{R("nvidia.com/gpu", "-1")}, -EINVAL, "-1"},
        {{R("nvidia.com/gpu", "17")}, -EINVAL, "17"},
        {{R("nvidia.com/gpumem", "8Gi")}, -EINVAL, "'8Gi' is not a whole number of MiB"},
        {{R("nvidia.com/gpumem", "1500m")}, -EINVAL, "1500m"},
        {{R("nvidia.com/gpumem", "-5")}, -EINVAL, "-5"},
        {{R("nvidia.com/gpumem-percentage", "101")}, -EINVAL, "up to 100"},
        {{R("nvidia.com/gpumem-percentage", "50"), R("nvidia.com/gpumem", "3000")}, -EINVAL, "not both"},
        {{R("nvidia.com/gpumem", "100"), R("nvidia.com/gpucores", "-1")}, -EINVAL, "gpucores"},
        {{R("nvidia.com/gpumem", "100"), R("nvidia.com/priority", "0")}, -ENOTSUP, "larger share"},
        {{R("nvidia.com/gpumem", "100"), V("CUDA_TASK_PRIORITY", "0")}, -ENOTSUP, "larger share"},
        {{R("nvidia.com/gpumem", "100"), V("CUDA_DISABLE_CONTROL", "true")}, -ENOTSUP, "cannot be disabled"},
        {{R("nvidia.com/gpumem", "100"), V("CUDA_OVERSUBSCRIBE", "true")}, -ENOTSUP, "is not supported"},
        {{R("nvidia.com/gpumem", "100"), V("GPU_CORE_UTILIZATION_POLICY", "maybe")}, -EINVAL, "maybe"},
        {{A("gpu-fraction", "0.5"), A("gpu-compute-mode", "force")}, -EINVAL, "force"},
        {{A("gpu-fraction", "0.5"), A("gpu-compute-priority", "now")}, -EINVAL, "expected latency or normal"},
        {{A("gpu-fraction", "0.5"), A("gpu-compute-priority", "normal"),
          A("kai.scheduler/gpu-compute-priority", "latency")},
         -EINVAL,
         "contradict"},
        {{R("nvshare.com/gpu", "1")}, -ENOTSUP, "is not supported"},
        {{V("CUDA_DEVICE_MEMORY_LIMIT_0", "1g"), V("CUDA_DEVICE_MEMORY_LIMIT_1", "2g")}, -EINVAL, "contradict"},
        {{V("CUDA_DEVICE_MEMORY_LIMIT", "99999999999g")}, -EINVAL, "99999999999g"},
        {{R("volcano.sh/vgpu-memory", "1024"), R("volcano.sh/vgpu-cores", "200")}, -EINVAL, "vgpu-cores"},
        {{R("volcano.sh/vgpu-number", "0"), R("volcano.sh/vgpu-memory", "1024")}, -EINVAL, "vgpu-number"},
        {{A("gpu-fraction", "")}, -EINVAL, "gpu-fraction"},
        {{A("gpu-memory", "1.5")}, -EINVAL, "gpu-memory"},
        {{A("gpu-memory", "99999999999999999999")}, -EINVAL, "gpu-memory"},
        {{A("gpu-fraction", "0.5"), A("gpu-memory", "100")}, -EINVAL, "not both"},
        {{A("gpu-fraction", "0.5"), V("RUNAI_GPU_MEMORY_LIMIT", "8Gi")}, -EINVAL, "limit"},
        {{A("gpu-fraction", "0.5"), V("RUNAI_GPU_MEMORY_LIMIT", "0.25")}, -EINVAL, "less than the request"},
        {{A("gpu-fraction", "0.5"), R("nvidia.com/gpu", "1")}, -EINVAL, "cannot be requested together"},
        {{A("gpu-fraction", "0.5"), A("gpu-fraction-num-devices", "0")}, -EINVAL, "num-devices"},
        {{A("gpu-fraction", "0.5"), A("gpu-fraction-num-devices", "17")}, -EINVAL, "num-devices"},
        {{R("nvidia.com/gpu", "1.5")}, -EINVAL, "number of GPUs, or a part"},
        {{R("nvidia.com/gpumem", "100"), R("nvidia.com/gpucores", "101")}, -EINVAL, "gpucores"},
        {{R("nvidia.com/gpucores", "50")}, -EINVAL, "needs a memory request"},
        {{A("gpu-fraction", "0.5"), A("kai.scheduler/gpu-compute-sharing-mode", "sm-sharing")}, -ENOTSUP, "MPS"},
        {{R("nvidia.com/gpumem", "100"), A("nvidia.com/vgpu-mode", "mig")}, -ENOTSUP, "hardware slice"},
        {{A("gpu-fraction", "0.5"), A("gpu-compute-mode", "best")}, -EINVAL, "best"},
        {{V("CUDA_DEVICE_MEMORY_LIMIT", "4096x")}, -EINVAL, "4096x"},
        {{V("CUDA_DEVICE_MEMORY_LIMIT", "m")}, -EINVAL, "MEMORY_LIMIT"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct gpu_request request;
        struct err err = {0};
        int r = gpu_request_read(cases[i].words, count_of(cases[i].words), &request, &err);

        if (r != cases[i].code || !strstr(err.text, cases[i].part))
            fail_msg("case %zu: %d %s", i, r, err.text);
    }
}

static void a_request_says_whose_it_is(void **state)
{
    static const struct gpu_word by_name[] = {A("gpu-fraction", "0.5"), A("gpu-fraction-container-name", "main")};
    static const struct gpu_word by_key[] = {A("nvidia.com/container.side-car.gpu-memory.request", "1Gi"),
                                             A("nvidia.com/container.side-car.gpu-memory.limit", "2Gi")};
    static const struct gpu_word nobody[] = {A("gpu-fraction", "0.5")};
    struct gpu_request request;

    (void)state;
    assert_int_equal(gpu_request_read(by_name, ARRAY_LEN(by_name), &request, NULL), 1);
    assert_string_equal(request.container, "main");
    assert_int_equal(gpu_request_read(by_key, ARRAY_LEN(by_key), &request, NULL), 1);
    assert_string_equal(request.container, "side-car");
    assert_int_equal(gpu_request_read(nobody, ARRAY_LEN(nobody), &request, NULL), 1);
    assert_string_equal(request.container, "");
}

static void who_asks_for_no_part_gets_none(void **state)
{
    static const struct gpu_word words[] = {R("nvidia.com/gpu", "2"),
                                            A("app", "x"),
                                            V("PATH", "/bin"),
                                            V("GPU_PORTION", "2"),
                                            V("CUDA_DEVICE_MEMORY_LIMIT_0", "0m"),
                                            V("CUDA_DEVICE_MEMORY_LIMIT_x", "1g"),
                                            A("nvidia.com/container.a.b.gpu-memory.limit", "1Gi")};
    struct gpu_request request;

    (void)state;
    assert_int_equal(gpu_request_read(words, ARRAY_LEN(words), &request, NULL), 0);
    assert_int_equal(gpu_request_read(NULL, 0, &request, NULL), 0);
}

static void a_gpu_that_is_too_small_is_refused(void **state)
{
    static const struct gpu_word words[] = {A("gpu-memory", "4096")};
    struct gpu_request request;
    struct gpu_amounts amounts;
    struct err err = {0};

    (void)state;
    assert_int_equal(gpu_request_read(words, 1, &request, &err), 1);
    assert_int_equal(gpu_request_on(&request, 2 * GIB, &amounts, &err), -EINVAL);
    assert_non_null(strstr(err.text, "gpu-memory requests 4.0 GiB"));
}

static void words_about_other_things_are_not_known(void **state)
{
    (void)state;
    assert_true(gpu_word_is_known(WORD_ANNOTATION, "gpu-fraction"));
    assert_true(gpu_word_is_known(WORD_ANNOTATION, "nvidia.com/container.a.gpu-memory.limit"));
    assert_true(gpu_word_is_known(WORD_RESOURCE, "nvidia.com/gpu"));
    assert_true(gpu_word_is_known(WORD_VARIABLE, "CUDA_DEVICE_SM_LIMIT"));
    assert_true(gpu_word_is_known(WORD_VARIABLE, "CUDA_OVERSUBSCRIBE"));
    assert_false(gpu_word_is_known(WORD_RESOURCE, "gpu-fraction"));
    assert_false(gpu_word_is_known(WORD_ANNOTATION, "nvidia.com/gpu"));
    assert_false(gpu_word_is_known(WORD_VARIABLE, "HOME"));
    assert_false(gpu_word_is_known(WORD_ANNOTATION, ""));
}

static void the_latency_class_is_asked_for_in_a_word(void **state)
{
    static const struct {
        const char *key, *value;
        bool is_urgent;
    } cases[] = {
        {"gpu-compute-priority", "latency", true},
        {"kai.scheduler/gpu-compute-priority", "latency", true},
        {"gpu-compute-priority", "normal", false},
        {"gpu-compute-share", "0.5", false},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const struct gpu_word words[] = {A("gpu-fraction", "0.5"), A(cases[i].key, cases[i].value)};
        struct gpu_request request;

        assert_int_equal(gpu_request_read(words, ARRAY_LEN(words), &request, NULL), 1);
        assert_int_equal(request.is_urgent, cases[i].is_urgent);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_latency_class_is_asked_for_in_a_word),
        cmocka_unit_test(every_system_is_understood_to_the_byte),
        cmocka_unit_test(what_cannot_be_kept_is_refused_with_its_reason),
        cmocka_unit_test(a_request_says_whose_it_is),
        cmocka_unit_test(who_asks_for_no_part_gets_none),
        cmocka_unit_test(a_gpu_that_is_too_small_is_refused),
        cmocka_unit_test(words_about_other_things_are_not_known),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
