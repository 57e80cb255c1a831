/* SPDX-License-Identifier: Apache-2.0 */

/* The fencer's parts that need neither a server nor a daemon: pods, files, devices. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/err.h"
#include "base/macros.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "services/fencer/cdi.h"
#include "services/fencer/files.h"
#include "services/fencer/sharer.h"
#include "text/json.h"

#define UID "0a1b2c3d-0000-4000-8000-00000000000f"

static yyjson_doc *parse(const char *text)
{
    yyjson_doc *doc = NULL;

    assert_int_equal(json_parse(text, strlen(text), "test", &doc, NULL), 0);
    return doc;
}

static void fences_are_named_after_pods(void **state)
{
    static const char *const wrong[] = {"", "1", "../../../../../../../../../../../etc/cdi", UID "0", "0A1B2C3D" UID};
    char name[FENCE_NAME_MAX];

    (void)state;
    assert_true(fence_name(UID, name));
    assert_string_equal(name, "pod-" UID);
    assert_true(fence_name_is_good(name));
    for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
        assert_false(fence_name(wrong[i], name));
        assert_false(fence_name_is_good(wrong[i]));
    }
    assert_false(fence_name_is_good(UID));
    assert_false(fence_name_is_good("pod-" UID ".json"));
}

/* A pod of which only the parts that matter are given, and the words that the daemon is told. */
static void only_pods_that_share_are_fenced(void **state)
{
    static const struct {
        const char *uid, *meta, *rest;
        const char *words;  // NULL: no fence
    } rows[] = {
        {UID, "\"labels\":{\"runai-gpu-group\":\"a\"},\"annotations\":{\"gpu-fraction\":\"0.5\",\"team\":\"x\"}", "",
         "{\"annotations\":{\"gpu-fraction\":\"0.5\"},\"resources\":{},\"variables\":{}}"},
        {UID, "\"labels\":{\"runai-gpu-group/b\":\"b\",\"runai-gpu-group/a\":\"a\"}",
         ",\"resources\":{\"limits\":{\"nvidia.com/gpumem\":\"3k\",\"nvidia.com/gpu\":\"0\",\"cpu\":\"1\"},"
         "\"requests\":{\"nvidia.com/gpumem\":\"1\",\"nvidia.com/gpucores\":\"30\"}}",
         "{\"annotations\":{},\"resources\":{\"nvidia.com/gpumem\":\"3k\",\"nvidia.com/"
         "gpucores\":\"30\"},\"variables\":{}}"},
        {UID, "\"labels\":{\"runai-gpu-group\":\"a\"},\"annotations\":{\"gpu-memory\":5}",
         ",\"env\":[{\"name\":\"GPU_PORTION\",\"value\":\"0.5\"},{\"name\":\"GPU_PORTION\"},{\"name\":1},7]",
         "{\"annotations\":{},\"resources\":{},\"variables\":{\"GPU_PORTION\":\"0.5\"}}"},
        {UID,
         "\"labels\":{\"runai-gpu-group\":\"a\"},\"annotations\":{\"nvidia.com/"
         "container.main.gpu-memory.limit\":\"1Gi\","
         "\"nvidia.com/container.main-2.gpu-memory.limit\":\"2Gi\"}",
         "",
         "{\"annotations\":{\"nvidia.com/"
         "container.main.gpu-memory.limit\":\"1Gi\"},\"resources\":{},\"variables\":{}}"},
        {UID, "\"annotations\":{\"gpu-fraction\":\"0.5\"}", "", NULL},
        {UID, "\"labels\":{\"runai-gpu-group\":\"\"}", "", NULL},
        {UID, "\"labels\":{\"runai-gpu-group\":5}", "", NULL},
        {"../x", "\"labels\":{\"runai-gpu-group\":\"a\"}", "", NULL},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char text[1200];
        struct sharer sharer;

        (void)snprintf(text, sizeof text,
                       "{\"metadata\":{\"name\":\"p\",\"namespace\":\"n\",\"uid\":\"%s\",%s},"
                       "\"spec\":{\"containers\":[{\"name\":\"main\"%s}]},\"status\":{\"phase\":\"Running\"}}",
                       rows[i].uid, rows[i].meta, rows[i].rest);
        _cleanup_(json_doc_freep) yyjson_doc *doc = parse(text);
        assert_int_equal(sharer_read(yyjson_doc_get_root(doc), &sharer), rows[i].words != NULL);
        if (!rows[i].words)
            continue;
        assert_string_equal(sharer.words, rows[i].words);
        assert_null(sharer.problem);
        sharer_done(&sharer);
    }
}

static void a_pod_that_has_ended_or_names_no_container(void **state)
{
    struct sharer sharer;
    _cleanup_(json_doc_freep) yyjson_doc *ended =
        parse("{\"metadata\":{\"name\":\"p\",\"uid\":\"" UID "\",\"labels\":{\"runai-gpu-group\":\"a\"}},"
              "\"status\":{\"phase\":\"Failed\"}}");
    _cleanup_(json_doc_freep) yyjson_doc *ghost =
        parse("{\"metadata\":{\"name\":\"p\",\"uid\":\"" UID "\",\"labels\":{\"runai-gpu-group\":\"a\"},"
              "\"annotations\":{\"gpu-fraction-container-name\":\"ghost\"}},\"spec\":{\"containers\":[{}]}}");

    (void)state;
    assert_false(sharer_read(yyjson_doc_get_root(ended), &sharer));
    assert_true(sharer_read(yyjson_doc_get_root(ghost), &sharer));
    assert_non_null(strstr(sharer.problem, "ghost"));
    sharer_done(&sharer);
}

static void the_daemon_is_asked_when_all_gpus_are_known(void **state)
{
    struct keepers keepers = {0};
    struct keeper keeper;
    struct sharer sharer;
    _cleanup_(json_doc_freep) yyjson_doc *pod =
        parse("{\"metadata\":{\"name\":\"p\",\"namespace\":\"n\",\"uid\":\"" UID "\","
              "\"labels\":{\"runai-gpu-group/b\":\"b\",\"runai-gpu-group/a\":\"a\"},"
              "\"annotations\":{\"gpu-memory\":\"\\\"\"}},\"spec\":{\"containers\":[{\"name\":\"c\"}]}}");
    _cleanup_(json_doc_freep) yyjson_doc *silent =
        parse("{\"metadata\":{\"uid\":\"1\",\"labels\":{\"runai-gpu-group\":\"b\"}}}");
    _cleanup_(json_doc_freep) yyjson_doc *kept =
        parse("{\"metadata\":{\"uid\":\"1\",\"labels\":{\"runai-gpu-group\":\"b\"},"
              "\"annotations\":{\"run.ai/reserve_for_gpu_index\":\"GPU-1\"}}}");
    _cleanup_(json_doc_freep) yyjson_doc *other =
        parse("{\"metadata\":{\"uid\":\"2\",\"labels\":{\"runai-gpu-group\":\"a\"},"
              "\"annotations\":{\"run.ai/reserve_for_gpu_index\":\"7\"}}}");

    (void)state;
    assert_true(sharer_read(yyjson_doc_get_root(pod), &sharer));
    assert_false(keeper_read(yyjson_doc_get_root(silent), &keeper));
    assert_true(keeper_read(yyjson_doc_get_root(kept), &keeper));
    vec_push(&keepers, keeper);
    assert_null(sharer_ask(&sharer, &keepers));
    assert_true(keeper_read(yyjson_doc_get_root(other), &keeper));
    vec_push(&keepers, keeper);
    _cleanup_(freep) char *ask = sharer_ask(&sharer, &keepers);
    assert_string_equal(ask, "{\"gpus\":[\"GPU-1\",\"7\"],"
                             "\"labels\":{\"namespace\":\"n\",\"pod\":\"p\",\"container\":\"c\"},"
                             "\"name\":\"pod-" UID "\","
                             "\"pod\":{\"annotations\":{\"gpu-memory\":\"\\\"\"},\"resources\":{},\"variables\":{}}}");
    vec_foreach (&keepers, at)
        keeper_done(at);
    vec_done(&keepers);
    sharer_done(&sharer);
}

/* A folder with a driver and Muster's libraries. */
struct host {
    char top[64];
};

static const char *path_in(const struct host *host, const char *path)
{
    static char text[512];

    (void)snprintf(text, sizeof text, "%s/%s", host->top, path);
    return text;
}

static void make_file(const struct host *host, const char *path)
{
    char text[512];
    (void)snprintf(text, sizeof text, "%s", path_in(host, path));

    for (char *at = strchr(text + 1, '/'); at; at = strchr(at + 1, '/')) {
        *at = '\0';
        (void)mkdir(text, 0755);
        *at = '/';
    }
    FILE *file = fopen(text, "w");
    assert_non_null(file);
    (void)fputs(path, file);
    assert_int_equal(fclose(file), 0);
}

static void host_make(struct host *host)
{
    (void)snprintf(host->top, sizeof host->top, "/tmp/test-fencer-XXXXXX");
    assert_non_null(mkdtemp(host->top));
    make_file(host, "muster/libmuster-gpu-core.so");
    make_file(host, "muster/proxy/libcuda.so.1");
    make_file(host, "muster/proxy/libnvidia-ml.so.1");
    make_file(host, "driver/usr/lib64/libnvidia-ml.so.1");
    make_file(host, "driver/usr/lib64/nvidia/libcuda.so.580.1");
}

static void host_remove(const struct host *host)
{
    char command[128];

    (void)snprintf(command, sizeof command, "rm -rf %s", host->top);
    assert_int_equal(system(command), 0);
}

static int find(const struct host *host, struct fence_files *files, struct err *err)
{
    return fence_files_find(
        &(struct fence_places){.library_dir = "/muster", .driver_root = "/driver", .host_root = host->top}, files, err);
}

static void the_driver_is_found_behind_its_links(void **state)
{
    static const char *const targets[] = {"nvidia/libcuda.so.580.1", "/usr/lib64/nvidia/libcuda.so.580.1"};
    struct host host;
    struct fence_files files;
    struct err err = {0};

    (void)state;
    host_make(&host);
    assert_int_equal(find(&host, &files, &err), -ENOENT);
    assert_non_null(strstr(err.text, "libcuda.so.1 was not found in the library folders"));
    for (size_t i = 0; i < ARRAY_LEN(targets); i++) {
        assert_int_equal(symlink(targets[i], path_in(&host, "driver/usr/lib64/libcuda.so.1")), 0);
        assert_int_equal(find(&host, &files, &err), 0);
        assert_string_equal(files.core, "/muster/libmuster-gpu-core.so");
        assert_string_equal(files.drivers[DRIVER_CUDA].proxy, "/muster/proxy/libcuda.so.1");
        assert_string_equal(files.drivers[DRIVER_CUDA].name, "/usr/lib64/libcuda.so.1");
        assert_string_equal(files.drivers[DRIVER_CUDA].file, "/driver/usr/lib64/nvidia/libcuda.so.580.1");
        assert_string_equal(files.drivers[DRIVER_CUDA].file_there, "/usr/lib64/nvidia/libcuda.so.580.1");
        assert_string_equal(files.drivers[DRIVER_NVML].file_there, "");
        assert_int_equal(unlink(path_in(&host, "driver/usr/lib64/libcuda.so.1")), 0);
    }
    assert_int_equal(symlink("libcuda.so.1", path_in(&host, "driver/usr/lib64/libcuda.so.1")), 0);
    assert_int_equal(find(&host, &files, &err), -ENOENT);
    assert_int_equal(unlink(path_in(&host, "muster/libmuster-gpu-core.so")), 0);
    assert_int_equal(find(&host, &files, &err), -ENOENT);
    assert_non_null(strstr(err.text, "libmuster-gpu-core.so was not found in /muster"));
    host_remove(&host);
}

static bool wants(void *arg, const char *fence)
{
    return strcmp(arg, fence) == 0;
}

static void devices_are_whole_files_or_none(void **state)
{
    static const char other[] = "pod-0a1b2c3d-0000-4000-8000-000000000000";
    static char own[] = "pod-" UID;
    static const char *const foreign[] = {"nvidia.json", "muster-gpu.json", "muster-pod-" UID ".yaml"};
    struct host host;
    struct fence_files files;
    struct strbuf text;
    struct err err = {0};

    (void)state;
    host_make(&host);
    make_file(&host, "driver/usr/lib64/libcuda.so.1");
    assert_int_equal(find(&host, &files, &err), 0);
    strbuf_init(&text, 64 << 10);
    cdi_write(own, &files, "/run/muster/gpu", &text);
    /* The name and the file are one here: nothing is mounted twice. */
    assert_null(strstr(strstr(text.text, "\"/usr/lib64/libcuda.so.1\"") + 1, "\"/usr/lib64/libcuda.so.1\""));
    assert_null(strstr(text.text, "env"));

    char folder[512];
    (void)snprintf(folder, sizeof folder, "%s", path_in(&host, "cdi"));
    assert_int_equal(cdi_put(folder, own, &text, &err), 1);
    assert_int_equal(cdi_put(folder, own, &text, &err), 0);
    assert_int_equal(cdi_put(folder, other, &text, &err), 1);
    for (size_t i = 0; i < ARRAY_LEN(foreign); i++) {
        char name[160];

        (void)snprintf(name, sizeof name, "cdi/%s", foreign[i]);
        make_file(&host, name);
    }
    make_file(&host, "cdi/muster-pod-" UID ".json.next");
    assert_int_equal(cdi_sweep(folder, wants, own, &err), 0);
    assert_int_equal(access(path_in(&host, "cdi/muster-pod-" UID ".json"), F_OK), 0);
    assert_int_equal(access(path_in(&host, "cdi/muster-pod-" UID ".json.next"), F_OK), -1);
    assert_int_equal(access(path_in(&host, "cdi/muster-pod-0a1b2c3d-0000-4000-8000-000000000000.json"), F_OK), -1);
    for (size_t i = 0; i < ARRAY_LEN(foreign); i++) {
        char name[160];

        (void)snprintf(name, sizeof name, "cdi/%s", foreign[i]);
        assert_int_equal(access(path_in(&host, name), F_OK), 0);
    }
    assert_int_equal(cdi_remove(folder, own, &err), 0);
    assert_int_equal(cdi_remove(folder, own, &err), 0);
    assert_int_equal(cdi_put("/proc/none", own, &text, &err), -ENOENT);
    strbuf_done(&text);
    host_remove(&host);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fences_are_named_after_pods),
        cmocka_unit_test(only_pods_that_share_are_fenced),
        cmocka_unit_test(a_pod_that_has_ended_or_names_no_container),
        cmocka_unit_test(the_daemon_is_asked_when_all_gpus_are_known),
        cmocka_unit_test(the_driver_is_found_behind_its_links),
        cmocka_unit_test(devices_are_whole_files_or_none),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
