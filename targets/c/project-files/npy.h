/* Arrays in files: .npy as NumPy writes it, and files of nothing but elements. */
#ifndef NPY_H
#define NPY_H

#include <stddef.h>
#include <stdint.h>

struct tensor {
  const char *name;
  const char *type;     /* as .npy files say it: "<f4", "|u1", ... */
  int rank;
  const int64_t *shape;
  size_t size;          /* bytes of all elements */
};

/* Read a file into memory: a .npy file by what it begins with, any other as the elements in order.
   Say on standard error what is wrong with it, and return NULL. */
void *read_tensor(const char *path, const struct tensor *expected);

/* Read a whole file of a known size. */
void *read_bytes(const char *path, size_t size);

/* Write a .npy file. Say on standard error what went wrong, and return 0. */
int write_tensor(const char *path, const struct tensor *tensor, const void *elements);

#endif
