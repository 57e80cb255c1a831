/* SPDX-License-Identifier: Apache-2.0 */
#include "net/websocket/key.h"

#include <openssl/evp.h>
#include <string.h>
#include <sys/random.h>

#include "base/strbuf.h"

enum { RANDOM_BYTES = 16, DIGEST_LEN = 20 };

/* RFC 6455, 1.3. */
#define KEY_SUFFIX "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"

bool websocket_key_make(char key[static WEBSOCKET_KEY_LEN + 1])
{
    unsigned char bytes[RANDOM_BYTES];

    if (getrandom(bytes, sizeof bytes, 0) != sizeof bytes)
        return false;
    (void)EVP_EncodeBlock((unsigned char *)key, bytes, sizeof bytes);
    return true;
}

bool websocket_key_answer(const char *key, char text[static WEBSOCKET_ACCEPT_BYTES])
{
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned int len = 0;
    struct strbuf joined;

    strbuf_init(&joined, WEBSOCKET_KEY_LEN + sizeof KEY_SUFFIX);
    strbuf_addf(&joined, "%s" KEY_SUFFIX, key);
    bool is_made =
        !joined.is_cut && EVP_Digest(joined.text, joined.len, digest, &len, EVP_sha1(), NULL) == 1 && len == DIGEST_LEN;
    strbuf_done(&joined);
    if (is_made)
        (void)EVP_EncodeBlock((unsigned char *)text, digest, (int)len);
    return is_made;
}
