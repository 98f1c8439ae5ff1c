package dev.isola.snapshot.blob;

import java.io.IOException;

/** Thrown when another owner has claimed the blob store. */
public final class AlreadyClaimedException extends IOException {
  private static final long serialVersionUID = 1;

  public AlreadyClaimedException(String message) {
    super(message);
  }
}
