#include "npy.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char MAGIC[] = "\x93NUMPY";

enum { MAGIC_SIZE = 6, LONGEST_HEADER = 1 << 16, ALIGNMENT = 64 };

static int is_swapped(const char *type) {
  const uint16_t one = 1;
  const int is_little = *(const unsigned char *)&one;
  return type[0] == (is_little ? '>' : '<');
}

static void *fail(FILE *file, void *memory, const char *path, const char *reason) {
  fprintf(stderr, "cannot read %s: %s\n", path, reason);
  if (file) {
    fclose(file);
  }
  free(memory);
  return NULL;
}

/* Find what follows 'key': in a header. */
static const char *value_of(const char *header, const char *key) {
  const char *found = strstr(header, key);
  if (!found) {
    return NULL;
  }
  found += strlen(key);
  while (*found == ' ' || *found == ':') {
    found++;
  }
  return found;
}

static int has_type(const char *header, const char *type) {
  const char *value = value_of(header, "'descr'");
  const size_t length = strlen(type);
  if (!value || *value != '\'' || value[1 + length] != '\'') {
    return 0;
  }
  return strncmp(value + 1, type, length) == 0 || (type[0] == '|' && strncmp(value + 2, type + 1, length - 1) == 0);
}

static int has_shape(const char *header, const struct tensor *expected) {
  const char *value = value_of(header, "'shape'");
  if (!value || *value != '(') {
    return 0;
  }
  value++;
  for (int axis = 0; axis < expected->rank; axis++) {
    char *end;
    const long long extent = strtoll(value, &end, 10);
    if (end == value || extent != (long long)expected->shape[axis]) {
      return 0;
    }
    value = end;
    while (*value == ' ' || *value == ',') {
      value++;
    }
  }
  return *value == ')';
}

static void print_shape(FILE *file, const struct tensor *tensor) {
  fputc('(', file);
  for (int axis = 0; axis < tensor->rank; axis++) {
    fprintf(file, axis ? ", %lld" : "%lld", (long long)tensor->shape[axis]);
  }
  fputs(tensor->rank == 1 ? ",)" : ")", file);
}

static int header_fits(const char *path, const char *header, const struct tensor *expected) {
  const char *order = value_of(header, "'fortran_order'");
  if (has_type(header, expected->type) && has_shape(header, expected) && order &&
      (strncmp(order, "False", 5) == 0 || expected->rank < 2)) {
    return 1;
  }
  fprintf(stderr, "cannot read %s: expected %s of type %s and shape ", path, expected->name, expected->type);
  print_shape(stderr, expected);
  fprintf(stderr, " in C order, got %.*s\n", (int)strcspn(header, "\n"), header);
  return 0;
}

void *read_tensor(const char *path, const struct tensor *expected) {
  unsigned char start[12];
  FILE *file = fopen(path, "rb");
  if (!file) {
    return fail(NULL, NULL, path, strerror(errno));
  }
  if (is_swapped(expected->type)) {
    return fail(file, NULL, path, "its bytes are in another order than this machine's");
  }
  const size_t got = fread(start, 1, sizeof start, file);
  if (got < sizeof start || memcmp(start, MAGIC, MAGIC_SIZE) != 0) {
    fclose(file);
    return read_bytes(path, expected->size);
  }
  const int is_long = start[MAGIC_SIZE] > 1;
  const size_t length = start[8] | (size_t)start[9] << 8 | (is_long ? (size_t)start[10] << 16 | (size_t)start[11] << 24 : 0);
  if (length > LONGEST_HEADER || fseek(file, is_long ? 12 : 10, SEEK_SET) != 0) {
    return fail(file, NULL, path, "its header is too long");
  }
  char *header = malloc(length + 1);
  if (!header) {
    return fail(file, NULL, path, "out of memory");
  }
  if (fread(header, 1, length, file) != length) {
    return fail(file, header, path, "its header is cut off");
  }
  header[length] = '\0';
  if (!header_fits(path, header, expected)) {
    fclose(file);
    free(header);
    return NULL;
  }
  free(header);
  void *elements = malloc(expected->size + 1);
  if (!elements) {
    return fail(file, NULL, path, "out of memory");
  }
  if (fread(elements, 1, expected->size, file) != expected->size) {
    return fail(file, elements, path, "it is cut off");
  }
  fclose(file);
  return elements;
}

void *read_bytes(const char *path, size_t size) {
  FILE *file = fopen(path, "rb");
  if (!file) {
    return fail(NULL, NULL, path, strerror(errno));
  }
  void *bytes = malloc(size + 1);
  if (!bytes) {
    return fail(file, NULL, path, "out of memory");
  }
  const size_t got = fread(bytes, 1, size + 1, file);
  if (got != size) {
    fprintf(stderr, "cannot read %s: expected %zu bytes, got %s\n", path, size, got < size ? "fewer" : "more");
    fclose(file);
    free(bytes);
    return NULL;
  }
  fclose(file);
  return bytes;
}

int write_tensor(const char *path, const struct tensor *tensor, const void *elements) {
  FILE *file = fopen(path, "wb");
  if (!file) {
    fprintf(stderr, "cannot write %s: %s\n", path, strerror(errno));
    return 0;
  }
  fwrite(MAGIC, 1, MAGIC_SIZE, file);
  fwrite("\x01\x00\x00\x00", 1, 4, file);
  fprintf(file, "{'descr': '%s', 'fortran_order': False, 'shape': ", tensor->type);
  print_shape(file, tensor);
  fputs(", }", file);
  long position = ftell(file);
  while (position >= 0 && (position + 1) % ALIGNMENT) {
    fputc(' ', file);
    position++;
  }
  fputc('\n', file);
  const long length = position + 1 - 10;
  const unsigned char bytes[2] = {(unsigned char)(length & 255), (unsigned char)(length >> 8)};
  int done = position >= 0 && length < LONGEST_HEADER && fseek(file, 8, SEEK_SET) == 0;
  done = done && fwrite(bytes, 1, 2, file) == 2 && fseek(file, 0, SEEK_END) == 0;
  done = done && fwrite(elements, 1, tensor->size, file) == tensor->size;
  done = !fclose(file) && done;
  if (!done) {
    fprintf(stderr, "cannot write %s\n", path);
    remove(path);
  }
  return done;
}
