package dev.isola.provider.memory.process;

import java.io.IOException;

/** What a simulated process does; returns its exit code. */
@FunctionalInterface
public interface Body {
  int run(Proc self) throws IOException, InterruptedException;
}
