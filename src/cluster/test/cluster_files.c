/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/cluster_files.h"

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
#include <zip.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "engine/config.h"
#include "model/delta.h"
#include "model/state.h"

/* A folder of its own for each test. */
static int make_folder(void **folder)
{
    char name[] = "/tmp/muster-test-XXXXXX";

    if (!mkdtemp(name))
        return -1;
    *folder = xstrdup(name);
    return 0;
}

static int drop_folder(void **folder)
{
    _cleanup_(freep) char *command = NULL;

    if (asprintf(&command, "rm -rf '%s'", (char *)*folder) < 0 || system(command) != 0)
        return -1;
    free(*folder);
    return 0;
}

static const char *write_file(const char *folder, const char *name, const char *text, size_t len)
{
    static char path[512];

    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, len, file), len);
    assert_int_equal(fclose(file), 0);
    return path;
}

struct result {
    struct state *state;
    struct config config;
    struct cluster_notes notes;
    struct err err;
    int r;
};

static struct result read_path(const char *path)
{
    struct result result = {.state = state_new()};

    cluster_notes_init(&result.notes);
    result.r =
        cluster_read(&(struct cluster_options){0}, result.state, &result.config, &path, 1, &result.notes, &result.err);
    return result;
}

static void done(struct result *result)
{
    cluster_notes_done(&result->notes);
    state_free(result->state);
}

#define NODE(name) "apiVersion: v1\nkind: Node\nmetadata: {name: " name "}\n"

static void folders_are_read_in_the_order_of_names(void **folder)
{
    char inner[300];

    (void)write_file(*folder, "b.yaml", NODE("b"), strlen(NODE("b")));
    (void)write_file(*folder, "a.json", "{\"apiVersion\": \"v1\", \"kind\": \"Node\", \"metadata\": {\"name\": \"a\"}}",
                     63);
    (void)write_file(*folder, "notes.txt", "\t", 1);
    (void)write_file(*folder, "values.yaml", "replicas: 2\n", 12);
    (void)write_file(*folder, ".hidden.yaml", "\t", 1);
    (void)snprintf(inner, sizeof inner, "%s/inner", (char *)*folder);
    assert_int_equal(mkdir(inner, 0700), 0);
    (void)write_file(inner, "c.yml", NODE("c"), strlen(NODE("c")));

    struct result result = read_path(*folder);
    assert_string_equal(result.err.text, "");
    assert_int_equal(result.notes.files, 4);
    assert_non_null(strstr(result.notes.found.warnings.items[0],
                           "/values.yaml:1:1: expected a Kubernetes object, found one without a kind; left out"));
    assert_int_equal(result.notes.objects, 3);
    assert_true(state_find_node(result.state, "c") != NO_ID);
    assert_true(result.config.has[PLUGIN_POD_AFFINITY]);
    assert_true(result.config.uses_signatures);
    assert_int_equal(result.config.max_consolidation_preemptees, 16);
    assert_int_equal(result.config.action_count, _ACTION_MAX);
    assert_int_equal(result.config.budgets.generator[0], 30 * NSEC_PER_SEC);
    done(&result);
}

static void fails_with(const char *path, int code, const char *expected)
{
    struct result result = read_path(path);
    const char *end = strstr(result.err.text, expected);

    if (result.r != code || !end || strlen(end) != strlen(expected))
        fail_msg("%d: %s", result.r, result.err.text);
    done(&result);
}

static void bad_files_are_named_in_one_line(void **folder)
{
    static const struct {
        const char *name;
        const char *text;
        int code;
        const char *expected;
    } cases[] = {
        {"a.yaml", "a: 1\n\tb: 2\n", -EINVAL, "/a.yaml:2:1: a tab in the indentation; YAML allows only spaces"},
        {"b.yaml", "a: 1\na: 2\n", -EINVAL, "/b.yaml:2:1: the key 'a' is defined twice in this mapping"},
        {"c.yaml", "", -EINVAL, "/c.yaml: holds no Kubernetes object of a known kind"},
        {"d.json", "{\"kind\": ", -EINVAL, "/d.json:1:10: unexpected end of data"},
        {"e.yaml", "apiVersion: v1\nkind: Service\n", -EINVAL, "/e.yaml: holds no Kubernetes object of a known kind"},
        {"f.zip", "PK\3\4 and no more", -EBADMSG, "/f.zip: the archive is truncated or damaged: Not a zip archive"},
        {"g.zip", "no zip", -EBADMSG,
         "/g.zip: the archive is truncated or damaged: the signature of a zip archive is missing"},
        {"h.yaml", NODE("a") "status: {allocatable: {cpu: 0.1x}}\n", -EINVAL,
         "/h.yaml:4:29: Node a: status.allocatable.cpu: expected a quantity such as 2, 500m, 1.5 or 64Gi, found "
         "'0.1x'"},
        {"i.yaml", NODE("a") "status: {allocatable: {memory: 1e400}}\n", -ERANGE,
         "/i.yaml:4:32: Node a: status.allocatable.memory: '1e400' is too large"},
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        fails_with(write_file(*folder, cases[i].name, cases[i].text, strlen(cases[i].text)), cases[i].code,
                   cases[i].expected);
    fails_with("/nowhere/at/all.yaml", -ENOENT, "/nowhere/at/all.yaml: No such file or directory");
}

static void a_folder_without_files_is_named(void **folder)
{
    fails_with(*folder, -ENOENT, ": holds no .yaml, .yml, .json or .zip files");
}

static const char *write_zip(const char *folder, const char *name, const char *text, size_t len)
{
    static char path[512];
    int error = 0;

    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    zip_t *zip = zip_open(path, ZIP_CREATE | ZIP_TRUNCATE, &error);
    assert_non_null(zip);
    assert_true(zip_file_add(zip, "snapshot.json", zip_source_buffer(zip, text, len, 0), 0) >= 0);
    assert_int_equal(zip_close(zip), 0);
    return path;
}

static void a_snapshot_is_read(void **folder)
{
    static const char text[] = "{\"config\": {\"actions\": \"allocate\", \"tiers\": [{\"plugins\": [{\"name\": "
                               "\"proportion\"}, {\"name\": \"own\"}]}]},"
                               "\"rawObjects\": {\"nodes\": [{\"metadata\": {\"name\": \"n1\"}}]}}\n";
    struct result result = read_path(write_zip(*folder, "s.zip", text, strlen(text)));

    assert_string_equal(result.err.text, "");
    assert_true(state_find_node(result.state, "n1") != NO_ID);
    assert_int_equal(result.config.action_count, 1);
    assert_true(result.config.has[PLUGIN_PROPORTION]);
    assert_false(result.config.has[PLUGIN_PREDICATES]);
    assert_string_equal(result.notes.found.warnings.items[0], "unknown plugin own is ignored");
    done(&result);
}

static void a_zip_bomb_is_refused(void **folder)
{
    enum { BOMB = 70 << 20 };
    _cleanup_(freep) char *zeros = xcalloc(1, BOMB);

    fails_with(write_zip(*folder, "bomb.zip", zeros, BOMB), -EFBIG,
               "/bomb.zip: snapshot.json unpacks to more than 64 MiB");
}

static void a_shard_is_one_node_pool(void **folder)
{
    static const char text[] =
        "apiVersion: kai.scheduler/v1\nkind: SchedulingShard\nmetadata: {name: default}\n"
        "spec: {placementStrategy: {cpu: spread}}\n---\n" NODE(
            "a") "---\napiVersion: v1\nkind: Node\nmetadata: {name: b, labels: {kai.scheduler/node-pool: x}}\n";
    const char *path = write_file(*folder, "a.yaml", text, strlen(text));
    struct result result = read_path(path);

    assert_string_equal(result.err.text, "");
    assert_true(state_find_node(result.state, "a") != NO_ID);
    assert_true(state_find_node(result.state, "b") == NO_ID);
    assert_int_equal(result.config.cpu_placement, PLACEMENT_SPREAD);
    assert_int_equal(result.config.action_count, _ACTION_MAX - 1);
    done(&result);

    struct result other = {.state = state_new()};
    const struct cluster_options options = {.has_partition = true, .partition = "x"};
    cluster_notes_init(&other.notes);
    assert_int_equal(cluster_read(&options, other.state, &other.config, &path, 1, &other.notes, &other.err), 0);
    assert_true(state_find_node(other.state, "a") == NO_ID);
    assert_true(state_find_node(other.state, "b") != NO_ID);
    done(&other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(folders_are_read_in_the_order_of_names, make_folder, drop_folder),
        cmocka_unit_test_setup_teardown(bad_files_are_named_in_one_line, make_folder, drop_folder),
        cmocka_unit_test_setup_teardown(a_folder_without_files_is_named, make_folder, drop_folder),
        cmocka_unit_test_setup_teardown(a_snapshot_is_read, make_folder, drop_folder),
        cmocka_unit_test_setup_teardown(a_zip_bomb_is_refused, make_folder, drop_folder),
        cmocka_unit_test_setup_teardown(a_shard_is_one_node_pool, make_folder, drop_folder),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
