package dev.isola.provider.memory.process;

import java.io.IOException;

/** Says that nobody reads any more; ends a process as SIGPIPE does. */
public final class BrokenPipe extends IOException {
  private static final long serialVersionUID = 1L;

  BrokenPipe() {
    super("Broken pipe");
  }
}
