/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/macros.h"
#include "base/time.h"

struct err;

/*
 * One file of a journal: a header, then chunks of records. All chunks are one compressed stream, flushed at the end of
 * each, so that small ones are small; each has a checksum of its own. What is written stays as it is: a writer that dies
 * leaves a file whose last chunk may be cut, and all before it is good.
 *
 * All numbers are little-endian.
 *
 *     header   "MUSTERJ\n", u32 version, u32 form of the records, u64 its fingerprint, i64 time, u64 XXH3 of these
 *     chunk    u32 bytes, u32 bytes unpacked, u32 XXH3 of these two, u64 XXH3 of the bytes, the bytes
 *
 * Checksums of chunks are seeded with their number, so that none can be taken for another one. It is the fingerprint that
 * says how records are read (record.h); the form tells a newer file from one of a version that is not known, and is 0 in files
 * of forms 1 to 3 and the first of form 4.
 */
enum { SEGMENT_VERSION = 1 };
enum { SEGMENT_CHUNK_MAX = 64 << 20 };  // unpacked

/* "<folder>/00000000000000000042.journal", to be freed by the caller. */
char *segment_path(const char *folder, uint64_t number);

/* The number in such a name (without the folder); 0 for other names. */
uint64_t segment_number(const char *name);

struct segment_writer;

/* `created` is the time of the first record. Returns 0 or what the system says; so below. */
MUST_CHECK int segment_create(const char *path, nsec_t created, struct segment_writer **ret, struct err *err);

/* Writes a chunk. When it fails, nothing of it is left in the file, and nothing more can be written. */
MUST_CHECK int segment_write(struct segment_writer *writer, const uint8_t *bytes, size_t len, struct err *err);
uint64_t segment_size(const struct segment_writer *writer);
void segment_close(struct segment_writer *writer);  // may be NULL

struct segment_reader;

/* Returns 0; -EINVAL when it is no such file, or of a version that is not known; or what the system says. */
MUST_CHECK int segment_open(const char *path, struct segment_reader **ret, struct err *err);
nsec_t segment_created(const struct segment_reader *reader);
uint32_t segment_form(const struct segment_reader *reader);  // of its records

/*
 * The next chunk, good until the next call. Returns 1; 0 at the end, also when the rest is a chunk that was not written
 * to its end (segment_is_cut); -EBADMSG when the file is damaged and goes on behind it.
 */
MUST_CHECK int segment_read(struct segment_reader *reader, const uint8_t **ret_bytes, size_t *ret_len, struct err *err);
bool segment_is_cut(const struct segment_reader *reader);
void segment_reader_free(struct segment_reader *reader);  // may be NULL
