package dev.isola.archive.wrong;

import dev.isola.archive.wrong.below.Below;

/** Forms a cycle with the package below. */
public final class Above {
  public Class<?> forbidden() {
    return Below.class;
  }
}
