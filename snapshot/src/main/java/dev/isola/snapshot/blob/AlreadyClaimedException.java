package dev.isola.snapshot.blob;

import java.io.IOException;

/** Somebody else writes there. */
public final class AlreadyClaimedException extends IOException {
  private static final long serialVersionUID = 1;

  public AlreadyClaimedException(String message) {
    super(message);
  }
}
