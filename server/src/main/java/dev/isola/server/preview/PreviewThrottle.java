package dev.isola.server.preview;

/** What one request to a preview may take of the server, and what its address may try. */
public interface PreviewThrottle {

  /** Tells whether so many wrong keys came from its address that none of them is looked at. */
  boolean isBlocked();

  /**
   * @throws dev.isola.spi.error.SandboxException when {@link #isBlocked}
   */
  void checkNotBlocked();

  /** Counts a wrong key or token. */
  void recordAuthFailure();

  /**
   * Takes a place until the request, or the tunnel it becomes, has ended.
   *
   * @param known whether it showed a key or token that is good for the port
   * @throws dev.isola.spi.error.SandboxException when there is none
   */
  void acquire(String sandbox, boolean known);
}
