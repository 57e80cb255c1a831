/* SPDX-License-Identifier: Apache-2.0 */

/*
 * What a release brings along: the CRDs, which are part of the program, and the Config, which the chart renders into a
 * ConfigMap. Both are applied by the server, so that an upgrade needs no hooks and fields of others stay.
 *
 * The Config is applied when the chart's values have changed since the last time, or when there is none; what users change
 * in between stays. It is owned by the operator's ClusterRole: when the release is uninstalled, Kubernetes deletes the
 * Config with it, and all services with the Config.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/log.h"
#include "base/mem.h"
#include "kube/client/chance.h"
#include "kube/client/verbs.h"
#include "services/operator/conf.h"
#include "services/operator/crds.h"
#include "services/operator/operator_internal.h"
#include "services/operator/pack.h"
#include "text/json.h"
#include "text/yaml.h"

#define VALUES_HASH "muster.scheduler/values-hash"
#define ROLE_NAME "kai-operator"
static const struct kube_resource cluster_roles = {"rbac.authorization.k8s.io", "v1", "clusterroles", "ClusterRole",
                                                   false};

struct install {
    struct operator* operator;
    size_t next_crd;
    bool is_done;  // CRDs are as they should be, or cannot be written
    struct kube_call *call;
    struct loop_timer timer;
    struct backoff backoff;

    yyjson_doc *config;  // that the chart brings; NULL: none
    char hash[17];       // of its text
    struct kube_call *config_call;
    struct loop_timer config_timer;
    struct backoff config_backoff;
};

static nsec_t next_wait(struct install *install, struct backoff *backoff)
{
    return backoff_next(backoff, chance_next(kube_client_chance(install->operator->service->client)));
}

static void finish(struct install *install)
{
    install->is_done = true;
    /* A replica of a process that runs the services has waited for the lease with all of it at hand. */
    if (!install->operator->configs)
        watches_begin(install->operator);
    operator_wake(install->operator);
}

static void apply_crd(void *arg);

static void on_crd_applied(void *arg, const struct kube_answer *answer)
{
    struct install *install = arg;
    struct log *log = install->operator->service->log;

    install->call = NULL;
    if (answer->err.code < 0 && answer->status != 403) {
        nsec_t wait = next_wait(install, &install->backoff);

        log_warn(log, "CRD could not be applied", log_str("crd", release_crd_at(install->next_crd)->name),
                 log_error(&answer->err), log_duration("again_after", wait));
        loop_timer_start(&install->timer, wait);
        return;
    }
    if (answer->err.code < 0)
        log_warn(log, "no permission to write CRDs; using the existing ones",
                 log_str("crd", release_crd_at(install->next_crd)->name), log_error(&answer->err));
    backoff_reset(&install->backoff);
    install->next_crd++;
    apply_crd(install);
}

static void apply_crd(void *arg)
{
    struct install *install = arg;
    struct yaml_docs docs = {0};
    struct err err;

    const struct release_crd *crd = release_crd_at(install->next_crd);
    if (!crd) {
        finish(install);
        return;
    }
    BUG_ON(yaml_parse(crd->text, *crd->len, crd->name, &docs, &err) < 0 || docs.len != 1);
    size_t len = 0;
    char *body = yyjson_write(docs.items[0].json, 0, &len);
    install->call =
        kube_send(install->operator->service->client, &(struct kube_request){
                                                          .verb = KUBE_APPLY,
                                                          .resource = kube_known(KUBE_CUSTOM_RESOURCE_DEFINITIONS),
                                                          .name = crd->name,
                                                          .body = body,
                                                          .body_len = len,
                                                          .field_manager = "kai-operator",
                                                          .is_forced = true,
                                                          .is_repeatable = true,
                                                          .on_done = on_crd_applied,
                                                          .arg = install,
                                                      });
    free(body);
    yaml_docs_done(&docs);
}

static void on_config_applied(void *arg, const struct kube_answer *answer)
{
    struct install *install = arg;
    struct log *log = install->operator->service->log;

    install->config_call = NULL;
    if (answer->err.code < 0) {
        nsec_t wait = next_wait(install, &install->config_backoff);

        log_warn(log, "the Config of the release could not be applied", log_error(&answer->err),
                 log_duration("again_after", wait));
        loop_timer_start(&install->config_timer, wait);
        return;
    }
    backoff_reset(&install->config_backoff);
    log_info(log, "the Config of the release was applied", log_str("config", CONFIG_NAME));
}

/* Sends the Config with its owner and the hash of the values that it stands for. */
static void apply_config(struct install *install, const char *role_uid)
{
    yyjson_mut_doc *doc = json_new_object(NULL);
    yyjson_val *root = yyjson_doc_get_root(install->config);

    yyjson_mut_doc_set_root(
        doc,
        pack(doc,
             "{apiVersion: kai.scheduler/v1, kind: Config, metadata: {name: %s, annotations: {%s: %s},"
             " ownerReferences: [{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, name: %s, uid: %s}]},"
             " spec: %p}",
             CONFIG_NAME, VALUES_HASH, install->hash, ROLE_NAME, role_uid,
             (void *)pack_copy(doc, conf_at(root, "spec"))));
    install->config_call = kube_send_doc(install->operator->service->client,
                                         &(struct kube_request){
                                             .verb = KUBE_APPLY,
                                             .resource = kube_known(KUBE_CONFIGS),
                                             .name = CONFIG_NAME,
                                             .field_manager = "kai-config-deployer",
                                             .is_forced = true,
                                             .is_repeatable = true,
                                             .on_done = on_config_applied,
                                             .arg = install,
                                         },
                                         doc);
    yyjson_mut_doc_free(doc);
}

static void on_role(void *arg, const struct kube_answer *answer)
{
    struct install *install = arg;
    yyjson_val *role = NULL;
    struct err err = answer->err;

    install->config_call = NULL;
    if (!install->config)
        return;
    if (err.code == 0 && kube_answer_object(answer, &role, &err) == 0) {
        apply_config(install, conf_text(role, "metadata.uid", ""));
        return;
    }
    /* A release that is being uninstalled has lost its role already. */
    nsec_t wait = next_wait(install, &install->config_backoff);

    log_warn(install->operator->service->log, "the ClusterRole that owns the Config could not be read", log_error(&err),
             log_duration("again_after", wait));
    loop_timer_start(&install->config_timer, wait);
}

static bool is_applied(const struct install *install)
{
    const struct source *config = install->operator->config;
    yyjson_val *notes = config ? conf_at(yyjson_doc_get_root(config->doc), "metadata.annotations") : NULL;
    const char *hash = yyjson_get_str(yyjson_obj_get(notes, VALUES_HASH));

    return hash && strcmp(hash, install->hash) == 0;
}

void install_check(struct install *install)
{
    struct operator* operator= install->operator;

    if (!install->config || install->config_call ||
        loop_timer_is_running(&install->config_timer) || operator->is_stopping || is_applied(install))
        return;
    install->config_call = kube_send(operator->service->client, &(struct kube_request){
                                                                    .verb = KUBE_GET,
                                                                    .resource = &cluster_roles,
                                                                    .name = ROLE_NAME,
                                                                    .on_done = on_role,
                                                                    .arg = install,
                                                                });
}

static void try_config_again(void *arg)
{
    install_check(arg);
}

void install_values(struct install *install, yyjson_val *config_map)
{
    struct log *log = install->operator->service->log;
    yyjson_val *data = config_map ? conf_at(config_map, "data") : NULL;
    const char *text = yyjson_get_str(yyjson_obj_get(data, "config.yaml"));
    struct yaml_docs docs = {0};
    struct err err;

    yyjson_doc_free(TAKE_PTR(install->config));
    if (!text)
        return;
    if (yaml_parse(text, strlen(text), "config.yaml", &docs, &err) < 0) {
        log_warn(log, "the Config of the release cannot be read", log_error(&err));
        return;
    }
    if (docs.len == 1)
        install->config = TAKE_PTR(docs.items[0].json);
    else
        log_warn(log, "the Config of the release is not one document; ignored");
    yaml_docs_done(&docs);
    (void)snprintf(install->hash, sizeof install->hash, "%016" PRIx64, hash_str(text, 0));
    operator_wake(install->operator);
}

bool install_is_done(const struct install *install)
{
    return install->is_done;
}

struct install *install_new(struct operator* operator)
{
    struct install *install = xcalloc(1, sizeof *install);

    install->operator= operator;
    install->backoff = install->config_backoff = (struct backoff){.first = NSEC_PER_SEC, .max = 30 * NSEC_PER_SEC};
    loop_timer_init(&install->timer, operator->service->loop, apply_crd, install);
    loop_timer_init(&install->config_timer, operator->service->loop, try_config_again, install);
    if (!operator->flags->applies_crds)
        install->next_crd = SIZE_MAX;
    loop_timer_start(&install->timer, 0);
    return install;
}

void install_free(struct install *install)
{
    if (!install)
        return;
    kube_cancel(install->call);
    kube_cancel(install->config_call);
    loop_timer_done(&install->timer);
    loop_timer_done(&install->config_timer);
    yyjson_doc_free(install->config);
    free(install);
}
