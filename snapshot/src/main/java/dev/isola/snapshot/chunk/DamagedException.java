package dev.isola.snapshot.chunk;

import java.io.IOException;

/** Something in the store is not what was written. */
public final class DamagedException extends IOException {
  private static final long serialVersionUID = 1;

  public DamagedException(String name, String why) {
    super(name + " is damaged: " + why);
  }
}
