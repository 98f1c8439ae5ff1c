package dev.isola.compat.e2b.create;

/** A version of the route that creates sandboxes. */
public enum CreateVersion {
  /** The client decides with {@code secure} whether the sandbox needs a token. */
  V1(15),
  /** Every sandbox needs a token. */
  V2(300);

  private final long defaultSeconds;

  CreateVersion(long defaultSeconds) {
    this.defaultSeconds = defaultSeconds;
  }

  /** Returns the lifetime of a sandbox in seconds when the client does not set one. */
  public long defaultSeconds() {
    return defaultSeconds;
  }
}
