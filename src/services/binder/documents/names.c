/* SPDX-License-Identifier: Apache-2.0 */
#include "services/binder/documents/names.h"

#include <errno.h>
#include <openssl/evp.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/strbuf.h"
#include "kube/client/meta.h"
#include "objects/keys.h"

enum { DIGEST_BYTES = 32, TEXT_MAX = 1024 };

/* The first `bytes` bytes of the SHA-256 of "a/b" as hexadecimal digits. */
static void digest_hex(const char *a, const char *b, size_t bytes, char *hex)
{
    unsigned char digest[DIGEST_BYTES];
    struct strbuf text;

    strbuf_init(&text, TEXT_MAX);
    strbuf_addf(&text, "%s/%s", a, b);
    BUG_ON(EVP_Digest(text.text, text.len, digest, NULL, EVP_sha256(), NULL) != 1);
    strbuf_done(&text);
    for (size_t i = 0; i < bytes; i++)
        (void)snprintf(hex + 2 * i, 3, "%02x", digest[i]);
}

const char *reservation_name(const char *node, const char *group, char name[static RESERVATION_NAME_MAX])
{
    char hex[17];

    digest_hex(node, group, 8, hex);
    (void)snprintf(name, RESERVATION_NAME_MAX, "gpu-reservation-%s", hex);
    return name;
}

const char *extended_claim_name(const char *pod, const char *uid, char name[static EXTENDED_NAME_MAX])
{
    enum { BASE_MAX = 57 };  // the server cuts there, so that five letters fit behind it
    char hex[7];
    char base[TEXT_MAX];

    digest_hex(uid, "extended-resources", 3, hex);
    (void)snprintf(base, sizeof base, "%s-extended-resources-", pod);
    (void)snprintf(name, EXTENDED_NAME_MAX, "%.*s%s", BASE_MAX, base, hex);
    return name;
}

const char *label_of(yyjson_val *object, const char *key)
{
    return kube_text(object, "metadata", "labels", key);
}

const char *annotation_of(yyjson_val *object, const char *key)
{
    return kube_text(object, "metadata", "annotations", key);
}

int sharing_names(yyjson_val *pod, const struct sharing_container *container, struct sharing_names *ret_names,
                  struct err *err)
{
    const char *prefix = annotation_of(pod, KEY_SHARED_GPU_CONFIG);
    struct sharing_names names;

    if (!prefix[0])
        return err_set(err, -EINVAL, "the pod has no annotation %s, which the admission webhook writes",
                       KEY_SHARED_GPU_CONFIG);
    int len = snprintf(names.capabilities, sizeof names.capabilities, "%s-%s%zu", prefix, container->is_init ? "i" : "",
                       container->index);
    if (len < 0 || (size_t)len + strlen("-evar") >= sizeof names.direct)
        return err_set(err, -EINVAL, "the name in the annotation %s is too long", KEY_SHARED_GPU_CONFIG);
    (void)snprintf(names.direct, sizeof names.direct, "%.310s-evar", names.capabilities);
    *ret_names = names;
    return 0;
}
