/* Runs the model on files: see README.md, or ask for --help. */
#include "model.h"
#include "npy.h"
#include "signature.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void print_tensors(const char *title, const struct tensor *tensors, int count) {
  printf("%s:\n", title);
  for (int i = 0; i < count; i++) {
    printf("  %s  %s", tensors[i].name, tensors[i].type);
    for (int axis = 0; axis < tensors[i].rank; axis++) {
      printf(" %lld", (long long)tensors[i].shape[axis]);
    }
    printf("\n");
  }
}

static int help(const char *program) {
  printf("usage: %s [--output FOLDER]%s [NAME=]FILE ...\n", program, WEIGHTS ? " [--weights FILE]" : "");
  printf("An input is a .npy file, or a file of its elements. Outputs become .npy files in FOLDER, by default here.\n");
  print_tensors("inputs", input_tensors, INPUTS);
  print_tensors("outputs", output_tensors, OUTPUTS);
  return 0;
}

/* Find the input that NAME=FILE names; without a name, the first that has none yet. */
static int input_of(const char *argument, const char **path, void *const *inputs) {
  for (int i = 0; i < INPUTS; i++) {
    const size_t length = strlen(input_tensors[i].name);
    if (strncmp(argument, input_tensors[i].name, length) == 0 && argument[length] == '=') {
      *path = argument + length + 1;
      return i;
    }
  }
  *path = argument;
  for (int i = 0; i < INPUTS; i++) {
    if (!inputs[i]) {
      return i;
    }
  }
  fprintf(stderr, "expected %d inputs, got one more: %s\n", INPUTS, argument);
  return -1;
}

/* Join a folder, which may be empty, and a name. */
static char *joined(const char *folder, size_t length, const char *name) {
  char *path = malloc(length + strlen(name) + 2);
  if (path) {
    sprintf(path, "%.*s%s%s", (int)length, folder, length && folder[length - 1] != '/' ? "/" : "", name);
  }
  return path;
}

static int load_weights(const char *program, const char *path, void **weights) {
  char *found = NULL;
  if (!path) {
    const char *slash = strrchr(program, '/');
    path = found = joined(program, slash ? (size_t)(slash - program) + 1 : 0, "weights.bin");
  }
  char *content = path ? read_bytes(path, WEIGHT_BYTES) : NULL;
  for (int i = 0; i < WEIGHTS && content; i++) {
    weights[i] = content + weight_offsets[i];
  }
  free(found);
  return content != NULL;
}

int main(int argc, char **argv) {
  const char *folder = "", *weight_path = NULL;
  void *inputs[INPUTS + 1] = {NULL}, *outputs[OUTPUTS + 1] = {NULL}, *weights[WEIGHTS + 1] = {NULL};
  for (int i = 1; i < argc; i++) {
    const int has_value = i + 1 < argc;
    if (strcmp(argv[i], "--help") == 0) {
      return help(argv[0]);
    }
    if (strcmp(argv[i], "--output") == 0 && has_value) {
      folder = argv[++i];
    } else if (strcmp(argv[i], "--weights") == 0 && has_value && WEIGHTS) {
      weight_path = argv[++i];
    } else if (strncmp(argv[i], "--", 2) == 0) {
      fprintf(stderr, "expected --output FOLDER%s or inputs, got %s\n", WEIGHTS ? ", --weights FILE" : "", argv[i]);
      return 1;
    } else {
      const char *path;
      const int input = input_of(argv[i], &path, inputs);
      if (input < 0 || !(inputs[input] = read_tensor(path, &input_tensors[input]))) {
        return 1;
      }
    }
  }
  for (int i = 0; i < INPUTS; i++) {
    if (!inputs[i]) {
      fprintf(stderr, "input %s is missing; ask for --help\n", input_tensors[i].name);
      return 1;
    }
  }
  if (WEIGHTS && !load_weights(argv[0], weight_path, weights)) {
    return 1;
  }
  for (int i = 0; i < OUTPUTS; i++) {
    if (!(outputs[i] = malloc(output_tensors[i].size + 1))) {
      fprintf(stderr, "out of memory\n");
      return 1;
    }
  }
  model_run(inputs, outputs, weights);
  for (int i = 0; i < OUTPUTS; i++) {
    char *path = joined(folder, strlen(folder), output_files[i]);
    if (!path || !write_tensor(path, &output_tensors[i], outputs[i])) {
      return 1;
    }
    printf("%s\n", path);
    free(path);
  }
  return 0;
}
