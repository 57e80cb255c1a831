/* SPDX-License-Identifier: Apache-2.0 */
#include "kube/access/config.h"

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
#include "kube/access/base64.h"
#include "kube/access/credentials.h"
#include "text/json.h"

static const char *const usual =
    "apiVersion: v1\n"
    "kind: Config\n"
    "current-context: b\n"
    "contexts:\n"
    "- name: a\n"
    "  context: {cluster: one, user: cert, namespace: team}\n"
    "- name: b\n"
    "  context: {cluster: two, user: token}\n"
    "- name: e\n"
    "  context: {cluster: two, user: plugin}\n"
    "- name: nobody\n"
    "  context: {cluster: two}\n"
    "clusters:\n"
    "- name: one\n"
    "  cluster:\n"
    "    server: https://one.test:6443/\n"
    "    certificate-authority-data: Q0E=\n"
    "    tls-server-name: kube.test\n"
    "    proxy-url: http://proxy.test:3128\n"
    "- name: two\n"
    "  cluster: {server: 'https://two.test', insecure-skip-tls-verify: true, certificate-authority: ca/two.crt}\n"
    "users:\n"
    "- name: cert\n"
    "  user: {client-certificate-data: Q0VSVA==, client-key-data: S0VZ, as: somebody, as-groups: [g1, g2]}\n"
    "- name: token\n"
    "  user: {token: t0ken, tokenFile: /var/token}\n"
    "- name: plugin\n"
    "  user:\n"
    "    exec:\n"
    "      apiVersion: client.authentication.k8s.io/v1\n"
    "      command: ./bin/get-token\n"
    "      args: [--for, cluster]\n"
    "      env:\n"
    "      - {name: A, value: b=c}\n"
    "      provideClusterInfo: true\n"
    "      interactiveMode: IfAvailable\n";

static int parse(const char *text, const char *context, struct kube_config **ret_config, struct err *err)
{
    struct kube_config_text source = {.name = "/etc/kube/config", .text = text, .len = strlen(text)};

    return kube_config_parse(&source, 1, context, ret_config, err);
}

static void certificates_in_place_are_decoded(void **state)
{
    (void)state;
    _cleanup_(kube_config_freep) struct kube_config *config = NULL;

    assert_int_equal(parse(usual, "a", &config, NULL), 0);
    assert_string_equal(config->name, "a");
    assert_string_equal(config->server, "https://one.test:6443");
    assert_string_equal(config->namespace, "team");
    assert_string_equal(config->ca.text, "CA");
    assert_string_equal(config->cert.text, "CERT");
    assert_string_equal(config->key.text, "KEY");
    assert_string_equal(config->tls_server_name, "kube.test");
    assert_string_equal(config->proxy, "http://proxy.test:3128");
    assert_false(config->skips_verify);
    assert_string_equal(config->as_user, "somebody");
    assert_int_equal(config->as_groups.len, 2);
    assert_null(config->exec.command);
}

static void the_current_context_is_the_default_and_paths_are_relative_to_the_file(void **state)
{
    (void)state;
    _cleanup_(kube_config_freep) struct kube_config *config = NULL;

    assert_int_equal(parse(usual, NULL, &config, NULL), 0);
    assert_string_equal(config->name, "b");
    assert_string_equal(config->namespace, "default");
    assert_true(config->skips_verify);
    assert_string_equal(config->ca.file, "/etc/kube/ca/two.crt");
    assert_string_equal(config->token.text, "t0ken");
    assert_string_equal(config->token.file, "/var/token");
}

static void plugins_and_nobody_at_all_are_understood(void **state)
{
    (void)state;
    _cleanup_(kube_config_freep) struct kube_config *config = NULL;
    _cleanup_(kube_config_freep) struct kube_config *nobody = NULL;

    assert_int_equal(parse(usual, "e", &config, NULL), 0);
    assert_string_equal(config->exec.command, "/etc/kube/./bin/get-token");
    assert_int_equal(config->exec.args.len, 2);
    assert_string_equal(config->exec.args.items[1], "cluster");
    assert_string_equal(config->exec.env.items[0], "A=b=c");
    assert_true(config->exec.wants_cluster);

    assert_int_equal(parse(usual, "nobody", &nobody, NULL), 0);
    assert_null(nobody->token.text);
}

static void the_first_of_several_texts_counts(void **state)
{
    (void)state;
    _cleanup_(kube_config_freep) struct kube_config *config = NULL;
    const char *first = "contexts: [{name: b, context: {cluster: mine, user: token}}]\n"
                        "users: [{name: token, user: {token: first}}]\n";
    const char *second = "clusters: [{name: mine, cluster: {server: 'http://127.0.0.1:1'}}]\n";
    struct kube_config_text texts[] = {
        {"/a/first", first, strlen(first)}, {"/b/second", second, strlen(second)}, {"/c/third", usual, strlen(usual)}};

    assert_int_equal(kube_config_parse(texts, 3, NULL, &config, NULL), 0);
    assert_string_equal(config->name, "b");
    assert_string_equal(config->server, "http://127.0.0.1:1");
    assert_string_equal(config->token.text, "first");
}

static void what_is_wrong_is_named(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        const char *context;
        const char *says;
    } cases[] = {
        {"", NULL, "is empty"},
        {"- 1\n", NULL, "expected an object"},
        {"a: 1\n", NULL, "current-context is missing"},
        {"a: 1\n---\nb: 2\n", NULL, "more than one document"},
        {"current-context: x\n", NULL, "no context named \"x\""},
        {"contexts: [{name: x, context: {user: u}}]\n", "x", "cluster"},
        {"contexts: [{name: x, context: {cluster: c}}]\n", "x", "no cluster named \"c\""},
        {"contexts: [{name: x, context: {cluster: c}}]\nclusters: [{name: c, cluster: {}}]\n", "x",
         "server is missing"},
        {"contexts: [{name: x, context: {cluster: c}}]\nclusters: [{name: c, cluster: {server: 'file:///x'}}]\n", "x",
         "has to start with https://"},
        {"contexts: [{name: x, context: {cluster: c}}]\n"
         "clusters: [{name: c, cluster: {server: 'https://x', certificate-authority-data: '!!'}}]\n",
         "x", "certificate-authority-data"},
        {"contexts: [{name: x, context: {cluster: c, user: u}}]\nclusters: [{name: c, cluster: {server: "
         "'https://x'}}]\n"
         "users: [{name: u, user: {auth-provider: {name: gcp}}}]\n",
         "x", "auth-provider"},
        {"contexts: [{name: x, context: {cluster: c, user: u}}]\nclusters: [{name: c, cluster: {server: "
         "'https://x'}}]\n"
         "users: [{name: u, user: {exec: {command: a, apiVersion: v7}}}]\n",
         "x", "apiVersion"},
        {"contexts: [{name: x, context: {cluster: c, user: u}}]\nclusters: [{name: c, cluster: {server: "
         "'https://x'}}]\n"
         "users: [{name: u, user: {exec: {apiVersion: client.authentication.k8s.io/v1}}}]\n",
         "x", "names no command"},
        {"contexts: [{name: x, context: {cluster: c, user: u}}]\nclusters: [{name: c, cluster: {server: "
         "'https://x'}}]\n"
         "users: [{name: u, user: {exec: {command: a, apiVersion: client.authentication.k8s.io/v1, "
         "interactiveMode: Always}}}]\n",
         "x", "terminal"},
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct kube_config *config = NULL;
        struct err err = {0};

        assert_int_equal(parse(cases[i].text, cases[i].context, &config, &err), -EINVAL);
        assert_null(config);
        if (!strstr(err.text, cases[i].says) || !strstr(err.text, "/etc/kube/config"))
            fail_msg("case %zu: %s", i, err.text);
    }
}

static void write_file(const char *folder, const char *name, const char *text)
{
    char path[128];

    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    assert_true(fputs(text, out) >= 0);
    assert_int_equal(fclose(out), 0);
}

static void a_pod_knows_its_own_cluster(void **state)
{
    (void)state;
    char folder[] = "/tmp/muster-pod-XXXXXX";
    struct kube_config *config = NULL;

    assert_non_null(mkdtemp(folder));
    assert_int_equal(setenv("KUBERNETES_SERVICE_HOST", "fd00::1", 1), 0);
    assert_int_equal(setenv("KUBERNETES_SERVICE_PORT", "443", 1), 0);
    assert_int_equal(kube_config_in_cluster(folder, &config, NULL), -ENOENT);
    write_file(folder, "token", "t\n");
    write_file(folder, "namespace", "team\n");
    assert_int_equal(kube_config_in_cluster(folder, &config, NULL), 0);
    assert_string_equal(config->server, "https://[fd00::1]:443");
    assert_string_equal(config->namespace, "team");
    assert_string_equal(strrchr(config->token.file, '/'), "/token");
    kube_config_free(config);
    assert_int_equal(unsetenv("KUBERNETES_SERVICE_HOST"), 0);
    assert_int_equal(kube_config_in_cluster(folder, &config, NULL), -ENOENT);

    /* The usual places, in their order. */
    char list[256];
    write_file(folder, "config", usual);
    (void)snprintf(list, sizeof list, "%s/missing::%s/config", folder, folder);
    assert_int_equal(setenv("KUBECONFIG", list, 1), 0);
    assert_int_equal(kube_config_load(NULL, "a", &config, NULL), 0);
    assert_string_equal(config->name, "a");
    kube_config_free(config);
    (void)snprintf(list, sizeof list, "%s/missing", folder);
    assert_int_equal(kube_config_load(list, NULL, &config, NULL), -ENOENT);
    assert_int_equal(setenv("KUBECONFIG", list, 1), 0);
    assert_int_equal(kube_config_load(NULL, NULL, &config, NULL), -ENOENT);
    assert_int_equal(unsetenv("KUBECONFIG"), 0);
    assert_int_equal(setenv("HOME", folder, 1), 0);
    assert_int_equal(kube_config_load(NULL, NULL, &config, NULL), -ENOENT);
    (void)snprintf(list, sizeof list, "rm -r %s", folder);
    assert_int_equal(system(list), 0);
}

static void base64_is_read_and_written(void **state)
{
    (void)state;
    static const struct {
        const char *encoded;
        const char *clear;
    } cases[] = {{"", ""},        {"Zg==", "f"},        {"YWI=", "ab"},
                 {"Zm9v", "foo"}, {"Zm9vYg==", "foob"}, {"Zm9vYmFy", "foobar"}};

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        char *data = NULL;
        size_t len = 0;
        char *encoded = base64_encode(cases[i].clear, strlen(cases[i].clear));

        assert_string_equal(encoded, cases[i].encoded);
        assert_int_equal(base64_decode(encoded, &data, &len), 0);
        assert_string_equal(data, cases[i].clear);
        free(data);
        free(encoded);
    }
    char *data = NULL;
    size_t len = 0;

    assert_int_equal(base64_decode("Zm9v\r\nYg", &data, &len), 0);
    assert_string_equal(data, "foob");
    free(data);
    assert_int_equal(base64_decode("Z", &data, &len), -EINVAL);
    assert_int_equal(base64_decode("Zm=9", &data, &len), -EINVAL);
    assert_int_equal(base64_decode("Zm9\xc3\xa4", &data, &len), -EINVAL);
}

static void a_plugin_is_told_and_answers(void **state)
{
    (void)state;
    _cleanup_(kube_config_freep) struct kube_config *config = NULL;
    struct kube_exec_answer answer = {0};
    struct err err = {0};

    assert_int_equal(parse(usual, "e", &config, NULL), 0);
    char *question = kube_exec_question(config, "CA");
    assert_string_equal(question, "{\"kind\":\"ExecCredential\",\"apiVersion\":\"client.authentication.k8s.io/v1\","
                                  "\"spec\":{\"interactive\":false,\"cluster\":{\"server\":\"https://two.test\","
                                  "\"insecure-skip-tls-verify\":true,\"certificate-authority-data\":\"Q0E=\"}}}");
    free(question);

    const char *good = "{\"kind\":\"ExecCredential\",\"apiVersion\":\"client.authentication.k8s.io/v1\","
                       "\"status\":{\"token\":\"t\",\"expirationTimestamp\":\"2030-01-01T00:00:00Z\"}}";
    assert_int_equal(kube_exec_parse(&config->exec, good, strlen(good), &answer, &err), 0);
    assert_string_equal(answer.token, "t");
    assert_null(answer.cert);
    assert_true(answer.expires > 0);
    kube_exec_answer_done(&answer);

    const char *const bad[] = {
        "",
        "{}",
        "[]",
        "{\"kind\":\"ExecCredential\",\"apiVersion\":\"client.authentication.k8s.io/v1\"}",
        "{\"kind\":\"ExecCredential\",\"apiVersion\":\"client.authentication.k8s.io/v1\",\"status\":{}}",
        "{\"kind\":\"ExecCredential\",\"apiVersion\":\"client.authentication.k8s.io/v1\",\"status\":"
        "{\"clientCertificateData\":\"x\"}}",
        "{\"kind\":\"ExecCredential\",\"apiVersion\":\"client.authentication.k8s.io/"
        "v1beta1\",\"status\":{\"token\":\"x\"}}",
        "{\"kind\":\"Other\",\"apiVersion\":\"client.authentication.k8s.io/v1\",\"status\":{\"token\":\"x\"}}",
        "{\"kind\":\"ExecCredential\",\"apiVersion\":\"client.authentication.k8s.io/v1\",\"status\":{\"token\":\"x\","
        "\"expirationTimestamp\":\"soon\"}}",
    };
    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        assert_true(kube_exec_parse(&config->exec, bad[i], strlen(bad[i]), &answer, &err) < 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(certificates_in_place_are_decoded),
        cmocka_unit_test(the_current_context_is_the_default_and_paths_are_relative_to_the_file),
        cmocka_unit_test(plugins_and_nobody_at_all_are_understood),
        cmocka_unit_test(the_first_of_several_texts_counts),
        cmocka_unit_test(what_is_wrong_is_named),
        cmocka_unit_test(a_pod_knows_its_own_cluster),
        cmocka_unit_test(base64_is_read_and_written),
        cmocka_unit_test(a_plugin_is_told_and_answers),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
