package dev.isola.server.preview;

/** The limits that apply to one request to a preview. */
public interface PreviewThrottle {

  /**
   * Returns whether the address has so many failed authentications that its credentials are not
   * checked.
   */
  boolean isBlocked();

  /**
   * Rejects the request if its address {@link #isBlocked}.
   *
   * @throws dev.isola.spi.error.SandboxException if the address is blocked
   */
  void checkNotBlocked();

  /** Records a failed authentication. */
  void recordAuthFailure();

  /**
   * Acquires a permit until the request, or the tunnel it becomes, has ended.
   *
   * @param authenticated whether the request has a valid key or token for the port
   * @throws dev.isola.spi.error.SandboxException when the limit is reached
   */
  void acquire(String sandbox, boolean authenticated);
}
