package dev.isola.archive.wrong;

import dev.isola.archive.wrong.below.Below;

/** Makes a cycle of packages with the one beneath. */
public final class Above {
  public Class<?> arrow() {
    return Below.class;
  }
}
