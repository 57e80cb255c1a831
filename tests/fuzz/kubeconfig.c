/* SPDX-License-Identifier: Apache-2.0 */

/* Any bytes are a kubeconfig or are refused with a reason; what is taken from one can be used. */
#include "kube/access/config.h"

#include <string.h>

#include "base/err.h"
#include "fuzz.h"
#include "kube/access/credentials.h"

/* The rest of the input is what a credential plugin prints. */
static void read_answer(const struct kube_exec *exec, const char *text, size_t len)
{
    struct kube_exec_answer answer = {0};
    struct err err = {0};

    if (kube_exec_parse(exec, text, len, &answer, &err) < 0)
        BUG_ON(err.text[0] == '\0');
    else
        BUG_ON(!answer.token && !(answer.cert && answer.key));
    kube_exec_answer_done(&answer);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data;
    const char *mark = size ? memchr(text, '\0', size) : NULL;
    size_t len = mark ? (size_t)(mark - text) : size;
    struct kube_config_text source = {.name = "/etc/kube/config", .text = text, .len = len};
    _cleanup_(kube_config_freep) struct kube_config *config = NULL;
    char version[] = "client.authentication.k8s.io/v1";
    struct err err = {0};

    if (mark)
        read_answer(&(struct kube_exec){.api_version = version}, mark + 1, size - len - 1);
    if (kube_config_parse(&source, 1, NULL, &config, &err) < 0) {
        BUG_ON(err.text[0] == '\0');
        return 0;
    }
    BUG_ON(!config->name || !config->server || !config->namespace);
    BUG_ON(config->exec.command && !config->exec.api_version);
    if (config->exec.command)
        read_answer(&config->exec, text, size);
    return 0;
}
