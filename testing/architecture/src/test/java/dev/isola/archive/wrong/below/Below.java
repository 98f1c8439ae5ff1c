package dev.isola.archive.wrong.below;

import dev.isola.archive.wrong.Above;

/** Forms a cycle with the package above. */
public final class Below {
  public Class<?> forbidden() {
    return Above.class;
  }
}
