/* SPDX-License-Identifier: Apache-2.0 */
#include "local/admission/pod_limits.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/strbuf.h"
#include "local/rights/users.h"

static const struct user user = {.uid = 1000, .name = (char[]){"alice"}, .home = (char[]){"/users/alice"}};

static yyjson_mut_doc *doc_of(const char *text)
{
    yyjson_doc *read = yyjson_read(text, strlen(text), 0);
    yyjson_mut_doc *doc = yyjson_doc_mut_copy(read, NULL);

    assert_non_null(doc);
    yyjson_doc_free(read);
    return doc;
}

/* Whether a volume of this folder is refused. */
static bool refuses(const char *path, const struct user *whose)
{
    const struct pod_limits limits = {.user = whose, .folders = "/data,/scratch/", .prefix = ""};
    struct strbuf problems;
    char text[512];

    (void)snprintf(text, sizeof text, "{\"spec\":{\"volumes\":[{\"hostPath\":{\"path\":\"%s\"}}]}}", path);
    yyjson_mut_doc *doc = doc_of(text);

    strbuf_init(&problems, 4096);
    pod_limits_check(&limits, yyjson_mut_doc_get_root(doc), &problems);
    bool is_refused = problems.len > 0;
    if (is_refused)
        assert_non_null(strstr(problems.text, "spec.volumes[0].hostPath.path: "));
    strbuf_done(&problems);
    yyjson_mut_doc_free(doc);
    return is_refused;
}

static void folders_below_home_and_shared_ones_can_be_mounted(void **state)
{
    static const char *const good[] = {"/users/alice", "/users/alice/", "/users/alice/a/b", "/data",
                                       "/data/x",      "/scratch",      "/scratch/x",       "/users/alice/..x"};

    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        assert_false(refuses(good[i], &user));
}

static void paths_that_lead_elsewhere_cannot_be_mounted(void **state)
{
    static const char *const bad[] = {"/",
                                      "",
                                      "/users",
                                      "/users/alicex",
                                      "/users/bob",
                                      "/users/alice/../bob",
                                      "/users/alice/..",
                                      "/users/alice/./x",
                                      "home/alice",
                                      "/database",
                                      "/data/../etc",
                                      "/scratchy",
                                      "/../users/alice"};

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_true(refuses(bad[i], &user));
}

static void a_user_without_a_home_mounts_shared_folders_alone(void **state)
{
    const struct user nobody = {.uid = 7, .name = (char[]){"x"}, .home = (char[]){""}};
    const struct user rooted = {.uid = 7, .name = (char[]){"x"}, .home = (char[]){"/"}};

    (void)state;
    assert_true(refuses("/etc", &nobody));
    assert_true(refuses("/etc", &rooted));
    assert_true(refuses("/", &rooted));
    assert_false(refuses("/data", &nobody));
}

static void keys_of_services_stay_as_they_are(void **state)
{
    static const struct {
        const char *now;
        const char *before;
        bool is_refused;
    } cases[] = {
        {"{\"labels\":{\"runai-gpu-group\":\"a\"}}", "{}", true},
        {"{\"labels\":{\"runai-gpu-group\":\"a\"}}", "{\"labels\":{\"runai-gpu-group\":\"a\"}}", false},
        {"{\"labels\":{\"runai-gpu-group\":\"b\"}}", "{\"labels\":{\"runai-gpu-group\":\"a\"}}", true},
        {"{}", "{\"labels\":{\"runai-gpu-group/a\":\"a\"}}", true},
        {"{\"annotations\":{\"cdi.k8s.io/x\":\"a\"}}", "{}", true},
        {"{\"annotations\":{\"cdi.k8s.iox\":\"a\"}}", "{}", false},
        {"{\"labels\":{\"app\":\"scaling-pod\"}}", "{}", true},
        {"{\"labels\":{\"app\":\"scaling-pod\"}}", "{\"labels\":{\"app\":\"scaling-pod\"}}", false},
        {"{\"labels\":{\"app\":\"web\"}}", "{}", false},
    };
    const struct pod_limits limits = {.user = &user, .folders = "", .prefix = ""};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        yyjson_mut_doc *now = doc_of(cases[i].now);
        yyjson_mut_doc *before = doc_of(cases[i].before);
        struct strbuf problems;

        strbuf_init(&problems, 4096);
        pod_limits_check_keys(&limits, yyjson_mut_doc_get_root(now), yyjson_mut_doc_get_root(before), &problems);
        assert_int_equal(problems.len > 0, cases[i].is_refused);
        strbuf_done(&problems);
        yyjson_mut_doc_free(now);
        yyjson_mut_doc_free(before);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(folders_below_home_and_shared_ones_can_be_mounted),
        cmocka_unit_test(paths_that_lead_elsewhere_cannot_be_mounted),
        cmocka_unit_test(a_user_without_a_home_mounts_shared_folders_alone),
        cmocka_unit_test(keys_of_services_stay_as_they_are),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
