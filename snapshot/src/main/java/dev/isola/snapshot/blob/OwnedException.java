package dev.isola.snapshot.blob;

import java.io.IOException;

/** Somebody else writes there. */
public final class OwnedException extends IOException {
  private static final long serialVersionUID = 1;

  public OwnedException(String message) {
    super(message);
  }
}
