package dev.isola.app.serve;

import dev.isola.engine.api.Log;
import java.time.Duration;

/** Replaces the certificate of a running server at regular intervals, long before it expires. */
final class CertificateRenewal implements AutoCloseable {
  static final Duration INTERVAL = Duration.ofDays(1);

  private final Thread thread;

  private CertificateRenewal(Thread thread) {
    this.thread = thread;
  }

  /**
   * Starts to renew a certificate.
   *
   * @param renew replaces the certificate; if it fails, the server keeps the current one
   */
  static CertificateRenewal start(Duration interval, Runnable renew, Log log) {
    return new CertificateRenewal(
        Thread.ofVirtual()
            .name("isola-certificate-renewal")
            .start(
                () -> {
                  try {
                    while (true) {
                      Thread.sleep(interval);
                      renew(renew, log);
                    }
                  } catch (InterruptedException e) {
                    // closed
                  }
                }));
  }

  private static void renew(Runnable renew, Log log) {
    try {
      renew.run();
    } catch (RuntimeException e) {
      log.warning("the TLS certificate could not be renewed: " + e.getMessage());
    }
  }

  @Override
  public void close() {
    thread.interrupt();
  }
}
