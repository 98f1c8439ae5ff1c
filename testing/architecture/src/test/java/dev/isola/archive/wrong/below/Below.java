package dev.isola.archive.wrong.below;

import dev.isola.archive.wrong.Above;

/** Makes a cycle of packages with the one above. */
public final class Below {
  public Class<?> arrow() {
    return Above.class;
  }
}
