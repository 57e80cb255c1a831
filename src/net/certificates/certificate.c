/* SPDX-License-Identifier: Apache-2.0 */

/* Making and reading certificates with OpenSSL. */
#include "net/certificates/certificate.h"

#include <arpa/inet.h>
#include <errno.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "net/certificates/certificate_internal.h"

/* A serial number is positive and of at most 20 bytes. */
enum { SERIAL_BYTES = 16, COMMON_NAME_MAX = 64, ALT_NAMES_MAX = 4096 };

#define PEM_BEGIN "-----BEGIN CERTIFICATE-----"
#define PEM_END "-----END CERTIFICATE-----"

/* Without this, OpenSSL asks on the terminal. */
// NOLINTNEXTLINE(readability-non-const-parameter): the type is OpenSSL's
static int no_password(char *buffer, int size, int is_writing, void *arg)
{
    (void)buffer;
    (void)size;
    (void)is_writing;
    (void)arg;
    return 0;
}

X509 *certificate_x509(const char *pem)
{
    BIO *bio = BIO_new_mem_buf(pem, -1);

    BUG_ON(!bio);
    X509 *x509 = PEM_read_bio_X509(bio, NULL, no_password, NULL);
    BIO_free(bio);
    ERR_clear_error();
    return x509;
}

EVP_PKEY *certificate_key(const char *pem)
{
    BIO *bio = BIO_new_mem_buf(pem, -1);

    BUG_ON(!bio);
    EVP_PKEY *key = PEM_read_bio_PrivateKey(bio, NULL, no_password, NULL);
    BIO_free(bio);
    ERR_clear_error();
    return key;
}

char *certificate_text(BIO *bio)
{
    char *bytes = NULL;
    long len = BIO_get_mem_data(bio, &bytes);
    char *text = xstrndup(bytes, (size_t)len);

    BIO_free(bio);
    return text;
}

static void write_pair(X509 *x509, EVP_PKEY *key, struct certificate *ret_certificate)
{
    BIO *cert = BIO_new(BIO_s_mem());
    BIO *secret = BIO_new(BIO_s_mem());

    BUG_ON(!cert || !secret);
    BUG_ON(PEM_write_bio_X509(cert, x509) != 1);
    BUG_ON(PEM_write_bio_PrivateKey(secret, key, NULL, NULL, 0, NULL, NULL) != 1);
    *ret_certificate = (struct certificate){.cert_pem = certificate_text(cert), .key_pem = certificate_text(secret)};
}

void certificate_done(struct certificate *certificate)
{
    free(certificate->cert_pem);
    if (certificate->key_pem)
        OPENSSL_cleanse(certificate->key_pem, strlen(certificate->key_pem));
    free(certificate->key_pem);
    *certificate = (struct certificate){0};
}

bool certificate_extend(X509 *x509, X509 *issuer, int nid, const char *value)
{
    X509V3_CTX context;

    X509V3_set_ctx(&context, issuer, x509, NULL, NULL, 0);
    X509_EXTENSION *extension = X509V3_EXT_conf_nid(NULL, &context, nid, value);
    bool is_good = extension && X509_add_ext(x509, extension, -1) == 1;
    X509_EXTENSION_free(extension);
    return is_good;
}

static void set_serial(X509 *x509)
{
    unsigned char bytes[SERIAL_BYTES];
    BIGNUM *number = NULL;

    BUG_ON(RAND_bytes(bytes, sizeof bytes) != 1);
    bytes[0] = (unsigned char)((bytes[0] & 0x7f) | 0x40);
    number = BN_bin2bn(bytes, sizeof bytes, NULL);
    BUG_ON(!number || !BN_to_ASN1_INTEGER(number, X509_get_serialNumber(x509)));
    BN_free(number);
}

/* The parts that all certificates have. */
int certificate_begin(X509 *x509, EVP_PKEY *key, X509 *issuer, const struct certificate_request *request,
                      struct err *err)
{
    const unsigned char *name = (const unsigned char *)request->common_name;
    X509_NAME *subject = X509_get_subject_name(x509);

    if (!*request->common_name || strlen(request->common_name) > COMMON_NAME_MAX ||
        X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_UTF8, name, -1, -1, 0) != 1)
        return err_set(err, -EINVAL, "'%s' is not a name of 1 to %d bytes", request->common_name, COMMON_NAME_MAX);
    BUG_ON(X509_set_version(x509, 2) != 1);
    set_serial(x509);
    BUG_ON(!ASN1_TIME_set(X509_getm_notBefore(x509), (time_t)(request->not_before / NSEC_PER_SEC)));
    BUG_ON(!ASN1_TIME_set(X509_getm_notAfter(x509), (time_t)(request->not_after / NSEC_PER_SEC)));
    BUG_ON(X509_set_pubkey(x509, key) != 1);
    BUG_ON(X509_set_issuer_name(x509, issuer ? X509_get_subject_name(issuer) : subject) != 1);
    return 0;
}

int certificate_make_authority(const struct certificate_request *request, struct certificate *ret_certificate,
                               struct err *err)
{
    EVP_PKEY *key = EVP_EC_gen("P-256");
    X509 *x509 = X509_new();
    int r;

    BUG_ON(!key || !x509);
    r = certificate_begin(x509, key, NULL, request, err);
    if (r == 0) {
        BUG_ON(!certificate_extend(x509, x509, NID_basic_constraints, "critical,CA:TRUE,pathlen:0"));
        BUG_ON(!certificate_extend(x509, x509, NID_key_usage, "critical,keyCertSign,cRLSign"));
        BUG_ON(!certificate_extend(x509, x509, NID_subject_key_identifier, "hash"));
        BUG_ON(X509_sign(x509, key, EVP_sha256()) <= 0);
        write_pair(x509, key, ret_certificate);
    }
    X509_free(x509);
    EVP_PKEY_free(key);
    return r;
}

static bool is_address(const char *name)
{
    unsigned char bytes[sizeof(struct in6_addr)];

    return inet_pton(AF_INET, name, bytes) == 1 || inet_pton(AF_INET6, name, bytes) == 1;
}

/* A comma would begin another name, and OpenSSL would read it as one. */
static int extend_names(X509 *x509, X509 *issuer, const struct certificate_request *request, struct err *err)
{
    struct strbuf names;
    bool is_good = request->dns_name_count > 0;

    strbuf_init(&names, ALT_NAMES_MAX);
    for (size_t i = 0; i < request->dns_name_count; i++) {
        const char *name = request->dns_names[i];
        bool is_ip = is_address(name);

        is_good = is_good && *name && (is_ip || strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-.") == strlen(name));
        strbuf_addf(&names, "%s%s:%s", i ? "," : "", is_ip ? "IP" : "DNS", name);
    }
    is_good = is_good && !names.is_cut && certificate_extend(x509, issuer, NID_subject_alt_name, names.text);
    int r = is_good ? 0 : err_set(err, -EINVAL, "'%s' are not names of a server", names.text);
    strbuf_done(&names);
    ERR_clear_error();
    return r;
}

static int issue_with(X509 *issuer, EVP_PKEY *issuer_key, const struct certificate_request *request,
                      struct certificate *ret_certificate, struct err *err)
{
    EVP_PKEY *key = EVP_EC_gen("P-256");
    X509 *x509 = X509_new();
    int r;

    BUG_ON(!key || !x509);
    r = certificate_begin(x509, key, issuer, request, err);
    if (r == 0)
        r = extend_names(x509, issuer, request, err);
    if (r == 0) {
        BUG_ON(!certificate_extend(x509, issuer, NID_basic_constraints, "critical,CA:FALSE"));
        BUG_ON(!certificate_extend(x509, issuer, NID_key_usage, "critical,digitalSignature"));
        BUG_ON(!certificate_extend(x509, issuer, NID_ext_key_usage, "serverAuth"));
        /* An authority that others have made may lack the identifier that this one copies. */
        (void)certificate_extend(x509, issuer, NID_authority_key_identifier, "keyid");
        ERR_clear_error();
        if (X509_sign(x509, issuer_key, EVP_sha256()) <= 0)
            r = err_set(err, -EKEYREJECTED, "the key of the certificate authority cannot sign");
    }
    if (r == 0)
        write_pair(x509, key, ret_certificate);
    X509_free(x509);
    EVP_PKEY_free(key);
    return r;
}

int certificate_issue(const struct certificate *authority, const struct certificate_request *request,
                      struct certificate *ret_certificate, struct err *err)
{
    X509 *issuer = certificate_x509(authority->cert_pem);
    EVP_PKEY *key = certificate_key(authority->key_pem);
    int r;

    if (!issuer || !key || X509_check_private_key(issuer, key) != 1)
        r = err_set(err, -EKEYREJECTED, "the key of the certificate authority does not match its certificate");
    else
        r = issue_with(issuer, key, request, ret_certificate, err);
    ERR_clear_error();
    X509_free(issuer);
    EVP_PKEY_free(key);
    return r;
}

static nsec_t time_of(const ASN1_TIME *time)
{
    struct tm parts = {0};

    if (ASN1_TIME_to_tm(time, &parts) != 1)
        return 0;
    int64_t seconds = (int64_t)timegm(&parts);
    return CLAMP(seconds, INT64_MIN / NSEC_PER_SEC, INT64_MAX / NSEC_PER_SEC) * NSEC_PER_SEC;
}

int certificate_read(const char *cert_pem, struct certificate_facts *ret_facts, struct err *err)
{
    struct certificate_facts facts = {0};
    X509 *x509 = certificate_x509(cert_pem);

    if (!x509)
        return err_set(err, -EINVAL, "not a certificate");
    (void)X509_NAME_get_text_by_NID(X509_get_subject_name(x509), NID_commonName, facts.common_name,
                                    sizeof facts.common_name);
    facts.not_before = time_of(X509_get0_notBefore(x509));
    facts.not_after = time_of(X509_get0_notAfter(x509));
    facts.is_authority = X509_check_ca(x509) == 1;
    X509_free(x509);
    ERR_clear_error();
    *ret_facts = facts;
    return 0;
}

bool certificate_has_key(const char *cert_pem, const char *key_pem)
{
    X509 *x509 = certificate_x509(cert_pem);
    EVP_PKEY *key = certificate_key(key_pem);
    bool is_good = x509 && key && X509_check_private_key(x509, key) == 1;

    X509_free(x509);
    EVP_PKEY_free(key);
    ERR_clear_error();
    return is_good;
}

bool certificate_is_signed_by(const char *cert_pem, const char *authority_pem)
{
    X509 *x509 = certificate_x509(cert_pem);
    X509 *authority = certificate_x509(authority_pem);
    bool is_good = x509 && authority && X509_check_issued(authority, x509) == X509_V_OK &&
                   X509_verify(x509, X509_get0_pubkey(authority)) == 1;

    X509_free(x509);
    X509_free(authority);
    ERR_clear_error();
    return is_good;
}

bool certificate_is_for(const char *cert_pem, const char *dns_name)
{
    X509 *x509 = certificate_x509(cert_pem);
    bool is_good = x509 && (is_address(dns_name) ? X509_check_ip_asc(x509, dns_name, 0) == 1
                                                 : X509_check_host(x509, dns_name, 0, 0, NULL) == 1);

    X509_free(x509);
    return is_good;
}

char *certificate_next(const char **at)
{
    const char *begin = strstr(*at, PEM_BEGIN);
    const char *end = begin ? strstr(begin, PEM_END) : NULL;

    if (!end)
        return NULL;
    end += strlen(PEM_END);
    *at = end;
    char *text = xmalloc((size_t)(end - begin) + 2);
    memcpy(text, begin, (size_t)(end - begin));
    memcpy(text + (end - begin), "\n", 2);
    return text;
}
