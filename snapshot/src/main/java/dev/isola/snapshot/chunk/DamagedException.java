package dev.isola.snapshot.chunk;

import java.io.IOException;

/** Thrown when stored data is missing or corrupt. */
public final class DamagedException extends IOException {
  private static final long serialVersionUID = 1;

  public DamagedException(String name, String why) {
    super(name + " is damaged: " + why);
  }
}
