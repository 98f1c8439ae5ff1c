package dev.isola.provider.memory.shell;

import java.io.IOException;

/** Something that can be run by name; returns its exit code. */
@FunctionalInterface
interface Program {
  int run(Call call) throws IOException, InterruptedException;
}
