package dev.isola.server.preview;

/** The limits that apply to one request to a preview. */
public interface PreviewThrottle {

  /** Returns whether the address has so many failed authentications that more are refused. */
  boolean isBlocked();

  /**
   * Rejects a request whose credential is invalid if its address {@link #isBlocked}.
   *
   * @throws dev.isola.spi.error.SandboxException if the address is blocked
   */
  void checkNotBlocked();

  /** Records a failed authentication. */
  void recordAuthFailure();

  /**
   * Records a failed authentication, and rejects the request if its address was blocked before.
   *
   * @throws dev.isola.spi.error.SandboxException if the address was blocked
   */
  default void refuse() {
    boolean blocked = isBlocked();
    recordAuthFailure();
    if (blocked) {
      checkNotBlocked();
    }
  }

  /**
   * Acquires a permit until the request, or the tunnel it becomes, has ended.
   *
   * @param authenticated whether the request has a valid key or token for the port
   * @throws dev.isola.spi.error.SandboxException when the limit is reached
   */
  void acquire(String sandbox, boolean authenticated);
}
